"""What the README files show of Python is what Python prints."""
import doctest
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class ReadmeTest(unittest.TestCase):
    def test_sessions_print_what_they_show(self) -> None:
        started = Path.cwd()
        with tempfile.TemporaryDirectory(prefix="cpt-readme-") as folder:
            os.chdir(folder)
            self.addCleanup(os.chdir, started)
            subprocess.run(["cpt", "synth", "web-ads", "ads", "--events", "100000"], check=True, capture_output=True)
            for name in ("README.md", "src/python/README.md"):
                text = (ROOT / name).read_text(encoding="utf-8")
                blocks = re.findall(r"```pycon\n(.*?)```", text, re.DOTALL)
                self.assertTrue(blocks, name)
                session = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, name, name, 0)
                runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
                runner.run(session)
                self.assertEqual(runner.failures, 0, name)
            os.chdir(started)


if __name__ == "__main__":
    unittest.main()
