"""What Python learns of lines, dicts, CSR, tokens and data frames is what cpt_dist learns of the same examples."""
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List, Tuple

import cpt
import pandas as pd
import scipy.sparse

OPTIONS: Dict[str, Any] = {"bits": 14, "seed": 7}
EXAMPLES = 3000
SHARED = Path(os.environ.get("CPT_SHARED_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))


def trained(lines: List[str], folder: Path, *words: str) -> cpt.Digest:
    """The digests of cpt_dist on one rank."""
    data = folder / "data"
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    run = folder / "run"
    options = [word for name, value in OPTIONS.items() for word in (f"--{name}", str(value))]
    command = ["cpt_dist", "--data", str(data), "--run", str(run), "--progress", "none", "--overwrite", *options, *words]
    subprocess.run(command, check=True, capture_output=True, cwd=folder, env=os.environ)
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    digest = cpt.Digest(summary["tree"]["digest"], summary["weights"]["digest"])
    assert cpt.load(run / "model").digest() == digest
    return digest


def make_rows() -> List[Tuple[str, Dict[int, float]]]:
    """Labels and their features by number; values that decimals state exactly, and some that they do not."""
    random.seed(5)
    rows = []
    for i in range(EXAMPLES):
        label = random.choice(range(60)) if random.random() < 0.9 else i
        columns = sorted({label * 7 % 50, *random.sample(range(400), random.randrange(9))})
        rows.append((f"l{label}", {c: random.choice([1, 0.5, 2, 0.1, -3.75, 1e-7]) for c in columns}))
    return rows


def learned(X: Any, y: Any) -> cpt.Digest:
    model = cpt.Model(**OPTIONS)
    model.learn_many(X, y)
    return model.digest()


class DigestTest(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="cpt-digest-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def test_csr_and_dense_arrays_equal_libsvm_lines(self) -> None:
        rows = make_rows()
        lines = [label + "".join(f" {c}:{v!r}" for c, v in x.items()) for label, x in rows]
        expected = trained([line for line in lines], self.folder)
        ends, columns, values = [0], [], []
        for _, x in rows:
            columns += x.keys()
            values += x.values()
            ends.append(len(columns))
        matrix = scipy.sparse.csr_matrix((values, columns, ends), shape=(len(rows), 400))
        labels = [label for label, _ in rows]
        for X in (matrix, matrix.tocoo(), matrix.toarray()):
            model = cpt.Model(**OPTIONS)
            model.learn_many(X, labels)
            self.assertEqual(model.digest(), expected)
        model = cpt.Model(**OPTIONS)
        for i, label in enumerate(labels):
            model.learn(matrix[i], label)
        self.assertEqual(model.digest(), expected)

    def test_lines_one_by_one_and_many(self) -> None:
        lines = [f"{label} |a " + " ".join(f"w{c}:{v!r}" for c, v in x.items()) + f" |b {label[:2]}x"
                 for label, x in make_rows()]
        for words, options in (([], {}), (["--interactions", "ab", "--normalize", "l2"],
                                          {"interactions": ["ab"], "normalize": "l2"})):
            expected = trained(lines, self.folder, *words)
            many = cpt.Model(**OPTIONS, **options)
            many.learn_many(lines)
            self.assertEqual(many.digest(), expected)
            single = cpt.Model(**OPTIONS, **options)
            for line in lines:
                single.learn(line)
            self.assertEqual(single.digest(), expected)

    def test_ngrams_of_lines(self) -> None:
        rows = make_rows()
        lines = [f"{label} |t " + " ".join(f"w{c}" for c in x) for label, x in rows]
        written = [line + "".join(f" w{a}^w{b}" for a, b in zip(list(x), list(x)[1:])) for line, (_, x) in zip(lines, rows)]
        expected = trained(written, self.folder)
        self.assertEqual(trained(lines, self.folder, "--ngrams", "t:2"), expected)
        model = cpt.Model(**OPTIONS, ngrams=["t:2"])
        model.learn_many(lines)
        self.assertEqual(model.digest(), expected)
        self.assertNotEqual(trained(lines, self.folder), expected)

    def test_ngrams_of_tokens_dicts_and_data_frames(self) -> None:
        rows = [(label, [f"w{c}" for c in x]) for label, x in make_rows()]
        labels = [label for label, _ in rows]
        lines = [f"__label__{label} " + " ".join(words) for label, words in rows]
        model = cpt.Model(**OPTIONS, ngrams=["3"])
        model.learn_many([words for _, words in rows], labels)
        self.assertEqual(model.digest(), trained(lines, self.folder, "--ngrams", "3"))
        self.assertNotEqual(model.digest(), trained(lines, self.folder))

        dicts = [{"size": len(words), "title": " ".join(words), "tags": words[:3], "page": {"age": 2, "new": True, "lang": "en"}}
                 for _, words in rows]
        options = {"text_keys": ["title"], "ngrams": ["2", "tags:3", "page:2"], "interactions": ["tp"]}
        model = cpt.Model(**OPTIONS, **options)
        model.learn_many(dicts, labels)
        lines = [json.dumps({"label": label, **x}) for label, x in zip(labels, dicts)]
        words = ["--text-keys", "title", "--ngrams", "2", "--ngrams", "tags:3", "--ngrams", "page:2", "--interactions", "tp"]
        self.assertEqual(model.digest(), trained(lines, self.folder, *words))

        frame = pd.DataFrame({"label": labels, "size": [len(words) for _, words in rows],
                              "title": [" ".join(words) for _, words in rows]})
        model = cpt.Model(**OPTIONS, text_keys=["title"], ngrams=["2"])
        model.learn_many(frame)
        table = frame.to_csv(index=False).splitlines()
        words = ["--format", "csv", "--text-columns", "title", "--ngrams", "2"]
        self.assertEqual(model.digest(), trained(table, self.folder, *words))

    def test_what_has_no_order_has_no_ngrams(self) -> None:
        for x, options in (({"a", "b"}, {"ngrams": ["2"]}), ({"t": {"a", "b"}}, {"ngrams": ["t:2"]}),
                           (scipy.sparse.csr_matrix([[1, 2]]), {"ngrams": ["2"]})):
            model, plain = cpt.Model(**OPTIONS, **options), cpt.Model(**OPTIONS)
            for each in (model, plain):
                for label in ("l", "m", "l"):
                    each.learn(x, label)
            self.assertEqual(model.digest(), plain.digest())

    def test_a_text_without_a_label_has_the_format_of_training(self) -> None:
        lines = [f"__label__{label} " + " ".join(f"w{c}" for c in x) for label, x in make_rows()]
        trained(lines, self.folder)
        model = cpt.load(self.folder / "run/model")
        for text in ("w1 w2", "w3"):
            expected = model.top_k(text.split(), 3)
            self.assertEqual(model.top_k(text, 3), expected)
            self.assertEqual([p for _, p in expected], list(model.top_k_many([text], 3)[1][0]))
        with self.assertRaisesRegex(cpt.BadData, "expected a line in vw"):
            cpt.Model(**OPTIONS).top_k("w1 w2")

    def test_labels_of_an_argument_replace_those_of_lines(self) -> None:
        lines = [f"{label} 2 |a x{label}" for label, _ in make_rows()]
        model = cpt.Model(**OPTIONS)
        model.learn_many(["other" + line for line in lines], [line.split()[0] for line in lines])
        self.assertEqual(model.digest(), trained(lines, self.folder))

    def test_dicts_equal_json_lines(self) -> None:
        dicts = [{"size": len(x), "color": f"c{label[-1]}", "new": len(x) > 3, "tags": [f"t{c}" for c in x] + [7, None],
                  "page": {"age": 0.1, "user": {"lang": "en"}}, "none": None} for label, x in make_rows()]
        labels = [label for label, _ in make_rows()]
        lines = [json.dumps({"label": label, **x}) for label, x in zip(labels, dicts)]
        expected = trained(lines, self.folder)
        for X, y in ((dicts, labels), (lines, None)):
            model = cpt.Model(**OPTIONS)
            model.learn_many(X, y)
            self.assertEqual(model.digest(), expected)
        model = cpt.Model(**OPTIONS)
        for x, label in zip(dicts, labels):
            model.learn(x, label)
        self.assertEqual(model.digest(), expected)

    def test_tokens_equal_fasttext_lines(self) -> None:
        rows = [(label, [f"w{c}" for c in x] + ["w1", "w1"]) for label, x in make_rows()]
        expected = trained([f"__label__{label} " + " ".join(tokens) for label, tokens in rows], self.folder)
        model = cpt.Model(**OPTIONS)
        model.learn_many([tokens for _, tokens in rows], [label for label, _ in rows])
        self.assertEqual(model.digest(), expected)

    def test_a_column_of_a_data_frame_is_a_namespace(self) -> None:
        rows = make_rows()
        frame = pd.DataFrame({"size": [len(x) if len(x) != 2 else None for _, x in rows],
                              "kind": pd.Categorical([f"k{len(x) % 4}" for _, x in rows]),
                              "new": [len(x) > 3 for _, x in rows],
                              "words": [[f"w{c}" for c in x] for _, x in rows],
                              "color": [None if len(x) == 4 else "dark red" for _, x in rows]})
        lines = []
        for label, x in rows:
            line = f"{label}" + ("" if len(x) == 2 else f" |size size:{len(x)}") + f" |kind kind=k{len(x) % 4}"
            line += f" |new new={'true' if len(x) > 3 else 'false'} |words " + " ".join(f"w{c}" for c in x)
            lines.append(line)
        labels = [label for label, _ in rows]
        model = cpt.Model(**OPTIONS)
        model.learn_many(frame.drop(columns="color"), pd.Series(labels))
        self.assertEqual(model.digest(), trained(lines, self.folder))
        with_blank = [{"size": {} if len(x) == 2 else {"size": len(x)}, "kind": {"kind": f"k{len(x) % 4}"},
                       "new": {"new": len(x) > 3}, "words": [f"w{c}" for c in x],
                       "color": {"color": None if len(x) == 4 else "dark red"}} for _, x in rows]
        framed, nested = cpt.Model(**OPTIONS), cpt.Model(**OPTIONS)
        framed.learn_many(frame, labels)
        nested.learn_many(with_blank, labels)
        self.assertEqual(framed.digest(), nested.digest())
        self.assertNotEqual(framed.digest(), model.digest())

    def test_a_data_frame_equals_the_csv_that_it_writes(self) -> None:
        rows = make_rows()
        frame = pd.DataFrame({"label": [label for label, _ in rows],
                              "size": [sum(x.values()) if len(x) != 2 else None for _, x in rows],
                              "count": [len(x) for _, x in rows],
                              "color, or none": [None if len(x) == 4 else f'"c{len(x)}"' for _, x in rows]})
        frame.to_csv(self.folder / "frame.csv", index=False)
        table = (self.folder / "frame.csv").read_text(encoding="utf-8").splitlines()
        model = cpt.Model(**OPTIONS)
        model.learn_many(frame.drop(columns="label"), frame["label"])
        self.assertEqual(model.digest(), trained(table, self.folder, "--format", "csv"))

    def test_options_of_keys_and_columns_apply_to_dicts_and_data_frames(self) -> None:
        rows = [{"label": label, "title": f"to  be c{label[-1]}", "hour": len(x), "price": 0.25 + len(x), "w": 1 + len(x) % 2}
                for label, x in make_rows()]
        frame = pd.DataFrame(rows)
        for name, value in (("text", "title"), ("categorical", "hour"), ("categorical", "price"), ("ignore", "price"),
                            ("importance", "w"), ("label", "title")):
            with self.subTest(name=name, value=value):
                plural = "" if name in ("importance", "label") else "s"
                options = {f"{name}_key{plural}": [value] if plural else value}
                lines = [json.dumps(row) for row in rows]
                table = frame.to_csv(index=False).splitlines()
                for X, expected in ((rows, trained(lines, self.folder, f"--{name}-key{plural}", value)),
                                    (frame, trained(table, self.folder, "--format", "csv", f"--{name}-column{plural}", value))):
                    model = cpt.Model(**OPTIONS, **options)
                    model.learn_many(X)
                    self.assertEqual(model.digest(), expected)

    def test_whole_numbers_among_missing_ones_are_categories_as_in_csv(self) -> None:
        frame = pd.DataFrame({"label": [label for label, _ in make_rows()],
                              "user": [None if len(x) == 2 else len(x) for _, x in make_rows()]})
        lines = ["label,user"] + [f"{label}," + ("" if len(x) == 2 else f"{len(x)}") for label, x in make_rows()]
        model = cpt.Model(**OPTIONS, categorical_keys=["user"])
        model.learn_many(frame)
        self.assertEqual(model.digest(), trained(lines, self.folder, "--format", "csv", "--categorical-columns", "user"))
        numbers = cpt.Model(**OPTIONS)
        numbers.learn_many(frame.astype({"user": "category"}))
        texts = cpt.Model(**OPTIONS)
        texts.learn_many(frame.assign(user=[None if v != v else str(int(v)) for v in frame["user"]]))
        self.assertEqual(numbers.digest(), texts.digest())

    def test_whole_numbers_that_no_float_has_are_apart_as_in_csv(self) -> None:
        users = [2**53 + len(x) for _, x in make_rows()]
        labels = [label for label, _ in make_rows()]
        for dtype in ("int64", "uint64", "Int64"):
            frame = pd.DataFrame({"label": labels, "user": users}).astype({"user": dtype})
            if dtype == "Int64":
                frame.loc[::5, "user"] = pd.NA
            for options, words in (({"categorical_keys": ["user"]}, ["--categorical-columns", "user"]), ({}, []),
                                   ({"label_key": "user"}, ["--label-column", "user"])):
                if dtype == "Int64" and "label_key" in options:
                    continue
                model = cpt.Model(**OPTIONS, **options)
                model.learn_many(frame)
                table = frame.to_csv(index=False).splitlines()
                self.assertEqual(model.digest(), trained(table, self.folder, "--format", "csv", *words))

    def test_the_key_of_the_label_is_no_feature(self) -> None:
        model, plain = cpt.Model(**OPTIONS), cpt.Model(**OPTIONS)
        for label, x in make_rows():
            features = {"size": len(x)}
            model.learn({"label": "another", **features}, label)
            plain.learn({"label": [label, "second"], **features})
        self.assertEqual(model.digest(), plain.digest())
        self.assertEqual(model.probability({"label": "l1", "size": 2}, "l1"), model.probability({"size": 2}, "l1"))

    def test_every_format_of_the_same_words_gives_one_digest(self) -> None:
        self.expect_one_digest([f"{label} |d " + " ".join(f"w{c}" for c in x) + f" |c c{len(x)}"
                                for label, x in make_rows()])

    def test_every_format_of_real_texts_gives_one_digest(self) -> None:
        if not (SHARED / "make.py").exists():
            self.skipTest(f"no {SHARED / 'make.py'}: say where with CPT_SHARED_DATA")
        make = [sys.executable, "-B", str(SHARED / "make.py"), "nvd", str(self.folder / "nvd"), "--shards", "1"]
        subprocess.run([*make, "--examples", "25000"], check=True, capture_output=True)
        lines = (self.folder / "nvd" / "train" / "shard-000.vw").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(lines), 20000)
        self.expect_one_digest(lines)

    def expect_one_digest(self, lines: List[str]) -> None:
        """Of lines "label |d word ... |c word ..."."""
        labels, dicts, numbers = [], [], []
        known: Dict[str, int] = {}
        for line in lines:
            label, d, c = line.split("|")
            dicts.append({"d": d.split()[1:], "c": c.split()[1:]})
            labels.append(label.strip())
            numbers.append(sorted({known.setdefault(word, len(known)) for word in d.split()[1:]}))
        expected = trained(lines, self.folder)
        objects = [json.dumps({"label": label, **x}) for label, x in zip(labels, dicts)]
        self.assertEqual(trained(objects, self.folder), expected)
        text = pd.DataFrame({"label": labels, **{key: [" ".join(x[key]) for x in dicts] for key in ("d", "c")}})
        table = text.to_csv(index=False).splitlines()
        self.assertEqual(trained(table, self.folder, "--format", "csv", "--text-columns", "d,c"), expected)
        frame = pd.DataFrame(dicts)
        for X, y in ((lines, None), (objects, None), (dicts, labels), (frame, labels)):
            self.assertEqual(learned(X, y), expected)
        ends = [0, *itertools.accumulate(len(x) for x in numbers)]
        columns = [column for x in numbers for column in x]
        matrix = scipy.sparse.csr_matrix(([1.0] * len(columns), columns, ends), shape=(len(numbers), len(known)))
        libsvm = [label + "".join(f" {column}:1" for column in x) for label, x in zip(labels, numbers)]
        self.assertEqual(learned(matrix, labels), trained(libsvm, self.folder, "--format", "libsvm"))

    def test_other_options_and_importances(self) -> None:
        lines = [f"{label} {1 + len(x) % 3} |a " + " ".join(f"w{c}" for c in x) for label, x in make_rows()]
        for words, options in ((["--trees", "2"], {"trees": 2}), (["--method", "cpecoc"], {"method": "cpecoc"}),
                               (["--update", "adaptive", "--calibrate", "off"], {"update": "adaptive", "calibrate": False})):
            model = cpt.Model(**OPTIONS, **options)
            model.learn_many([line.split(" ", 2)[2] for line in lines], [line.split()[0] for line in lines],
                             [float(line.split()[1]) for line in lines])
            self.assertEqual(model.digest(), trained(lines, self.folder, *words), options)


if __name__ == "__main__":
    unittest.main()
