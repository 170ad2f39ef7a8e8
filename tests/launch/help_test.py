"""Scripts print their help for --help and for a wrong number of arguments, and start nothing."""
import sys
import unittest
from pathlib import Path

from scripts import ScriptTest

LAUNCH = Path(sys.argv[1])
BENCH = LAUNCH.parent / "tests/bench"


class HelpTest(ScriptTest):
    def setUp(self):
        super().setUp()
        for name in ("apt-get", "cmake"):
            self.stub(name)

    def scripts(self) -> list[Path]:
        bash = b"#!/usr/bin/env bash\n"
        benches = [path for path in BENCH.iterdir() if path.is_file() and path.read_bytes().startswith(bash)]
        return [*(LAUNCH / name for name in ("demo", "demo_shards", "install_packages", "test")), *benches]

    def expect_head(self, script: Path, status: int):
        self.expect_exit(status)
        first = script.read_text(encoding="utf-8").splitlines()[1].removeprefix("# ")
        self.assertTrue(self.said().startswith(first + "\n"), self.said())
        self.assertIn(f"{script.relative_to(LAUNCH.parent)}", self.said())
        self.assertNotIn("set -", self.said())
        self.assertEqual(self.notes(), [])

    def test_help_is_the_comment_at_the_head(self):
        for script in self.scripts():
            with self.subTest(script=script.name):
                self.start(script, "--help")
                self.expect_head(script, 0)

    def test_words_are_counted_first(self):
        for script in self.scripts():
            with self.subTest(script=script.name):
                self.start(script, *(["one", "two"] if script.parent == LAUNCH else []))
                self.expect_head(script, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
