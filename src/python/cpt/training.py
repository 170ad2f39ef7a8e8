"""Training by the program `cpt_dist` on the ranks of an MPI job: `train`."""
from __future__ import annotations

import json
import operator
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import IO, Any, Dict, Iterable, Iterator, List, Mapping, Optional, SupportsIndex, Union

from .errors import BadData, BadOption, Error, Stopped, make_error
from .model import REPEATED, SWITCHES, Model, load, option_value, option_words

StrPath = Union[str, "os.PathLike[str]"]
Paths = Union[StrPath, Iterable[StrPath]]

_POLL_SECONDS = 0.1
_STOP_SECONDS = 0.5
_STOPPED = Stopped.code


def train(data: Paths, ranks: SupportsIndex = 1, test: Optional[Paths] = None, run: Optional[StrPath] = None,
          progress: bool = True, **options: Any) -> Model:
    """Learns the examples in files on `ranks` processes of this machine; returns the model.

    Runs `mpirun -n RANKS cpt_dist` (`cpt_dist` alone for one rank): that of the installation this package belongs to, else
    the one on PATH. N ranks learn what one learns, bit by bit.

    `data`, `test` and `validate`: files, directories or globs, one or several. `run`: a run directory, which `cpt.Run` reads; without it, none is kept.
    `options`: those of `cpt_dist`, with `_` for `-`; a flag is True, as in `resume=True`, which continues a stopped run.
    `progress` shows a bar (with tqdm), or lines on standard error. What the program warns of is a UserWarning.

    Raises `Error`, or one of its classes, with the reason that the program gives. Ctrl-C writes a checkpoint, ends the
    job and raises `Stopped`, whose message names the run directory, or KeyboardInterrupt if it came too early or too
    late for a checkpoint; a second one ends the job at once.
    """
    try:
        count = operator.index(ranks)
    except TypeError:
        raise TypeError(f"expected a whole number of ranks, found {ranks!r}") from None
    if count < 1:
        raise ValueError(f"expected at least one rank, found {count}")
    folder = Path(tempfile.mkdtemp(prefix="cpt-run-")) if run is None else Path(run)
    try:
        for warning in _run_program(_command(data, count, test, folder, options), folder, progress):
            warnings.warn(warning, stacklevel=2)
        model = load(folder / "model" if (folder / "model").exists() else options.get("init", ""))
    except Stopped:
        raise  # the run directory holds the checkpoint
    except BaseException:
        _remove_if_temporary(folder, run)
        raise
    _remove_if_temporary(folder, run)
    return model


def _remove_if_temporary(folder: Path, run: Optional[StrPath]) -> None:
    if run is None:
        shutil.rmtree(folder, ignore_errors=True)


def _program(name: str) -> str:
    beside = Path(__file__).resolve().parents[4] / "bin" / name  # PREFIX/lib/python3.X/dist-packages/cpt
    found = str(beside) if beside.is_file() else shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"no program {name}, neither in {beside.parent} nor on PATH")
    return found


def _command(data: Paths, ranks: int, test: Optional[Paths], folder: Path, options: Dict[str, Any]) -> List[str]:
    command = [_program("cpt_dist"), "--data", *_path_list("data", data), "--run", str(folder), "--progress", "none"]
    if test is not None:
        command += ["--test", *_path_list("test", test)]
    if "progress_every" not in options:
        command += ["--progress-every", "1s"]
    for name, value in options.items():
        command += _option(name, value)
    if ranks == 1:
        return command
    mpirun = _program("mpirun")
    # Given a path, Open MPI derives a prefix from it, and refuses that of /bin: an mpirun on PATH is called by name.
    launcher = ["mpirun" if mpirun == shutil.which("mpirun") else mpirun, "-n", str(ranks)]
    if ranks > len(os.sched_getaffinity(0)):
        launcher.append("--oversubscribe")
    return [*launcher, *command]


def _environment() -> Dict[str, str]:
    """The environment of this process; as root, with the variables without which Open MPI then does not start."""
    if os.geteuid() != 0:
        return dict(os.environ)
    return {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **os.environ}


def _path_list(name: str, paths: Paths) -> List[str]:
    if isinstance(paths, (str, os.PathLike)):
        return [os.fspath(paths)]
    # The elements of a data frame are the names of its columns, those of a dict its keys.
    if not hasattr(paths, "columns") and not isinstance(paths, Mapping) and isinstance(paths, Iterable):
        listed = list(paths)
        if not listed:
            raise ValueError(f"{name} names no file")
        if all(isinstance(path, (str, os.PathLike)) for path in listed):
            return [os.fspath(path) for path in listed]
    raise TypeError(f"{name} names files; for a DataFrame use Model.learn_many")


def _option(name: str, value: Any) -> List[str]:
    dashed = "--" + name.replace("_", "-")
    if name in ("help", "version", "dry_run") and value:
        raise BadOption(f"{name}: trains nothing")
    if name == "validate" and value is not None:
        return [dashed, *_path_list(name, value)]
    value = option_value(name, value)
    if value is None:
        return []
    if value is False and name not in SWITCHES:
        return [f"{dashed}=false"]  # a name that does not exist is then refused, too
    if value is True and name not in SWITCHES:
        return [dashed]
    words = option_words(value)
    if name in REPEATED:
        return [part for word in words for part in (dashed, word)]
    return [dashed, ",".join(words)]


def _run_program(command: List[str], folder: Path, progress: bool) -> List[str]:
    """Returns what the program warned of."""
    metrics = folder / "metrics.jsonl"
    earlier = metrics.stat().st_size if metrics.exists() else 0  # bytes before the program starts
    with tempfile.TemporaryFile() as output, _Display(progress) as display:
        # A session of its own: Ctrl-C in a terminal reaches this process alone.
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
                                   env=_environment())
        try:
            code = _wait(process, _follow(metrics, earlier), display)
            if code == 0:
                display.finish()
        except KeyboardInterrupt:
            code = _stop(process)
            if code != _STOPPED:
                raise
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if code != 0:
            raise _error(code, output, folder)
        mark = "cpt_dist: warning: "
        return [line[len(mark):] for line in _lines(output) if line.startswith(mark)]


def _lines(output: IO[bytes]) -> List[str]:
    output.seek(0)
    return output.read().decode("utf-8", "replace").splitlines()


def _stop(process: subprocess.Popen[bytes]) -> int:
    """Asks for a checkpoint and the end, again and again until then: a program that is starting may miss the signal."""
    while True:
        process.send_signal(signal.SIGUSR2)
        try:
            return process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            pass


def _wait(process: subprocess.Popen[bytes], follower: Iterator[List[Dict[str, Any]]], display: _Display) -> int:
    while process.poll() is None:
        time.sleep(_POLL_SECONDS)
        for report in next(follower):
            display.show(report)
    for report in next(follower):
        display.show(report)
    return process.returncode


def _follow(path: Path, position: int) -> Iterator[List[Dict[str, Any]]]:
    """Yields at each step the reports written since the step before, at first those after byte `position`."""
    while True:
        reports = []
        if path.exists():
            with path.open("rb") as file:
                position = min(position, path.stat().st_size)  # a fresh run begins the file anew
                file.seek(position)
                for line in file:
                    if line.endswith(b"\n"):
                        position += len(line)
                        reports.append(json.loads(line))
        yield reports


class _Display:
    """A bar of tqdm, or lines where there is none."""

    def __init__(self, shown: bool) -> None:
        self._shown = shown
        self._bar: Any = None
        try:
            from tqdm.auto import tqdm
            self._make_bar: Any = tqdm
        except ImportError:
            self._make_bar = None

    def __enter__(self) -> _Display:
        if self._shown and self._make_bar is not None:
            self._bar = self._make_bar(total=100, unit="%", bar_format="{l_bar}{bar}| {elapsed}{postfix}")
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def finish(self) -> None:
        if self._bar is not None:
            self._bar.n = self._bar.total

    def show(self, report: Dict[str, Any]) -> None:
        """A line of metrics.jsonl."""
        if not self._shown or report["phase"] != "progress":
            return
        part = report["part_of_pass"]
        percent = 100 * part if part is not None and part >= 0 else 0
        title = f"pass {report['pass']}" if report["of"] == "train" else report["of"]
        log = report["since_last"]["log"]
        figures = (f"{report['examples']:,} examples, {report['examples_per_second']:,.0f} per second, "
                   f"log loss {'-' if log is None else format(log, '.3f')}")
        if self._bar is None:
            print(f"{title}: {percent:.0f} %, {figures}", file=sys.stderr, flush=True)
            return
        self._bar.set_description(title)
        self._bar.n = round(percent)
        self._bar.set_postfix_str(figures)


def _error(code: int, output: IO[bytes], folder: Path) -> Error:
    lines = _lines(output)
    reasons = [line.split(": ", 1)[1] for line in lines if line.startswith("cpt_dist: ")]
    said = [line for line in lines if line.strip() and not line.startswith("-" * 10)]
    reason = reasons[-1] if reasons else " ".join(said[-5:]) or f"cpt_dist ended with {code}"
    if code == _STOPPED:
        return Stopped(f"stopped with a checkpoint in {folder}: train with run={str(folder)!r}, resume=True")
    error = make_error(code, reason)
    place = re.match(r"(?:rank \d+ on [^:]+: )?(.+?):(\d+):(?:(\d+):)? ", reason)
    if place and isinstance(error, BadData):
        error.file, error.line = place[1], int(place[2])
        error.column = None if place[3] is None else int(place[3])
    return error
