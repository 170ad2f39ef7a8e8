"""libcpt.so through ctypes learns what cpt_dist learns, and shows its own functions only.

    ctypes_test.py LIBCPT PROGRAMS
"""
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

LIBRARY, PROGRAMS = Path(sys.argv.pop(1)), Path(sys.argv.pop(1))
HEADER = Path(__file__).resolve().parents[2] / "include/cpt/cpt.h"


class LibraryTest(unittest.TestCase):
    def setUp(self) -> None:
        self.cpt = ctypes.CDLL(str(LIBRARY))
        for name in ("cpt_create", "cpt_load", "cpt_example_create"):
            getattr(self.cpt, name).restype = ctypes.c_void_p
        self.cpt.cpt_error.restype = ctypes.c_char_p

    def test_it_learns_what_cpt_dist_learns(self) -> None:
        lines = [f"l{i % 31} |a x{i % 31} y{i % 7}:0.5" for i in range(2000)]
        options = (ctypes.c_char_p * 1)(b"bits=12")
        model = ctypes.c_void_p(self.cpt.cpt_create(options, ctypes.c_size_t(1)))
        x = ctypes.c_void_p(self.cpt.cpt_example_create(model))
        for line in lines:
            self.assertEqual(self.cpt.cpt_example_set_line(x, line.encode()), 0)
            self.assertEqual(self.cpt.cpt_learn(model, x, None, ctypes.c_double(1), None), 0)
        tree, weights = ctypes.c_uint64(), ctypes.c_uint64()
        self.assertEqual(self.cpt.cpt_digests(model, ctypes.byref(tree), ctypes.byref(weights)), 0)
        self.cpt.cpt_example_free(x)
        self.cpt.cpt_free(model)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "data").write_text("\n".join(lines))
            subprocess.run([PROGRAMS / "cpt_dist", "--data", "data", "--run", "run", "--bits", "12", "--progress", "none"],
                           cwd=folder, check=True, capture_output=True,
                           env=os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
            summary = json.loads(Path(folder, "run/summary.json").read_text())
        self.assertEqual((f"{tree.value:016x}", f"{weights.value:016x}"),
                         (summary["tree"]["digest"], summary["weights"]["digest"]))

    def test_errors_are_texts(self) -> None:
        self.assertIsNone(self.cpt.cpt_load(b"/no/such/model"))
        self.assertIn(b"/no/such/model", self.cpt.cpt_error())

    def test_each_thread_has_its_own_error(self) -> None:
        def fail(path: bytes) -> None:
            for _ in range(200):
                self.assertIsNone(self.cpt.cpt_load(path))
                both_failed.wait(timeout=60)
                texts[path].add(self.cpt.cpt_error())
                both_read.wait(timeout=60)

        texts = {path: set() for path in (b"/no/such/model", b"/no/other/model")}
        both_failed, both_read = threading.Barrier(2), threading.Barrier(2)
        self.assertIsNone(self.cpt.cpt_load(b"/no/third/model"))
        threads = [threading.Thread(target=fail, args=(path,)) for path in texts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=120)
        for path, heard in texts.items():
            self.assertEqual(len(heard), 1)
            self.assertIn(path, heard.pop())
        self.assertIn(b"/no/third/model", self.cpt.cpt_error())

    def test_only_its_functions_can_be_seen(self) -> None:
        listing = subprocess.run(["nm", "--dynamic", "--defined-only", LIBRARY], check=True, capture_output=True, text=True)
        seen = {line.split()[2].split("@")[0] for line in listing.stdout.splitlines()} - {"CPT_0"}
        declared = set(re.findall(r"\b(cpt_\w+)\(", re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)))
        self.assertEqual(seen, declared)
        self.assertGreater(len(seen), 10)
        name = subprocess.run(["readelf", "--dynamic", LIBRARY], check=True, capture_output=True, text=True)
        self.assertRegex(name.stdout, r"SONAME.*\[libcpt\.so\.\d+\]")


if __name__ == "__main__":
    unittest.main()
