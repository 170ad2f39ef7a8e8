"""RCV1: one of a story's topics at random, from the LYRL2004 distribution or from existing shards."""
import argparse
import os
import random
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Iterator, TextIO

import charts
import measures
import table
from out_folder import OutFolder
from programs import Programs, Report, Setting

FILES = """\
Reads these unpacked files of the LYRL2004 distribution (Lewis, Yang, Rose, Li: RCV1, JMLR 5, 2004):
  rcv1-v2.topics.qrels                        "TOPIC DOCUMENT 1", a line per topic of a document
  lyrl2004_vectors_train.dat, ..._test_pt0.dat to pt3.dat     "DOCUMENT  INDEX:VALUE ...", a line per document
or, without vectors,
  lyrl2004_tokens_train.dat, ..._test_pt0.dat to pt3.dat      ".I DOCUMENT", ".W", lines of words, an empty line
A topic of each document is drawn at random. Documents come in the order of the files; the last 20,000 are the test part."""

_DATA_SETS = Path(os.environ.get("CPT_SHARED_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
_TEST_EXAMPLES = 20_000
_SHARDS = 8
_MADE = "shards"  # in the --out folder
_PAPER = ("--loss", "squared", "--update", "sgd", "--learning-rate", "1", "--clip", "0", "--alpha", "0.6")
_SETTINGS = [
    Setting("one-against-all", ("--method", "oaa", *_PAPER), "0.55", "2300 s"),
    Setting("random tree", ("--tree", "random", *_PAPER), "0.56", "108 s"),
    Setting("balanced tree", ("--tree", "balanced", *_PAPER), "0.56", "108 s"),
    Setting("online tree, alpha 0.6", ("--tree", "online", *_PAPER), "0.56", "108 s"),
    Setting("our defaults", ()),
    Setting("two trees", ("--trees", "2")),
    Setting("conditional PECOC, 16 ways", ("--method", "cpecoc", "--arity", "16")),
]
_NOTES = [
    "squared is (1 - Q)^2, progressive over the test part, +- Hoeffding's interval at 95 %; equivalent is 1 / (1 - sqrt(squared)).",
    "log and Brier are proper scores: log over all examples with Q floored at 1e-6, Brier over those with a known label.",
    "The paper trains on 780,000 stories and tests on 20,000; its intervals are +- 0.012.",
]


def run(programs: Programs, arguments: argparse.Namespace, out: OutFolder) -> Report:
    data = _shards(arguments.data, out)
    outcomes = programs.train_all(_SETTINGS, data, out)
    one_against_all, _, _, online, defaults, _, _ = outcomes
    examples = outcomes[0].reports[-1]["examples"]
    report = table.report(f"RCV1, {examples:,} stories", [table.row(outcome) for outcome in outcomes], _NOTES)
    report.charts.append(charts.losses_over_examples(outcomes))
    report.charts.append(charts.depth_against_bound(online, 0.6))
    shown = [one_against_all, online, defaults]
    report.charts.append(charts.loss_by_frequency(programs, shown, data, "topic", measures.label_of))
    report.charts.append(charts.alpha_sweep(programs, data, out, _PAPER[:-2]))
    report.charts.append(charts.reliability(programs, defaults, data))
    return report


def _shards(given: Path | None, out: OutFolder) -> Path:
    """A folder with train/ and test/."""
    if given is None:
        return _sample(out)
    holds_shards = (given / "train").is_dir() and (given / "test").is_dir()
    if not (holds_shards and out.is_at(_MADE, given)):  # these are only read, not made again
        out.require_outside(given)
    return given if holds_shards else _convert(given, out)


def _sample(out: OutFolder) -> Path:
    maker = _DATA_SETS / "make.py"
    if not maker.exists():
        raise ValueError(f"no {maker}: give the folder of the LYRL2004 distribution (see --help), or set CPT_SHARED_DATA")
    shards = out.anew(_MADE)
    subprocess.run([sys.executable, maker, "rcv1", shards], check=True, capture_output=True, text=True)
    return shards


def _convert(given: Path, out: OutFolder) -> Path:
    topics = _read_topics(given / "rcv1-v2.topics.qrels")
    kind = "vectors" if (given / "lyrl2004_vectors_train.dat").exists() else "tokens"
    files = [given / f"lyrl2004_{kind}_{part}.dat" for part in ("train", "test_pt0", "test_pt1", "test_pt2", "test_pt3")]
    read = _vectors if kind == "vectors" else _tokens
    documents = sum(1 for file in files for document, _ in read(file) if document in topics)
    if documents <= _TEST_EXAMPLES:
        raise ValueError(f"{given} has {documents} documents with topics: more than {_TEST_EXAMPLES} are needed")
    shards = out.anew(_MADE)
    dice = random.Random(1)
    with _Parts(shards) as parts:
        number = 0
        for file in files:
            for document, features in read(file):
                if document not in topics:
                    continue
                part = "train" if number < documents - _TEST_EXAMPLES else "test"
                parts.write(part, number, f"{dice.choice(topics[document])} |{features}\n")
                number += 1
    return shards


class _Parts:
    """The shards of train/ and test/, which get the lines in turn."""

    def __init__(self, out: Path):
        self._files: dict[tuple[str, int], TextIO] = {}
        for part in ("train", "test"):
            (out / part).mkdir(parents=True)
            for shard in range(_SHARDS):
                self._files[part, shard] = (out / part / f"{shard}.vw").open("w", encoding="utf-8")

    def __enter__(self) -> "_Parts":
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()

    def write(self, part: str, number: int, line: str) -> None:
        self._files[part, number % _SHARDS].write(line)


def _read_topics(qrels: Path) -> dict[str, list[str]]:
    topics: dict[str, list[str]] = defaultdict(list)
    with qrels.open(encoding="ascii") as file:
        for line in file:
            topic, document, _ = line.split()
            topics[document].append(topic)
    return topics


def _vectors(path: Path) -> Iterator[tuple[str, str]]:
    with path.open(encoding="ascii") as file:
        for line in file:
            document, _, features = line.strip().partition(" ")
            yield document, " " + features.strip()


def _tokens(path: Path) -> Iterator[tuple[str, str]]:
    document, words = "", []
    with path.open(encoding="latin-1") as file:
        for line in file:
            if line.startswith(".I "):
                if document:
                    yield document, " " + " ".join(words)
                document, words = line.split()[1], []
            elif not line.startswith(".W"):
                words += [word for word in line.split() if ":" not in word and "|" not in word]
    if document:
        yield document, " " + " ".join(words)
