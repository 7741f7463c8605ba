"""Language models that understand numbers.

`prepare` makes a dataset of documents, `train` a run of a dataset, `evaluate` says how good it is,
`load` opens it to be asked: for the `NumeralDistribution` of a number to come, for instance. What
is named here is imported when it is first used: `import numerate` loads neither torch nor Arrow.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from numerate.threads import wait_asleep

if TYPE_CHECKING:
    from numerate.corpus.prepare import prepare
    from numerate.evaluation.evaluate import evaluate
    from numerate.model.numeral_distribution import NumeralDistribution
    from numerate.plausibility.load import load
    from numerate.training.run import train

__version__ = "0.2.0"
__all__ = ["NumeralDistribution", "evaluate", "load", "prepare", "train"]

_HOMES = {
    "NumeralDistribution": "numerate.model.numeral_distribution",
    "evaluate": "numerate.evaluation.evaluate",
    "load": "numerate.plausibility.load",
    "prepare": "numerate.corpus.prepare",
    "train": "numerate.training.run",
}

wait_asleep()  # before anything loads torch


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'numerate' has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
