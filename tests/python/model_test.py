"""cpt.Model: options, predictions, files, copies, errors, threads."""
import copy
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
from pathlib import Path
from typing import List

import cpt
import numpy as np
import pandas as pd
import scipy.sparse


def make_lines(count: int = 600) -> List[str]:
    return [f"l{i % 37} |a x{i % 37} y{i % 11} z{i % 101}:0.5" for i in range(count)]


def trained(**options: object) -> cpt.Model:
    model = cpt.Model(**{"bits": 14, **options})
    model.learn_many(make_lines())
    return model


class OptionsTest(unittest.TestCase):
    def test_options_come_back_as_they_were_given(self) -> None:
        given = {"method": "cpecoc", "arity": 4, "alpha": 0.5, "bits": 12, "seed": 9, "calibrate": False,
                 "interactions": ["ab", "cc"], "ngrams": ["t:3", "2", "my own title:4", "a:b:2"],
                 "text_keys": ["t", "u"], "label_key": "y", "normalize": "l2"}
        options = cpt.Model(**given).options
        self.assertEqual({name: options[name] for name in given}, given)
        self.assertEqual(cpt.Model(**options).options, options)
        defaults = cpt.Model(bits=12).options
        self.assertEqual((defaults["interactions"], defaults["ngrams"], defaults["text_keys"]), ([], [], []))
        self.assertEqual(cpt.Model(**defaults).options, defaults)

    def test_wrong_options_are_refused_by_name(self) -> None:
        for options, text in (({"alpha": 2}, "alpha"), ({"bitz": 12}, "'bitz' is no option of a model.* learning_rate"),
                              ({"bits": 3}, "bits"), ({"bits": "auto"}, "bits"), ({"method": "none"}, "method"),
                              ({"passes": 2}, "'passes' is no option"), ({"tree": "huffman:x"}, "given tree"),
                              ({"method": "pecoc"}, "pecoc"), ({"alpha": []}, "alpha"), ({"alpha": [1, 2]}, "alpha")):
            with self.assertRaisesRegex(cpt.BadOption, text):
                cpt.Model(**options)
        self.assertTrue(issubclass(cpt.BadOption, ValueError) and issubclass(cpt.BadOption, cpt.Error))

    def test_several_values_are_any_iterable_of_str(self) -> None:
        given = ["b", "a"]
        for keys in (tuple(given), pd.Index(given), np.array(given), pd.Series(given), (key for key in given), dict.fromkeys(given)):
            self.assertEqual(cpt.Model(bits=12, categorical_keys=keys).options["categorical_keys"], given)
        self.assertEqual(set(cpt.Model(bits=12, interactions={"ab", "cd"}).options["interactions"]), {"ab", "cd"})
        self.assertEqual(cpt.Model(bits=12, text_keys=(key for key in [])).options["text_keys"], [])
        for options, text in (({"text_keys": ["last, first"]}, "text_keys.*comma"), ({"text_keys": [1]}, "text_keys.*str, found 1"),
                              ({"interactions": pd.Index([1])}, "interactions.*str, found 1"),
                              ({"method": pd.Series(["tree"])}, "method.*one value"), ({"bits": {12}}, "bits.*one value")):
            with self.assertRaisesRegex(cpt.BadOption, text):
                cpt.Model(**options)

    def test_repr(self) -> None:
        model = cpt.Model(bits=12)
        model.learn(["a"], "b")
        self.assertEqual(repr(model), "<cpt.Model: 1 label, method tree, 12 bits>")
        self.assertEqual(repr(trained(trees=2)), "<cpt.Model: 37 labels, method tree, 2 trees, 14 bits>")


class PredictionTest(unittest.TestCase):
    def test_fewer_than_no_labels_are_refused(self) -> None:
        for ask in (lambda: trained().top_k("|a b", -1), lambda: trained().top_k_many(["|a b"], -1)):
            with self.assertRaisesRegex(ValueError, "k of at least 0, found -1"):
                ask()

    def test_single_and_many_agree_on_any_number_of_threads(self) -> None:
        model = trained()
        lines = [line.split(" ", 1)[1] for line in make_lines(300)]
        matrix = scipy.sparse.random(300, 50, 0.1, format="csr", random_state=1)
        columns = cpt.Model(bits=14)
        columns.learn_many(matrix, [i % 37 for i in range(300)])
        for m, X, rows in ((model, lines, lines), (columns, matrix, [matrix[i] for i in range(300)])):
            labels, p = m.top_k_many(X, 5)
            for threads in (2, 3, 64):
                more_labels, more_p = m.top_k_many(X, 5, threads=threads)
                np.testing.assert_array_equal(labels, more_labels)
                np.testing.assert_array_equal(p, more_p)
            for i, x in enumerate(rows):
                self.assertEqual(m.top_k(x, 5), list(zip(labels[i], p[i])))
            everything = m.all_probabilities(X, threads=2)
            np.testing.assert_allclose(everything.sum(axis=1), 1)
            own = m.probabilities(X, list(labels[:, 0]), threads=2)
            np.testing.assert_allclose(own, p[:, 0], rtol=1e-12)  # multiplied in another order
            np.testing.assert_array_equal(m.probabilities(X, labels, threads=2)[:, 0], own)
            np.testing.assert_array_equal(own, m.probabilities(X, list(labels[:, 0])))
            np.testing.assert_allclose(m.probabilities(X, "l3" if m is model else 3),
                                       everything[:, m.labels.index("l3" if m is model else "3")], rtol=1e-12)
            self.assertEqual(m.probability(rows[7], labels[7, 0]), own[7])

    def test_a_threshold_and_a_large_k_fill_up(self) -> None:
        model = trained()
        labels, p = model.top_k_many(["|a x1", "|a x2"], 10**6, threshold=0.2)
        self.assertEqual(labels.shape, (2, 37))
        for row, q in zip(labels, p):
            known = [label is not None for label in row]
            self.assertTrue(any(known) and not all(known))
            self.assertTrue(all((value >= 0.2) == is_known for value, is_known in zip(q, known)))

    def test_an_empty_model_and_no_rows(self) -> None:
        model = cpt.Model(bits=10)
        self.assertEqual(model.top_k({"a": 1}, 3), [])
        self.assertEqual(model.probability({"a": 1}, "x"), 0)
        self.assertEqual(model.top_k_many([{"a": 1}], 3)[0].shape, (1, 0))
        self.assertEqual(model.learn_many([], []).shape, (0,))
        self.assertEqual(model.labels, [])

    def test_learning_returns_what_was_predicted(self) -> None:
        model = trained()
        for line in make_lines(50):
            label, x = line.split(" ", 1)
            expected = model.probability(x, label)
            self.assertEqual(model.learn(x, label), expected)
        self.assertEqual(model.learn("|a b", "new"), 0)
        self.assertEqual(model.labels[-1], "new")

    def test_importance_0_is_predicted_only(self) -> None:
        model, plain = trained(), trained()
        lines = make_lines(40)
        zero = [0.0 if i % 3 == 0 else 2.0 for i in range(40)]
        p = model.learn_many(lines, importance=zero)
        kept = [line for line, w in zip(lines, zero) if w > 0]
        plain.learn_many(kept, importance=[2] * len(kept))
        self.assertEqual(model.digest(), plain.digest())
        self.assertEqual(p[0], trained().probability(lines[0], "l0"))
        before = model.digest()
        model.learn(lines[0], importance=0)
        self.assertEqual(model.digest(), before)


class ExplanationTest(unittest.TestCase):
    def test_probabilities_multiply_and_contributions_add_up(self) -> None:
        for options in ({"trees": 2}, {"calibrate": False}, {"method": "cpecoc"}):
            model = trained(**options)
            for line in make_lines(30):
                label, x = line.split(" ", 1)
                why = model.explain(x, label, top=100)
                self.assertAlmostEqual(why.probability, model.probability(x, label), places=12)
                self.assertAlmostEqual(why.probability, sum(p for p, _ in why.trees) / len(why.trees), places=12)
                for p, steps in why.trees:
                    self.assertAlmostEqual(p, float(np.prod([step.probability for step in steps])), places=9)
                    for step in steps:
                        names = {name for name, _ in step.contributions}
                        self.assertLessEqual(names, {"(constant)", *(f"a^{token.split(':')[0]}" for token in x.split()[1:])})
                        if step.calibration:
                            c = step.calibration
                            s = c.a * c.margin + c.b + c.c * c.rare_margin
                            self.assertAlmostEqual(sum(v for _, v in step.contributions), s - c.b, places=4)

    def test_the_most_probable_label_and_unknown_ones(self) -> None:
        model = trained(method="oaa")
        why = model.explain("|a x3 y3")
        self.assertEqual((why.label, why.trees), (model.top_k("|a x3 y3")[0][0], []))
        self.assertEqual(why.contributions[0][0], "a^x3")
        self.assertIsNone(model.explain("|a x3", "unknown"))
        self.assertIsNone(cpt.Model(bits=12).explain(["a"]))
        with self.assertRaisesRegex(cpt.BadOption, "table"):
            trained(method="table").explain(["a"], "l1")


class NamedModel(cpt.Model):
    """With an attribute, which need not be given to a copy."""

    def __init__(self, name: str, **options: object) -> None:
        super().__init__(**options)
        self.name = name


class FilesTest(unittest.TestCase):
    def test_copies_keep_attributes(self) -> None:
        model = NamedModel("june", bits=12)
        model.notes = ["a"]  # type: ignore[attr-defined]
        model.learn(["a"], "x")
        for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            self.assertIs(type(other), NamedModel)
            self.assertEqual((other.name, other.notes, other.labels, other.digest()), ("june", ["a"], ["x"], model.digest()))
            other.learn(["a"], "y")
            self.assertEqual(model.labels, ["x"])
        self.assertIs(copy.copy(model).notes, model.notes)
        self.assertIsNot(copy.deepcopy(model).notes, model.notes)

    def test_saved_pickled_and_copied_models_are_equal_and_apart(self) -> None:
        model = trained()
        before = model.digest()
        with tempfile.TemporaryDirectory() as folder:
            model.save(Path(folder, "m"))
            copies = [cpt.load(f"{folder}/m"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
        for other in copies:
            self.assertEqual(other.digest(), before)
            self.assertEqual((other.labels, other.options), (model.labels, model.options))
            other.learn_many(make_lines(100))
            self.assertNotEqual(other.digest(), before)
        self.assertEqual(len({other.digest() for other in copies}), 1)
        self.assertEqual(model.digest(), before)

    def test_errors_of_files(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(cpt.NoInput, "none"):
                cpt.load(f"{folder}/none")
            with self.assertRaises(FileNotFoundError):
                cpt.load(f"{folder}/none")
            trained().save(f"{folder}/run/model")
            with self.assertRaisesRegex(cpt.NoInput, "run: is not a model; did you mean .*/run/model[?]$"):
                cpt.load(f"{folder}/run")
            Path(folder, "file").write_text("text")
            with self.assertRaises(cpt.CannotWrite):
                trained().save(f"{folder}/file/model")
            trained().save(f"{folder}/m")
            largest = max(Path(folder, "m").rglob("*"), key=lambda p: p.stat().st_size if p.is_file() else 0)
            content = bytearray(largest.read_bytes())
            content[len(content) // 2] ^= 1
            largest.write_bytes(content)
            with self.assertRaises(cpt.BadData) as caught:
                cpt.load(f"{folder}/m")
            self.assertEqual((caught.exception.code, caught.exception.row), (65, None))


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

    def test_wrong_types_name_their_row(self) -> None:
        model = cpt.Model(bits=12)
        for X, y in (([{"a": 1}, None], ["x", "y"]), ([{"a": 1}, {"a": object()}], ["x", "y"]), ([{}, {}], ["x", None]),
                     (pd.DataFrame({"a": [1, {}]}), ["x", "y"])):
            with self.assertRaisesRegex(TypeError, "^row 1: expected "):
                model.learn_many(X, y)

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

    def test_a_matrix_that_is_none_is_refused(self) -> None:
        for indptr, indices in (([0, 5], [0]), ([0, -1, 1], [0]), ([0, 1], [-1])):
            matrix = scipy.sparse.csr_matrix(([1.0], ([0], [0])), shape=(len(indptr) - 1, 1))
            matrix.indptr, matrix.indices = np.array(indptr), np.array(indices)
            with self.assertRaises(cpt.BadData):
                trained().top_k_many(matrix, 1)

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


class ThreadsTest(unittest.TestCase):
    def test_threads_learn_and_predict_one_model(self) -> None:
        model = cpt.Model(bits=12)
        failures: List[BaseException] = []

        def work(number: int) -> None:
            try:
                for i in range(300):
                    model.learn({"a": i % 7, "word": f"w{i % 5}"}, f"l{(i + number) % 40}")
                    model.top_k_many([{"a": 1}] * 10, 3, threads=2)
                    model.probability("|a b", "l1")
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=120)
            self.assertFalse(thread.is_alive())
        self.assertEqual(failures, [])
        self.assertEqual(len(model.labels), 40)

    def test_threads_save_to_one_place(self) -> None:
        model = cpt.Model(bits=12)
        model.learn_many(make_lines())
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            model.save(path)
            failures: List[BaseException] = []

            def save() -> None:
                try:
                    for _ in range(25):
                        model.save(path)
                        self.assertEqual(cpt.load(path).digest(), model.digest())
                except BaseException as error:
                    failures.append(error)

            threads = [threading.Thread(target=save) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(timeout=120)
            self.assertEqual(failures, [])

    def test_threads_that_read_new_labels_at_once_read_each_once(self) -> None:
        model = cpt.Model(bits=12, method="table")
        model.learn_many([f"l{i} |a b" for i in range(20000)])
        seen: List[int] = []
        start = threading.Barrier(4)

        def read() -> None:
            start.wait(timeout=60)
            seen.append(len(model.labels))

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=120)
        self.assertEqual(seen, [20000] * 4)
        self.assertEqual(len(model.labels), 20000)

    def test_the_interpreter_may_end_while_daemon_threads_use_the_model(self) -> None:
        program = textwrap.dedent("""
            import threading, time, cpt, scipy.sparse
            model = cpt.Model(bits=14)
            X = scipy.sparse.random(20000, 500, 0.05, format="csr", random_state=1)
            y = [i % 50 for i in range(20000)]
            model.learn_many(X[:50], y[:50])

            def work(call):
                while True:
                    call()

            for call in (lambda: model.learn_many(X, y), lambda: model.top_k_many(X, 3, threads=2),
                         lambda: model.learn_many([{"a": 1}] * 20000, ["x"] * 20000)):
                threading.Thread(target=work, args=(call,), daemon=True).start()
            time.sleep(0.5)
            print("end")
            """)
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "end\n", ""))

    def test_the_interpreter_goes_on_while_the_model_learns(self) -> None:
        model = cpt.Model(bits=14)
        matrix = scipy.sparse.random(4000, 3000, 0.01, format="csr", random_state=1)
        thread = threading.Thread(target=model.learn_many, args=(matrix, [i % 500 for i in range(4000)]))
        thread.start()
        steps = 0
        while thread.is_alive():
            steps += 1
        thread.join()
        self.assertGreater(steps, 100)

    def test_ctrl_c_ends_long_predictions(self) -> None:
        model = cpt.Model(bits=14, method="oaa")
        model.learn_many([[f"w{i}"] for i in range(8000)], [f"l{i}" for i in range(8000)])
        X = scipy.sparse.random(16000, 500, 0.1, format="csr", random_state=1)
        for X in (X, [x.indices.tolist() for x in X]):
            threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
            started = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                while True:
                    model.top_k_many(X)
            self.assertLess(time.monotonic() - started, 5)


if __name__ == "__main__":
    unittest.main()
