"""Runs a script with stub programs on its path, and sends it signals."""
import contextlib
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from typing import Callable

TIMEOUT = 30  # seconds

# A parent such as nohup may have made the tests ignore these signals, and a shell cannot trap a signal that it inherits as
# ignored.
for _ignored in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(_ignored) is signal.SIG_IGN:
        signal.signal(_ignored, signal.SIG_DFL)

# The stub of mpirun. It appends its arguments and signals to $NOTES. At its N-th start it follows $EXITS/N: "75" exits at
# once, "75 on USR2" on that signal, "75 on second USR2" when it comes again, "killed by USR2" dies of that
# signal, "kills itself" dies at once. A stub that waits for a signal also exits when $NOTES.startN/finish exists; its process
# ID is in $NOTES.startN/pid. If $CHECKPOINTS/N exists, the stub leaves a checkpoint in the run directory named there.
TRAINER = r"""#!/usr/bin/env bash
note() { printf '%s\n' "$*" >>"$NOTES"; }
start=1
while ! mkdir "$NOTES.start$start" 2>/dev/null; do start=$((start + 1)); done
echo $$ >"$NOTES.start$start/pid"
read -r plan <"$EXITS/$start"
if read -r run 2>/dev/null <"$CHECKPOINTS/$start"; then
  mkdir -p "$run/checkpoints/$start"
  touch "$run/checkpoints/$start/MANIFEST"
fi
declare -A got=()
get() {
  note "got $1"
  if [[ $plan == *" on $1" || -n ${got[$1]-} && $plan == *" on second $1" ]]; then exit "${plan%% *}"; fi
  got[$1]=yes
}
for name in USR1 USR2 TERM INT; do
  trap "get $name" "$name"
done
if [[ $plan == 'killed by '* ]]; then trap - "${plan#killed by }"; fi
note "start $start: ${0##*/} $*"
if [[ $plan == 'kills itself' ]]; then trap - TERM && kill -TERM $$; fi
while [[ $plan == *' on '* || $plan == 'killed by '* ]] && [[ ! -e $NOTES.start$start/finish ]]; do sleep 0.02; done
exit "${plan%% *}"
"""

# The stub of a batch system's command. It notes its arguments and exits with $<NAME>_STATUS, or 0.
COMMAND = r"""#!/usr/bin/env bash
name=${0##*/}
printf '%s\n' "$name $*" >>"$NOTES"
status=${name^^}_STATUS
exit "${!status-0}"
"""


class ScriptTest(unittest.TestCase):
    """A temporary folder with stub programs, and one script that runs in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name in ("bin", "exits", "checkpoints"):
            (self.folder / name).mkdir()
        self.stub("mpirun", TRAINER)
        self.environment = {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "HOME": str(self.folder),
            "NOTES": str(self.folder / "notes"), "EXITS": str(self.folder / "exits"),
            "CHECKPOINTS": str(self.folder / "checkpoints"),
        }
        self.script: subprocess.Popen | None = None

    def stub(self, name: str, text: str = COMMAND):
        path = self.folder / "bin" / name
        path.write_text(text, encoding="ascii")
        path.chmod(0o755)

    def given_exits(self, *plans: str):
        """What the stub of mpirun does at its first, second, ... start."""
        for start, plan in enumerate(plans, 1):
            (self.folder / "exits" / str(start)).write_text(plan + "\n", encoding="ascii")

    def given_checkpoint(self, start: int, run: str):
        """The stub of mpirun leaves a checkpoint in this run directory at this start."""
        (self.folder / "checkpoints" / str(start)).write_text(run + "\n", encoding="ascii")

    def start(self, *words: str | Path, **environment: str):
        with open(self.folder / "said", "wb") as said:
            self.script = subprocess.Popen([str(word) for word in words], cwd=self.folder, stdin=subprocess.DEVNULL,
                                           env={**self.environment, **environment}, stdout=said, stderr=said)
        self.addCleanup(self.end_script)

    def begin_until_it_runs(self, *words: str, **environment: str):
        self.begin(*words, **environment)
        self.wait_for_note("start 1")

    def end_script(self):
        """Kills the script and its stub if a failed test left them running."""
        if self.script.poll() is None:
            for file in self.folder.glob("notes.start*/pid"):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(file.read_text()), signal.SIGKILL)
            self.script.kill()
            self.script.wait()

    def send(self, name: str):
        self.script.send_signal(getattr(signal, "SIG" + name))

    def notes(self) -> list[str]:
        path = self.folder / "notes"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def said(self) -> str:
        return (self.folder / "said").read_text(encoding="utf-8")

    def wait_until(self, condition: Callable[[], bool]):
        end = time.monotonic() + TIMEOUT
        while not condition():
            if time.monotonic() > end:
                self.fail(f"waited in vain; notes: {self.notes()}; said: {self.said()}")
            time.sleep(0.02)

    def wait_for_note(self, start: str):
        self.wait_until(lambda: any(note.startswith(start) for note in self.notes()))

    def expect_exit(self, status: int):
        try:
            self.assertEqual(self.script.wait(TIMEOUT), status, self.said())
        except subprocess.TimeoutExpired:
            self.fail(f"still running; notes {self.notes()}; said: {self.said()}")

    def starts(self) -> int:
        return sum(note.startswith("start ") for note in self.notes())

    def signals(self) -> list[str]:
        return [note.removeprefix("got ") for note in self.notes() if note.startswith("got ")]
