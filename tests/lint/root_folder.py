"""The root folder holds its few known entries and dot-files, nothing else."""
from pathlib import Path
from typing import Iterator

import source_text

KNOWN = {"src", "include", "launch", "tests", "cmake", "CMakeLists.txt", "README.md"}


def violations(root: Path) -> Iterator[str]:
    for entry in sorted(_entries(root)):
        if entry not in KNOWN and not entry.startswith("."):
            yield f"{entry}: does not belong into the root folder"


def _entries(root: Path) -> set[str]:
    """What git tracks or would add; all that is there where the tree is no checkout."""
    listed = source_text.known_to_git(root)
    if listed is None:
        return {p.name for p in root.iterdir() if p.name != "build"}
    return {name.split("/")[0] for name in listed}
