"""cpt.Classifier keeps scikit-learn's contract, and works with its tools."""
import pickle
import threading
import unittest
import warnings
from unittest import mock

import cpt
import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

# Checks of check_estimator that do not apply: name and reason are in Classifier._more_tags.
LEFT_OUT = {"check_sample_weights_invariance"}

TEXTS = ["red round apple", "red sweet fruit", "long yellow fruit", "bent yellow fruit", "blue sky", "blue sea"] * 20
NAMES = np.array(["apple", "apple", "banana", "banana", "water", "water"] * 20)


class ContractTest(unittest.TestCase):
    def test_check_estimator(self) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            check_estimator(cpt.Classifier(bits=12))
        skipped = [str(w.message) for w in caught if issubclass(w.category, SkipTestWarning)]
        print("\n".join(skipped))
        self.assertTrue(skipped)
        for message in skipped:
            self.assertTrue(any(name in message for name in LEFT_OUT), message)

    def test_rows_of_tokens_may_be_empty(self) -> None:
        rows = [[], ["red", "round"], ["blue"]]
        for order in (rows, rows[::-1]):
            classifier = cpt.Classifier(bits=12).fit(order, ["a", "b", "c"])
            self.assertEqual(len(classifier.predict([[]])), 1)
            self.assertEqual(len(classifier.predict([[], ["red"]])), 2)

    def test_parameters_and_clone(self) -> None:
        classifier = cpt.Classifier(alpha=0.5, bits=12)
        self.assertEqual(clone(classifier).get_params(), classifier.get_params())
        self.assertEqual(classifier.set_params(trees=2).trees, 2)
        defaults = cpt.Model(bits=22).options
        for name, value in cpt.Classifier().get_params().items():
            if name not in ("passes", "threads"):
                self.assertEqual(list(value) if isinstance(value, tuple) else value, defaults[name], name)
        with self.assertRaises(cpt.BadOption):
            cpt.Classifier(alpha=3).fit([[1.0]], [1])

    def test_not_fitted(self) -> None:
        for call in (lambda c: c.predict([[1]]), lambda c: c.predict_proba([[1]]), lambda c: c.top_k([[1]], 1)):
            with self.assertRaises(NotFittedError):
                call(cpt.Classifier())


class LearningTest(unittest.TestCase):
    def test_it_learns_what_the_model_learns(self) -> None:
        X, y = load_digits(return_X_y=True)
        classifier = cpt.Classifier(bits=14).fit(X, y)
        model = cpt.Model(bits=14)
        model.learn_many(X, y)
        self.assertEqual(classifier.model_.digest(), model.digest())
        parts = cpt.Classifier(bits=14)
        for begin in range(0, len(X), 100):
            parts.partial_fit(X[begin:begin + 100], y[begin:begin + 100])
        self.assertEqual(parts.model_.digest(), model.digest())
        twice = cpt.Classifier(bits=14, passes=2).fit(X, y)
        model.learn_many(X, y)
        self.assertEqual(twice.model_.digest(), model.digest())
        self.assertGreater(twice.score(X, y), 0.75)

    def test_predictions_agree(self) -> None:
        X, y = load_digits(return_X_y=True)
        classifier = cpt.Classifier(bits=14).fit(X, y)
        p = classifier.predict_proba(X[:200])
        np.testing.assert_array_equal(classifier.classes_, np.arange(10))
        np.testing.assert_allclose(p.sum(axis=1), 1)
        np.testing.assert_array_equal(classifier.predict(X[:200]), classifier.classes_[p.argmax(axis=1)])
        np.testing.assert_allclose(classifier.predict_log_proba(X[:200]), np.log(p))
        classes, q = classifier.top_k(X[:200], 3)
        np.testing.assert_array_equal(classes[:, 0], classifier.predict(X[:200]))
        np.testing.assert_allclose(q, np.sort(p, axis=1)[:, :-4:-1])
        self.assertEqual(pickle.loads(pickle.dumps(classifier)).model_.digest(), classifier.model_.digest())

    def test_classes_may_come_later_or_be_named_first(self) -> None:
        classifier = cpt.Classifier(bits=12)
        classifier.partial_fit([[1.0, 0.0]], ["b"], classes=["z", "b"])
        np.testing.assert_array_equal(classifier.predict_proba([[1.0, 0.0]]), [[1, 0]])
        classifier.partial_fit([[0.0, 1.0]], ["a"])
        np.testing.assert_array_equal(classifier.classes_, ["a", "b", "z"])
        p = classifier.predict_proba([[0.0, 1.0]])
        self.assertEqual(p[0, 2], 0)
        self.assertAlmostEqual(p.sum(), 1)
        self.assertEqual(classifier.predict_log_proba([[0.0, 1.0]])[0, 2], -np.inf)
        self.assertEqual(classifier.fit([[1.0]], [7]).classes_, [7])

    def test_what_only_the_model_knows(self) -> None:
        frame = pd.DataFrame({"color": ["red", "blue"] * 30, "size": [1.0, 2.0] * 30, "words": [["a", "b"], ["c"]] * 30})
        y = ["x", "y"] * 30
        for X in (frame, frame.to_dict("records"), ["|a b", "|a c"] * 30, [["b"], ["c"]] * 30):
            classifier = cpt.Classifier(bits=12).fit(X, y)
            self.assertEqual(classifier.score(X, y), 1)
            expected = cpt.Model(bits=12)
            expected.learn_many(X, y)
            self.assertEqual(classifier.model_.digest(), expected.digest())
        with self.assertRaisesRegex(ValueError, "feature names"):
            cpt.Classifier(bits=12).fit(frame, y).predict(frame.rename(columns={"size": "length"}))
        with self.assertRaisesRegex(ValueError, "inconsistent"):
            cpt.Classifier(bits=12).fit(frame, y[:-1])

    def test_lines_dicts_and_tokens_in_a_series_or_an_array(self) -> None:
        y = ["x", "y"] * 30
        for rows in (["|a b", "|a c"] * 30, [["b"], ["c"]] * 30, [{"a": "b"}, {"a": "c"}] * 30):
            expected = cpt.Classifier(bits=12).fit(rows, y).predict_proba(rows)
            array = np.empty(60, dtype=object)
            array[:] = rows
            for X in (array, pd.Series(rows), *([np.array(rows), pd.Series(rows, dtype="string")] if rows[0] == "|a b" else [])):
                np.testing.assert_array_equal(cpt.Classifier(bits=12).fit(X, y).predict_proba(X), expected)
        for X in (np.ones(60), pd.Series(np.ones(60))):
            with self.assertRaisesRegex(ValueError, "Expected 2D array"):
                cpt.Classifier(bits=12).fit(X, y)

    def test_options_of_keys(self) -> None:
        frame = pd.DataFrame({"text": ["red fruit", "blue sky"] * 30, "shop": [3, 4] * 30, "w": range(60)})
        y = ["x", "y"] * 30
        options = {"bits": 12, "text_keys": ["text"], "categorical_keys": ("shop",), "ignore_keys": pd.Index(["w"])}
        for X in (frame, frame.to_dict("records")):
            expected = cpt.Model(**options)
            expected.learn_many(X, y)
            self.assertEqual(clone(cpt.Classifier(**options)).fit(X, y).model_.digest(), expected.digest())
        with self.assertRaisesRegex(cpt.BadOption, "'title'"):
            cpt.Classifier(bits=12, text_keys=["title"]).fit(frame, y)

    def test_a_column_label_is_a_feature(self) -> None:
        frame = pd.DataFrame({"label": ["warner", "sony"] * 50})
        y = ["x", "y"] * 50
        for X in (frame, frame.to_dict("records"), frame.assign(label=[0.5, 1] * 50)):
            classifier = cpt.Classifier(bits=12).fit(X, y)
            self.assertEqual(classifier.score(X, y), 1)
            self.assertEqual(classifier.partial_fit(X, y).score(X, y), 1)

    def test_columns_of_frames_and_arrays_are_matched_by_position(self) -> None:
        X, y = load_iris(return_X_y=True)
        for names in (None, list("abcd"), [5, 6, 7, 8]):
            frame = pd.DataFrame(X, columns=names)
            for learned in (X, scipy.sparse.csr_matrix(X), frame):
                classifier = cpt.Classifier(bits=14).fit(learned, y)
                expected = classifier.predict_proba(learned)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # scikit-learn's, of frames without names
                    for other in (X, X.tolist(), scipy.sparse.csr_matrix(X), frame, pd.DataFrame(X)):
                        np.testing.assert_array_equal(classifier.predict_proba(other), expected)
                    np.testing.assert_array_equal(pickle.loads(pickle.dumps(classifier)).predict_proba(X), expected)
                    classifier.partial_fit(frame, y).partial_fit(X, y)

    def test_columns_that_cannot_be_matched_are_refused(self) -> None:
        frame = pd.DataFrame({"color": ["red", "blue"] * 3, "size": [1, 2] * 3})
        for learned in (np.ones((6, 2)), frame.to_dict("records")):
            with self.assertRaisesRegex(ValueError, "fitted without a data frame"):
                cpt.Classifier(bits=12).fit(learned, [1, 2] * 3).predict(frame)
        for other in (frame, frame.astype({"color": "category"}), frame.assign(color=[True, False] * 3)):
            with self.assertRaisesRegex(ValueError, "more than numbers"):
                cpt.Classifier(bits=12).fit(other, [1, 2] * 3).predict(np.ones((6, 2)))

    def test_a_dense_result_has_a_limit(self) -> None:
        classifier = cpt.Classifier(bits=12).fit([[1.0], [2.0]], [1, 2])
        with mock.patch("cpt.classifier.DENSE_LIMIT", 5):
            classifier.predict_proba([[1.0]] * 2)
            with self.assertRaisesRegex(ValueError, "top_k"):
                classifier.predict_proba([[1.0]] * 3)

    def test_classes_are_named_as_the_model_names_labels(self) -> None:
        X = [[1.0, 0.0], [0.0, 1.0]]
        for y, labels in (([1.0, 2.0], ["1", "2"]), ([True, False], ["true", "false"]), ([3, 4], ["3", "4"])):
            classifier = cpt.Classifier(bits=12).fit(X, y)
            self.assertEqual(classifier.model_.labels, labels)
            self.assertEqual(set(classifier.predict(X)), set(y))
            self.assertEqual(classifier.predict_proba(X).shape, (2, 2))
        with self.assertRaisesRegex(TypeError, "bytes"):
            cpt.Classifier(bits=12).fit(X, [b"a", b"b"])

    def test_classes_of_another_type(self) -> None:
        X = [[1.0, 0.0], [0.0, 1.0]]
        for first, second in (([1, 2], [1.0, 3.0]), (np.array([1, 2], np.uint64), np.array([3, 1])), ([1.0, 2.0], [1, 3])):
            classifier = cpt.Classifier(bits=12).partial_fit(X, first).partial_fit(X, second)
            np.testing.assert_array_equal(classifier.classes_, [1, 2, 3])
            self.assertEqual(classifier.predict_proba(X).shape, (2, 3))
        classifier = cpt.Classifier(bits=12).partial_fit(X, [1, 2], classes=[1.0, 2.0, 3.0])
        np.testing.assert_allclose(classifier.predict_proba(X).sum(axis=1), 1)
        for first, second in (([True, False], [1, 2]), ([1, 2], [True, False])):
            classifier = cpt.Classifier(bits=12).partial_fit(X, first)
            with self.assertRaisesRegex(ValueError, "one type"):
                classifier.partial_fit(X, second)
            self.assertEqual(classifier.predict_proba(X).shape, (2, 2))

    def test_classes_are_made_anew_only_for_new_labels(self) -> None:
        X = [[1.0, 0.0], [0.0, 1.0]]
        classifier = cpt.Classifier(bits=12).partial_fit(X, ["a", "b"])
        before = classifier.classes_
        self.assertIs(classifier.partial_fit(X, ["b", "a"], classes=["a"]).classes_, before)
        self.assertIsNot(classifier.partial_fit(X, ["b", "c"]).classes_, before)

    def test_weights_of_0(self) -> None:
        X = [[1.0, 0.0], [0.0, 1.0]]
        with self.assertRaisesRegex(ValueError, "weight above 0"):
            cpt.Classifier(bits=12).fit(X, [1, 2], sample_weight=[0, 0])
        classifier = cpt.Classifier(bits=12).fit(X, [1, 2], sample_weight=[0, 1])
        np.testing.assert_array_equal(classifier.predict_proba(X), [[0, 1], [0, 1]])
        classifier.partial_fit(X, [3, 4], sample_weight=[0, 0])
        np.testing.assert_array_equal(classifier.predict_proba(X), [[0, 1, 0, 0]] * 2)

    def test_a_new_fit_forgets_the_features_of_the_one_before(self) -> None:
        classifier = cpt.Classifier(bits=12).fit(pd.DataFrame({"a": [1, 2], "b": [3, 4]}), ["x", "y"])
        self.assertEqual(classifier.n_features_in_, 2)
        classifier.fit([["a"], ["b"]], ["x", "y"])
        self.assertFalse(hasattr(classifier, "n_features_in_") or hasattr(classifier, "feature_names_in_"))

    def test_predictions_while_another_thread_learns_new_classes(self) -> None:
        classifier = cpt.Classifier(bits=12).partial_fit([["a"], ["b"]], ["x", "y"])
        stopped = threading.Event()

        def learn() -> None:
            for i in range(300):
                classifier.partial_fit([["a"], ["b"]], [f"l{i}", f"m{i}"])
            stopped.set()

        thread = threading.Thread(target=learn)
        thread.start()
        try:
            while not stopped.is_set() and thread.is_alive():
                self.assertGreater(classifier.predict_proba([["a"]]).max(), 0)
                classifier.predict([["b"]])
                classifier.top_k([["b"]], 3)
        finally:
            thread.join()


class ToolsTest(unittest.TestCase):
    def test_vectorizers_and_pipelines(self) -> None:
        for vectorizer in (TfidfVectorizer(), HashingVectorizer(n_features=2**10)):
            pipeline = make_pipeline(vectorizer, cpt.Classifier(bits=12)).fit(TEXTS, NAMES)
            self.assertEqual(pipeline.score(TEXTS, NAMES), 1)
        dicts = [{word: 1 for word in text.split()} for text in TEXTS]
        self.assertEqual(make_pipeline(DictVectorizer(), cpt.Classifier(bits=12)).fit(dicts, NAMES).score(dicts, NAMES), 1)

    def test_search_and_cross_validation(self) -> None:
        pipeline = make_pipeline(TfidfVectorizer(), cpt.Classifier(bits=12))
        search = GridSearchCV(pipeline, {"classifier__alpha": [0.5, 1.0], "classifier__passes": [1, 2]}, cv=2)
        search.fit(TEXTS, NAMES)
        self.assertEqual(search.best_score_, 1)
        scores = cross_val_score(pipeline, TEXTS, NAMES, cv=3, scoring="neg_log_loss")
        self.assertTrue((scores > -0.5).all())


if __name__ == "__main__":
    unittest.main()
