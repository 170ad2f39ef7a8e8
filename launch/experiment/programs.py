"""Runs of the two programs, and their results."""
from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Sequence

from out_folder import OutFolder


@dataclass(frozen=True)
class Setting:
    """A training run, one row of the table."""
    name: str
    options: tuple[str, ...]
    published: str = ""  # the squared loss in the paper, as printed there
    published_time: str = ""


@dataclass
class Outcome:
    """The results of a setting, trained on the training part. Each line of the test part is predicted, then learned."""
    setting: Setting
    seconds: float  # of training
    test: dict  # of summary.json
    tree: dict
    reports: list[dict]  # of metrics.jsonl, of training
    model: Path  # trained on the training part only
    number: int = 0  # its row in the table
    squared_error: float | None = None  # mean of (P - Q)^2 over the test part, of that model


@dataclass
class Report:
    """The table, notes and charts of an experiment."""
    title: str
    text: str
    rows: list[list[str]]
    columns: list[str]
    notes: list[str]
    charts: list[tuple[str, str, str]] = field(default_factory=list)  # heading, caption, SVG


class Programs:
    def __init__(self, build: Path):
        self._trainer = build / "src" / "app" / "cpt_dist"
        self._tool = build / "src" / "app" / "cpt"
        for program in (self._trainer, self._tool):
            if not program.exists():
                raise SystemExit(f"experiments: no {program}: build the programs first (see --build)")

    def tool(self, *arguments: object) -> str:
        """Runs cpt and returns its output."""
        return _run([self._tool, *arguments])

    def train(self, setting: Setting, data: Path, folder: Path) -> Outcome:
        """Trains and tests in a new folder."""
        print(f"== {setting.name}: {' '.join(setting.options)}", flush=True)
        folder.mkdir(parents=True)
        learned = self._run_trainer(folder / "train", "--data", data / "train", *setting.options)
        tested = self._run_trainer(folder / "test", "--init", folder / "train" / "model", "--test", data / "test")
        reports = [json.loads(line) for line in (folder / "train" / "metrics.jsonl").read_text().splitlines()]
        return Outcome(setting, learned["seconds"], tested["test"], tested["tree"],
                       [report for report in reports if report["phase"] == "train"], folder / "train" / "model")

    def train_all(self, settings: Sequence[Setting], data: Path, out: OutFolder) -> list[Outcome]:
        """Trains one setting after the other, so that the times are comparable."""
        outcomes = []
        for number, setting in enumerate(settings):
            outcomes.append(self.train(setting, data, out.anew(f"run-{number}")))
            outcomes[-1].number = number
        return outcomes

    def best_possible(self, model: Path, shards: Sequence[Path]) -> float:
        """The squared loss of predicting a label by its frequency among the lines of the shards with the same features."""
        done = _run_with_errors([self._tool, "score", "--model", model, "--summary", "--data", *shards])
        for line in done.stderr.splitlines():
            if line.startswith("best possible"):
                return float(line.split()[-1])
        raise ValueError("cpt score --summary printed no best possible loss")

    def probabilities(self, model: Path, shards: Sequence[Path]) -> list[float]:
        """P(label | x) of each line."""
        return [float(line) for line in self.tool("score", "--model", model, "--data", *shards).split()]

    def _run_trainer(self, run: Path, *arguments: object) -> dict:
        _run([self._trainer, "--run", run, "--overwrite", "--progress", "none", "--checkpoint-every", "never", *arguments])
        return json.loads((run / "summary.json").read_text())


def shards_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file())


def _run(command: list[object]) -> str:
    return _run_with_errors(command).stdout


def _run_with_errors(command: list[object]) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise subprocess.CalledProcessError(done.returncode, done.args, stderr=done.stderr.strip())
    return done
