"""Every source is built, every folder of tests is run, and no test is switched off."""
import re
from pathlib import Path
from typing import Iterator

import source_text


def violations(root: Path) -> Iterator[str]:
    for path in source_text.files(root, ".cpp"):
        name = path.relative_to(root).as_posix()
        if name.startswith("src/") or path.name.endswith(("_test.cpp", "_bench.cpp")):
            yield from _check_named(root, path)
        if name.startswith("tests/"):
            code = source_text.without_comments(path.read_text(encoding="utf-8"))
            for match in re.finditer(r"\bDISABLED_\w+|^[ \t]*#[ \t]*if[ \t]+0\b", code, re.MULTILINE):
                yield f"{name}:{source_text.line_of(code, match.start())}: a test is switched off ({match[0].strip()})"
    yield from _check_folders(root)


def _check_named(root: Path, source: Path) -> Iterator[str]:
    """The nearest CMakeLists.txt, beside the source or above it, names the source by its path from there."""
    for folder in source.parents:
        if (folder / "CMakeLists.txt").is_file():
            if not _names(folder / "CMakeLists.txt", source.relative_to(folder).as_posix()):
                yield (f"{source.relative_to(root).as_posix()}: belongs to no target of "
                       f"{(folder / 'CMakeLists.txt').relative_to(root).as_posix()}")
            return
        if folder == root:
            break
    yield f"{source.relative_to(root).as_posix()}: no CMakeLists.txt beside it or above it"


def _check_folders(root: Path) -> Iterator[str]:
    """tests/CMakeLists.txt lists each folder of tests, or the CMakeLists.txt of the root adds it."""
    for folder in sorted(p for p in (root / "tests").glob("*") if p.is_dir() and p.name != "__pycache__"):
        name = f"tests/{folder.name}"
        if not (folder / "CMakeLists.txt").is_file():
            yield f"{name}: has no CMakeLists.txt, so nothing in it runs"
        elif not _names(root / "tests/CMakeLists.txt", folder.name) and not _names(root / "CMakeLists.txt", name):
            yield f"{name}: tests/CMakeLists.txt does not list it, so nothing in it runs"


def _names(cmake_file: Path, word: str) -> bool:
    if not cmake_file.is_file():
        return False
    commands = re.sub(r"#.*", "", cmake_file.read_text(encoding="utf-8"))
    return re.search(rf"(?<![\w./-]){re.escape(word)}(?![\w./-])", commands) is not None
