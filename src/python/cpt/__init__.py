"""Conditional probability trees: P(label | features), learned online, for huge and growing sets of labels.

`Model` learns and predicts; what Python learns is what the program `cpt_dist -n 1` learns, bit by bit.
"""
from .errors import BadData, BadOption, CannotWrite, Error, NoInput, Stopped
from .model import Digest, Model, load

__all__ = ["BadData", "BadOption", "CannotWrite", "Digest", "Error", "Model", "NoInput", "Stopped", "load"]
