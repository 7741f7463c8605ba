"""How often central intervals contain the truth, and how wide they are: the model's own, and
calibrated ones, both on the grid of numerals that people are shown the latter on."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from numerate.errors import NumerateError, RunError
from numerate.lm.backbones.contract import Tables
from numerate.lm.data.batching import Corpus
from numerate.lm.data.dataset import Dataset, some_paragraphs
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.model.candidate_line import CandidateLine
from numerate.lm.model.conformal import PARAGRAPHS, ConformalIntervals
from numerate.lm.model.found_out import calibration_identity, find_reference, reference_identity
from numerate.lm.model.known_places import fit_intervals
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.opening import Opened, training_documents
from numerate.lm.model.reference import Reference
from numerate.lm.model.run_folder import REFERENCE, calibration_file
from numerate.places import name_of
from numerate.storage.records import kept

LEVELS = (0.5, 0.9)
OWN, CALIBRATED = "own", "calibrated"

Ends = dict[str, dict[float, np.ndarray]]
"""By kind and level, the lower and the upper end in each place: [N, 2]."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """Calibrated intervals, and on what; without them, why there are none."""

    intervals: ConformalIntervals | None
    on: str

    @classmethod
    def of(cls, found: ConformalIntervals, where: str) -> "Fitted":
        if (shortage := found.shortage(where)) is not None:
            return cls(None, f"not calibrated: {shortage}")
        return cls(found, f"calibrated on {found.documents:,} documents of {where}")


class CentralIntervals:
    """Takes heed of the tables of candidates, a few places at a time, while they are ranked.

    Intervals end at the numerals of the grid that the model is used with.
    """

    def __init__(
        self,
        model: NumeralLM,
        count: int,
        candidates: NumeralTable,
        numeral_ids: dict[str, int],
        fitted: Fitted | None,
    ) -> None:
        self.calibrated_on = None if fitted is None else fitted.on
        self._intervals = None if fitted is None else fitted.intervals
        grid = model.candidates
        texts = list(dict.fromkeys([*candidates.texts, *grid.texts]))
        self.asked = NumeralTable(texts, numeral_ids)  # the candidates, and what else is needed
        places = {text: column for column, text in enumerate(texts)}
        self._columns = np.array([places[text] for text in grid.texts])
        self._grid, self._charges = grid, model.numeral_charges(grid)
        self._first = len(candidates)
        kinds = (OWN,) if self._intervals is None else (OWN, CALIBRATED)
        self.ends: Ends = {kind: {one: np.empty((count, 2)) for one in LEVELS} for kind in kinds}

    def heed(self, tables: Tables) -> Tables:
        """Tables of all that is asked, of which those of the candidates are passed on."""
        for places, log_probs in tables:
            found = log_probs.cpu().numpy()[:, self._columns] + self._charges
            line = CandidateLine.of(self._grid, found)
            for level in LEVELS:
                own = [line.quantile((1 + sign * level) / 2) for sign in (-1, 1)]
                self.ends[OWN][level][places] = np.stack(own, axis=1)
                if self._intervals is not None:
                    ends = self._intervals.bounds(line, level)
                    self.ends[CALIBRATED][level][places] = np.stack(ends, axis=1)
            yield places, log_probs[:, : self._first]


def used_reference(subject: Opened, dataset: Dataset) -> Reference:
    """What a run is used with, be it stored yet or not: that of its own dataset, and where that has
    gone, of the one at hand."""
    run = subject.run
    if run is not None:
        try:
            stored = kept(run.path / REFERENCE, reference_identity(subject))
            if stored is not None:
                return Reference.read(stored)
            own = run.open_dataset(None)
            dataset = own if run.is_its_own(own) else dataset
        except NumerateError:
            pass
    return find_reference(subject, dataset)


def used_intervals(subject: Opened, dataset: Dataset, dev: Corpus, limit: int | None) -> Fitted:
    """As the run is used or, where it was never calibrated, fitted to the dev split at hand, at
    most so many of its paragraphs."""
    run, record, name = subject.run, subject.record, name_of(dataset.folder.resolve())
    if run is not None and record is not None:
        stored = _stored(subject)
        if stored is not None:
            return Fitted.of(stored, f"the dev split of {Path(record.dataset.path).name}")
        if training_documents(run, dataset, "dev"):
            return Fitted(None, f"not calibrated: trained on the dev split of {name}")
    limits = [limit, None if subject.lm is None else PARAGRAPHS]
    most = min((one for one in limits if one is not None), default=len(dev))
    some = dev.take(some_paragraphs(len(dev), most)) if most < len(dev) else dev
    part = f"{len(some):,} paragraphs of " if len(some) < len(dev) else ""
    where = f"{part}the dev split of {name}"
    if not len(some.rows):
        return Fitted(None, f"not calibrated: no numeral in {where}")
    documents = dataset.split("dev").read(["document"])["document"].to_pylist()
    of_texts = [documents[index] for index in some.sources]
    return Fitted.of(fit_intervals(subject.model, some, of_texts), where)


def _stored(subject: Opened) -> ConformalIntervals | None:
    assert subject.run is not None
    try:
        path = subject.run.path / calibration_file(subject.model.member)
        found = kept(path, calibration_identity(subject))
        if found is None or not isinstance(found.get("intervals"), dict):
            return None
        return ConformalIntervals.read(found["intervals"])
    except RunError:
        return None
