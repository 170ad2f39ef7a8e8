"""Who takes care of a ticket? Text and columns of a data frame; the same with a pipeline of scikit-learn."""
import random

import cpt
import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

WORDS = {
    "billing": "invoice charged twice refund payment card receipt tax".split(),
    "login": "password reset locked account email code expired sign".split(),
    "shipping": "parcel late tracking address delivery lost damaged box".split(),
    "hardware": "screen broken battery noise hot charger cable dead".split(),
}
FILLERS = "the my is was again please help since yesterday cannot still not".split()


def make_tickets(count: int, seed: int) -> pd.DataFrame:
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        team = draw.choice(list(WORDS))
        words = draw.choices(WORDS[team], k=2) + draw.choices(FILLERS, k=5)
        if draw.random() < 0.2:
            words += draw.choices(WORDS[draw.choice(list(WORDS))], k=2)
        draw.shuffle(words)
        product = draw.choice(["phone", "laptop"]) if team == "hardware" else draw.choice(["phone", "laptop", "shop", "app"])
        rows.append({"text": " ".join(words), "product": product, "orders": draw.randrange(10), "team": team})
    return pd.DataFrame(rows)


tickets, new = make_tickets(4000, seed=1), make_tickets(1000, seed=2)


def features(frame: pd.DataFrame) -> pd.DataFrame:
    """A column is a namespace: a list is a bag of words, a str a category, a number a number."""
    return pd.DataFrame({"text": frame["text"].str.split(), "product": frame["product"], "orders": frame["orders"] / 10})


model = cpt.Model(bits=16)
before = model.learn_many(features(tickets), tickets["team"])  # P of each label before it was learned
for begin in (0, 1000, 3000):
    part = before[begin:begin + 1000]
    print(f"tickets {begin} to {begin + len(part)}: log loss {-np.log(np.maximum(part, 1e-6)).mean():.3f}")

p = model.probabilities(features(new), new["team"])
labels, _ = model.top_k_many(features(new), k=1, threads=2)
print(f"new tickets: log loss {-np.log(p).mean():.3f}, accuracy {(labels[:, 0] == new['team']).mean():.3f}")

ticket = {"text": ["parcel", "damaged"], "product": {"product": "shop"}}  # a row as a dict: columns are namespaces
print([(label, round(q, 3)) for label, q in model.top_k(ticket, k=2)])
why = model.explain(ticket)
last = why.trees[0][1][-1]
print(f"{why.label}: at the last of {len(why.trees[0][1])} nodes P = {last.probability:.3f},", last.contributions[0][0], "says most")

pipeline = make_pipeline(TfidfVectorizer(), cpt.Classifier(bits=16)).fit(tickets["text"], tickets["team"])
print(f"pipeline, text only: accuracy {pipeline.score(new['text'], new['team']):.3f}")
