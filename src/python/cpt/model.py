"""Models of conditional probability trees: `Model`."""
from __future__ import annotations

import operator
import os
import re
import tempfile
from pathlib import Path
from typing import AbstractSet, Any, Dict, Iterable, List, NamedTuple, Optional, Protocol, SupportsIndex, Tuple, Union

import numpy as np

from . import _core
from .errors import BadOption, NoInput
from .rows import Array, Keys, example_of, rows_of

Label = Union[str, SupportsIndex]


class Table(Protocol):
    """A sparse matrix, an array or a data frame."""

    @property
    def shape(self) -> Any: ...


Example = Union[str, Dict[Any, Any], List[Any], Tuple[Any, ...], AbstractSet[Any], Table]

_COUNTS = {"arity", "bits", "seed", "trees"}
_NUMBERS = {"alpha", "clip", "learning_rate"}
SWITCHES = {"calibrate", "rarity"}
REPEATED = {"interactions", "ngrams"}  # on the command line, once for each value
_KEYS = ("_keys", "_columns")  # endings of the options whose values are joined by commas
_NGRAM = re.compile(r"(?:(?!\d+ )[^ ].*?:)?\d+(?= |$)")  # N or NAMESPACE:N; a namespace may have blanks


class Digest(NamedTuple):
    """Models with equal digests are equal, bit by bit. Both are those of `summary.json`, 16 hexadecimal digits."""

    tree: str  #: of trees and labels
    weights: str  #: of weights and counts


class Figures(NamedTuple):
    """Size and shape of a model."""

    rows: int  #: of the weight tables of all trees; 0 for method table, which has none
    rows_used: int  #: of these, rows that were ever trained: if few are left, features share rows
    trees: int
    depth_max: int  #: nodes above the deepest leaf of all trees; 0 if the method is not a tree
    depth_mean: float
    depth_bound: float  #: the paper's bound on `depth_max`; 0 if it does not apply


def option_words(value: Any) -> List[str]:
    """The words that follow an option on the command line."""
    if isinstance(value, (bool, np.bool_)):
        return ["on" if value else "off"]
    if isinstance(value, (list, tuple)):
        return [str(part) for part in value]
    return [str(value)]


def option_value(name: str, value: Any) -> Any:
    """The value of an option, a list of str if there are several, None if there is none."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return value
    if name not in REPEATED and not name.endswith(_KEYS):
        raise BadOption(f"{name}: expected one value, found an object of type {type(value).__name__}")
    listed = list(value)
    for part in listed:
        if not isinstance(part, str):
            raise BadOption(f"{name}: expected str, found {part!r}")
        if name.endswith(_KEYS) and "," in part:
            raise BadOption(f"{name}: expected a name without comma, found {part!r}")
    return listed or None


def _option_value(name: str, text: str) -> Any:
    if name in _COUNTS:
        return int(text)
    if name in _NUMBERS:
        return float(text)
    if name in SWITCHES:
        return text == "on"
    if name == "ngrams":
        return _NGRAM.findall(text)
    if name in REPEATED:
        return text.split()
    if name.endswith("_keys"):
        return [key for key in text.split(",") if key]
    return text


_OF_CORE = {"_core", "_names", "_keys"}  # attributes of a Model that _set_core() sets


Contributions = List[Tuple[str, float]]


class Calibration(NamedTuple):
    """P(side) = 1 / (1 + exp(-1.05 s)) with s = a * margin + b + c * rare_margin, towards the side taken."""

    a: float
    b: float
    c: float
    margin: float
    rare_margin: float


class Step(NamedTuple):
    """A node on the path of a label: the side taken, its probability, and the features that speak for it (or against)."""

    depth: int
    side: str  #: L or R; of a node with more branches, the column of its code
    probability: float
    calibration: Optional[Calibration]  #: None if nodes are not calibrated
    contributions: Contributions  #: (feature, what it adds to the margin), the largest first


class Explanation(NamedTuple):
    """Why a label has its probability, the mean over the trees; the P of a tree is the product over its steps."""

    label: str
    probability: float
    trees: List[Tuple[float, List[Step]]]  #: P and steps of each tree; none with method oaa
    contributions: Contributions  #: method oaa: to the margin of the label's regressor


class Model:
    """P(label | x), learned online; a new label joins at its first example.

    The options are those of `cpt_dist` that a model keeps, with `_` for `-`: `method`, `alpha`, `bits`, `trees`,
    `interactions` and so on (see `Model().options`). Several values are given as an iterable of str. `bits` is 22
    unless given: a weight table has 2^bits rows of 64 bytes, of which memory is taken as rows are first written.
    Raises `BadOption`.

    An example x is one of:

    - a dict, with the features of a JSON line: `{"size": 0.5}` is a number, `{"color": "red"}` and `{"new": True}` are
      the features `color=red` and `new=true`, `{"tags": ["a", "b"]}` is a namespace with two words,
      `{"page": {"age": 2}}` a namespace with the feature `age`; None is no feature. The key `label` (`label_key`) is no
      feature: it is the label where no other is given;
    - a list of tokens, each a feature, as a fastText line has them: str, whole numbers or bools; None and NaN are none;
    - a str: a line in any text format of `cpt_dist` but csv. Its label counts where no other is given. The format is detected
      by the first line of each call. If it is in none that is recognised, such as `bread milk`, it has the format that
      `cpt_dist` trained the model on, if the model knows it;
    - a table of one row: a sparse matrix, an array or a data frame as below (`df.iloc[[0]]`). A dict of such a row is
      another example: in a data frame, numbers and texts are in the namespace of their column, in a dict in none.

    Many examples X are one of: a list of these; a scipy sparse matrix or a 2-dimensional array of numbers, shape
    (rows, columns), where column c is the feature c of a libsvm line; a pandas DataFrame, where each column is a
    namespace, as in CSV: a number is the feature `column`, a str or category `column=value`, a bool `column=true` (where
    `to_csv` writes True), a list holds the words of the namespace, and what is missing is no feature. Each column has a name
    of its own. The options `label_key`, `importance_key`, `text_keys`, `categorical_keys` and `ignore_keys` name keys of
    dicts and columns alike. The option `ngrams` makes of all these what it makes of the line with the same words: of tokens
    in the order of their list or tuple, of text keys, and of lists in dicts. Sets and columns of arrays have no n-grams.

    Labels are str; an int stands for its decimal digits. What Python learns is what `cpt_dist` on one rank learns of the same
    examples with the same options, bit by bit.

    Several threads may use a model at a time: predictions run side by side, learning has the model for itself. The
    interpreter's lock is released meanwhile.

    >>> m = Model(bits=12)
    >>> m.learn({"color": "red", "size": 0.5}, "apple")
    0.0
    >>> m.learn({"color": "yellow", "size": 0.7}, "banana")
    0.0
    >>> m.labels
    ['apple', 'banana']
    >>> m
    <cpt.Model: 2 labels, method tree, 12 bits>
    """

    def __init__(self, **options: Any) -> None:
        given = {name: option_value(name, value) for name, value in options.items()}
        given = {name: value for name, value in given.items() if value is not None}
        self._set_core(_core.Model([(name, option_words(v)) for name, v in given.items()]))

    def _set_core(self, core: _core.Model) -> None:
        self._core = core
        self._names = np.empty(0, dtype=object)
        options = self.options
        self._keys = Keys(options["text_keys"], options["categorical_keys"], options["ignore_keys"])

    @classmethod
    def load(cls, path: Union[str, os.PathLike[str]]) -> Model:
        """Reads a model that `save()` or `cpt_dist` wrote. Raises `NoInput`, or `BadData` if it is damaged."""
        model = cls.__new__(cls)
        try:
            model._set_core(_core.Model.load(os.fspath(path)))
        except NoInput:
            inside = os.path.join(path, "model")  # of a run directory
            if os.path.exists(os.path.join(inside, "MANIFEST")):
                raise NoInput(f"{os.fspath(path)}: is not a model; did you mean {inside}?") from None
            raise
        return model

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the model to the directory `path`, completely or not at all, and replaces a model that is there.

        A symbolic link is replaced, and the model that it names stays.
        """
        self._core.save(os.fspath(path))

    @property
    def labels(self) -> List[str]:
        """All labels, in the order in which they joined."""
        return list(self._label_array())

    @property
    def options(self) -> dict[str, Any]:
        """The options by name."""
        return {name: _option_value(name, words[0]) for name, words in self._core.options()}

    def digest(self) -> Digest:
        """Digests of all that was learned. Takes time in proportion to the size of the model."""
        return Digest(*(f"{number:016x}" for number in self._core.digests()))

    def figures(self) -> Figures:
        """Size and shape of the model. Takes time in proportion to its size."""
        return Figures(*self._core.figures())

    def learn(self, x: Example, label: Optional[Label] = None, importance: Optional[float] = None) -> float:
        """Learns an example. Returns P(label | x) as it was before, 0 if the label is new.

        `label` may be omitted if x (a line, a dict or a row of a data frame) has one. `importance` is in [0, 1e12];
        with 0, nothing is learned.
        """
        return self._core.learn(example_of(x, self._keys), label, importance)

    def probability(self, x: Example, label: Label) -> float:
        """P(label | x), 0 if the model does not know the label.

        >>> m = Model(bits=12)
        >>> _ = m.learn(["red", "round"], "apple")
        >>> m.probability(["red"], "apple")
        1.0
        """
        return self._core.probability(example_of(x, self._keys), label)

    def known_part(self, x: Example) -> float:
        """The part of the features of x, in [0, 1], that the model has met, so far as it counts features (option `rarity`).

        NaN if it has counted none yet (the first 100 examples are taken over together), or if x has no feature.
        """
        return self._core.known_part(example_of(x, self._keys))

    def top_k(self, x: Example, k: int = 1, threshold: float = 0) -> List[Tuple[str, float]]:
        """The k most probable labels and their probabilities, most probable first; only those of at least `threshold`."""
        return self._core.top_k(example_of(x, self._keys), _whole("k", k, 0), threshold)

    def explain(self, x: Example, label: Optional[Label] = None, top: int = 5) -> Optional[Explanation]:
        """Why the label has its probability given x, with the `top` largest contributions of each node on its path.

        Without a label, explains the most probable one. Returns None if the model does not know the label, or has none.

        >>> m = Model(bits=12)
        >>> for _ in range(5):
        ...     _ = m.learn_many([{"color": "red"}, {"color": "blue"}], ["apple", "sky"])
        >>> why = m.explain({"color": "red"}, "apple")
        >>> [(step.side, step.contributions[0][0]) for step in why.trees[0][1]]
        [('L', 'color=red')]
        """
        x = example_of(x, self._keys)
        if label is None:
            best = self.top_k(x, 1)
            if not best:
                return None
            label = best[0][0]
        found = self._core.explain(x, label, _whole("top", top, 0))
        if found is None:
            return None
        name, probability, trees, contributions = found
        steps = [(p, [Step(d, side, q, c and Calibration(*c), parts) for d, side, q, c, parts in tree])
                 for p, tree in trees]
        return Explanation(name, probability, steps, contributions)

    def learn_many(self, X: Any, y: Optional[Iterable[Label]] = None,
                   importance: Optional[Iterable[float]] = None) -> Array:
        """Learns examples in order; returns P of each label before it was learned, shape (rows,).

        `y` may be omitted if the rows (lines, dicts or rows of a data frame) have labels. Rows of importance 0 are only
        predicted. If a row is bad, `BadData.row` names it, and the rows before it were learned.

        >>> m = Model(bits=12)
        >>> m.learn_many([{"a": 1}, {"a": 1}, {"b": 1}], ["x", "x", "y"])
        array([0., 1., 0.])
        """
        rows = rows_of(X, self._keys)
        if importance is not None and not hasattr(importance, "__array__"):
            importance = list(importance)
        weights = None if importance is None else np.asarray(importance, dtype=np.float64).ravel()
        return self._core.learn_many(rows, None if y is None else label_list(y), weights)

    def probabilities(self, X: Any, labels: Any, threads: int = 1) -> Array:
        """P of labels given each row.

        `labels` holds one for each row, and the result has the shape (rows,); or a sequence of m for each row: (rows, m).
        A single label (a str or int) is used for all rows. The number of threads does not change the result.
        """
        rows = rows_of(X, self._keys)
        threads = _whole("threads", threads, 1)
        if isinstance(labels, (str, int, np.integer)):
            return self._core.probabilities(rows, [labels], False, 1, threads)[:, 0]
        given = label_list(labels)
        if given and isinstance(given[0], (list, tuple, np.ndarray)):
            width = len(given[0])
            if any(not isinstance(row, (list, tuple, np.ndarray)) or len(row) != width for row in given):
                raise ValueError("expected as many labels for each row")
            flat = [label for row in given for label in row]
            return self._core.probabilities(rows, flat, True, width, threads)
        return self._core.probabilities(rows, given, True, 1, threads)[:, 0]

    def all_probabilities(self, X: Any, threads: int = 1) -> Array:
        """P of every label given each row, in the order of `labels`: shape (rows, labels). Takes O(labels) for each row."""
        return self._core.all_probabilities(rows_of(X, self._keys), self._core.size(), _whole("threads", threads, 1))

    def top_k_many(self, X: Any, k: int = 1, threshold: float = 0, threads: int = 1) -> Tuple[Array, Array]:
        """The k most probable labels of each row, most probable first, and their probabilities.

        Two arrays of shape (rows, k), or fewer columns if there are fewer labels. A row with fewer labels of at
        least `threshold` is filled up with None and 0. The number of threads does not change the result.
        """
        rows = rows_of(X, self._keys)
        most = min(_whole("k", k, 0), self._core.size())
        numbers, p = self._core.top_k_many(rows, most, threshold, _whole("threads", threads, 1))
        labels = self._label_array()[numbers]
        labels[numbers < 0] = None
        return labels, p

    def _label_array(self) -> Array:
        # Other threads may replace `_names` meanwhile, so this one keeps to the array that it took.
        names = self._names
        new = self._core.labels(len(names))
        if new:
            added = np.empty(len(new), dtype=object)
            added[:] = new
            self._names = names = np.concatenate([names, added])
        return names

    def __repr__(self) -> str:
        options = self.options
        trees = "" if options["trees"] == 1 else f"{options['trees']} trees, "
        count = self._core.size()
        labels = "1 label" if count == 1 else f"{count} labels"
        return f"<cpt.Model: {labels}, method {options['method']}, {trees}{options['bits']} bits>"

    def __getstate__(self) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(prefix="cpt-") as folder:
            self.save(Path(folder, "model"))
            files = (p for p in sorted(Path(folder, "model").rglob("*")) if p.is_file())
            content = {str(p.relative_to(Path(folder, "model"))): p.read_bytes() for p in files}
        return {**{name: value for name, value in self.__dict__.items() if name not in _OF_CORE}, "_core": content}

    def __setstate__(self, state: dict[str, Any]) -> None:
        with tempfile.TemporaryDirectory(prefix="cpt-") as folder:
            for name, content in state["_core"].items():
                path = Path(folder, "model", name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            self.__dict__.update(state)
            self._set_core(_core.Model.load(str(Path(folder, "model"))))


def load(path: Union[str, os.PathLike[str]]) -> Model:
    """`Model.load(path)`."""
    return Model.load(path)


def _whole(name: str, value: Any, least: int) -> int:
    """Checks an argument that is a count; returns it as the core takes it."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"expected a whole number as {name}, found {value!r}") from None
    if number < least:
        raise ValueError(f"expected {name} of at least {least}, found {number}")
    return min(number, 2**32)


def label_list(labels: Any) -> List[Any]:
    """A list of labels, from any sequence of them."""
    if isinstance(labels, (str, bytes)):
        raise TypeError("expected a label for each row, found one")
    if isinstance(labels, (set, frozenset, dict)):
        raise TypeError(f"expected labels in the order of the rows, found a {type(labels).__name__}")
    return list(labels.tolist() if hasattr(labels, "tolist") else labels)
