"""cpt.Model: threads that share one, and long calls that are interrupted."""
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
from typing import List

import cpt
import scipy.sparse
from trained_model import make_lines


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
        labels = [i % 500 for i in range(4000)]
        started = time.monotonic()
        model.learn_many(matrix, labels)
        # Data for two seconds, of which a slower or a faster moment leaves enough.
        times = max(1, round(2 / (time.monotonic() - started)))
        matrix, labels = scipy.sparse.vstack([matrix] * times, format="csr"), labels * times
        stamps: List[float] = []
        done = threading.Event()

        def note() -> None:
            while not done.wait(0.001):
                stamps.append(time.monotonic())

        thread = threading.Thread(target=note)
        thread.start()
        began = time.monotonic()
        model.learn_many(matrix, labels)
        ended = time.monotonic()
        done.set()
        thread.join()
        duration = ended - began
        self.assertGreater(duration, 0.2)
        # The interpreter may switch threads shortly before and after the call, but not within it unless it lets go.
        within = [stamp for stamp in stamps if began + duration / 10 < stamp < ended - duration / 10]
        self.assertGreater(len(within), 20)

    def test_ctrl_c_ends_long_predictions(self) -> None:
        model = cpt.Model(bits=14, method="oaa")
        model.learn_many([[f"w{i}"] for i in range(8000)], [f"l{i}" for i in range(8000)])
        X = scipy.sparse.random(500, 500, 0.1, format="csr", random_state=1)
        for probe in (X, [x.indices.tolist() for x in X]):
            started = time.monotonic()
            model.top_k_many(probe)
            times = max(1, round(30 / (time.monotonic() - started)))  # for half a minute
            long = scipy.sparse.vstack([probe] * times, format="csr") if probe is X else probe * times
            threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
            started = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                model.top_k_many(long)
            self.assertLess(time.monotonic() - started, 10)


if __name__ == "__main__":
    unittest.main()
