"""Language models that understand numbers.

`prepare` makes a dataset of documents, `train` a run of a dataset, `evaluate` says how good it is.
`load` opens a model, a run or a pretrained one, to be asked: for the `NumeralDistribution` of a
number to come, for instance. `check` proofreads the numbers of a text, with models or without,
`audit` those of every document of a corpus; `compare` says which of them its sources support.
`read_tables` reads tables that a model shall have in view.
`numerate.lm.heads` has the ways to put a distribution on numerals, for models of your own.

What is named here is imported when it is first used: `import numerate` loads neither torch nor
Arrow.
"""

from typing import TYPE_CHECKING

from numerate.lazy import lazily
from numerate.threads import wait_asleep

if TYPE_CHECKING:
    from numerate.comparison.compare import compare
    from numerate.documents.table_file import read_tables
    from numerate.lm.data.prepare import prepare
    from numerate.lm.evaluate.evaluate import evaluate
    from numerate.lm.model.load import load
    from numerate.lm.model.numeral_distribution import NumeralDistribution
    from numerate.lm.model.numeral_lm import NumeralLM
    from numerate.lm.train.run import train
    from numerate.proofread.audit.audit import audit
    from numerate.proofread.check import check

__version__ = "0.5.0"
__all__ = [
    "NumeralDistribution",
    "NumeralLM",
    "audit",
    "check",
    "compare",
    "evaluate",
    "load",
    "prepare",
    "read_tables",
    "train",
]

wait_asleep()  # before anything loads torch

__getattr__, __dir__ = lazily(
    "numerate",
    {
        "NumeralDistribution": "numerate.lm.model.numeral_distribution",
        "NumeralLM": "numerate.lm.model.numeral_lm",
        "audit": "numerate.proofread.audit.audit",
        "check": "numerate.proofread.check",
        "compare": "numerate.comparison.compare",
        "evaluate": "numerate.lm.evaluate.evaluate",
        "load": "numerate.lm.model.load",
        "prepare": "numerate.lm.data.prepare",
        "read_tables": "numerate.documents.table_file",
        "train": "numerate.lm.train.run",
    },
)
