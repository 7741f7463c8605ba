"""Calibrated intervals of a model, fitted to texts whose numbers are known."""

from collections.abc import Sequence

import numpy as np
import torch

from numerate.lm.backbones.contract import Reading, Targets
from numerate.lm.data.batching import Corpus
from numerate.lm.model.candidate_line import CandidateLine
from numerate.lm.model.conformal import ConformalIntervals, Placed
from numerate.lm.model.numeral_lm import NumeralLM

MOST_PLACES = 10_000  # about so many numerals that intervals are fitted to


class KnownPlaces:
    """Takes heed of where numbers lie in what was expected, as texts are read, some at a time.

    Of `numerals` in all, some are left out where they are more than are needed.
    """

    def __init__(self, model: NumeralLM, numerals: int) -> None:
        self._model, self._every = model, max(1, -(-numerals // MOST_PLACES))
        self._seen = 0
        self._placed: list[Placed] = []
        self._documents: list[np.ndarray] = []

    def heed(self, reading: Reading, documents: Sequence[object]) -> None:
        """`documents` says of each text which document it is of."""
        model, corpus = self._model, reading.corpus
        rows = np.arange(-self._seen % self._every, len(corpus.rows), self._every)
        self._seen += len(corpus.rows)
        if len(rows):
            context = reading.context[torch.from_numpy(rows).to(model.device)]
            table = model.log_prob_table(context, model.candidates)
            line = CandidateLine.of(model.candidates, table)
            self._placed.append(Placed.of(line, corpus.table.values[corpus.rows[rows]]))
            targets = Targets.of(corpus)
            texts = targets.paragraphs[targets.is_numeral][rows]
            self._documents.append(np.array([str(documents[text]) for text in texts]))

    def intervals(self) -> ConformalIntervals:
        documents = np.concatenate([np.zeros(0, dtype=str), *self._documents])
        return ConformalIntervals.fit(Placed.together(self._placed), documents)


def fit_intervals(
    model: NumeralLM, corpus: Corpus, documents: Sequence[object]
) -> ConformalIntervals:
    """On the grid of candidates that the model is used with; `documents` are those of its texts."""
    places = KnownPlaces(model, len(corpus.rows))
    for begin in range(0, len(corpus), model.backbone.texts_at_once):
        some = np.arange(len(corpus))[begin : begin + model.backbone.texts_at_once]
        places.heed(model.read(corpus.take(some)), [documents[index] for index in some])
    return places.intervals()
