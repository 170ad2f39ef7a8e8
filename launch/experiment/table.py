"""The paper's table and ours, side by side."""
from typing import Sequence

from programs import Outcome, Report

COLUMNS = ["", "paper", "squared", "+-", "equivalent", "log", "Brier", "(P - Q)^2", "depth", "train s", "paper's time"]


def row(outcome: Outcome) -> list[str]:
    test = outcome.test
    error = "" if outcome.squared_error is None else f"{outcome.squared_error:.4f}"
    return [outcome.setting.name, outcome.setting.published, f"{test['squared']:.4f}", f"{test['squared_ci']:.4f}",
            f"{test['equivalent']:.1f}", f"{test['log']:.3f}", f"{test['brier_seen']:.4f}", error,
            str(outcome.tree.get("depth_max", "")), f"{outcome.seconds:.2f}", outcome.setting.published_time]


def bound_row(name: str, published: str, squared: float) -> list[str]:
    """The row of a bound, which is no method."""
    return [name, published, f"{squared:.4f}"] + [""] * (len(COLUMNS) - 3)


def report(title: str, rows: list[list[str]], notes: Sequence[str]) -> Report:
    columns = [i for i, name in enumerate(COLUMNS) if i == 0 or any(row[i] for row in rows)]
    shown = [[row[i] for i in columns] for row in rows]
    names = [COLUMNS[i] for i in columns]
    text = "\n".join([title, "", *_aligned([names, *shown]), "", *notes])
    return Report(title, text, shown, names, list(notes))


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row_ in rows:
        cells = [row_[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row_[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
    return lines
