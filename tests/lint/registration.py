"""No source is left out of the build, and no test is switched off, in silence."""
import re
from pathlib import Path
from typing import Iterator

import source_text


def violations(root: Path) -> Iterator[str]:
    for path in source_text.files(root, ".cpp"):
        name = path.relative_to(root).as_posix()
        if name.startswith("src/") or path.name.endswith(("_test.cpp", "_bench.cpp")):
            if not _names(path.parent / "CMakeLists.txt", path.name):
                yield f"{name}: belongs to no target of the CMakeLists.txt beside it"
        if name.startswith("tests/"):
            code = source_text.without_comments(path.read_text(encoding="utf-8"))
            for match in re.finditer(r"\bDISABLED_\w+|^[ \t]*#[ \t]*if[ \t]+0\b", code, re.MULTILINE):
                yield f"{name}:{source_text.line_of(code, match.start())}: a test is switched off ({match[0].strip()})"


def _names(cmake_file: Path, source: str) -> bool:
    if not cmake_file.is_file():
        return False
    commands = re.sub(r"#.*", "", cmake_file.read_text(encoding="utf-8"))
    return re.search(rf"(?<![\w./-]){re.escape(source)}(?![\w./-])", commands) is not None
