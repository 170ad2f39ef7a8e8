"""launch/batch/slurm.sh in a real Slurm: it goes on over everything that stops it, to the model of an undisturbed run.

Usage: slurm_test.py CPT_DIST SLURM_SH. Exit status 77, with the reason, where no cluster can be had.
"""
import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from cluster import Cluster, NoCluster, wait_until

PROGRAM, TEMPLATE = (str(Path(word).resolve()) for word in sys.argv[1:3])
SHARDS = 4
EXAMPLES_OF_A_SHARD = 5000
LABELS = 500
WORDS = 5000
PASSES = 20  # so many that a job surely still runs when it has made its first report
RANKS = "2"
ONE_MACHINE = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}


def write_shards(folder: Path):
    """Each label has favourite words, so there is something to learn."""
    chance = random.Random(1)
    folder.mkdir()
    for shard in range(SHARDS):
        with open(folder / f"{shard}.vw", "w", encoding="ascii") as file:
            for _ in range(EXAMPLES_OF_A_SHARD):
                label = min(chance.randrange(LABELS), chance.randrange(LABELS))
                words = [(label * 7 + chance.randrange(9)) % WORDS for _ in range(5)]
                print(f"l{label}", "|w", *words, chance.randrange(WORDS), file=file)


def model_of(run: Path) -> dict:
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    return {part: summary[part]["digest"] for part in ("tree", "weights")}


class SlurmTest(unittest.TestCase):
    cluster: Cluster

    @classmethod
    def setUpClass(cls):
        cls.data = cls.cluster.folder / "train"
        write_shards(cls.data)
        undisturbed = cls.cluster.folder / "undisturbed"
        subprocess.run(["mpirun", "-n", RANKS, PROGRAM, "--data", cls.data, "--run", undisturbed, *cls.options()],
                       env={**os.environ, **ONE_MACHINE}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       check=True)
        cls.model = model_of(undisturbed)

    @staticmethod
    def options() -> list[str]:
        return ["--passes", str(PASSES), "--bits", "16", "--progress", "none"]

    def setUp(self):
        self.run_folder = self.cluster.folder / self.id().rpartition(".")[2]
        self.output = self.run_folder.with_suffix(".out")
        self.job = ""
        self.reports_when_stopped: list[str] = []
        self.addCleanup(self.show_if_failed)

    def show_if_failed(self):
        if any(error for _, error in self._outcome.result.failures + self._outcome.result.errors):
            print(self.output.read_text() if self.output.exists() else "no output", self.cluster.logs(), sep="\n")
            self.end_job()

    def end_job(self):
        """So that the tests after this one have the node for themselves."""
        for words in (("--signal=KILL", "--full"), ()):
            with contextlib.suppress(RuntimeError):  # of a job that does not run, or has ended
                self.cluster.command("scancel", *words, self.job)

    def submit(self, *words: str):
        self.job = self.cluster.submit(
            f"--ntasks={RANKS}", f"--output={self.output}", *words, TEMPLATE, **ONE_MACHINE, CPT_DIST=PROGRAM,
            DATA=str(self.data), RUN=str(self.run_folder), OPTIONS=" ".join(self.options()))

    def reports(self) -> list[str]:
        metrics = self.run_folder / "metrics.jsonl"
        return metrics.read_text(encoding="utf-8").splitlines() if metrics.exists() else []

    def ranks(self) -> list[int]:
        """Processes of the job under test that mpirun has started."""
        found = []
        for words in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                command = words.read_text().split("\0")
            except OSError:
                continue  # it has ended
            if PROGRAM in command[:2] and str(self.run_folder) in command:  # second where PROGRAM is a script
                found.append(int(words.parent.name))
        return found

    def wait_until_learning(self):
        """Stops the ranks when they are learning, so that what happens next happens in the middle."""
        wait_until(self.reports, "the first report")
        for rank in self.ranks():
            os.kill(rank, signal.SIGSTOP)

    def go_on(self):
        """Lets the ranks go on when they have been sent what they are to act on."""
        wait_until(lambda: re.search("Forwarding signal|CANCELLED", self.output.read_text()), "a signal to the ranks")
        for rank in self.ranks():
            with contextlib.suppress(ProcessLookupError):  # where Slurm itself has let it go on, it may be gone
                os.kill(rank, signal.SIGCONT)

    def checkpoints(self) -> list[Path]:
        return list(self.run_folder.glob("checkpoints/*/MANIFEST"))

    def expect_stopped_with_checkpoint(self):
        self.assertTrue(self.checkpoints(), "stopped without a checkpoint")
        self.assertFalse((self.run_folder / "summary.json").exists(), "it was done before it was stopped")
        self.reports_when_stopped = self.reports()

    def expect_resumed(self):
        """A run that starts over reports its first example again, at another time."""
        self.assertTrue(self.reports_when_stopped)
        later = [json.loads(line) for line in self.reports() if line not in self.reports_when_stopped]
        self.assertTrue(later, "no report after the restart")
        self.assertGreater(min(report["examples"] for report in later if "examples" in report), 1)

    def expect_same_model(self, restarts: int):
        state = self.cluster.wait_for(self.job, "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "PREEMPTED")
        self.assertEqual(state, "COMPLETED")
        self.assertEqual(self.cluster.field(self.job, "Restarts"), str(restarts))
        self.assertEqual(model_of(self.run_folder), self.model)

    # A job in `high` that wants the whole node. Returns when the job under test has made room for it.
    def preempt(self):
        release = self.run_folder.with_suffix(".release")
        self.addCleanup(release.touch)
        high = self.cluster.submit("--partition=high", f"--ntasks={RANKS}", "--output=/dev/null",
                                   f"--wrap=until [ -e {release} ]; do sleep 0.1; done")
        self.go_on()
        self.cluster.wait_for(high, "RUNNING")
        self.expect_stopped_with_checkpoint()
        self.assertEqual(self.cluster.field(self.job, "JobState"), "PENDING")
        release.touch()

    def test_runs_to_the_end(self):
        self.submit()
        self.expect_same_model(restarts=0)

    def test_notice_before_the_time_limit(self):
        self.submit()
        self.wait_until_learning()
        self.cluster.command("scancel", "--signal=USR1", "--batch", self.job)
        self.go_on()
        self.cluster.wait_for(self.job, "PENDING")
        self.expect_stopped_with_checkpoint()
        self.expect_same_model(restarts=1)
        self.expect_resumed()
        self.assertIn("exit status 75, asked to requeue", self.output.read_text())

    def test_preempted_without_notice(self):
        self.submit("--partition=low")
        self.wait_until_learning()
        self.preempt()
        self.expect_same_model(restarts=1)
        self.expect_resumed()
        # Slurm sends the notice, too, and the ranks may be done before the end comes.
        self.assertRegex(self.output.read_text(), "exit status 75, asked to (stop|requeue)\n")
        self.assertNotIn("submit it again", self.output.read_text())

    def test_preempted_with_notice(self):
        self.submit("--partition=noticed")
        self.wait_until_learning()
        self.preempt()
        self.expect_same_model(restarts=1)
        self.expect_resumed()
        self.assertIn("exit status 75, asked to requeue", self.output.read_text())

    def test_cancelled_stays_cancelled_and_can_be_resumed(self):
        self.submit()
        self.wait_until_learning()
        self.cluster.command("scancel", self.job)
        self.go_on()
        self.cluster.wait_for(self.job, "CANCELLED")
        self.expect_stopped_with_checkpoint()
        self.assertEqual(self.cluster.field(self.job, "Restarts"), "0")
        self.submit()
        self.expect_same_model(restarts=0)
        self.expect_resumed()


def main() -> int:
    try:
        with Cluster() as SlurmTest.cluster:
            return 0 if unittest.main(argv=sys.argv[:1], verbosity=2, exit=False).result.wasSuccessful() else 1
    except NoCluster as reason:
        print(f"skipped: {reason}")
        return 77


if __name__ == "__main__":
    sys.exit(main())
