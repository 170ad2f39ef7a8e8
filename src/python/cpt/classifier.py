"""A classifier with the contract of scikit-learn: `Classifier`. Needs scikit-learn."""
from __future__ import annotations

from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, check_is_fitted, column_or_1d

from . import _core
from .model import Model
from .rows import Array, is_frame, rows_of

DENSE_LIMIT = 100_000_000  #: numbers that predict_proba may return: 800 MB


class _Frame(NamedTuple):
    """What is remembered of the data frame that a classifier was fitted on."""

    names: List[str]  # of the columns, which are namespaces
    is_numeric: bool

    @classmethod
    def of(cls, X: Any) -> _Frame:
        return cls([str(name) for name in X.columns], all(getattr(dtype, "kind", "O") in "iuf" for dtype in X.dtypes))


class _Classes(NamedTuple):
    """`classes_`, and the index of each by its label in the model. Replaced as a whole: other threads may read it."""

    values: Array
    columns: Dict[str, int]


class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A model as a classifier: in pipelines, searches, cross validation, and with any vectorizer.

    X is what scikit-learn takes (arrays and sparse matrices of numbers, shape (rows, columns)), or what `cpt.Model` takes:
    data frames with texts and lists; lists, Series or arrays of dicts, of lists of tokens, or of lines without labels. A
    column is the same feature in an array as in a data frame of numbers, by position. A key or column `label` in the data of
    the first fit is a feature, because y holds the labels.

    Parameters are options of `cpt.Model`; `passes` is how often fit() learns X, `threads` how many threads predict.

    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> texts = ["red round", "red sweet", "yellow long", "yellow bent"] * 5
    >>> pipeline = make_pipeline(CountVectorizer(), Classifier(bits=12))
    >>> pipeline.fit(texts, ["apple", "apple", "banana", "banana"] * 5).predict(["bent", "round"])
    array(['banana', 'apple'], dtype='<U6')

    Attributes: `model_`, the `cpt.Model`; `classes_`, sorted, shape (classes,).
    """

    model_: Model
    classes_: Array
    _classes: _Classes
    _frame: Optional[_Frame]  # None if fitted on anything else

    def __init__(self, *, method: str = "tree", arity: int = 16, alpha: float = 0.9, trees: int = 1,
                 loss: str = "logistic", update: str = "safe", calibrate: bool = True, rarity: bool = True,
                 learning_rate: float = 1.0, clip: float = 0.001, bits: int = 22, seed: int = 1,
                 normalize: str = "none", interactions: Iterable[str] = (), text_keys: Iterable[str] = (),
                 categorical_keys: Iterable[str] = (), ignore_keys: Iterable[str] = (), passes: int = 1, threads: int = 1) -> None:
        self.method = method
        self.arity = arity
        self.alpha = alpha
        self.trees = trees
        self.loss = loss
        self.update = update
        self.calibrate = calibrate
        self.rarity = rarity
        self.learning_rate = learning_rate
        self.clip = clip
        self.bits = bits
        self.seed = seed
        self.normalize = normalize
        self.interactions = interactions
        self.text_keys = text_keys
        self.categorical_keys = categorical_keys
        self.ignore_keys = ignore_keys
        self.passes = passes
        self.threads = threads

    def fit(self, X: Any, y: Any, sample_weight: Optional[Any] = None) -> Classifier:
        """Learns X, in order, from the start. `y`: labels, shape (rows,); `sample_weight`: importances from 0 to 1e12."""
        return self._learn(X, y, None, sample_weight, self.passes, reset=True)

    def partial_fit(self, X: Any, y: Any, classes: Optional[Any] = None,
                    sample_weight: Optional[Any] = None) -> Classifier:
        """Goes on learning. Classes need not be known: a new one joins at its first example.

        Those that `classes` names have a column in `predict_proba` even before that.
        """
        return self._learn(X, y, classes, sample_weight, 1, reset=not hasattr(self, "model_"))

    def predict(self, X: Any) -> Array:
        """The most probable class of each row, shape (rows,)."""
        model = self._fitted_model()
        labels, _ = model.top_k_many(self._rows(X, model), 1, threads=self.threads)
        return self._classes_of(labels[:, 0])

    def top_k(self, X: Any, k: int = 1) -> Tuple[Array, Array]:
        """The k most probable classes of each row, most probable first, and their probabilities: shapes (rows, k).

        Fewer columns if there are fewer classes. Takes O(log classes) for each row, where `predict_proba` takes O(classes).
        """
        model = self._fitted_model()
        labels, p = model.top_k_many(self._rows(X, model), k, threads=self.threads)
        return self._classes_of(labels.ravel()).reshape(labels.shape), p

    def predict_proba(self, X: Any) -> Array:
        """P of every class, in the order of `classes_`: shape (rows, classes).

        Raises ValueError beyond `DENSE_LIMIT`, 100 million numbers: use `top_k`.
        """
        model = self._fitted_model()
        rows = self._rows(X, model)
        if len(rows) * len(self.classes_) > DENSE_LIMIT:
            raise ValueError(f"{len(rows)} rows of {len(self.classes_)} classes are more than {DENSE_LIMIT} numbers: "
                             "use top_k(X, k), or fewer rows at a time")
        of_labels = model.all_probabilities(rows, threads=self.threads)
        labels = model.labels[:of_labels.shape[1]]  # another thread may have learned more
        values, columns = self._classes
        p = np.zeros((len(rows), len(values)))
        p[:, [columns[text] for text in labels]] = of_labels
        return p

    def predict_log_proba(self, X: Any) -> Array:
        """ln P of every class, as `predict_proba`; -inf for a class that was named but not learned."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any, passes: int, reset: bool) -> Classifier:
        options = {name: value for name, value in self.get_params().items() if name not in ("passes", "threads")}
        if reset and _has_label_key(X):
            options["label_key"] = ""
        model = Model(**options) if reset else self.model_
        rows, labels = self._checked(X, y, reset, model)
        if passes < 1:
            raise ValueError(f"expected at least one pass, found {passes}")
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, np.empty((len(rows), 1)))
            if reset and not sample_weight.any():
                raise ValueError("expected a weight above 0, found none")
        if reset:
            self.model_ = model
            self._classes = _Classes(np.empty(0, dtype=labels.dtype), {})
        values, inverse = np.unique(labels, return_inverse=True)
        self._add_classes(values, np.unique(classes) if classes is not None else values[:0])
        texts = np.array([_text(value) for value in values], dtype=object)[inverse]
        for _ in range(passes):
            self.model_.learn_many(rows, texts, sample_weight)
        return self

    def _checked(self, X: Any, y: Any, reset: bool, model: Model) -> Tuple[_core.Rows, Array]:
        if _is_for_sklearn(X):
            X, y = self._validate_data(X, y, accept_sparse="csr", reset=reset, dtype=np.float64)
            if reset:
                self._frame = None
            rows = self._numeric_rows(X, model)
        else:
            if y is None:
                raise ValueError("requires y to be passed, but the target y is None")
            rows = self._rows(X, model, reset)
            y = column_or_1d(y, warn=True)
            check_consistent_length(np.empty(len(rows)), y)
        if len(rows) == 0:
            raise ValueError("expected at least one row, found none")
        check_classification_targets(y)
        return rows, np.asarray(y)

    def _rows(self, X: Any, model: Model, reset: bool = False) -> _core.Rows:
        if reset:
            self._frame = _Frame.of(X) if is_frame(X) else None
            for name in ("n_features_in_", "feature_names_in_"):  # of what was fitted before
                self.__dict__.pop(name, None)
        if is_frame(X) and self._frame is not None:
            self._check_feature_names(X, reset=reset)
            self._check_n_features(X, reset=reset)
            named = X if _Frame.of(X).names == self._frame.names else X.set_axis(self._frame.names, axis=1)
            return rows_of(named, model._keys)
        if is_frame(X) and not _Frame.of(X).is_numeric:
            raise ValueError("fitted without a data frame: expected one with numbers only, found other columns")
        if is_frame(X) or _is_for_sklearn(X):
            return self._numeric_rows(self._validate_data(X, accept_sparse="csr", reset=reset, dtype=np.float64), model)
        return rows_of(X, model._keys)

    def _numeric_rows(self, X: Any, model: Model) -> _core.Rows:
        if self._frame is None:
            return rows_of(X, model._keys)
        if not self._frame.is_numeric:
            raise ValueError("fitted on a data frame with more than numbers: expected a data frame, found an array")
        dense = X.toarray() if hasattr(X, "toarray") else X
        return _core.TableRows(self._frame.names, list(dense.T), len(dense))

    def _fitted_model(self) -> Model:
        check_is_fitted(self, "model_")
        model: Model = self.model_
        return model

    def _add_classes(self, *parts: Array) -> None:
        """Called before their examples are learned, so that another thread that predicts knows every label."""
        known = self._classes.columns.keys()
        texts = {_text(value) for part in parts for value in part}
        if not texts <= known:
            values = np.unique(np.concatenate([part for part in (self._classes.values, *parts) if len(part)]))
            columns = {_text(value): i for i, value in enumerate(values)}
            # NumPy turns True beside 1 into a number, and integers beside floats into floats.
            if columns.keys() != known | texts:
                raise ValueError("expected classes of one type, found others, such as True beside 1")
            self._classes = _Classes(values, columns)
        self.classes_ = self._classes.values

    def _classes_of(self, texts: Array) -> Array:
        values, columns = self._classes
        return np.asarray(values[[columns[text] for text in texts]])

    def _more_tags(self) -> Dict[str, Any]:
        order = "an online learner: the order of the rows matters, and the check shuffles them"
        return {"_xfail_checks": {"check_sample_weights_invariance": order}}


def _text(value: Any) -> str:
    """The label that a class has in the model: its text as `Model` makes it; of a whole float, that of the integer."""
    if isinstance(value, bytes):
        raise TypeError("expected classes that are str or numbers, found bytes")
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)) and value.is_integer():
        return str(int(value))
    return str(value)


def _has_label_key(X: Any) -> bool:
    """Whether X has a key or column `label`, which a model takes for the label by default."""
    if is_frame(X):
        return "label" in X.columns
    return not _is_for_sklearn(X) and any(isinstance(row, dict) and "label" in row for row in X)


def _is_for_sklearn(X: Any) -> bool:
    """Whether X is numbers in rows and columns, rather than what only `cpt.Model` knows."""
    if is_frame(X):
        return False
    if hasattr(X, "iloc"):  # a Series
        X = X.to_numpy()
    if isinstance(X, np.ndarray):
        return X.ndim != 1 or X.dtype.kind not in "OU"
    if not isinstance(X, (list, tuple)) or not X:
        return True
    # The first row that is not an empty list of tokens.
    first = next((row for row in X if not (isinstance(row, (list, tuple)) and not row)), None)
    if isinstance(first, (list, tuple)):
        return not isinstance(first[0], str)
    return not (first is None or isinstance(first, (dict, str)))
