"""The package that cmake --install and pip install leave works away from the source."""
import os
import subprocess
import sys
import sysconfig
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = os.environ["CPT_BUILD"]

PROGRAM = """
import pathlib, cpt
assert pathlib.Path(cpt.__file__).is_relative_to({prefix!r}), cpt.__file__
model = cpt.Model(bits=12)
model.learn({{"a": 1}}, "x")
print(model.top_k({{"a": 1}}, 1))
"""


class InstallTest(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="cpt-install-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name).resolve()
        self.environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run_quietly(self, *command: object, **environment: str) -> str:
        done = subprocess.run([str(word) for word in command], cwd=self.folder, env={**self.environment, **environment},
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def expect_works(self, python: object, prefix: Path, **environment: str) -> None:
        output = self.run_quietly(python, "-c", PROGRAM.format(prefix=str(prefix)), **environment)
        self.assertEqual(output, "[('x', 1.0)]\n")

    def test_pip_install_into_a_virtual_environment(self) -> None:
        self.run_quietly(sys.executable, "-m", "venv", "--system-site-packages", "venv")
        python = self.folder / "venv/bin/python"
        # A copy, as a user's checkout would be: pip leaves its own files beside setup.py.
        self.run_quietly("cp", "-r", ROOT / "src/python", self.folder / "python")
        setup = self.folder / "python/setup.py"
        setup.write_text(setup.read_text().replace("Path(__file__).resolve().parents[2]", f"Path({str(ROOT)!r})"))
        self.run_quietly(python, "-m", "pip", "install", "--no-build-isolation", "--no-index", "--no-deps",
                         "--disable-pip-version-check", self.folder / "python")
        self.expect_works(python, self.folder / "venv")
        versions = "import importlib.metadata; print(cpt.__version__, importlib.metadata.version('cpt'))"
        ours, of_package = self.run_quietly(python, "-c", f"import cpt; {versions}").split()
        self.assertEqual(ours, of_package)
        stubs = list((self.folder / "venv").rglob("_core.pyi"))
        self.assertEqual(len(stubs), 1)
        self.assertTrue((stubs[0].parent / "py.typed").exists())

    def test_each_build_is_configured_for_its_python(self) -> None:
        log, stub = self.folder / "log", self.folder / "bin/cmake"
        stub.parent.mkdir()
        suffix = sysconfig.get_config_var("EXT_SUFFIX")
        stub.write_text(f"""#!/bin/sh
echo "$@" >>{log}
[ "$1" = --build ] || exit 0
mkdir -p "$2/python/cpt" && touch "$2/python/cpt/_core{suffix}" "$2/CMakeCache.txt"
""")
        stub.chmod(0o755)
        source = self.folder / "src/python"
        source.mkdir(parents=True)
        for name in ("setup.py", "pyproject.toml", "README.md", "cpt"):
            self.run_quietly("cp", "-r", ROOT / "src/python" / name, source)
        variables = {"CPT_BUILD": "", "PATH": f"{stub.parent}:{os.environ['PATH']}", "CMAKE_BUILD_PARALLEL_LEVEL": "3"}
        for _ in range(2):
            self.run_quietly("sh", "-c", f"cd {source} && {sys.executable} setup.py --quiet build_ext", **variables)
        named = self.folder / "named"
        named.mkdir()
        (named / "CMakeCache.txt").touch()
        self.run_quietly("sh", "-c", f"cd {source} && {sys.executable} setup.py --quiet build_ext",
                         **{**variables, "CPT_BUILD": str(named)})
        calls = log.read_text().splitlines()
        for call in (calls[0], calls[2]):
            self.assertTrue(call.endswith(f"-U *Python3_* -DPython3_EXECUTABLE={sys.executable}"), call)
        for call in (calls[1], calls[3]):
            self.assertTrue(call.endswith("--target cpt_python --parallel 3"), call)
        self.assertEqual(calls[4:], [f"--build {named} --target cpt_python --parallel 3"])

    def test_cmake_install(self) -> None:
        prefix = self.folder / "prefix"
        self.run_quietly("cmake", "--install", BUILD, "--prefix", prefix)
        packages = next(prefix.rglob("cpt/__init__.py")).parents[1]
        self.expect_works(sys.executable, prefix, PYTHONPATH=str(packages))
        # It finds the programs of its own prefix.
        data = self.folder / "data"
        data.write_text("x | a\ny | b\n")
        program = f"import cpt, sys; print(cpt.train({str(data)!r}, ranks=1, bits=12, progress=False).labels)"
        path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if not Path(p, "cpt_dist").exists())
        output = self.run_quietly(sys.executable, "-c", program, PYTHONPATH=str(packages), PATH=path)
        self.assertEqual(output, "['x', 'y']\n")


if __name__ == "__main__":
    unittest.main()
