"""The folder that experiments write to. They replace only what an earlier experiment wrote."""
import os
import shutil
from pathlib import Path

_LIST = "experiments.txt"
_HEAD = "launch/experiments has written these, and replaces them when it runs again:"


class OutFolder:
    """Keeps a list of the names that experiments write. A name is listed before it is written, so that the files of an
    interrupted experiment can be replaced, too."""

    def __init__(self, path: Path):
        """Creates the folder. Raises FileExistsError if it holds files but no list."""
        self._path = path
        self._list = path / _LIST
        path.mkdir(parents=True, exist_ok=True)
        if not any(path.iterdir()):
            self._list.write_text(f"{_HEAD}\n", encoding="utf-8")
        lines = self._list.read_text(encoding="utf-8", errors="replace").splitlines() if self._list.is_file() else []
        if lines[:1] != [_HEAD]:
            raise FileExistsError(f"{path}: is not empty, and has no {_LIST} of an earlier experiment; choose another --out")
        self._names = lines[1:]

    def anew(self, name: str) -> Path:
        """The path of a file or folder to write, where the one of an earlier experiment has been removed."""
        path = self._path / name
        if name in self._names:
            _remove(path)
        if os.path.lexists(path):
            raise FileExistsError(f"{path}: was not written by an experiment; choose another --out")
        if name not in self._names:
            self._names.append(name)
            with self._list.open("a", encoding="utf-8") as file:
                file.write(f"{name}\n")
        return path

    def is_at(self, name: str, path: Path) -> bool:
        return path.resolve() == self._path.resolve() / name

    def require_outside(self, data: Path) -> None:
        """Raises ValueError for data that experiments would remove before or while they read them."""
        for name in self._names:
            if data.resolve().is_relative_to(self._path.resolve() / name):
                raise ValueError(f"{data}: lies in {self._path / name}, which experiments replace; choose another --out")


def _remove(path: Path) -> None:
    if path.is_symlink():
        return  # no experiment creates one
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
