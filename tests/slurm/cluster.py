"""A Slurm cluster of one node on this machine: munged, slurmctld and slurmd, of this process, for this process.

Everything lies in a temporary folder and listens on free ports of the loopback interface. Nothing that the machine has
of Slurm or munge is read or changed.
"""
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

COMMANDS = ("munged", "slurmctld", "slurmd", "sbatch", "scancel", "scontrol", "squeue", "sinfo")
TIMEOUT = 60  # seconds for anything that Slurm does
CPUS = 2

# Jobs in `low` are pre-empted at once, those in `noticed` hear of it and have a minute. cred_expire is also how long a
# requeued job waits; Slurm takes no less.
CONFIGURATION = """\
ClusterName=cpt
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SlurmdParameters=config_overrides
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SlurmctldParameters=preempt_send_user_signal
JobRequeue=1
KillWait={timeout}
ReturnToService=2
NodeName=localhost NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=DEFAULT Nodes=localhost State=UP OverSubscribe=NO PreemptMode=REQUEUE
PartitionName=low Default=YES PriorityTier=1 GraceTime=0
PartitionName=noticed PriorityTier=1 GraceTime={timeout}
PartitionName=high PriorityTier=2 PreemptMode=OFF
"""


class NoCluster(Exception):
    """Why there can be none here."""


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def wait_until(condition, what: str, timeout: float = TIMEOUT):
    """The first true value of condition(); an error that says `what` if there is none in time."""
    end = time.monotonic() + timeout
    while not (value := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"not within {timeout} s: {what}")
        time.sleep(0.05)
    return value


class Cluster:
    """Use it in a `with` statement: at its end all that it started, jobs included, has ended."""

    def __init__(self):
        if os.geteuid() != 0:
            raise NoCluster("Slurm's daemons want root")
        missing = [name for name in COMMANDS if not shutil.which(name)]
        if missing:
            raise NoCluster(f"no {', '.join(missing)} (packages slurm-wlm, munge)")
        self.folder = Path(tempfile.mkdtemp(prefix="cpt-slurm-"))
        self._daemons: list[subprocess.Popen] = []
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
        self.environment["SLURM_CONF"] = str(self.folder / "slurm.conf")

    def __enter__(self) -> "Cluster":
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for daemon in reversed(self._daemons):
            daemon.terminate()
        for daemon in self._daemons:
            try:
                daemon.wait(TIMEOUT / 4)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        _end_orphans()
        shutil.rmtree(self.folder)

    def command(self, *words: str, **environment: str) -> str:
        """What a command of Slurm prints."""
        done = subprocess.run(words, env={**self.environment, **environment}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=TIMEOUT, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)} failed with {done.returncode}: {done.stderr}")
        return done.stdout.strip()

    def submit(self, *words: str, **environment: str) -> str:
        """sbatch with these words; the id of the job."""
        return self.command("sbatch", "--parsable", *words, **environment)

    def field(self, job: str, name: str) -> str:
        """What `scontrol show job` says, such as JobState or Restarts."""
        words = self.command("scontrol", "--oneliner", "show", "job", job).split()
        return next(word.partition("=")[2] for word in words if word.startswith(name + "="))

    def wait_for(self, job: str, *states: str) -> str:
        return wait_until(lambda: (state := self.field(job, "JobState")) in states and state,
                          f"job {job} {' or '.join(states)}")

    def logs(self) -> str:
        return "\n".join(f"{log.name}:\n{log.read_text(errors='replace')[-2000:]}"
                         for log in sorted(self.folder.glob("*.log")))

    def _start(self):
        _adopt_orphans()
        self.folder.chmod(0o755)  # munge lets everybody connect
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        controller_port, node_port = _free_ports(2)
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            folder=self.folder, controller_port=controller_port, node_port=node_port, timeout=TIMEOUT, cpus=CPUS))
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        munge = self.folder / "munge.socket"
        self._daemon("munged", "--foreground", f"--key-file={key}", f"--socket={munge}",
                     f"--pid-file={self.folder}/munged.pid", f"--seed-file={self.folder}/munge.seed")
        wait_until(munge.exists, "munged listens")
        self._daemon("slurmctld", "-D")
        self._daemon("slurmd", "-D", "-N", "localhost")
        wait_until(self._is_idle, "the node is idle")

    def _daemon(self, *words: str):
        with open(self.folder / f"{words[0]}.log", "wb") as log:
            self._daemons.append(subprocess.Popen(words, env=self.environment, stdin=subprocess.DEVNULL, stdout=log,
                                                  stderr=subprocess.STDOUT, start_new_session=True))

    def _is_idle(self) -> bool:
        for daemon in self._daemons:
            if daemon.poll() is not None:
                raise RuntimeError(f"{daemon.args[0]} ended:\n{self.logs()}")
        # Fails until slurmctld listens.
        asked = subprocess.run(["sinfo", "--noheader", "--partition=low", "--format=%T"], env=self.environment,
                               stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT, check=False)
        return asked.stdout.strip() == "idle"


def _adopt_orphans():
    """From now on processes whose parent ended, such as Slurm's job steps, are children of this one."""
    set_child_subreaper = 36
    if ctypes.CDLL(None, use_errno=True).prctl(set_child_subreaper, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def _children() -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        if parent == os.getpid():
            found.append(int(status.parent.name))
    return found


def _end_orphans():
    """Ends all children, and theirs as they become children."""
    while children := _children():
        for child in children:
            os.kill(child, signal.SIGKILL)
        for child in children:
            os.waitpid(child, 0)
