"""What is found out of a model once and kept with it: its reference and its calibration.

Each is kept with what it is of, its identity. Who uses a model makes anew what is of something else
(`lm/model/load.py`); who measures one looks whether it is there.
"""

from pathlib import Path
from typing import Any

from numerate.lm.backbones.pretrained.written_tables import WRITING
from numerate.lm.data.dataset import SAMPLE_SEED, Dataset
from numerate.lm.model.conformal import PARAGRAPHS
from numerate.lm.model.opening import Opened
from numerate.lm.model.reference import FREQUENT, Reference
from numerate.lm.model.run_folder import VOCABULARY, WEIGHTS, digest_of_tables
from numerate.text.columns import sees_tables

FEW_FREQUENT = 50  # training numerals in the grid: each costs a pretrained model some tokens

Given = str | Path | None
"""The dataset that a model is used with; None: its run's own."""


def find_reference(opened: Opened, dataset: Dataset) -> Reference:
    frequent = FREQUENT if opened.lm is None else FEW_FREQUENT
    return Reference.of(dataset, opened.vocabulary(dataset), frequent)


def reference_identity(opened: Opened, given: Given = None) -> dict[str, Any]:
    return {"version": 2, **_of_run(opened, given, "vocabulary", VOCABULARY)}


def calibration_identity(opened: Opened, given: Given = None) -> dict[str, Any]:
    """Intervals, which are kept with it, have a version of their own."""
    identity: dict[str, Any] = {"version": 4}
    if opened.model.member is not None:
        identity |= {"member": opened.model.member}
    if opened.lm is not None:
        identity |= {"paragraphs": PARAGRAPHS, "seed": SAMPLE_SEED}
    if tables := _tables(opened, given):
        identity |= {"tables": tables}
        identity |= {"writing": WRITING} if opened.lm else {}
    return identity | _of_run(opened, given, "weights", WEIGHTS)


def _tables(opened: Opened, given: Given) -> str | None:
    """The hash of those that a run sees; for models as they come, the cache knows it."""
    record = opened.record
    if record is None or not sees_tables(opened.model.config.sight):
        return None
    return record.dataset.tables if given is None else digest_of_tables(Dataset.open(given))


def _of_run(opened: Opened, given: Given, name: str, file: str) -> dict[str, Any]:
    """A model as it comes has a folder for itself and the dataset."""
    if opened.run is None or opened.record is None:
        return {}
    content = opened.record.dataset.content_hash
    if given is not None:
        content = Dataset.open(given).manifest["content_hash"]
    return {"dataset": content, name: opened.run.digest(file)}
