"""cpt.Model: what examples, tables, lines, labels and importances may be."""
import os
import subprocess
import sys
import textwrap
import unittest

import cpt
import numpy as np
import pandas as pd
import scipy.sparse
from trained_model import trained


class InputTest(unittest.TestCase):
    def test_rows_of_tables_are_no_tokens(self) -> None:
        model = cpt.Model(bits=12)
        array = np.array([[1.0, 0], [0, 3]])
        frame = pd.DataFrame({"color": ["red", "blue"], "size": [1, 2]})
        for x in (array[0], array.astype(int)[0], np.array(3.0), [1.5, 2.0], (np.float64(1), "a"), next(frame.itertuples())):
            with self.assertRaisesRegex(TypeError, "X.*i|array|iloc", msg=repr(x)):
                model.learn(x, "a")
        for X in (array[0], list(array), array.tolist(), frame.itertuples(), {("a",), ("b",)}, np.zeros((2, 2, 2))):
            with self.assertRaises(TypeError, msg=repr(X)):
                model.learn_many(X, ["a", "b"])
        for y in ({"a", "b"}, frozenset("ab"), {"a": 1, "b": 2}):
            with self.assertRaisesRegex(TypeError, "in the order"):
                model.learn_many(array, y)
        self.assertEqual(model.labels, [])
        model.learn([1, "a", True], "l")
        model.learn({1, "a", True}, "l")

    def test_missing_tokens_are_none(self) -> None:
        for x in (["a", None, float("nan")], ["a", np.float32("nan")], np.array(["a", np.nan], dtype=object)):
            for wrap in (lambda x: x, lambda x: {"": x}, lambda x: pd.DataFrame({"w": [x]})):
                model, expected = cpt.Model(bits=12), cpt.Model(bits=12)
                model.learn(wrap(x), "l")
                model.learn(wrap(x), "m")
                expected.learn(wrap(["a"]), "l")
                expected.learn(wrap(["a"]), "m")
                self.assertEqual(model.digest(), expected.digest())

    def test_columns_of_data_frames_are_checked_as_those_of_csv(self) -> None:
        frame = pd.DataFrame({"label": ["a", "b"], "t": pd.to_datetime(["2020", "2021"]), "x": [1, 2]})
        ignoring, expected = cpt.Model(bits=12, ignore_keys=["t", "none"]), cpt.Model(bits=12)
        ignoring.learn_many(frame)
        expected.learn_many(frame.drop(columns="t"))
        self.assertEqual(ignoring.digest(), expected.digest())
        self.assertEqual(ignoring.top_k(frame[:1]), expected.top_k(frame[["x"]][:1]))
        for names in (["label", "x", "x"], ["label", "1", 1]):
            with self.assertRaisesRegex(cpt.BadData, "names of their own"):
                expected.learn_many(frame.set_axis(names, axis=1))
        for options in ({"text_keys": ["txet"]}, {"categorical_keys": ["x", "txet"]}):
            model = cpt.Model(bits=12, **options)
            for ask in (lambda: model.learn_many(frame[["label", "x"]]), lambda: model.top_k(frame[["x"]][:1])):
                with self.assertRaisesRegex(cpt.BadOption, "the column 'txet' .*found the columns .*'x'"):
                    ask()
            model.learn({"x": 1}, "a")

    def test_importances_are_any_iterable(self) -> None:
        digests = set()
        for importance in ([1, 2.5], np.array([1, 2.5]), pd.Series([1, 2.5]), (w for w in (1, 2.5)), {1: 0, 2.5: 0}.keys()):
            model = cpt.Model(bits=12)
            model.learn_many(["|a b", "|a c"], ["x", "y"], importance)
            digests.add(model.digest())
        self.assertEqual(len(digests), 1)

    @unittest.skipIf("LD_PRELOAD" in os.environ, "sanitizers need memory of their own")
    def test_an_array_needs_little_memory_beside_its_own(self) -> None:
        program = textwrap.dedent("""
            import resource, cpt, numpy as np
            X, y = np.ones((200000, 50), dtype=np.float32), ["a", "b"] * 100000
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            cpt.Model(bits=10, method="table").learn_many(X, y)
            print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / X.nbytes)
            """)
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
        self.assertLess(float(done.stdout), 5)

    def test_a_table_of_one_row_is_an_example(self) -> None:
        frame = pd.DataFrame({"color": ["red", "blue", None], "size": [1, 2.5, 0.5], "shop": [3, 4, 3], "label": ["a", "b", "a"]})
        frame["shop"] = frame["shop"].astype("category")
        numbers = np.array([[1.0, 0, 2], [0, 3, 1], [1, 1, 0]])
        for X, y in ((frame, None), (numbers, ["a", "b", "a"]), (scipy.sparse.csr_matrix(numbers), ["a", "b", "a"])):
            many, one = cpt.Model(bits=12), cpt.Model(bits=12)
            many.learn_many(X, y)
            rows = [X.iloc[[i]] if X is frame else X[[i]] for i in range(3)]
            for i, x in enumerate(rows):
                one.learn(x, y and y[i])
            self.assertEqual(one.digest(), many.digest())
            labels, p = many.top_k_many(X, 2)
            for i, x in enumerate(rows):
                self.assertEqual(many.top_k(x, 2), list(zip(labels[i], p[i])))
                self.assertEqual(many.probability(x, "a"), many.probabilities(X, "a")[i])
                self.assertEqual(many.explain(x, "a").probability, many.probability(x, "a"))
            for x, found in ((X, 3), (X[:0], 0)):
                with self.assertRaisesRegex(ValueError, f"one example, found {found} rows"):
                    many.top_k(x)
        with self.assertRaisesRegex(TypeError, r"df.iloc\[\[i\]\]"):
            cpt.Model(bits=12).learn(frame.iloc[0])

    def test_a_matrix_of_any_kind_is_the_same(self) -> None:
        row = np.array([[1.0, 0, 2]])
        expected = cpt.Model(bits=12)
        expected.learn(row, "a")
        for x in (scipy.sparse.dok_matrix(row), scipy.sparse.coo_matrix(row), np.matrix(row), row.astype(np.int8)):
            for learn in (lambda m: m.learn(x, "a"), lambda m: m.learn_many(x, ["a"])):
                model = cpt.Model(bits=12)
                learn(model)
                self.assertEqual(model.digest(), expected.digest())
        for x in (np.array([["red", 1]], dtype=object), np.array([["red"]]), np.ma.masked_array(row, row == 0)):
            for ask in (expected.top_k, expected.top_k_many):
                with self.assertRaisesRegex(TypeError, "^expected an array of numbers, found one "):
                    ask(x, 1)

    def test_a_matrix_that_is_none_is_refused(self) -> None:
        for indptr, indices in (([0, 5], [0]), ([0, -1, 1], [0]), ([0, 1], [-1])):
            matrix = scipy.sparse.csr_matrix(([1.0], ([0], [0])), shape=(len(indptr) - 1, 1))
            matrix.indptr, matrix.indices = np.array(indptr), np.array(indices)
            with self.assertRaises(cpt.BadData):
                trained().top_k_many(matrix, 1)

    def test_a_line_may_have_its_end_but_no_other(self) -> None:
        for line in ("x |d a", "__label__x a", "1 3:0.5"):
            expected = cpt.Model(bits=12)
            expected.learn(line)
            for end in ("\n", "\r\n", "\r"):
                model = cpt.Model(bits=12)
                model.learn(line + end)
                self.assertEqual(model.digest(), expected.digest())
            with self.assertRaisesRegex(cpt.BadData, "expected one line"):
                model.learn(line + "\n" + line)

    def test_any_bytes_of_labels_come_back(self) -> None:
        model = cpt.Model(bits=12)
        for label in ("ä b", "\n", "x" * 1000, "\udcff"):
            model.learn(["a"], label)
            self.assertEqual(model.labels[-1], label)
            self.assertGreater(model.probability(["a"], label), 0)

    def test_the_format_of_lines_is_detected_once(self) -> None:
        lines = [f"{i % 7} {1 + i % 50}:1" for i in range(4096)] + ["5", "5 3:1", "a|b 3:1"]
        model = cpt.Model(bits=12)
        model.learn_many(lines)
        self.assertIn("a|b", model.labels)


if __name__ == "__main__":
    unittest.main()
