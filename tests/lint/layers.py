"""Includes point downward only: app > train > {store, data, comm, model} > core; the four do not know one another.

Public headers (include/cpt) name only the standard library and each other. MPI's headers stay in a few files of the
comm layer, and only the app layer, through comm/mpi.h, starts MPI or ends the process.
"""
import re
from pathlib import Path
from typing import Iterator

import source_text

_MIDDLE = ("store", "data", "comm", "model")
MAY_INCLUDE = {
    "core": {"core"},
    **{layer: {layer, "core"} for layer in _MIDDLE},
    "train": {"train", *_MIDDLE, "core"},
    "app": {"app", "train", *_MIDDLE, "core"},
}
MPI_FILES = "src/comm/mpi.cpp and src/comm/mpi_*"  # mpi.h is for all
MAY_END_PROCESS = ("src/app/", "src/comm/mpi.")

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
_MPI_HEADER = re.compile(r"^(mpi\.h$|boost/mpi(/|\.hpp$))")
_HAS_MPI_HEADER = re.compile(r"^comm/mpi_\w+\.h$")
_MAY_SEE_MPI = re.compile(r"^src/comm/mpi(\.cpp|_\w+\.(h|cpp))$")
_MPI_LIFE = re.compile(r"\bMPI_(?:Init|Init_thread|Finalize|Abort)\b|\bmpi::environment\b")
_PROCESS_END = re.compile(r"(?<![\w.>])(?:std::|::)?(?:exit|_exit|_Exit|quick_exit|abort)[ \t]*\(")


def violations(root: Path) -> Iterator[str]:
    for path in source_text.files(root, ".h", ".cpp"):
        name = path.relative_to(root).as_posix()
        if name.startswith("tests/"):
            continue
        text = path.read_text(encoding="utf-8")
        yield from _check_includes(name, source_text.without_comments(text))
        if not name.startswith(MAY_END_PROCESS):
            yield from _check_process(name, source_text.code_only(text))


def _check_includes(name: str, text: str) -> Iterator[str]:
    for match in _INCLUDE.finditer(text):
        quoted, system = match.groups()
        problem = _problem_of_quoted(name, quoted) if quoted else _problem_of_system(name, system)
        if problem:
            yield f"{name}:{source_text.line_of(text, match.start())}: includes {quoted or system}: {problem}"


def _problem_of_quoted(name: str, included: str) -> str:
    target = included.split("/")[0]
    if target == "cpt":
        return ""
    if name.startswith("include/"):
        return "a public header may name only cpt/ and the standard library"
    layer = name.split("/")[1]
    if target not in MAY_INCLUDE:
        return "not a layer; a library's header goes in <>, this project's is named by its layer"
    if target not in MAY_INCLUDE.get(layer, set()):
        return f"{layer} may include only {', '.join(sorted(MAY_INCLUDE.get(layer, set())))}"
    if _HAS_MPI_HEADER.match(included) and not _MAY_SEE_MPI.match(name):
        return f"only {MPI_FILES} may include MPI's headers"
    return ""


def _problem_of_system(name: str, included: str) -> str:
    if name.startswith("include/") and not re.fullmatch(r"[a-z_0-9]+", included):
        return "a public header may name only cpt/ and the standard library"
    if _MPI_HEADER.match(included) and not _MAY_SEE_MPI.match(name):
        return f"only {MPI_FILES} may include MPI's headers"
    return ""


def _check_process(name: str, code: str) -> Iterator[str]:
    for pattern in (_MPI_LIFE, _PROCESS_END):
        for match in pattern.finditer(code):
            line = source_text.line_of(code, match.start())
            word = match[0].rstrip("( \t")
            yield f"{name}:{line}: {word}: only src/app starts MPI or ends the process"
