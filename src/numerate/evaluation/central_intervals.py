"""How often central intervals contain the truth, and how wide they are: the model's own, and
calibrated ones as people are shown them."""

import hashlib
from collections.abc import Sequence

import numpy as np

from numerate.backbones.contract import Tables
from numerate.batching import Corpus
from numerate.corpus.dataset import Dataset, some_paragraphs
from numerate.errors import RunError
from numerate.model.candidate_line import CandidateLine, scaled
from numerate.model.conformal import INTERVALS_SHAPE, PARAGRAPHS, ConformalIntervals, Placed
from numerate.model.opening import Opened, training_documents
from numerate.numeral_table import NumeralTable
from numerate.records import Shape, read_record
from numerate.runs.folder import REFERENCE, WEIGHTS, calibration_file

LEVELS = (0.5, 0.9)
OWN, CALIBRATED = "own", "calibrated"

Ends = dict[str, dict[float, np.ndarray]]
"""By kind and level, the lower and the upper end in each place: [N, 2]."""


class CentralIntervals:
    """Takes heed of the tables of candidates, a few places at a time, while they are ranked.

    Intervals end at the numerals of a `grid`, which may be others than the candidates.
    """

    def __init__(
        self,
        count: int,
        candidates: NumeralTable,
        grid: Sequence[str],
        intervals: ConformalIntervals | None,
        numeral_ids: dict[str, int],
    ) -> None:
        texts = list(dict.fromkeys([*candidates.texts, *grid]))
        self.asked = NumeralTable(texts, numeral_ids)  # the candidates, and what else is needed
        places = {text: column for column, text in enumerate(texts)}
        self._columns = np.array([places[text] for text in grid])
        self._first, self._intervals = len(candidates), intervals
        kinds = (OWN,) if intervals is None else (OWN, CALIBRATED)
        self.ends: Ends = {kind: {one: np.empty((count, 2)) for one in LEVELS} for kind in kinds}

    def heed(self, tables: Tables, shares: np.ndarray) -> Tables:
        """Tables of all that is asked, of which those of the candidates are passed on; `shares`
        are what an unknown numeral has of its symbol's probability, in logarithms."""
        for places, log_probs in tables:
            found = (log_probs.cpu().numpy() + shares)[:, self._columns]
            line = CandidateLine(self.asked.values[self._columns], scaled(found))
            for level in LEVELS:
                own = [line.quantile((1 + sign * level) / 2) for sign in (-1, 1)]
                self.ends[OWN][level][places] = np.stack(own, axis=1)
                if self._intervals is not None:
                    ends = self._intervals.bounds(line, level)
                    self.ends[CALIBRATED][level][places] = np.stack(ends, axis=1)
            yield places, log_probs[:, : self._first]


def stored_intervals(subject: Opened) -> tuple[list[str], ConformalIntervals] | None:
    """What a run is used with, if it was calibrated: its grid of numerals, and its intervals."""
    run = subject.run
    if run is None:
        return None
    name = calibration_file(subject.model.member)
    shape: dict[str, Shape] = {"identity": dict, "record": {"intervals": INTERVALS_SHAPE}}
    try:
        found = read_record(run.path / name, shape, RunError)
        grid = read_record(run.path / REFERENCE, {"record": {"candidates": [str]}}, RunError)
        intervals = ConformalIntervals.read(found["record"]["intervals"])
    except (FileNotFoundError, RunError):
        return None
    digest = hashlib.sha256((run.path / WEIGHTS).read_bytes()).hexdigest()
    if found["identity"].get("weights") != digest:
        return None
    return grid["record"]["candidates"], intervals


def fitted_intervals(
    subject: Opened, dataset: Dataset, dev: Corpus, candidates: NumeralTable, shares: np.ndarray
) -> ConformalIntervals | None:
    """Fitted to the dev split for these candidates; None where there is nothing to fit them to."""
    model = subject.model
    if subject.run is not None and training_documents(subject.run, dataset, "dev"):
        return None
    if subject.lm is not None:
        dev = dev.take(some_paragraphs(len(dev), PARAGRAPHS))
    if not len(dev.rows):
        return None
    targets, truth = model.targets(dev), dev.table.values[dev.rows]
    placed = []
    for places, log_probs in model.tables(model.read(dev).context, candidates):
        line = CandidateLine.of(candidates, log_probs.cpu().numpy() + shares)
        placed.append(Placed.of(line, truth[places]))
    ids = np.array(dataset.split("dev").read(["document"])["document"].to_pylist(), dtype=str)
    documents = ids[dev.sources[targets.paragraphs[targets.is_numeral]]]
    return ConformalIntervals.fit(Placed.together(placed), documents)
