"""From a pretrained language model, and perhaps a dataset, to a model one asks about numbers."""

from pathlib import Path
from typing import Any

import numpy as np

from numerate.corpus.dataset import SAMPLE_SEED, Dataset, some_paragraphs
from numerate.corpus.tokenizer import DEFAULT_RULES, tokenize
from numerate.errors import BackboneError, NumerateError
from numerate.evaluation.subject import VOCABULARY
from numerate.plausibility.calibration import Calibration, calibrate
from numerate.plausibility.kept import Say, keep
from numerate.plausibility.model import NumerateModel
from numerate.plausibility.plain_texts import SENTENCES, plain_candidates
from numerate.plausibility.pretrained_model import PretrainedModel
from numerate.plausibility.reference import Reference
from numerate.pretrained.backbone import PREFIX, open_backbone
from numerate.pretrained.language_model import PretrainedLM
from numerate.pretrained.plan import Paragraph
from numerate.pretrained.progress import PassProgress
from numerate.pretrained.store import Store
from numerate.records import misfit
from numerate.runs.folder import CALIBRATION, REFERENCE
from numerate.vocabulary import Vocabulary

START = "start.json"
PARAGRAPHS = 100  # of the dev split on which a pretrained model is calibrated
FEW_FREQUENT = 50  # training numerals in the grid: each costs a pretrained model some tokens


def load_pretrained(
    path: Path, dataset: str | Path | None, cache: Path, say: Say, *, trusted: bool
) -> NumerateModel:
    """A pretrained model as it comes.

    With a dataset, numerals are placed among its candidates, and odd ones are told by its dev
    split; both are kept with the model's scores, in the cache. Without one, candidates are plain
    round numbers, and texts cannot be checked.
    """
    opened = Dataset.open(dataset) if dataset is not None else None
    lm = PretrainedLM(open_backbone(path, trust_remote_code=trusted))
    if opened is None:
        lm.start = _start(lm, cache, say)
        return NumerateModel(PretrainedModel(lm, _plain_reference()), lambda: _refuse(path))
    store = Store(cache, lm, opened)
    reference = keep(
        store.folder, REFERENCE, {"version": 1}, lambda: _reference(opened), Reference.read, say
    )
    model = PretrainedModel(lm, reference)
    return NumerateModel(model, lambda: _calibration(model, store, path, say))


def _start(lm: PretrainedLM, cache: Path, say: Say) -> int:
    """The symbol before a text, found out once for a model."""

    def find_out() -> dict[str, Any]:
        return {
            "start": lm.choose_start([Paragraph.of(text, tokenize(text)) for text in SENTENCES])
        }

    if lm.start is not None:
        return lm.start
    folder = cache / lm.digest[:16]
    folder.mkdir(parents=True, exist_ok=True)

    def read(record: dict[str, Any]) -> int:
        if wrong := misfit(record, {"start": int}):
            raise BackboneError(wrong)
        start: int = record["start"]
        return start

    return keep(folder, START, {"version": 1, "model": lm.digest}, find_out, read, say)


def calibrate_on_some(model: PretrainedModel, store: Store, name: object, say: Say) -> Calibration:
    """On some paragraphs of the dev split. What has been read is in the store, and not read again:
    not after an interruption, nor where the run was trained or the model evaluated on it."""
    split = store.split("dev")
    chosen = some_paragraphs(len(split.paragraphs), PARAGRAPHS)
    dev = f"the dev split of {store.dataset.folder}"
    say(f"calibrating {name} on {len(chosen)} paragraphs of {dev}, once")
    with PassProgress() as progress:
        split.fill(chosen, progress, detailed=model.reads_details)
    return calibrate(model, model.stored_readings(split, chosen))


def _refuse(path: Path) -> Calibration:
    raise NumerateError(
        f"{PREFIX}{path}: what is odd is told by a dataset's dev split, and a pretrained model "
        f"has no dataset of its own: --dataset"
    )


def _plain_reference() -> Reference:
    candidates = plain_candidates()
    median = float(np.median([float(text) for text in candidates]))
    return Reference(DEFAULT_RULES, 0, 0, candidates, median)


def _reference(dataset: Dataset) -> dict[str, Any]:
    encoded = dataset.split("train").encode()
    size = min(VOCABULARY, len(encoded.types))
    vocabulary = Vocabulary.build(encoded.types, encoded.counts, size)
    return Reference.of(dataset, vocabulary, FEW_FREQUENT).record()


def _calibration(model: PretrainedModel, store: Store, path: Path, say: Say) -> Calibration:
    def find_out() -> dict[str, Any]:
        return calibrate_on_some(model, store, f"{PREFIX}{path}", say).record()

    identity = {"version": 3, "paragraphs": PARAGRAPHS, "seed": SAMPLE_SEED}
    return keep(store.folder, CALIBRATION, identity, find_out, Calibration.of, say)
