"""Which ad is clicked on a page? A log with known probabilities, learned on two ranks, and the run read afterwards."""
import subprocess
import tempfile
from pathlib import Path

import cpt
import numpy as np

with tempfile.TemporaryDirectory() as folder:
    log, run = Path(folder, "ads"), Path(folder, "run")
    made = subprocess.run(["cpt", "synth", "web-ads", log, "--events", "60000"], check=True, capture_output=True, text=True)
    print(made.stdout.splitlines()[-1])

    model = cpt.train(log / "train", ranks=2, test=log / "test", test_frozen=True, run=run, progress=False)
    summary = cpt.Run(run).summary
    print(f"{summary['ranks']} ranks, {summary['train']['examples']} events; frozen on {summary['test']['examples']} others: "
          f"log loss {summary['test']['log_seen']:.4f} of seen labels, squared {summary['test']['squared_seen']:.4f}")
    metrics = cpt.Run(run).metrics
    marks = metrics[(metrics["phase"] == "train") & (metrics["examples"] >= 4096)]
    for examples, loss in zip(marks["examples"], marks["since_last.log_seen"]):
        print(f"  up to event {int(examples):6}: log loss {loss:.4f}")

    # The same from Python, with the model in memory.
    lines = [line for path in sorted((log / "test").iterdir()) for line in path.read_text().splitlines()]
    labels = [line.split(" ", 1)[0] for line in lines]
    p = model.probabilities(lines, labels, threads=2)
    print(f"from Python: log loss {-np.log(np.maximum(p[p > 0], 1e-6)).mean():.4f} of {int((p > 0).sum())} events with seen labels")
    best, q = model.top_k_many(lines, k=3, threads=2)
    print(f"the best of {len(model.labels)} ads is the one clicked in {(best[:, 0] == labels).mean():.1%}, "
          f"one of three in {(best == np.array(labels)[:, None]).any(axis=1).mean():.1%}")
    one = cpt.train(log / "train", ranks=1, progress=False)
    print("one rank learns the same bytes:", one.digest() == model.digest())
