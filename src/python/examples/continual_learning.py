"""A stream whose labels keep arriving: each day brings new articles, and readers who choose among them."""
import random
import tempfile
from pathlib import Path

import cpt
import numpy as np

TOPICS = ["politics", "sports", "science", "food", "travel", "music"]
draw = random.Random(1)
articles: list = []  # (name, topic), the newest last


def read_by(topic: str) -> str:
    """A reader prefers the newest articles of a topic."""
    own = [name for name, t in articles[-60:] if t == topic]
    return own[-1 - min(int(draw.expovariate(0.5)), len(own) - 1)]


with tempfile.TemporaryDirectory() as folder:
    store = Path(folder, "model")
    cpt.Model(bits=16).save(store)
    for day in range(1, 8):
        articles += [(f"day{day}-{topic}-{i}", topic) for i in range(3) for topic in TOPICS]
        clicks = []
        for _ in range(1500):
            topic = draw.choice(TOPICS)
            other = draw.choice(TOPICS)
            clicks.append(({"likes": [topic, other] if draw.random() < 0.5 else [topic], "hour": draw.randrange(24) / 24},
                           read_by(topic)))
        model = cpt.load(store)  # a new process, every day
        p = model.learn_many([x for x, _ in clicks], [name for _, name in clicks])
        known = p > 0  # 0: the first click on an article
        model.save(store)
        print(f"day {day}: {len(model.labels):3} labels, {int((~known).sum()):2} of them new; "
              f"log loss of the first 500 known clicks {-np.log(p[:500][known[:500]]).mean():.2f}, "
              f"of the last 500 {-np.log(p[-500:][known[-500:]]).mean():.2f}")
    best = model.top_k({"likes": ["food"], "hour": 0.5}, k=3)
    print("who likes food reads", ", ".join(f"{name} {q:.2f}" for name, q in best))
