"""run.py passes commands that print what is shown, and fails others."""
import os
import unittest

import run


class RunTest(unittest.TestCase):
    def problem(self, block: str) -> str:
        (step,) = run.steps(f"text\n```sh\n$ false\n```\n```console\n{block}\n```\n$ false\n")
        return run.problem_of(step, "/", dict(os.environ))

    def test_what_is_shown_passes(self):
        self.assertEqual(self.problem("$ echo a; echo b\na\nb"), "")
        self.assertEqual(self.problem("$ echo a"), "")
        self.assertEqual(self.problem("$ echo a; \\\n  echo b >&2\na\nb"), "")

    def test_dots_match_anything(self):
        self.assertEqual(self.problem("$ seq 5\n1\n...\n5"), "")
        self.assertEqual(self.problem("$ echo took 3.5 s\ntook ... s"), "")

    def test_other_output_fails(self):
        self.assertIn("printed:\nb", self.problem("$ echo b\na"))
        self.assertIn("printed:", self.problem("$ seq 5\n1\n...\n4"))
        self.assertIn("printed:", self.problem("$ seq 2\n1"))

    def test_a_command_that_fails_is_found(self):
        self.assertIn("exit code 1", self.problem("$ echo a; false\na"))
        self.assertIn("exit code 1", self.problem("$ false | cat"))


if __name__ == "__main__":
    unittest.main()
