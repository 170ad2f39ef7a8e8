"""The figures, each as (heading, caption, SVG), in the colours of the page."""
from __future__ import annotations

import io
import math
import re
from collections import Counter
from pathlib import Path
from typing import Callable, Sequence

import matplotlib

matplotlib.use("svg")
# pylint: disable=wrong-import-position
import matplotlib.pyplot as plt  # noqa: E402

import measures  # noqa: E402
from out_folder import OutFolder  # noqa: E402
from programs import Outcome, Programs, Setting, shards_of  # noqa: E402

Chart = tuple[str, str, str]

# Placeholder colours for matplotlib, which _svg replaces by variables of the page's style sheet.
_INK, _GRID = "#010101", "#020202"
_SERIES = ["#0a0001", "#0a0002", "#0a0003", "#0a0004", "#0a0005", "#0a0006", "#0a0007"]
_VARIABLES = {_INK: "var(--ink)", _GRID: "var(--grid)"} | {c: f"var(--series-{i})" for i, c in enumerate(_SERIES)}
_ALPHAS = [0.05, 0.1, 0.3, 0.6, 0.9, 1.0]
_BINS = 10

plt.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "cpt", "font.size": 11, "font.family": "sans-serif",
    "axes.edgecolor": _GRID, "axes.labelcolor": _INK, "xtick.color": _INK, "ytick.color": _INK, "text.color": _INK,
    "axes.grid": True, "grid.color": _GRID, "grid.linewidth": 0.6, "axes.spines.top": False, "axes.spines.right": False,
    "axes.prop_cycle": matplotlib.cycler(color=_SERIES), "lines.linewidth": 1.8, "legend.frameon": False,
    "figure.figsize": (7.2, 3.8),
})


def losses_over_examples(outcomes: Sequence[Outcome]) -> Chart:
    def draw(axes: plt.Axes) -> None:
        for outcome in outcomes:
            reports = [report for report in outcome.reports if report["examples"] >= 1000]
            axes.plot([r["examples"] for r in reports], [r["since_last"]["squared"] for r in reports],
                      color=_SERIES[outcome.number],
                      label=outcome.setting.name, marker="o", markersize=3)
        axes.set_xscale("log")
        axes.set_xlabel("examples learned")
        axes.set_ylabel("squared loss")
        axes.legend(fontsize=9)

    return ("Loss over examples", "Progressive squared loss between one report and the next, new labels counting as 1.",
            _svg(draw))


def depth_against_bound(outcome: Outcome, alpha: float) -> Chart:
    reports = [report for report in outcome.reports if report["labels"] > 1]
    labels = [report["labels"] for report in reports]

    def draw(axes: plt.Axes) -> None:
        axes.plot(labels, [bound_on_depth(n, alpha) for n in labels], label="bound", linestyle="--")
        axes.plot(labels, [report["depth_max"] for report in reports], label="deepest leaf")
        axes.plot(labels, [math.log2(n) for n in labels], label="log2 of the labels", linestyle=":")
        axes.set_xscale("log")
        axes.set_xlabel("labels in the tree")
        axes.set_ylabel("depth")
        axes.legend(fontsize=9)

    return ("Depth against its bound", f"{outcome.setting.name}; the bound is log n / log(1 / kappa) + 2.", _svg(draw))


def bound_on_depth(labels: int, alpha: float) -> float:
    """The depth theorem: log n / log(1 / kappa) + 2 with kappa = 1 / (1 + 2^(1 - 1 / alpha))."""
    return math.log(labels) / math.log1p(2**(1 - 1 / alpha)) + 2


def loss_by_frequency(programs: Programs, outcomes: Sequence[Outcome], data: Path, what: str,
                      part: measures.Part) -> Chart:
    """The loss by how often a part of a line, its label or its features, is in the training part. `what` names the part."""
    counts = Counter(part(line) for line in measures.lines(shards_of(data / "train")))
    seen = [counts[part(line)].bit_length() for line in measures.lines(shards_of(data / "test"))]

    def draw(axes: plt.Axes) -> None:
        for outcome in outcomes:
            sums: Counter[int] = Counter()
            total: Counter[int] = Counter()
            for size, p in zip(seen, programs.probabilities(outcome.model, shards_of(data / "test")), strict=True):
                sums[size] += (1 - p)**2
                total[size] += 1
            sizes = sorted(total)
            axes.plot(range(len(sizes)), [sums[s] / total[s] for s in sizes], color=_SERIES[outcome.number],
                      label=outcome.setting.name, marker="o", markersize=3)
        axes.set_xticks(range(len(set(seen))), [_range_text(size) for size in sorted(set(seen))], rotation=30, fontsize=9)
        axes.set_xlabel(f"times that the {what} is in the training part")
        axes.set_ylabel("squared loss")
        axes.legend(fontsize=9)

    return (f"Loss by {what} frequency", "Squared loss on the test part of the model as training left it.", _svg(draw))


def _range_text(bits: int) -> str:
    low, high = (1 << bits) >> 1, (1 << bits) - 1
    return str(low) if high <= low else f"{low}-{high}"


def alpha_sweep(programs: Programs, data: Path, out: OutFolder, options: Sequence[str]) -> Chart:
    outcomes = [
        programs.train(Setting(f"online tree, alpha {alpha}", ("--alpha", str(alpha), *options)), data,
                       out.anew(f"alpha-{alpha}")) for alpha in _ALPHAS
    ]

    def draw(axes: plt.Axes) -> None:
        axes.plot(_ALPHAS, [outcome.test["squared"] for outcome in outcomes], marker="o", label="squared loss")
        axes.set_xlabel("alpha")
        axes.set_ylabel("squared loss")
        other = axes.twinx()
        other.grid(False)
        other.plot(_ALPHAS, [outcome.tree["depth_max"] for outcome in outcomes], marker="s", color=_SERIES[1],
                   label="deepest leaf")
        other.set_ylabel("depth")
        other.set_ylim(bottom=0)
        lines = axes.get_lines() + other.get_lines()
        axes.legend(lines, [line.get_label() for line in lines], fontsize=9, loc="center right")

    return ("Loss and depth by alpha", "The paper's learner on online trees, progressive over the test part.", _svg(draw))


def reliability(programs: Programs, outcome: Outcome, data: Path) -> Chart:
    hits, sums, total = [0] * _BINS, [0.0] * _BINS, [0] * _BINS
    best = programs.tool("predict", "--model", outcome.model, "--top", 1, "--data", *shards_of(data / "test")).splitlines()
    for (label, _), prediction in zip(measures.lines(shards_of(data / "test")), best, strict=True):
        name, _, text = prediction.rpartition(":")
        p = float(text)
        number = min(int(p * _BINS), _BINS - 1)
        hits[number] += name == label
        sums[number] += p
        total[number] += 1
    used = [i for i in range(_BINS) if total[i] > 0]

    def draw(axes: plt.Axes) -> None:
        axes.plot([0, 1], [0, 1], color=_GRID, linestyle="--", label="perfect")
        axes.plot([sums[i] / total[i] for i in used], [hits[i] / total[i] for i in used], marker="o",
                  color=_SERIES[outcome.number], label=outcome.setting.name)
        axes.set_xlabel("probability of the most probable label")
        axes.set_ylabel("how often it is right")
        axes.legend(fontsize=9)

    return ("Reliability", "Of the most probable label of each line of the test part, in tenths; the model as training left it.",
            _svg(draw))


def _svg(draw: Callable[[plt.Axes], None]) -> str:
    figure, axes = plt.subplots()
    draw(axes)
    file = io.StringIO()
    figure.savefig(file, format="svg", bbox_inches="tight", transparent=True, metadata={"Date": None})
    plt.close(figure)
    text = file.getvalue()
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, variable)
    return re.sub(r'^.*?<svg [^>]*viewBox="([^"]*)"[^>]*>', r'<svg viewBox="\1" role="img" xmlns="http://www.w3.org/2000/svg" '
                  r'xmlns:xlink="http://www.w3.org/1999/xlink">', text, count=1, flags=re.DOTALL)
