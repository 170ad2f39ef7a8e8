#!/usr/bin/env python3
"""Runs the commands that README files show and compares their output with what is shown.

    run.py --programs BUILD/src/app README...

A block marked ```console is run: `$ ` begins a command, a backslash at the end of a line continues it, and the lines
below are its output, of both streams. `...` matches anything: any lines if it stands alone, any text within a line. A
command without output lines may print what it likes. The commands of one file run in order in one new folder, under bash,
with the programs on PATH. Other blocks are not run.

The last line is `N passed, N failed`. Exit code 0 if all passed, 1 if a command failed, printed something else or no file
has a command.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

COMMAND_SECONDS = 300

# Open MPI: allow root, and more ranks than cores; do not use a kernel call that containers refuse.
MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}


@dataclass
class Step:
    line: int
    command: str
    output: list[str] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, required=True, help="folder of cpt and cpt_dist")
    parser.add_argument("readmes", type=Path, nargs="+")
    options = parser.parse_args()
    environment = os.environ | MPI_ENVIRONMENT | {
        "PATH": f"{options.programs.resolve()}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    passed = failed = 0
    for readme in options.readmes:
        with tempfile.TemporaryDirectory(prefix="readme-") as folder:
            for step in steps(readme.read_text(encoding="utf-8")):
                problem = problem_of(step, folder, environment)
                if problem:
                    failed += 1
                    print(f"{readme}:{step.line}: $ {step.command}\n{problem}\n", flush=True)
                else:
                    passed += 1
    if passed + failed == 0:
        print("no file has a ```console block")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


def steps(text: str) -> list[Step]:
    found: list[Step] = []
    inside = continued = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            inside, continued = line.strip() == "```console", False
        elif inside and continued:
            found[-1].command += "\n" + line
            continued = line.endswith("\\")
        elif inside and line.startswith("$ "):
            found.append(Step(number, line[2:]))
            continued = line.endswith("\\")
        elif inside and found:
            found[-1].output.append(line.rstrip())
    return found


def problem_of(step: Step, folder: str, environment: dict[str, str]) -> str:
    try:
        done = subprocess.run(["bash", "-o", "pipefail", "-c", step.command], cwd=folder, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=COMMAND_SECONDS, text=True, errors="replace", check=False)
    except subprocess.TimeoutExpired:
        return f"took longer than {COMMAND_SECONDS} s"
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    # head closes a pipe early, and the writer before it ends with SIGPIPE.
    if done.returncode not in (0, 141):
        return f"exit code {done.returncode}\n" + "\n".join(lines[-30:])
    if step.output and not matches(step.output, lines):
        return "\n".join(["shown:", *step.output, "printed:", *lines])
    return ""


def matches(shown: list[str], printed: list[str]) -> bool:
    pattern = ""
    for line in shown:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in line.split("...")) + r"\n"
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


if __name__ == "__main__":
    sys.exit(main())
