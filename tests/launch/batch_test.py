"""launch/batch/*.sh: commands, signals passed on, requeuing and exit codes, with stub programs."""
import os
import signal
import sys
import unittest
from pathlib import Path

from scripts import ScriptTest

# A stub of sleep that leaves out the pause after an error of files.
WITHOUT_PAUSE = '#!/bin/sh\n[ "$1" = 60 ] || exec /bin/sleep "$@"\n'
TEMPLATES = Path(sys.argv[1]) / "batch"


class BatchTest(ScriptTest):
    """The template under test, the batch system's variables, and the exit code that means that the job is queued again."""

    template = ""
    submit = ""  # the command that submits it
    variables: dict[str, str] = {}
    queued_again_status = 75
    mpirun_options = ""

    def begin(self, **environment: str):
        self.start("/bin/bash", TEMPLATES / self.template,
                   **{**self.variables, "DATA": "train", "RUN": "runs/a", **environment})

    def requeues(self) -> list[str]:
        return [note for note in self.notes() if not note.startswith(("start ", "got "))]

    def expect_queued_again(self):
        self.expect_exit(self.queued_again_status)

    def expect_ended(self, status: int):
        self.expect_exit(status)
        self.assertEqual(self.requeues(), [])


class Common:
    """Tests that every template passes."""

    notice = "USR1"  # the batch system's warning before the end
    end = "TERM"     # its signal to end the job
    ended_status = 75

    def test_starts_or_resumes(self):
        self.given_exits("0")
        self.begin(OPTIONS="--passes 2\n  --bits\t20\n", MPIRUN_OPTIONS="--bind-to\nnone", CPT_DIST="/opt/my cpt")
        self.expect_ended(0)
        self.assertEqual(self.notes(), [f"start 1: mpirun {self.mpirun_options}--bind-to none -n 2 /opt/my cpt "
                                        "--resume --data train --run runs/a --passes 2 --bits 20"])

    def test_arguments_print_the_help(self):
        for word, status in (("--help", 0), ("-h", 0), ("--passes", 2)):
            for variables in ({}, self.variables):
                with self.subTest(word=word, variables=variables):
                    self.setUp()
                    self.start("/bin/bash", TEMPLATES / self.template, word, **variables)
                    self.expect_ended(status)
                    self.assertEqual(self.starts(), 0)
                    self.assertRegex(self.said(), "^cpt_dist under ")
                    self.assertIn(f"  {self.submit}{self.template} ", self.said())
                    self.assertNotIn("#", self.said())

    def test_it_starts_nothing_outside_a_job(self):
        self.start("/bin/bash", TEMPLATES / self.template, DATA="train", RUN="runs/a")
        self.expect_ended(2)
        self.assertEqual(self.starts(), 0)
        self.assertIn(f"submit it with {self.submit}{TEMPLATES / self.template}\n", self.said())

    def test_a_finished_run_is_left_alone(self):
        (self.folder / "runs/a").mkdir(parents=True)
        (self.folder / "runs/a/summary.json").touch()
        self.begin()
        self.expect_ended(0)
        self.assertEqual(self.starts(), 0)

    def test_failures_end_the_job(self):
        for status in (1, 2, 65, 66, 73, 137):
            with self.subTest(status=status):
                self.setUp()
                self.stub("sleep", WITHOUT_PAUSE)
                self.given_exits(str(status))
                self.begin()
                self.expect_ended(status)

    def test_a_job_that_made_progress_is_queued_again_after_errors_of_files(self):
        for status in ("66", "73"):
            with self.subTest(status=status):
                self.setUp()
                self.stub("sleep", WITHOUT_PAUSE)
                self.given_exits(status)
                self.given_checkpoint(1, "runs/a")
                self.begin()
                self.expect_queued_again()

    def test_75_is_queued_again_without_a_notice(self):
        self.given_exits("75")
        self.begin()
        self.expect_queued_again()

    def test_exit_codes_after_the_notice(self):
        queued_again = None
        for plan, status in (("75 on USR2", queued_again), ("killed by USR2", queued_again),  # too early for a handler
                             ("73 on USR2", 73), ("0 on USR2", 0)):
            with self.subTest(plan=plan):
                self.setUp()
                self.given_exits(plan)
                self.begin_until_it_runs()
                self.send(self.notice)
                if status is queued_again:
                    self.expect_queued_again()
                else:
                    self.expect_ended(status)
                self.assertEqual(self.signals(), ["USR2"] if " on " in plan else [])

    def test_the_end_saves_but_requeues_nothing(self):
        self.given_exits("75 on USR2")
        self.begin_until_it_runs()
        self.send(self.end)
        self.expect_ended(self.ended_status)
        self.assertEqual(self.signals(), ["USR2"])

    def test_the_request_is_repeated(self):
        """A rank that is just starting does not hear the first one."""
        self.given_exits("75 on second USR2")
        self.begin_until_it_runs()
        self.send(self.notice)
        self.expect_queued_again()
        self.assertEqual(self.signals(), ["USR2", "USR2"])

    def test_two_signals(self):
        """Slurm sends notice and end at once if a partition pre-empts without a grace time."""
        for first, second in ((self.notice, self.notice), (self.notice, self.end), (self.end, self.notice)):
            with self.subTest(first=first, second=second):
                self.setUp()
                self.given_exits("75 on TERM")
                self.begin_until_it_runs()
                for count, name in enumerate((first, second), 1):
                    self.send(name)
                    self.wait_for_signals(count)
                self.assertIsNone(self.script.poll())  # it waits for mpirun, however often it is interrupted
                os.kill(self.trainer(), signal.SIGUSR1)
                self.wait_for_signals(3)
                self.finish_trainer()
                if self.end in (first, second):
                    self.expect_ended(self.ended_status)
                else:
                    self.expect_queued_again()

    def test_mpirun_ignores_term(self):
        """Batch systems send it to all processes of a job."""
        self.given_exits("75 on USR2")
        self.begin_until_it_runs()
        os.kill(self.trainer(), signal.SIGTERM)
        os.kill(self.trainer(), signal.SIGUSR1)
        self.wait_for_signals(1)
        self.send(self.notice)
        self.expect_queued_again()
        self.assertEqual(self.signals(), ["USR1", "USR2"])

    # The stub of mpirun that waits for a signal which no script passes on.

    def trainer(self) -> int:
        return int((self.folder / "notes.start1/pid").read_text())

    def finish_trainer(self):
        (self.folder / "notes.start1/finish").touch()

    def wait_for_signals(self, count: int):
        self.wait_until(lambda: len(self.signals()) >= count)


class SlurmTest(Common, BatchTest):
    template = "slurm.sh"
    submit = "sbatch "
    variables = {"SLURM_JOB_ID": "17", "SLURM_NTASKS": "2"}

    def setUp(self):
        super().setUp()
        self.stub("scontrol")

    def expect_queued_again(self):
        super().expect_queued_again()
        self.assertEqual(self.requeues(), ["scontrol requeue 17"])

    def test_where_requeue_is_not_allowed(self):
        self.given_exits("75")
        self.begin(SCONTROL_STATUS="1")
        self.expect_exit(75)
        self.assertIn("cannot be requeued; submit it again", self.said())

    def test_where_it_is_queued_already(self):
        """Pre-emption requeues the job, and the ranks may be done with the notice before the end comes."""
        self.stub("scontrol", "#!/bin/sh\necho Job is pending execution for job 17 >&2\nexit 1\n")
        self.given_exits("75 on USR2")
        self.begin_until_it_runs()
        self.send(self.notice)
        self.expect_exit(75)
        self.assertIn("is queued already", self.said())
        self.assertNotIn("submit it again", self.said())


# As qstat prints them, in the order and with the line breaks of OpenPBS.
PBS_JOB = """\
Job Id: 17.host
    Job_Name = cpt_dist
    queue = long
    Account_Name = ads
    Resource_List.mpiprocs = 128
    Resource_List.nodect = 2
    Resource_List.nodes = 2:ppn=64
    Resource_List.select = 1:ncpus=64:mpiprocs=64:mem=200gb:arch=linux+1:ncpus=64:
\tmpiprocs=64:mem=400gb
    Resource_List.walltime = $LIMIT
    substate = 42
"""


class PbsTest(Common, BatchTest):
    template = "pbs.sh"
    submit = "qsub "

    def setUp(self):
        super().setUp()
        for name in ("qrerun", "qsub"):
            self.stub(name)
        self.stub("qstat", f"#!/bin/sh\ncat <<END\n{PBS_JOB}END\n")
        (self.folder / "pbs.sh").touch()
        nodes = self.folder / "nodes"
        nodes.write_text("a\na\n", encoding="ascii")
        self.variables = {"PBS_JOBID": "17.host", "PBS_NODEFILE": str(nodes), "PBS_O_WORKDIR": str(self.folder),
                          "LIMIT": "24:00:00", "PBS_O_QUEUE": "incoming"}
        self.mpirun_options = f"--hostfile {nodes} "

    def expect_queued_again(self):
        super().expect_queued_again()
        self.assertEqual(self.requeues(), ["qrerun 17.host"])

    def test_where_only_operators_may_rerun_jobs_a_successor_is_submitted(self):
        self.given_exits("75")
        self.begin(QRERUN_STATUS="1")
        self.expect_exit(75)
        self.assertEqual(self.requeues(), [
            "qrerun 17.host",
            "qsub -l select=1:ncpus=64:mpiprocs=64:mem=200gb:arch=linux+1:ncpus=64:mpiprocs=64:mem=400gb "
            "-l walltime=24:00:00 -q incoming -A ads -W depend=afterany:17.host "
            f"-v RANKS,DATA,RUN,OPTIONS,CPT_DIST,MPIRUN_OPTIONS,SCRIPT,NOTICE {self.folder}/pbs.sh"])

    def test_the_successor_gets_no_limits_that_pbs_does_not_know(self):
        self.stub("qstat", "#!/bin/sh\nexit 1\n")
        del self.variables["PBS_O_QUEUE"]
        self.given_exits("75")
        self.begin(QRERUN_STATUS="1")
        self.expect_exit(75)
        self.assertRegex(self.requeues()[-1], "^qsub -W depend=afterany:17.host -v ")

    def test_script_must_exist(self):
        (self.folder / "pbs.sh").unlink()
        self.begin()
        self.expect_ended(2)
        self.assertEqual(self.starts(), 0)
        self.assertIn(f"SCRIPT={self.folder}/pbs.sh does not exist", self.said())
        (self.folder / "launch").mkdir()
        (self.folder / "launch/pbs.sh").touch()
        self.given_exits("0")
        self.begin(SCRIPT="launch/pbs.sh")
        self.expect_ended(0)

    def test_where_nothing_is_allowed(self):
        self.given_exits("75")
        self.begin(QRERUN_STATUS="1", QSUB_STATUS="1")
        self.expect_exit(75)
        self.assertIn("cannot be requeued; submit it again", self.said())

    def test_its_own_timer(self):
        for limit in ("0:02:01", "121", "2:1", "60"):
            with self.subTest(limit=limit):
                self.setUp()
                self.given_exits("75 on USR2")
                self.begin_until_it_runs(NOTICE="120", LIMIT=limit)
                self.expect_queued_again()

    def test_without_a_time_limit(self):
        self.stub("qstat", "#!/bin/sh\nexit 1\n")
        self.given_exits("0")
        self.begin()
        self.expect_ended(0)
        self.assertIn("no time limit known", self.said())


class LsfTest(Common, BatchTest):
    template = "lsf.sh"
    submit = "bsub <"
    variables = {"LSB_JOBID": "17", "LSB_DJOB_NUMPROC": "2", "LSB_DJOB_HOSTFILE": "hosts"}
    mpirun_options = "--hostfile hosts "
    notice = "USR2"
    ended_status = 143

    def test_bkill_begins_with_int(self):
        self.given_exits("75 on USR2")
        self.begin_until_it_runs()
        self.send("INT")
        self.expect_ended(143)

    def test_usr1_is_passed_on_and_the_job_goes_on(self):
        self.given_exits("0 on USR1")
        self.begin_until_it_runs()
        self.send("USR1")
        self.expect_ended(0)

    def test_lsf_queues_again_what_exits_with_this(self):
        self.assertIn('\n#BSUB -Q "75"\n', (TEMPLATES / self.template).read_text(encoding="utf-8"))


class SgeTest(Common, BatchTest):
    template = "sge.sh"
    submit = "qsub "
    variables = {"JOB_ID": "17", "NSLOTS": "2"}
    queued_again_status = 99  # Grid Engine queues a job again that exits with this

    def test_qdel_with_notify(self):
        self.given_exits("75 on USR2")
        self.begin_until_it_runs()
        self.send("USR2")
        self.expect_ended(75)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
