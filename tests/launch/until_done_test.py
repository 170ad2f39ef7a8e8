"""launch/until_done: restarts, exit codes, and signals passed on."""
import subprocess
import sys
import unittest
from pathlib import Path

from scripts import TIMEOUT, ScriptTest

SCRIPT = Path(sys.argv[1]) / "until_done"


class UntilDoneTest(ScriptTest):
    def begin(self, *words: str):
        self.start(SCRIPT, "--pause", "0", *words)

    def expect(self, status: int, starts: int):
        self.expect_exit(status)
        self.assertEqual(self.starts(), starts, self.said())

    # Exit statuses

    def test_success_ends_the_loop(self):
        self.given_exits("0")
        self.begin("mpirun", "-n", "2", "cpt_dist", "--data", "a b")
        self.expect(0, starts=1)
        self.assertEqual(self.notes(), ["start 1: mpirun -n 2 cpt_dist --data a b"])

    def test_75_is_restarted_without_limit(self):
        self.given_exits(*["75"] * 6, "0")
        self.begin("--retries", "0", "mpirun")
        self.expect(0, starts=7)

    def test_errors_that_a_restart_cannot_cure_end_at_once(self):
        for status in (2, 65, 66, 73, 126):
            with self.subTest(status=status):
                self.setUp()
                self.given_exits(str(status))
                self.begin("mpirun")
                self.expect(status, starts=1)

    def test_a_file_system_that_was_there_may_come_back(self):
        for status in ("66", "73"):
            with self.subTest(status=status):
                self.setUp()
                self.given_exits(status, "1", status, "75", status, "0")
                self.given_checkpoint(1, "cpt-run")
                self.begin("mpirun")
                self.expect(0, starts=6)

    def test_a_file_system_that_does_not_come_back(self):
        self.given_exits("75", *["66"] * 4)
        self.begin("mpirun")
        self.expect(66, starts=5)
        self.assertIn("giving up after 3 restarts without progress", self.said())

    def test_a_file_system_is_given_ten_times_as_long(self):
        self.given_exits("75", "73", "0")
        self.start(SCRIPT, "--pause", "100", "mpirun")
        self.wait_until(lambda: "exit status 73, starting again in 1000 s" in self.said())
        self.send("TERM")
        self.expect(73, starts=2)

    def test_a_checkpoint_that_cannot_be_seen_is_no_progress(self):
        """The run directory went with its file system."""
        self.given_exits("0")
        (self.folder / "cpt-run/checkpoints/1").mkdir(parents=True)
        (self.folder / "cpt-run/checkpoints/1/MANIFEST").touch()
        self.begin("sh", "-c", "mpirun; rm -r cpt-run; exit 73")
        self.expect(73, starts=1)

    def test_failures_are_restarted_three_times(self):
        self.given_exits("1", "137", "kills itself", "1")
        self.begin("mpirun")
        self.expect(1, starts=4)
        self.assertIn("exit status 143, starting again", self.said())
        self.assertIn("giving up after 3 restarts without progress", self.said())

    def test_retries(self):
        for retries, plans in ((0, ["1"]), (1, ["1", "139"])):
            with self.subTest(retries=retries):
                self.setUp()
                self.given_exits(*plans)
                self.begin("--retries", str(retries), "mpirun")
                self.expect(int(plans[-1]), starts=len(plans))

    def test_75_is_progress(self):
        self.given_exits("1", "75", "1", "0")
        self.begin("--retries", "1", "mpirun")
        self.expect(0, starts=4)

    def test_a_new_checkpoint_is_progress(self):
        for words, run in ((["--run", "runs/a"], "runs/a"), (["--run=runs/b"], "runs/b"), ([], "cpt-run")):
            with self.subTest(run=run):
                self.setUp()
                self.given_exits("1", "1", "1", "1")
                self.given_checkpoint(2, run)
                self.begin("--retries", "1", "mpirun", *words)
                self.expect(1, starts=3)

    # Signals

    def test_usr1_is_passed_on_and_the_command_goes_on(self):
        self.given_exits("0 on USR2")
        self.begin_until_it_runs("mpirun")
        self.send("USR1")
        self.wait_for_note("got USR1")
        self.assertIsNone(self.script.poll())
        self.send("USR2")
        self.expect(0, starts=1)
        self.assertEqual(self.signals(), ["USR1", "USR2"])

    def test_requests_to_stop_are_passed_on_as_usr2_and_end_the_loop(self):
        for name in ("USR2", "TERM", "INT", "HUP"):
            with self.subTest(name=name):
                self.setUp()
                self.given_exits("75 on USR2")
                self.begin_until_it_runs("mpirun")
                self.send(name)
                self.expect(75, starts=1)
                self.assertEqual(self.signals(), ["USR2"])

    def test_the_request_is_repeated_until_the_command_ends(self):
        self.given_exits("75 on second USR2")
        self.begin_until_it_runs("mpirun")
        self.send("TERM")
        self.expect(75, starts=1)
        self.assertEqual(self.signals(), ["USR2", "USR2"])

    def test_a_second_term_is_passed_on_as_term(self):
        self.given_exits("143 on TERM")
        self.begin_until_it_runs("mpirun")
        self.send("TERM")
        self.wait_for_note("got USR2")
        self.send("TERM")
        self.expect(143, starts=1)
        self.assertEqual(self.signals(), ["USR2", "TERM"])

    def test_a_command_killed_by_the_request_is_not_restarted(self):
        self.given_exits("killed by USR2")
        self.begin_until_it_runs("mpirun")
        self.send("TERM")
        self.expect(128 + 12, starts=1)

    def test_stop_in_the_pause_before_a_restart(self):
        self.given_exits("1")
        self.start(SCRIPT, "--pause", "1000", "mpirun")
        self.wait_for_note("start 1")
        self.wait_until(lambda: "starting again in 1000 s" in self.said())
        self.send("TERM")
        self.expect(1, starts=1)

    # Usage

    def test_usage_errors(self):
        for words in ([], ["--retries"], ["--retries", "x", "mpirun"], ["--pause", "-1", "mpirun"], ["--no", "mpirun"]):
            with self.subTest(words=words):
                self.start(SCRIPT, *words)
                self.expect(2, starts=0)
                self.assertIn("see until_done --help", self.said())

    def test_help(self):
        shown = subprocess.run([SCRIPT, "--help"], capture_output=True, text=True, timeout=TIMEOUT, check=True)
        self.assertRegex(shown.stdout, "^usage: until_done")

    def test_a_missing_command(self):
        self.begin("no_such_command")
        self.expect(127, starts=0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
