"""cpt.Model: what is refused, and the row that an error names."""
import unittest

import cpt
import numpy as np
import pandas as pd
import scipy.sparse
from trained_model import make_lines, trained


class ErrorsTest(unittest.TestCase):
    def test_a_bad_row_is_named_and_those_before_it_are_learned(self) -> None:
        for X, y in ((make_lines(20) + ["l1 |a x:nonsense"], None), ([{"a": 1}] * 20 + [{"a": float("nan")}], range(21)),
                     (scipy.sparse.csr_matrix([[1.0]] * 20 + [[np.inf]]), range(21)), (["|a b"] * 20 + [" "], range(21)),
                     (pd.DataFrame({"a": [1.0] * 20 + [np.inf]}), range(21)), (["l |a b"] * 20 + ["|a b"], None)):
            model, expected = cpt.Model(bits=12), cpt.Model(bits=12)
            with self.assertRaises(cpt.BadData) as caught:
                model.learn_many(X, y)
            self.assertEqual(caught.exception.row, 20)
            self.assertRegex(str(caught.exception), "^row 20: expected ")
            expected.learn_many(X[:20], None if y is None else y[:20])
            self.assertEqual(model.digest(), expected.digest())
            if not isinstance(X, list) or not isinstance(X[20], str) or "nonsense" not in X[20]:
                continue
            self.assertEqual(caught.exception.column, len('l1 |a x:') + 1)
        for threads in (1, 2):
            with self.assertRaises(cpt.BadData) as caught:
                trained().top_k_many(scipy.sparse.csr_matrix([[1.0]] * 500 + [[np.inf]] * 500), 1, threads=threads)
            self.assertEqual(caught.exception.row, 500)

    def test_wrong_types_and_sizes(self) -> None:
        model = trained()
        before = model.digest()
        for wrong in (object(), 3, None, b"l |a b", {"a": object()}, {"a": 1j}, [["nested"]], {"a": [["nested"]]},
                      {"a": [{}]}, {object(): 1}, [object()]):
            with self.assertRaises(TypeError, msg=repr(wrong)):
                model.learn(wrong, "l1")
        for label in (1.5, object(), b"l", ["l"], np.array([1])):
            with self.assertRaises(TypeError, msg=repr(label)):
                model.learn(["a"], label)
        for label in (None, ""):
            with self.assertRaisesRegex(cpt.BadData, "expected a label"):
                model.learn(["a"], label)
        for X, y, importance in ((["|a b"], ["x", "y"], None), (["|a b"], ["x"], [1, 2])):
            with self.assertRaises(ValueError):
                model.learn_many(X, y, importance)
        for importance in (-1, float("nan"), 1e13):
            with self.assertRaises(cpt.BadData):
                model.learn(["a"], "x", importance)
            with self.assertRaises(cpt.BadData):
                model.learn_many(["|a b"], ["x"], [importance])
        with self.assertRaisesRegex(TypeError, "times"):
            model.top_k_many(pd.DataFrame({"t": pd.to_datetime(["2020-01-01"])}), 1)
        with self.assertRaises(ValueError):
            model.top_k_many(["|a b"], 1, threads=0)
        with self.assertRaises(TypeError):
            model.learn_many("l1 |a b")
        deep: dict = {}
        for _ in range(20):
            deep = {"d": deep}
        with self.assertRaisesRegex(cpt.BadData, "16 dicts"):
            model.learn(deep, "l1")
        self.assertEqual(model.digest(), before)

    def test_wrong_counts_are_refused_by_name(self) -> None:
        model = trained()
        calls = {"k": (lambda k: model.top_k("|a b", k), lambda k: model.top_k_many(["|a b"], k)),
                 "top": (lambda top: model.explain("|a b", "l1", top),),
                 "threads": (lambda threads: model.top_k_many(["|a b"], threads=threads),
                             lambda threads: model.probabilities(["|a b"], "l1", threads),
                             lambda threads: model.all_probabilities(["|a b"], threads))}
        for name, asks in calls.items():
            for ask in asks:
                for wrong in (1.0, "1", None):
                    with self.assertRaisesRegex(TypeError, f"^expected a whole number as {name}, found {wrong!r}$"):
                        ask(wrong)
                with self.assertRaisesRegex(ValueError, f"^expected {name} of at least ., found -1$"):
                    ask(-1)
                ask(np.int64(1))
                ask(10**30)
        with self.assertRaisesRegex(ValueError, "each of 1 rows, found those of 2"):
            model.probabilities(["|a b"], ["x", "y"])
        with self.assertRaisesRegex(TypeError, "many examples, found an object of type NoneType"):
            model.learn_many(None, ["x"])

    def test_objects_that_cannot_be_converted_name_their_row(self) -> None:
        for bad in ({"a": 10**400}, {"a": "\ud800"}, ["\ud800"], {"\ud800": 1}):
            with self.assertRaisesRegex(cpt.BadData, "^row 2: expected ") as caught:
                cpt.Model(bits=12).learn_many([{"a": 1}] * 2 + [bad], ["x"] * 3)
            self.assertEqual(caught.exception.row, 2)
        with self.assertRaisesRegex(cpt.BadData, "^row 1: expected "):
            cpt.Model(bits=12).learn_many([{"a": 1}] * 2, ["x", "\ud800"])

    def test_wrong_types_name_their_row(self) -> None:
        model = cpt.Model(bits=12)
        for X, y in (([{"a": 1}, None], ["x", "y"]), ([{"a": 1}, {"a": object()}], ["x", "y"]), ([{}, {}], ["x", None]),
                     (pd.DataFrame({"a": [1, {}]}), ["x", "y"])):
            with self.assertRaisesRegex(TypeError, "^row 1: expected "):
                model.learn_many(X, y)


if __name__ == "__main__":
    unittest.main()
