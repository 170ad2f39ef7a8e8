"""cpt.Model: options, predictions, explanations, files, copies."""
import copy
import pickle
import tempfile
import unittest
from pathlib import Path

import cpt
import numpy as np
import pandas as pd
import scipy.sparse
from trained_model import make_lines, trained


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

    def test_figures_and_the_part_that_is_known(self) -> None:
        figures = trained(trees=2).figures()
        self.assertEqual((figures.rows, figures.trees), (2**15, 2))
        self.assertTrue(37 < figures.rows_used < figures.rows and figures.depth_mean <= figures.depth_max <= figures.depth_bound)
        self.assertEqual([trained().known_part(x) for x in ("|a x3 y3", "|a x3 never", "|b never")], [1, 0.5, 0])
        self.assertTrue(np.isnan(cpt.Model(bits=10).known_part(["a"])))

    def test_a_threshold_and_an_importance_are_numbers_that_count(self) -> None:
        model = trained()
        for ask in (lambda: model.top_k("|a x3", 2, float("nan")), lambda: model.top_k_many(["|a x3"], 2, float("nan"))):
            with self.assertRaisesRegex(cpt.BadOption, "expected a number as threshold, found nan"):
                ask()
        for x in ("|a x3", ["x3"]):
            with self.assertRaisesRegex(cpt.BadData, "importance of at least 1e-45, unless it is 0, found 1e-50"):
                model.learn(x, "l", 1e-50)

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


if __name__ == "__main__":
    unittest.main()
