"""Labels and features of vw or libsvm shards."""
from pathlib import Path
from typing import Callable, Iterable, Iterator, Sequence

Line = tuple[str, str]  # label and features
Part = Callable[[Line], str]


def mean(values: Iterable[float]) -> float:
    total, count = 0.0, 0
    for value in values:
        total += value
        count += 1
    return total / count


def label_of(line: Line) -> str:
    return line[0]


def features_of(line: Line) -> str:
    return line[1]


def lines(shards: Sequence[Path]) -> Iterator[Line]:
    for shard in shards:
        with shard.open(encoding="utf-8") as file:
            for line in file:
                label, _, features = line.rstrip("\n").partition(" ")
                yield label, features

