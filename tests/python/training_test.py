"""cpt.train runs cpt_dist under mpirun and tells how it ended; cpt.Run reads what it left."""
import contextlib
import importlib.util
import io
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

import cpt
import numpy as np
import pandas


class TrainingTest(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory(prefix="cpt-training-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.shards = []
        for shard in range(2):
            path = self.folder / f"shard{shard}"
            path.write_text("".join(f"l{i % 23} |a x{i % 23} y{i % 7}\n" for i in range(shard, 4000, 2)))
            self.shards.append(path)

    def test_ranks_learn_the_same_model(self) -> None:
        one = cpt.train(self.shards, ranks=1, bits=14, progress=False)
        two = cpt.train(self.folder / "shard*", ranks=2, bits=14, progress=False, interactions=["aa"], calibrate=False)
        three = cpt.train(self.shards, ranks=3, bits=14, progress=False)
        self.assertEqual(len(one.labels), 23)
        self.assertEqual(one.digest(), three.digest())
        self.assertEqual((two.options["interactions"], two.options["calibrate"]), (["aa"], False))
        lines = [path.read_text().splitlines() for path in self.shards]
        model = cpt.Model(bits=14)
        model.learn_many([line for pair in zip(*lines) for line in pair])
        self.assertEqual(model.digest(), one.digest())

    def test_a_run_can_be_read(self) -> None:
        cpt.train(self.shards, test=self.shards[0], run=self.folder / "run", bits=14, passes=2, progress=False, test_frozen=True)
        run = cpt.Run(self.folder / "run")
        self.assertTrue(run.finished)
        self.assertEqual(run.summary["train"]["examples"], 8000)
        self.assertEqual(run.summary["test"]["examples"], 2000)
        self.assertEqual(run.model.digest().tree, run.summary["tree"]["digest"])
        marks = run.metrics[run.metrics["phase"] == "train"]
        self.assertEqual(marks["examples"].max(), 8000)
        self.assertLess(marks["since_last.log"].iloc[-1], marks["since_last.log"].iloc[0])
        self.assertIn("finished", repr(run))
        if importlib.util.find_spec("matplotlib") is None:
            print("left out: no matplotlib, so no plot")
        else:
            with mock.patch.dict(os.environ, {"MPLBACKEND": "agg"}):
                axes = run.plot()
            self.assertEqual([line.get_label() for line in axes.get_lines()], ["train", "test"])
        with self.assertRaises(cpt.CannotWrite) as caught:
            cpt.train(self.shards, run=self.folder / "run", progress=False)
        self.assertIn("holds the results of a finished run", str(caught.exception))
        with self.assertRaises(cpt.NoInput):
            cpt.Run(self.folder / "none")

    def test_errors_are_those_of_the_program(self) -> None:
        for ranks in (1, 2):
            with self.assertRaisesRegex(cpt.NoInput, "none"):
                cpt.train(self.folder / "none", ranks=ranks, progress=False)
            with self.assertRaisesRegex(cpt.BadOption, "alpha"):
                cpt.train(self.shards, ranks=ranks, progress=False, alpha=3)
        bad = self.folder / "bad"
        bad.write_text("l |a b\nl |a b:x\n")
        for ranks in (1, 2):
            with self.assertRaises(cpt.BadData) as caught:
                cpt.train(bad, ranks=np.int64(ranks), split=2, progress=False)  # type: ignore[arg-type]
            error = caught.exception
            self.assertEqual((error.file, error.line, error.column), (str(bad), 2, 8))
        for option in ("help", "version", "dry_run"):
            with self.assertRaisesRegex(cpt.BadOption, option):
                cpt.train(self.shards, progress=False, **{option: True})
        with self.assertRaisesRegex(FileNotFoundError, "no program"), mock.patch.dict(os.environ, {"PATH": "/none"}):
            cpt.train(self.shards)
        for wrong in ({"ranks": 0}, {"test": []}):
            with self.assertRaises(ValueError):
                cpt.train(self.shards, **wrong)
        with self.assertRaises(ValueError):
            cpt.train([])
        for ranks in ("2", 2.0, None):
            with self.assertRaisesRegex(TypeError, "whole number of ranks"):
                cpt.train(self.shards, ranks=ranks)  # type: ignore[arg-type]

    def test_data_that_names_no_files_is_refused(self) -> None:
        table = pandas.DataFrame({"label": ["a"], "page": ["w1"]})
        for wrong in (table, {"page": "w1"}, [{"page": "w1"}], 5):
            with self.assertRaisesRegex(TypeError, "^data names files; for a DataFrame use Model.learn_many$"):
                cpt.train(wrong, progress=False)  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, "^test names files"):
            cpt.train(self.shards, test=table, progress=False)
        paths = pandas.Series([str(shard) for shard in self.shards])
        self.assertEqual(len(cpt.train(paths, ranks=1, bits=14, progress=False).labels), 23)

    def test_options_of_several_values(self) -> None:
        run = self.folder / "run"
        model = cpt.train(self.shards, ranks=1, run=run, bits=14, progress=False, validate=self.shards, ignore_keys={"w"},
                          interactions=pandas.Index(["aa", "ab"]))
        self.assertEqual((model.options["ignore_keys"], model.options["interactions"]), (["w"], ["aa", "ab"]))
        validations = cpt.Run(run).metrics.query("phase == 'validation'")
        self.assertEqual(validations["examples"].max(), 4000)
        with self.assertRaisesRegex(cpt.BadOption, "alpha"):
            cpt.train(self.shards, alpha=[0.5], progress=False)
        with self.assertRaisesRegex(cpt.BadOption, "--nosuch=false"):
            cpt.train(self.shards, nosuch=False, progress=False)
        model = cpt.train(self.shards, bits=14, progress=False, test_frozen=False, resume=False)
        self.assertEqual(len(model.labels), 23)

    def test_warnings_of_the_program_are_warnings(self) -> None:
        with self.assertWarnsRegex(UserWarning, "^--arity has no effect here"):
            cpt.train(self.shards, ranks=1, bits=14, arity=4, progress=False)

    def test_root_needs_no_settings_of_open_mpi(self) -> None:
        settings = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
        others = {name: value for name, value in os.environ.items() if name not in settings}
        with mock.patch.dict(os.environ, others, clear=True):
            self.assertEqual(len(cpt.train(self.shards, ranks=2, bits=14, progress=False).labels), 23)

    def test_mpirun_may_lie_in_any_folder_of_path(self) -> None:
        if not Path("/bin/mpirun").exists():
            self.skipTest("no /bin/mpirun")
        with mock.patch.dict(os.environ, {"PATH": f"/bin:{os.environ['PATH']}"}):
            self.assertEqual(len(cpt.train(self.shards, ranks=2, bits=14, progress=False).labels), 23)

    def test_progress_is_shown_in_lines_or_by_a_bar(self) -> None:
        with mock.patch("cpt.training._Display.show", autospec=True) as show:
            cpt.train(self.shards, ranks=1, passes=3, bits=14)
        self.assertTrue(any(call.args[1]["phase"] == "train" for call in show.call_args_list))
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            cpt.train(self.shards, ranks=1, bits=14)
        if importlib.util.find_spec("tqdm"):
            self.assertRegex(shown.getvalue().split("\r")[-1], "100%")
        report = {"phase": "progress", "of": "train", "pass": 1, "examples": 1234, "part_of_pass": 0.5,
                  "examples_per_second": 99.9, "since_last": {"log": 2.5}}
        for hidden in ((), ("tqdm", "tqdm.auto")):
            text = io.StringIO()
            with mock.patch.dict(sys.modules, dict.fromkeys(hidden)), contextlib.redirect_stderr(text):
                from cpt.training import _Display
                with _Display(True) as display:
                    display.show(report)
            self.assertIn("1,234 examples, 100 per second, log loss 2.500", text.getvalue())
        self.assertEqual(text.getvalue(), "pass 1: 50 %, 1,234 examples, 100 per second, log loss 2.500\n")
        for of in ("test", "validation"):
            text = io.StringIO()
            with mock.patch.dict(sys.modules, {"tqdm": None, "tqdm.auto": None}), contextlib.redirect_stderr(text):
                with _Display(True) as display:
                    display.show({**report, "of": of})
            self.assertTrue(text.getvalue().startswith(f"{of}: 50 %, "), text.getvalue())

    def test_ctrl_c_stops_with_a_checkpoint(self) -> None:
        for ranks in (1, 2):
            run = self.folder / f"stopped{ranks}"
            program = textwrap.dedent(f"""
                import cpt
                try:
                    cpt.train({[str(s) for s in self.shards]}, ranks={ranks}, run={str(run)!r}, passes=100000, bits=14, progress=False)
                except cpt.Stopped as stopped:
                    print("stopped:", stopped, flush=True)
                """)
            with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
                metrics = run / "metrics.jsonl"
                deadline = time.monotonic() + 60
                while time.monotonic() < deadline and not (metrics.exists() and '"pass":2' in metrics.read_text()):
                    time.sleep(0.05)
                process.send_signal(signal.SIGINT)
                output, _ = process.communicate(timeout=60)
            self.assertIn("stopped: stopped with a checkpoint in", output)
            self.assertFalse(cpt.Run(run).finished)
            before = cpt.Run(run).metrics
            reached = int(before[before["phase"] == "checkpoint"]["examples"].iloc[-1])
            self.assertGreater(reached, 4000)
            passes = reached // 4000 + 2  # another one, whatever the pass was
            model = cpt.train(self.shards, ranks=ranks, run=run, resume=True, passes=passes, progress=False)
            self.assertEqual(len(model.labels), 23)
            metrics = cpt.Run(run).metrics
            resumed = metrics.iloc[len(before):]
            marks = resumed[resumed["phase"] == "train"]
            self.assertGreater(marks["examples"].iloc[0], reached)
            self.assertEqual(marks["examples"].max(), 4000 * passes)
            straight = cpt.train(self.shards, ranks=ranks, passes=passes, bits=14, progress=False)
            self.assertEqual(model.digest(), straight.digest())

    def test_ctrl_c_is_told_again_and_raised_if_nothing_was_stopped(self) -> None:
        program = self.folder / "cpt_dist"
        for code, expected in ((75, cpt.Stopped), (0, KeyboardInterrupt), (1, KeyboardInterrupt), (66, KeyboardInterrupt)):
            program.write_text(textwrap.dedent(f"""\
                #!/bin/sh
                trap 'if [ "$told" ]; then exit {code}; fi; told=1' USR2
                while true; do sleep 0.05; done
                """))
            program.chmod(0o755)
            with mock.patch.dict(os.environ, {"PATH": f"{self.folder}:{os.environ['PATH']}"}):
                threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
                with self.assertRaises(expected):
                    cpt.train(self.shards, ranks=1, run=self.folder / "run", progress=False)


if __name__ == "__main__":
    unittest.main()
