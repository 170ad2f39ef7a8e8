"""Conditional probability trees: P(label | features), learned online, for huge and growing sets of labels.

`Model` learns and predicts; what Python learns is what the program `cpt_dist` learns on one rank, bit by bit. `train` learns files
on many ranks, and `Run` reads what a run left. `Classifier` has the contract of scikit-learn, which it needs.
"""
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, List

from ._core import __version__
from .errors import BadData, BadOption, CannotWrite, Error, NoInput, Stopped
from .model import Calibration, Digest, Explanation, Figures, Model, Step, load
from .run import Run
from .training import train

if TYPE_CHECKING:
    from .classifier import Classifier

__all__ = ["BadData", "BadOption", "Calibration", "CannotWrite", "Digest", "Error", "Explanation", "Figures", "Model", "NoInput",
           "Run", "Step", "Stopped", "__version__", "load", "train"]
if find_spec("sklearn"):
    __all__ += ["Classifier"]


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    # Imported when it is used, because it needs scikit-learn.
    if name == "Classifier":
        from .classifier import Classifier
        return Classifier
    raise AttributeError(f"module 'cpt' has no attribute {name!r}")
