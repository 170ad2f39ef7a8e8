"""What a run of `cpt_dist` or `cpt.train` left in its directory: `Run`."""
from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Dict, Union

from .errors import NoInput
from .model import Model, load


class Run:
    """A run directory. The run may still be going on."""

    def __init__(self, path: Union[str, os.PathLike[str]]) -> None:
        self.path = Path(path)
        if not (self.path / "metrics.jsonl").exists() and not self.finished:
            raise NoInput(f"{self.path}: no run directory")

    @property
    def finished(self) -> bool:
        """Whether the run ended, and `summary` and `model` are there."""
        return (self.path / "summary.json").exists()

    @property
    def summary(self) -> Dict[str, Any]:
        """The figures of the run, or of its last stage if data were added: summary.json.

        Raises `NoInput` until the run has finished.
        """
        if not self.finished:
            raise NoInput(f"{self.path}: the run has not finished")
        summary: Dict[str, Any] = json.loads((self.path / "summary.json").read_text(encoding="utf-8"))
        return summary

    @property
    def model(self) -> Model:
        """The model, read anew each time."""
        return load(self.path / "model")

    @property
    def metrics(self) -> Any:
        """A pandas DataFrame with a row for each line of metrics.jsonl, in order.

        Columns are the fields, those of losses with a prefix, as in `so_far.log` (of the phase) and `since_last.log`. Means
        are in nats for `log`, times in seconds, sizes in bytes.
        """
        import pandas
        with (self.path / "metrics.jsonl").open(encoding="utf-8") as lines:
            return pandas.json_normalize([json.loads(line) for line in lines if line.endswith("\n")])

    def plot(self, loss: str = "log_seen", ax: Any = None) -> Any:
        """Draws a loss over the examples, training and test, each point for the examples since the one before.

        `loss`: a field of losses, as `log_seen` or `squared`. Returns matplotlib's axes, `ax` if given.
        """
        if ax is None:
            import matplotlib.pyplot
            ax = matplotlib.pyplot.figure().add_subplot()
        metrics = self.metrics
        for phase, marks in metrics[metrics["phase"].isin(["train", "test"])].groupby("phase", sort=False):
            ax.plot(marks["examples"], marks[f"since_last.{loss}"], label=phase)
        ax.set_xscale("log")
        ax.set_xlabel("examples")
        ax.set_ylabel(loss)
        ax.legend()
        return ax

    def __repr__(self) -> str:
        return f"<cpt.Run: {self.path}, {'finished' if self.finished else 'not finished'}>"
