"""The examples in docstrings print what they show, stubs and types are sound, and no name is unused."""
import doctest
import importlib
import importlib.util
import pkgutil
import subprocess
import sys
import unittest
from pathlib import Path

import cpt

SOURCE = Path(__file__).resolve().parents[2] / "src/python"


class DocumentationTest(unittest.TestCase):
    def test_examples_in_docstrings(self) -> None:
        tried = 0
        for module in pkgutil.iter_modules(cpt.__path__):
            if module.name.startswith("_"):
                continue
            try:
                loaded = importlib.import_module(f"cpt.{module.name}")
            except ImportError as error:
                print(f"left out: cpt.{module.name}: {error}")
                continue
            result = doctest.testmod(loaded)
            self.assertEqual(result.failed, 0, module.name)
            tried += result.attempted
        self.assertGreater(tried, 9)

    def test_public_names_are_described(self) -> None:
        for name in cpt.__all__:
            public = getattr(cpt, name)
            self.assertTrue(public.__doc__, name)
            for member, value in vars(public).items() if isinstance(public, type) else ():
                if not member.startswith("_") and callable(value):
                    self.assertTrue(value.__doc__, f"{name}.{member}")

    def test_names_with_and_without_scikit_learn(self) -> None:
        self.assertLessEqual(set(cpt.__all__), set(dir(cpt)))
        self.assertEqual("Classifier" in dir(cpt), importlib.util.find_spec("sklearn") is not None)
        program = "import sys; sys.modules['sklearn'] = None; from cpt import *; import cpt; print(Model, 'Classifier' in dir(cpt))"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("<class 'cpt.model.Model'> False\n", ""))

    def test_lints(self) -> None:
        sources = [str(path) for path in [*SOURCE.rglob("*.py"), *Path(__file__).parent.glob("*.py")]]
        for command in (["pyflakes", *sources], ["mypy", "--strict", "--ignore-missing-imports", "--no-error-summary",
                                                 "--cache-dir=/dev/null", str(SOURCE / "cpt")]):
            if importlib.util.find_spec(command[0]) is None:
                print(f"left out: no {command[0]}")
                continue
            done = subprocess.run([sys.executable, "-B", "-m", *command], capture_output=True, text=True)
            self.assertEqual(done.stdout + done.stderr, "")


if __name__ == "__main__":
    unittest.main()
