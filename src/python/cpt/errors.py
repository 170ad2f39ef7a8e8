"""The exceptions of this package: `Error`, and one class for each kind of fault."""
from __future__ import annotations

from typing import Optional, Type


class Error(Exception):
    """A failure of this package.

    `code` is the exit code that `cpt_dist` and `cpt` have for it.
    """

    code = 1


class BadOption(Error, ValueError):
    """An option is out of range or unknown, or two contradict."""

    code = 2


class BadData(Error, ValueError):
    """Malformed input, or a damaged model.

    Attributes, each None where it is not known: `file`, `line` (from 1) and `column` (byte of the line, from 1) of input
    in files; `row` (from 0) of what was given to a function for many examples, and then `column` of the line there.
    """

    code = 65
    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None
    row: Optional[int] = None


class NoInput(Error, FileNotFoundError):
    """Input is missing or cannot be read."""

    code = 66


class CannotWrite(Error, OSError):
    """No permission, no space, or a run directory that is in use or holds a finished run."""

    code = 73


class Stopped(Error):
    """Training was stopped on request, with a checkpoint to resume from."""

    code = 75


_CLASSES: dict[int, Type[Error]] = {c.code: c for c in (BadOption, BadData, NoInput, CannotWrite, Stopped)}


def make_error(code: int, reason: str, row: Optional[int] = None, column: Optional[int] = None) -> Error:
    """The exception for an exit code, with a reason in one line."""
    error = _CLASSES.get(code, Error)(reason if row is None else f"row {row}: {reason}")
    if isinstance(error, BadData):
        error.row, error.column = row, column
    return error
