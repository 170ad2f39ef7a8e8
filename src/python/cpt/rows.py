"""What the core takes as many examples, from what users have: lists, sparse and dense matrices, data frames."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core

Array = np.ndarray[Any, np.dtype[Any]]


def _is_sparse(X: Any) -> bool:
    return hasattr(X, "tocsr") and hasattr(X, "shape")


def _is_frame(X: Any) -> bool:
    return hasattr(X, "iloc") and hasattr(X, "columns")


def example_of(x: Any) -> Any:
    """x as the core takes it: a table of one row as rows, anything else as it is."""
    if isinstance(x, (str, dict, list, tuple)):
        return x
    if hasattr(x, "iloc") and not _is_frame(x):
        raise TypeError("expected an example, found a Series: a row of a data frame keeps its types as df.iloc[[i]]")
    if not (_is_sparse(x) or _is_frame(x) or (isinstance(x, np.ndarray) and x.ndim == 2)):
        return x
    rows = rows_of(x)
    if len(rows) != 1:
        raise ValueError(f"expected one example, found {len(rows)} rows")
    return rows


def rows_of(X: Any) -> _core.Rows:
    """The rows of X; see `Model`."""
    if isinstance(X, _core.Rows):
        return X
    if _is_sparse(X):
        csr = X.tocsr()
        return _core.CsrRows(csr.indptr, csr.indices, csr.data)
    if _is_frame(X):
        return _table(X)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub":
        return _dense(X)
    if isinstance(X, (str, bytes, dict)):
        raise TypeError(f"expected many examples, found one of type {type(X).__name__}")
    return _core.ObjectRows(list(X))


def _dense(X: Array) -> _core.Rows:
    is_set = X != 0  # also where X is not a number, which is refused later
    ends = np.concatenate([[0], np.cumsum(is_set.sum(axis=1))])
    return _core.CsrRows(ends, np.nonzero(is_set)[1], X[is_set])


def _table(frame: Any) -> _core.Rows:
    columns = [_column(name, frame.iloc[:, i]) for i, name in enumerate(frame.columns)]
    return _core.TableRows([str(name) for name in frame.columns], columns, len(frame))


def _column(name: Any, column: Any) -> Any:
    """An array of numbers, or a list of objects in which None stands for what is missing."""
    kind = getattr(column.dtype, "kind", "O")
    if kind in "iuf":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if kind in "mM":
        raise TypeError(f"column {name!r} holds times: make numbers or str of them")
    missing = column.isna().to_numpy()
    values = [None if lacks else value for value, lacks in zip(column.astype(object), missing)]
    if str(column.dtype) != "category":
        return values
    return [value if value is None or isinstance(value, (str, bool)) else str(value) for value in values]
