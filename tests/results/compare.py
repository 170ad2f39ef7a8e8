#!/usr/bin/env python3
"""Shows that cpt_dist still computes what it computed when tests/results/expected.json was recorded.

    compare.py --programs BUILD/src/app --data DATA_FOLDER [--only PATTERN] [--record] [--work FOLDER]

DATA_FOLDER holds make.py and the compressed sets nvd, novels and rcv1. The script makes shards of them, trains on the
shards with cpt_dist, and compares the figures in each summary.json with the recorded ones: the losses, the shape and
digest of the tree, the digest of the weights. A figure must be the same number to the last digit. Some runs must also
equal one another: the same data on 1, 3 and 8 ranks, and a stopped and resumed run and one that was never stopped.

--only selects runs by a shell pattern, such as 'nvd-*'. --record writes the figures of the selected runs to
expected.json instead of comparing them. --work keeps the shards in FOLDER, so that the next call need not make them.

The last line is 'N passed, N failed', and ', N skipped' where --only left some out. Exit code: 0 all passed, 1 a run
failed, 2 wrong usage, 77 no data. Needs Python 3.10, zstd and Open MPI.
"""
import argparse
import fnmatch
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

EXPECTED = Path(__file__).resolve().parent / "expected.json"
STOPPED_ON_REQUEST = 75  # the exit code of cpt_dist after SIGUSR2
NO_DATA = 77
STAGE_SECONDS = 300      # a job that takes longer has failed

# Open MPI: allow root, and more ranks than cores; do not use a kernel call that containers refuse.
ENVIRONMENT = os.environ | {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}

# Name of a folder of shards -> arguments of make.py, which makes 8 shards and keeps the last fifth for the test.
SHARDS = {
    "nvd": ["nvd"],
    "nvd-40k": ["nvd", "--examples", "40000"],
    "novels-300k": ["novels", "--examples", "300000"],
    "rcv1": ["rcv1"],
}

LOSSES = ["examples", "new_labels", "squared", "squared_ci", "squared_seen", "log", "log_seen", "brier_seen",
          "equivalent", "top1_error_seen"]
FIGURES = {
    "train": LOSSES,
    "test": LOSSES,
    "tree": ["labels", "depth_max", "depth_mean", "depth_bound", "disagreements", "digest"],
    "weights": ["digest"],
}


class Failure(Exception):
    """A run that did not end as it should."""


@dataclass(frozen=True)
class Stage:
    """One start of cpt_dist."""
    options: str
    with_test: bool = True  # stream the test part after the last pass
    stop: bool = False      # stop the job once it has written a checkpoint


@dataclass(frozen=True)
class Run:
    """Stages, one after the other in the same run folder. The figures of the run are those of the last stage."""
    name: str
    shards: str
    ranks: int
    stages: tuple[Stage, ...]
    equals: str = ""  # the run before it that must have the same figures
    in_parts: tuple[str, ...] = tuple(FIGURES)


def all_runs() -> list[Run]:
    runs = []
    for shards in ("nvd", "rcv1", "novels-300k"):
        for ranks in (1, 3, 8):
            runs.append(Run(f"{shards}-{ranks}", shards, ranks, (Stage("--bits 20"),), f"{shards}-1"))
    for ranks in (1, 3):
        stage = Stage("--bits 20 --update adaptive --calibrate off")
        runs.append(Run(f"nvd-plain-{ranks}", "nvd", ranks, (stage,), "nvd-plain-1"))
    for ranks in (1, 3, 8):
        runs.append(Run(f"nvd-trees-{ranks}", "nvd", ranks, (Stage("--bits 20 --trees 2"),), "nvd-trees-1"))
    for rule in ("confidence", "contraction", "average"):
        stage = Stage(f"--bits 18 --placement replicated --merge {rule}")
        runs.append(Run(f"nvd-{rule}-3", "nvd", 3, (stage,)))
    for ranks in (3, 8):
        runs.append(Run(f"nvd-hybrid-{ranks}", "nvd", ranks, (Stage("--bits 20 --placement hybrid"),)))
    for name, options in {
        "random": "--bits 20 --tree random",
        "balanced": "--bits 20 --tree balanced",
        "cpecoc": "--bits 20 --method cpecoc --arity 16",
    }.items():
        for ranks in (1, 3):
            runs.append(Run(f"rcv1-{name}-{ranks}", "rcv1", ranks, (Stage(options),), f"rcv1-{name}-1"))
    # These are replicated on several ranks, so that they compute something else there than on one.
    for name, options in {
        "pecoc": "--bits 20 --method pecoc",
        "oaa": "--bits 20 --method oaa",
        "table": "--method table",
    }.items():
        for ranks in (1, 3):
            runs.append(Run(f"rcv1-{name}-{ranks}", "rcv1", ranks, (Stage(options),)))

    two_passes = Stage("--bits 18 --passes 2")
    resumed = Stage("--bits 18 --passes 2 --resume")
    # Checkpoints come so often that the job is far from its end when it has written the first.
    stopped = Stage("--bits 18 --passes 2 --checkpoint-every 1000", stop=True)
    one_pass = Stage("--bits 18 --passes 1", with_test=False)
    runs.append(Run("passes-whole", "nvd-40k", 3, (two_passes,)))
    runs.append(Run("passes-stopped", "nvd-40k", 3, (stopped, resumed), "passes-whole"))
    # A finished run that is given another pass reports the training losses of that pass alone.
    runs.append(Run("passes-added", "nvd-40k", 3, (one_pass, resumed), "passes-whole", ("test", "tree", "weights")))
    return runs


def make_shards(data: Path, name: str, work: Path) -> Path:
    folder = work / name
    if not folder.is_dir():
        unfinished = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=work))
        subprocess.run([sys.executable, "-B", data / "make.py", *SHARDS[name], unfinished],
                       check=True, stdout=subprocess.DEVNULL)
        unfinished.rename(folder)
    return folder


def stop_after_checkpoint(process: subprocess.Popen, folder: Path) -> None:
    end = time.monotonic() + STAGE_SECONDS
    while process.poll() is None and time.monotonic() < end:
        if any((folder / "checkpoints").glob("[0-9]*")):
            process.send_signal(signal.SIGUSR2)
            return
        time.sleep(0.02)


def start(stage: Stage, ranks: int, program: Path, shards: Path, folder: Path) -> None:
    command = [] if ranks == 1 else ["mpirun", "-n", str(ranks)]
    command += [str(program), "--data", str(shards / "train"), "--run", str(folder), *stage.options.split()]
    if stage.with_test:
        command += ["--test", str(shards / "test")]
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        process = subprocess.Popen(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=errors)
        try:
            if stage.stop:
                stop_after_checkpoint(process, folder)
            code = process.wait(STAGE_SECONDS)
        except subprocess.TimeoutExpired:
            raise Failure(f"took more than {STAGE_SECONDS} s: {' '.join(command)}") from None
        finally:
            process.kill()  # does nothing to a process that has ended
        wanted = STOPPED_ON_REQUEST if stage.stop else 0
        if code != wanted:
            errors.seek(0)
            reasons = [line.rstrip() for line in errors if line.startswith("cpt_dist:")]
            raise Failure("; ".join([f"exit code {code} instead of {wanted}: {' '.join(command)}", *reasons]))


def figures_of(run: Run, program: Path, shards: Path, folder: Path) -> dict[str, object]:
    """Makes the run. Its figures, each named PART.FIGURE."""
    for stage in run.stages:
        start(stage, run.ranks, program, shards, folder)
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return {f"{part}.{name}": summary[part][name]
            for part, names in FIGURES.items() for name in names if name in summary.get(part, {})}


def differences(of: str, wanted: dict[str, object], found: dict[str, object],
                parts: tuple[str, ...] = tuple(FIGURES)) -> list[str]:
    names = [name for name in dict.fromkeys([*wanted, *found]) if name.split(".")[0] in parts]
    return [f"{name} is {found.get(name, 'absent')}, {of} {wanted.get(name, 'absent')}"
            for name in names if name not in wanted or name not in found or wanted[name] != found[name]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, required=True, help="the folder of cpt_dist")
    parser.add_argument("--data", type=Path, required=True, help="the folder of make.py and the sets")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="the runs to make")
    parser.add_argument("--record", action="store_true", help="write expected.json instead of comparing")
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="where the shards are kept; none are if not given")
    options = parser.parse_args()
    program = options.programs.resolve() / "cpt_dist"
    if not program.is_file():
        parser.error(f"there is no cpt_dist in {options.programs}")
    runs = [run for run in all_runs() if fnmatch.fnmatch(run.name, options.only)]
    if not runs:
        parser.error(f"no run is called {options.only}; there are {', '.join(run.name for run in all_runs())}")
    wanted = ["make.py", *sorted({f"{SHARDS[run.shards][0]}.*.zst" for run in runs})]
    if missing := [name for name in wanted if not any(options.data.glob(name))]:
        print(f"skipped: {options.data} has no {', '.join(missing)}")
        return NO_DATA

    recorded = json.loads(EXPECTED.read_text(encoding="utf-8")) if EXPECTED.is_file() else {}
    found: dict[str, dict[str, object]] = {}
    failed = 0
    if options.work:
        options.work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="runs-", dir=options.work, ignore_cleanup_errors=True) as scratch:
        for run in runs:
            shards = make_shards(options.data, run.shards, options.work or Path(scratch))
            folder = Path(scratch) / f"run-{run.name}"
            begin = time.monotonic()
            complaints = []
            try:
                figures = found[run.name] = figures_of(run, program, shards, folder)
                if not options.record:
                    complaints += differences("recorded", recorded.get(run.name, {}), figures)
                if run.equals:
                    other = found.get(run.equals, recorded.get(run.equals, {}))
                    complaints += differences(f"in {run.equals}", other, figures, run.in_parts)
            except Failure as failure:
                complaints.append(str(failure))
            failed += bool(complaints)
            print(f"{'FAILED' if complaints else 'passed'}  {run.name}  {time.monotonic() - begin:.1f} s", *complaints,
                  sep="\n        ", flush=True)
            shutil.rmtree(folder, ignore_errors=True)

    if options.record and not failed:
        known = recorded | found
        kept = {run.name: known[run.name] for run in all_runs() if run.name in known}
        EXPECTED.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
        print(f"recorded {len(found)} runs in {EXPECTED.name}")
    skipped = len(all_runs()) - len(runs)
    print(f"{len(runs) - failed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
