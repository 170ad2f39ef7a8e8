"""A small model, and the lines that it has learned."""
from typing import List

import cpt


def make_lines(count: int = 600) -> List[str]:
    return [f"l{i % 37} |a x{i % 37} y{i % 11} z{i % 101}:0.5" for i in range(count)]


def trained(**options: object) -> cpt.Model:
    model = cpt.Model(**{"bits": 14, **options})
    model.learn_many(make_lines())
    return model
