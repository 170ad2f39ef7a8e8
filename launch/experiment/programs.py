"""Runs of the two programs, and what came of them."""
from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Sequence

from out_folder import OutFolder


@dataclass(frozen=True)
class Setting:
    """A row of the table: what is trained."""
    name: str
    options: tuple[str, ...]
    published: str = ""  # the squared loss in the paper, as printed there
    published_time: str = ""


@dataclass
class Outcome:
    """Of a setting: trained on the training part, then on the test part, predicted first (progressive validation)."""
    setting: Setting
    seconds: float  # of training
    test: dict  # of summary.json
    tree: dict
    reports: list[dict]  # of metrics.jsonl, of training
    model: Path  # as it was before the test part
    number: int = 0  # of its row in the table
    squared_error: float | None = None  # mean of (P - Q)^2 over the test part, of that model


@dataclass
class Report:
    """What is shown of an experiment."""
    title: str
    text: str
    rows: list[list[str]]
    columns: list[str]
    notes: list[str]
    charts: list[tuple[str, str, str]] = field(default_factory=list)  # heading, what it shows, SVG


class Programs:
    def __init__(self, build: Path):
        self._trainer = build / "src" / "app" / "cpt_dist"
        self._tool = build / "src" / "app" / "cpt"
        for program in (self._trainer, self._tool):
            if not program.exists():
                raise SystemExit(f"experiments: no {program}: build the programs first (see --build)")

    def tool(self, *arguments: object) -> str:
        """What cpt prints."""
        return _run([self._tool, *arguments])

    def train(self, setting: Setting, data: Path, folder: Path) -> Outcome:
        """Everything that is written goes below the folder, which is not there yet."""
        print(f"== {setting.name}: {' '.join(setting.options)}", flush=True)
        folder.mkdir(parents=True)
        learned = self._run_trainer(folder / "train", "--data", data / "train", *setting.options)
        tested = self._run_trainer(folder / "test", "--init", folder / "train" / "model", "--test", data / "test")
        reports = [json.loads(line) for line in (folder / "train" / "metrics.jsonl").read_text().splitlines()]
        return Outcome(setting, learned["seconds"], tested["test"], tested["tree"],
                       [report for report in reports if report["phase"] == "train"], folder / "train" / "model")

    def train_all(self, settings: Sequence[Setting], data: Path, out: OutFolder) -> list[Outcome]:
        """One after the other, so that none takes another's time; each below a folder of its own."""
        outcomes = []
        for number, setting in enumerate(settings):
            outcomes.append(self.train(setting, data, out.anew(f"run-{number}")))
            outcomes[-1].number = number
        return outcomes

    def best_possible(self, model: Path, shards: Sequence[Path]) -> float:
        """The squared loss of the shards' own frequencies of a label among lines of the same features."""
        done = _run_with_errors([self._tool, "score", "--model", model, "--summary", "--data", *shards])
        for line in done.stderr.splitlines():
            if line.startswith("best possible"):
                return float(line.split()[-1])
        raise ValueError("cpt score --summary told no best possible loss")

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
