"""Random Python objects, given to every function: an exception or a result, never a crash."""
import datetime
import decimal
import os
import random
import string
import tempfile
import unittest
import warnings
from typing import Any, Callable, Dict, List

import cpt
import numpy as np
import pandas as pd
import scipy.sparse

OBJECTS = 10000
HOSTILE = ("no number", "neither", "not to be compared")


class Hostile:
    """Has every method that a conversion may call, and they do what they should not."""

    def __init__(self, target: List[Any]) -> None:
        self.target = target

    def __float__(self) -> float:
        self.target.clear()
        raise RuntimeError(HOSTILE[0])

    def __index__(self) -> int:
        self.target.clear()
        return 3

    def __len__(self) -> int:
        return -5

    def __iter__(self) -> Any:
        self.target.clear()
        yield self

    def __bool__(self) -> bool:
        raise RuntimeError(HOSTILE[1])

    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        raise RuntimeError(HOSTILE[2])


class Generator:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)

    def text(self) -> str:
        r = self.random
        if r.random() < 0.3:
            return r.choice(["l1 |a b c:2", "l1 1:2 7:0.5", "__label__x a b", '{"label": "x", "a": [1]}', "", " ", "|", "\udc80",
                             "l |a b:nan", "a,b\n1,2", '{"label": ', "\0", "é"])
        return "".join(r.choices(string.printable + "é\ud800", k=r.randrange(12)))

    def scalar(self) -> Any:
        r = self.random
        return r.choice([
            None, True, False, 0, 1, -1, 2**70, -2**40, 1.5, float("nan"), float("inf"), -0.0, 1e300, 1j, b"bytes", object(),
            self.text(), self.text(), np.float32(2), np.int8(3), np.bool_(True), np.str_("s"), np.datetime64("2020-01-01"),
            decimal.Decimal("1.5"), datetime.date(2020, 1, 1), pd.NA, pd.NaT, Hostile([]), int, len, ..., np.array(3)])

    def bag(self, depth: int) -> List[Any]:
        return [self.any(depth - 1) for _ in range(self.random.randrange(5))]

    def dict(self, depth: int) -> Any:
        made = {}
        for _ in range(self.random.randrange(5)):
            key = self.scalar()
            try:
                made[key] = self.any(depth - 1)
            except (TypeError, RuntimeError):
                pass
        return made

    def matrix(self) -> Any:
        rows, columns = self.random.randrange(4), self.random.randrange(5)
        dtype = self.random.choice([np.float64, np.float32, np.int16, bool, np.complex128, object, "U3", "M8[D]"])
        dense = self.numbers.integers(-2, 3, (rows, columns)).astype(dtype)
        kind = self.random.randrange(4)
        if kind == 0:
            return dense
        if kind == 1:
            return pd.DataFrame({str(i): [self.any(1) for _ in range(rows)] for i in range(columns)})
        return scipy.sparse.random(max(rows, 1), max(columns, 1), 0.5, format=self.random.choice(["csr", "coo", "csc", "lil"]))

    def many(self) -> Any:
        if self.random.random() < 0.8:
            return self.any()
        # A matrix with indices from anywhere. Only for X itself: scipy's own functions crash on such a matrix.
        rows, columns = self.random.randrange(4), self.random.randrange(5)
        sparse = scipy.sparse.csr_matrix((max(rows, 1), max(columns, 1)))
        sparse.indptr = self.numbers.integers(-3, 6, rows + 1)
        sparse.indices = self.numbers.integers(-3, 2**40, columns)
        sparse.data = self.numbers.normal(size=columns)
        return sparse

    def hostile(self) -> Any:
        target: List[Any] = ["a", 1]
        target.append(Hostile(target))
        if self.random.random() < 0.5:
            return target
        inner: Any = {"a": 1}
        inner["h"] = Hostile(inner)
        inner["z"] = [1, 2]
        return inner

    def any(self, depth: int = 3) -> Any:
        kind = self.random.randrange(9) if depth > 0 else 0
        if kind <= 2:
            return self.scalar()
        if kind == 3:
            return self.dict(depth)
        if kind == 4:
            return self.matrix()
        if kind == 5:
            return self.hostile()
        made = self.bag(depth)
        return {6: tuple, 7: list, 8: lambda values: np.array(values + [None], dtype=object)}[kind](made)


# What a function may throw. RuntimeError is what Hostile throws.
ALLOWED = (cpt.Error, TypeError, ValueError, OverflowError)


class RandomObjectsTest(unittest.TestCase):
    def call_all(self, calls: Dict[str, Callable[[Generator], Any]], objects: int, seed: int) -> Dict[str, int]:
        generator = Generator(seed)
        results, errors = dict.fromkeys(calls, 0), dict.fromkeys(calls, 0)
        for i in range(objects):
            name = list(calls)[i % len(calls)]
            try:
                calls[name](generator)
                results[name] += 1
            except ALLOWED:
                errors[name] += 1
            except RuntimeError as error:
                self.assertIn(str(error), HOSTILE, name)
                errors[name] += 1
            except AttributeError:
                # scikit-learn's check of y throws it.
                self.assertIn(name, ("fit", "partial_fit"))
                errors[name] += 1
        print("results:", results, "errors:", errors)
        for name in calls:
            self.assertGreater(errors[name], 0, name)
        return results

    def test_models_take_any_object(self) -> None:
        model = cpt.Model(bits=12)
        results = self.call_all({
            "learn": lambda g: model.learn(g.any(), g.any(), g.random.choice([None, g.any()])),
            "learn_one": lambda g: model.learn(g.any(), "l"),
            "probability": lambda g: model.probability(g.any(), g.scalar()),
            "top_k": lambda g: model.top_k(g.any(), g.random.choice([1, g.any()]), g.random.choice([0, g.any()])),
            "learn_many": lambda g: model.learn_many(g.many(), g.any(), g.random.choice([None, g.any()])),
            "learn_rows": lambda g: model.learn_many([g.any() for _ in range(2)], g.random.choice([["a", 1], [g.scalar(), "b"]])),
            "probabilities": lambda g: model.probabilities(g.many(), g.any(), g.random.choice([1, 2, g.any()])),
            "all_probabilities": lambda g: model.all_probabilities(g.many(), g.random.choice([1, 2, -1])),
            "top_k_many": lambda g: model.top_k_many(g.many(), g.random.choice([1, 5, g.any()])),
            "Model": lambda g: cpt.Model(**{"bits": 10, g.random.choice(list(model.options)): g.any()}),
            "explain": lambda g: model.explain(g.any(), g.random.choice([None, g.scalar()])),
        }, OBJECTS, 1)
        for name, count in results.items():
            self.assertGreater(count, 0, name)
        # It still learns and predicts.
        model.learn({"a": 1}, "end")
        self.assertGreater(model.probability({"a": 1}, "end"), 0)

    def test_classifiers_take_any_object(self) -> None:
        def fitted() -> cpt.Classifier:
            return cpt.Classifier(bits=12).fit(np.array([[1.0, 2.0], [0.0, 1.0]]), ["a", "b"])

        names = list(cpt.Classifier().get_params())
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            self.call_all({
                "fit": lambda g: cpt.Classifier(bits=12).fit(g.many(), g.any(), g.random.choice([None, g.any()])),
                "Classifier": lambda g: cpt.Classifier(**{"bits": 12, g.random.choice(names): g.any()}).fit([[1.0], [0.0]], ["a", "b"]),
                "partial_fit": lambda g: fitted().partial_fit(g.many(), g.any(), g.random.choice([None, g.any()])),
                "predict": lambda g: fitted().predict(g.many()),
                "predict_proba": lambda g: fitted().predict_proba(g.many()),
                "top_k": lambda g: fitted().top_k(g.many(), g.any()),
                "score": lambda g: fitted().score(g.many(), g.any()),
            }, OBJECTS // 5, 2)

    def test_files_and_runs_take_any_object(self) -> None:
        model = cpt.Model(bits=12)
        model.learn({"a": 1}, "l")
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                self.call_all({
                    "save": lambda g: model.save(g.any()),
                    "load": lambda g: cpt.load(g.any()),
                    "Run": lambda g: cpt.Run(g.any()),
                    "train": lambda g: cpt.train(g.any(), ranks=g.scalar(), progress=False),
                }, OBJECTS // 10, 3)
            finally:
                os.chdir(before)


if __name__ == "__main__":
    unittest.main()
