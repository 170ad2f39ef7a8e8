"""What is counted in shards of vw or libsvm lines."""
from pathlib import Path
from typing import Iterable, Iterator, Sequence


def mean(values: Iterable[float]) -> float:
    total, count = 0.0, 0
    for value in values:
        total += value
        count += 1
    return total / count


def lines(shards: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Label and features of each line."""
    for shard in shards:
        with shard.open(encoding="utf-8") as file:
            for line in file:
                label, _, features = line.rstrip("\n").partition(" ")
                yield label, features

