"""A language model: P(word | the two words before it), and text written with it."""
import random

import cpt
import numpy as np

GRAMMAR = {
    "SENTENCE": [["the", "ANIMAL", "VERB", "the", "THING", "."], ["a", "ANIMAL", "sleeps", "PLACE", "."],
                 ["every", "ANIMAL", "VERB", "a", "small", "THING", "PLACE", "."]],
    "ANIMAL": [["cat"], ["dog"], ["old", "horse"], ["fox"]],
    "VERB": [["sees"], ["likes"], ["carries"]],
    "THING": [["ball"], ["house"], ["red", "box"], ["bird"]],
    "PLACE": [["in", "the", "garden"], ["under", "the", "table"], ["near", "the", "river"]],
}
draw = random.Random(1)


def expand(symbol: str) -> list:
    if symbol not in GRAMMAR:
        return [symbol]
    return [word for part in draw.choice(GRAMMAR[symbol]) for word in expand(part)]


def examples(words: list) -> tuple:
    """The context of each word: the word before it, and the two before it as one feature."""
    contexts = [[f"1:{b}", f"2:{a}:{b}"] for a, b in zip([".", ".", *words], [".", *words])]
    return contexts[:len(words)], words


train = [word for _ in range(3000) for word in expand("SENTENCE")]
test = [word for _ in range(300) for word in expand("SENTENCE")]

model = cpt.Model(bits=16)
model.learn_many(*examples(train))
p = model.probabilities(*examples(test))
print(f"{len(train)} words to learn, {len(model.labels)} different ones; perplexity of {len(test)} others: "
      f"{np.exp(-np.log(np.maximum(p, 1e-6)).mean()):.2f}")

for context in (["1:old", "2:the:old"], ["1:the", "2:in:the"], ["1:the", "2:.:the"]):
    print(context[1][2:], "->", ", ".join(f"{word} {q:.2f}" for word, q in model.top_k(context, 3)))

written = ["."]
while len(written) < 25:
    best = model.top_k([f"1:{written[-1]}", f"2:{written[-2] if len(written) > 1 else '.'}:{written[-1]}"], 4, threshold=0.05)
    written.append(draw.choices([word for word, _ in best], [q for _, q in best])[0])
print(" ".join(written[1:]))
