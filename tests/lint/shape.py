"""Names and sizes: no file of odds and ends, headers that are safe to include, nothing too long to read in one go."""
import re
from pathlib import Path
from typing import Iterator

import source_text

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 80

_NAMELESS = re.compile(r"(^|_)(utils?|helpers?|misc)(_|\.)")
_ACCESS = re.compile(r"\s*(?:(?:public|private|protected)\s*:\s*)*")
_SCOPE = re.compile(r"(?:inline\s+|template\s*<.*>\s*)*(namespace|class|struct|union|enum|extern)\b", re.DOTALL)


def violations(root: Path) -> Iterator[str]:
    for path in source_text.files(root, ".h", ".cpp"):
        name = path.relative_to(root).as_posix()
        text = path.read_text(encoding="utf-8")
        code = source_text.code_only(text)
        if _NAMELESS.search(path.name):
            yield f"{name}: name the file by its one idea"
        if path.suffix == ".h":
            # Highway includes -inl.h files once for each instruction set.
            if not name.endswith("-inl.h") and not re.search(r"^#pragma once$", text, re.MULTILINE):
                yield f"{name}: no #pragma once"
            for match in re.finditer(r"\busing\s+namespace\b", code):
                yield f"{name}:{source_text.line_of(code, match.start())}: using namespace in a header"
        if (lines := text.count("\n")) > MAX_FILE_LINES:
            yield f"{name}: {lines} lines, more than {MAX_FILE_LINES}"
        for start, length in functions(code):
            if length > MAX_FUNCTION_LINES:
                yield f"{name}:{start}: a function of {length} lines, more than {MAX_FUNCTION_LINES}"


def functions(code: str) -> Iterator[tuple[int, int]]:
    """(first line, lines) of each function body in code_only() text, its head included.

    A brace opens a function if it stands in a namespace or a type and what precedes it, back to the last ; { or }, has
    a parameter list. Lambdas and blocks count as part of the function around them.
    """
    open_scopes: list[tuple[str, int]] = []  # kind (scope, function or other) and the line where its head starts
    head_start = 0
    for match in re.finditer(r"[;{}]", code):
        position, token = match.start(), match[0]
        if token == "{":
            head_start = _ACCESS.match(code, head_start).end()
            kind = _kind(code[head_start:position], [kind for kind, _ in open_scopes])
            open_scopes.append((kind, source_text.line_of(code, head_start)))
        elif token == "}" and open_scopes:
            kind, first = open_scopes.pop()
            if kind == "function":
                yield first, source_text.line_of(code, position) - first + 1
        head_start = position + 1


def _kind(head: str, around: list[str]) -> str:
    if any(kind != "scope" for kind in around):
        return "other"
    if _SCOPE.match(head):
        return "scope"
    return "function" if "(" in head else "other"
