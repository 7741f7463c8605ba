"""Language models that understand numbers."""

from pathlib import Path
from typing import TYPE_CHECKING

from numerate.threads import wait_asleep

if TYPE_CHECKING:
    from numerate.plausibility.model import NumerateModel

__version__ = "0.2.0"

wait_asleep()  # before anything loads torch


def load(
    path: str | Path,
    dataset: str | Path | None = None,
    *,
    cache: str | Path | None = None,
    trust_remote_code: bool = False,
) -> "NumerateModel":
    """Open a model to predict numbers, rank claims and check texts with it.

    `path` is the folder of a trained run; `dataset` is where its dataset is now, if it has moved
    since the training. Or `hf:PATH`, a pretrained language model, which needs a `dataset` to
    check texts. What a pretrained model says of a dataset is kept in `cache`, by default a folder
    of yours; code that comes with one is run only with `trust_remote_code`.
    """
    from numerate.plausibility.load import load as load_run  # torch only when it is needed

    return load_run(path, dataset, cache=cache, trust_remote_code=trust_remote_code)
