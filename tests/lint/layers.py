"""Includes point downward: app > train > api > {model, data, store} > core, and within a layer from folder to folder.

The order of the folders is the order in which the layer's CMakeLists.txt names them, lowest first. comm stands beside the
layers above core; train and app/dist alone use it. synthetic is used by app/cpt alone. c and python stand above api,
as app does. Public headers (include/cpt) name
only the standard library and each other. Only src/comm/mpi sees MPI's headers, and only app starts MPI or ends the
process.
"""
import re
from pathlib import Path
from typing import Iterator

import source_text

_BELOW_API = {"model", "data", "store", "core"}
MAY_INCLUDE = {
    "core": {"core"},
    **{layer: {layer, "core"} for layer in ("model", "data", "store", "comm")},
    "synthetic": {"synthetic", "data", "core"},
    "api": {"api", *_BELOW_API},
    "c": {"c", "api", *_BELOW_API},
    "python": {"python", "api", *_BELOW_API},
    "train": {"train", "api", "comm", *_BELOW_API},
    "app": {"app", "api", *_BELOW_API},
    "app/dist": {"app", "train", "api", "comm", *_BELOW_API},
    "app/cpt": {"app", "synthetic", "api", *_BELOW_API},
}
MPI_FOLDER = "src/comm/mpi/"
MPI_INTERFACE = {"comm/mpi/mpi.h", "comm/mpi/launch_check.h"}  # these name nothing of MPI
MAY_END_PROCESS = ("src/app/", "src/comm/mpi/mpi.")

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
_MPI_HEADER = re.compile(r"^(mpi\.h$|boost/mpi(/|\.hpp$))")
_MPI_LIFE = re.compile(r"\bMPI_(?:Init|Init_thread|Finalize|Abort)\b|\bmpi::environment\b")
_PROCESS_END = re.compile(r"(?<![\w.>])(?:std::|::)?(?:exit|_exit|_Exit|quick_exit|abort)[ \t]*\(")
_LISTED_SOURCE = re.compile(r"(?<![\w./$}-])((?:\w+/)*)\w+\.cpp\b")


def violations(root: Path) -> Iterator[str]:
    orders: dict[str, list[str]] = {}
    for path in source_text.files(root, ".h", ".cpp"):
        name = path.relative_to(root).as_posix()
        if name.startswith("tests/"):
            continue
        text = path.read_text(encoding="utf-8")
        if name.startswith("src/"):
            layer = name.split("/")[1]
            if layer not in orders:
                orders[layer] = _folders_lowest_first(root / "src" / layer / "CMakeLists.txt")
        yield from _check_includes(name, source_text.without_comments(text), orders)
        if not name.startswith(MAY_END_PROCESS):
            yield from _check_process(name, source_text.code_only(text))


def _folders_lowest_first(cmake_file: Path) -> list[str]:
    """The folders of a layer in the order in which its CMakeLists.txt names sources in them; "" is the layer's own."""
    if not cmake_file.is_file():
        return []
    commands = re.sub(r"#.*", "", cmake_file.read_text(encoding="utf-8"))
    return list(dict.fromkeys(match[1].rstrip("/") for match in _LISTED_SOURCE.finditer(commands)))


def _check_includes(name: str, text: str, orders: dict[str, list[str]]) -> Iterator[str]:
    for match in _INCLUDE.finditer(text):
        quoted, system = match.groups()
        problem = _problem_of_quoted(name, quoted, orders) if quoted else _problem_of_system(name, system)
        if problem:
            yield f"{name}:{source_text.line_of(text, match.start())}: includes {quoted or system}: {problem}"


def _problem_of_quoted(name: str, included: str, orders: dict[str, list[str]]) -> str:
    target = included.split("/")[0]
    if target == "cpt":
        return ""
    if name.startswith("include/"):
        return "a public header may name only cpt/ and the standard library"
    layer = name.split("/")[1]
    if target not in MAY_INCLUDE:
        return "not a layer; a library's header goes in <>, this project's is named by its layer"
    part = "/".join(name.split("/")[1:3])
    user = part if part in MAY_INCLUDE else layer
    if target not in MAY_INCLUDE.get(user, set()):
        return f"{user} may include only {', '.join(sorted(MAY_INCLUDE.get(user, set())))}"
    if included.startswith("comm/mpi/") and included not in MPI_INTERFACE and not name.startswith(MPI_FOLDER):
        return f"only {MPI_FOLDER} may include MPI's headers"
    return _problem_of_folders(name, included, orders[layer]) if target == layer else ""


def _problem_of_folders(name: str, included: str, order: list[str]) -> str:
    folder, target = "/".join(name.split("/")[2:-1]), "/".join(included.split("/")[1:-1])
    if folder == target:
        return ""
    for unknown in {folder, target} - set(order):
        return f"the layer's CMakeLists.txt names no source in folder '{unknown or '.'}', so it has no place in the order"
    if order.index(folder) < order.index(target):
        return f"'{target or '.'}' comes after '{folder or '.'}' in the layer's CMakeLists.txt"
    return ""


def _problem_of_system(name: str, included: str) -> str:
    if name.startswith("include/") and not re.fullmatch(r"[a-z_0-9]+|std(def|int)\.h", included):
        return "a public header may name only cpt/ and the standard library"
    if _MPI_HEADER.match(included) and not name.startswith(MPI_FOLDER):
        return f"only {MPI_FOLDER} may include MPI's headers"
    return ""


def _check_process(name: str, code: str) -> Iterator[str]:
    for pattern in (_MPI_LIFE, _PROCESS_END):
        for match in pattern.finditer(code):
            line = source_text.line_of(code, match.start())
            word = match[0].rstrip("( \t")
            yield f"{name}:{line}: {word}: only src/app starts MPI or ends the process"
