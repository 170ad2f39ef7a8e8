"""Makes the rows that the core takes from what users have: lists, sparse and dense matrices, data frames."""
from __future__ import annotations

from typing import Any, Dict, Iterable, NamedTuple, Optional, Sequence

import numpy as np

from . import _core
from .errors import BadData, BadOption

Array = np.ndarray[Any, np.dtype[Any]]

_NAMES_SHOWN = 10  # of columns, in errors


def is_frame(X: Any) -> bool:
    """Whether X is a pandas DataFrame."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


class Keys(NamedTuple):
    """The options of a model that name columns of features."""

    text: Sequence[str] = ()
    categorical: Sequence[str] = ()
    ignored: Sequence[str] = ()


def example_of(x: Any, keys: Keys) -> Any:
    """x as the core takes it: tables as rows, of which there should be one, anything else as it is."""
    if type(x) in (str, dict, list, tuple):
        return x
    if hasattr(x, "iloc") and not is_frame(x):
        raise TypeError("expected an example, found a Series: a row of a data frame keeps its types as df.iloc[[i]]")
    table = _table(x, keys)
    return x if table is None else table


def rows_of(X: Any, keys: Keys) -> _core.Rows:
    """The rows of X; see `Model`."""
    if isinstance(X, _core.Rows):
        return X
    table = _table(X, keys)
    if table is not None:
        return table
    if isinstance(X, (str, bytes, dict)):
        raise TypeError(f"expected many examples, found one of type {type(X).__name__}")
    if isinstance(X, (set, frozenset)):
        raise TypeError(f"expected many examples in order, found a {type(X).__name__}")
    if not isinstance(X, Iterable):
        raise TypeError(f"expected many examples, found an object of type {type(X).__name__}")
    return _core.ObjectRows(list(X))


def _table(X: Any, keys: Keys) -> Optional[_core.Rows]:
    """The rows of a sparse matrix, an array or a data frame; None if X is none of these."""
    if hasattr(X, "tocsr") and hasattr(X, "shape"):
        csr = X.tocsr()
        return _core.CsrRows(csr.indptr, csr.indices, csr.data)
    if is_frame(X):
        return _frame_rows(X, keys)
    if isinstance(X, np.ndarray) and X.ndim == 2:
        return _dense(X)
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiubc":
        raise TypeError(f"expected an array of numbers of shape (rows, columns), found one of shape {X.shape}: a row is X[[i]]")
    return None


def _frame_rows(X: Any, keys: Keys) -> _core.Rows:
    """Columns are checked as those of CSV are."""
    places: Dict[str, int] = {}
    for place, name in enumerate(map(str, X.columns)):
        if places.setdefault(name, place) != place:
            raise BadData(f"expected columns with names of their own, found two of the name {name!r}")
    for option, names in (("text_keys", keys.text), ("categorical_keys", keys.categorical)):
        for name in names:
            if name not in places:
                found = ", ".join(map(repr, [*places][:_NAMES_SHOWN])) + (", ..." if len(places) > _NAMES_SHOWN else "")
                raise BadOption(f"expected the column {name!r} ({option}), found the columns {found}")
    for name in keys.ignored:
        places.pop(name, None)
    return _core.TableRows([*places], [_column(name, X.iloc[:, place]) for name, place in places.items()], len(X))


def _dense(X: Array) -> _core.Rows:
    if isinstance(X, np.ma.MaskedArray):
        raise TypeError("expected an array of numbers, found one that is masked")
    if X.dtype.kind not in "fiub":
        raise TypeError(f"expected an array of numbers, found one of type {X.dtype}: give data frames as they are")
    return _core.DenseRows(np.asarray(X))  # a np.matrix becomes an array


def _column(name: Any, column: Any) -> Any:
    """An array if float64 holds its numbers exactly, else a list of objects, with None for missing values."""
    kind = getattr(column.dtype, "kind", "O")
    if kind in "iuf":
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        if kind == "f" or not (np.abs(numbers) >= 2**53).any():
            return numbers
    if kind in "mM":
        raise TypeError(f"column {name!r} holds times: make numbers or str of them")
    missing = column.isna().to_numpy()
    values = [None if lacks else value for value, lacks in zip(column.astype(object), missing)]
    if str(column.dtype) != "category":
        return values
    return [value if value is None or isinstance(value, (str, bool)) else _category(value) for value in values]


def _category(value: Any) -> str:
    """The text of a category in CSV: pandas makes floats of whole numbers if a value of the column is missing."""
    return str(int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value)
