"""From a pretrained language model, and perhaps a dataset, to a model one asks about numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from numerate.corpus.dataset import Dataset
from numerate.corpus.tokenizer import tokenize
from numerate.errors import NumerateError
from numerate.evaluation.subject import VOCABULARY
from numerate.plausibility.calibration import (
    CALIBRATION,
    Calibration,
    calibrate_numerals,
    calibrate_readings,
)
from numerate.plausibility.kept import Say, keep
from numerate.plausibility.model import NumerateModel
from numerate.plausibility.number_model import NumberModel, Reading
from numerate.plausibility.plain_texts import SENTENCES, plain_candidates
from numerate.plausibility.pretrained_model import PretrainedModel
from numerate.plausibility.reference import REFERENCE, Reference
from numerate.pretrained.backbone import PREFIX, open_backbone
from numerate.pretrained.language_model import PretrainedLM
from numerate.pretrained.plan import Paragraph
from numerate.pretrained.progress import PassProgress
from numerate.pretrained.store import Store, default_cache
from numerate.vocabulary import Vocabulary

START = "start.json"
PARAGRAPHS = 100  # of the dev split on which a pretrained model is calibrated
SEED = 1  # of their choice
FEW_FREQUENT = 50  # training numerals in the grid: each costs a pretrained model some tokens
AT_ONCE = 10  # read between two looks at the progress


def load_pretrained(path: Path, dataset: str | Path | None, say: Say) -> NumerateModel:
    """A pretrained model as it comes.

    With a dataset, numerals are placed among its candidates, and odd ones are told by its dev
    split; both are kept with the model's scores, in the cache. Without one, candidates are plain
    round numbers, and texts cannot be checked.
    """
    opened = Dataset.open(dataset) if dataset is not None else None
    lm = PretrainedLM(open_backbone(path))
    if opened is None:
        lm.start = _start(lm, say)
        return NumerateModel(PretrainedModel(lm, _plain_reference()), lambda: _refuse(path))
    store = Store(default_cache(), lm, opened)
    record = keep(store.folder, REFERENCE, {"version": 1}, lambda: _reference(opened), say)
    model = PretrainedModel(lm, Reference.read(record))
    return NumerateModel(model, lambda: _calibration(path, store, say))


def _start(lm: PretrainedLM, say: Say) -> int:
    """The symbol before a text, found out once for a model."""

    def find_out() -> dict[str, Any]:
        return {
            "start": lm.choose_start([Paragraph.of(text, tokenize(text)) for text in SENTENCES])
        }

    if lm.start is not None:
        return lm.start
    folder = default_cache() / lm.digest[:16]
    folder.mkdir(parents=True, exist_ok=True)
    start: int = keep(folder, START, {"version": 1, "model": lm.digest}, find_out, say)["start"]
    return start


def calibrate_on_some(
    model: NumberModel, texts: Sequence[str], name: object, dataset: Dataset, say: Say
) -> Calibration:
    """A head over a pretrained model, on some texts of the dev split, some at a time."""
    chosen = _some(len(texts))
    _say_where(name, dataset, len(chosen), say)
    readings: list[Reading] = []
    with PassProgress() as progress:
        for begin in range(0, len(chosen), AT_ONCE):
            progress("reading dev", begin, len(chosen))
            readings += model.read([texts[index] for index in chosen[begin : begin + AT_ONCE]])
    return calibrate_readings(readings)


def _some(count: int) -> np.ndarray:
    return np.sort(np.random.default_rng(SEED).permutation(count)[:PARAGRAPHS])


def _say_where(name: object, dataset: Dataset, count: int, say: Say) -> None:
    say(f"calibrating {name} on {count} paragraphs of the dev split of {dataset.folder}, once")


def _refuse(path: Path) -> Calibration:
    raise NumerateError(
        f"{PREFIX}{path}: what is odd is told by a dataset's dev split, and a pretrained model "
        f"has no dataset of its own: --dataset"
    )


def _plain_reference() -> Reference:
    candidates = plain_candidates()
    median = float(np.median([float(text) for text in candidates]))
    return Reference(False, 0, 0, candidates, median)


def _reference(dataset: Dataset) -> dict[str, Any]:
    encoded = dataset.split("train").encode()
    size = min(VOCABULARY, len(encoded.types))
    vocabulary = Vocabulary.build(encoded.types, encoded.counts, size)
    return Reference.of(dataset, vocabulary, FEW_FREQUENT).record()


def _calibration(path: Path, store: Store, say: Say) -> Calibration:
    def find_out() -> dict[str, Any]:
        split = store.split("dev")
        chosen = _some(len(split.paragraphs))
        _say_where(f"{PREFIX}{path}", store.dataset, len(chosen), say)
        with PassProgress() as progress:
            split.fill(chosen, progress)
        paragraphs = [split.paragraphs[index] for index in chosen]
        numerals = [p.written[place] for p in paragraphs for place in sorted(p.numerals)]
        return calibrate_numerals(numerals, split.numerals[split.numerals_of(chosen)]).record()

    identity = {"version": 1, "paragraphs": PARAGRAPHS, "seed": SEED}
    return Calibration.of(keep(store.folder, CALIBRATION, identity, find_out, say))
