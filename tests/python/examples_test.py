"""The examples print what their README shows."""
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "src/python/examples"


class ExamplesTest(unittest.TestCase):
    def test_each_prints_what_the_readme_shows(self) -> None:
        text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
        shown = dict(re.findall(r"^## `(\w+\.py)`$.*?^```text\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
        self.assertEqual(set(shown), {path.name for path in EXAMPLES.glob("*.py")})
        for name, expected in shown.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([sys.executable, "-B", EXAMPLES / name], cwd=folder, capture_output=True, text=True,
                                      timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout, expected)


if __name__ == "__main__":
    unittest.main()
