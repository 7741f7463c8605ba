"""What is measured of a model on the number line: errors of its predictions, and its intervals."""

from dataclasses import dataclass

import numpy as np

from numerate.lm.backbones.contract import Reading
from numerate.lm.data.batching import Corpus
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.evaluate.central_intervals import CentralIntervals, used_intervals, used_reference
from numerate.lm.evaluate.figures import Measured, by_numeral, central_intervals, number_line
from numerate.lm.evaluate.observed import FigurePath
from numerate.lm.evaluate.score import predict_best, rank_tables
from numerate.lm.model.candidates import candidate_numerals
from numerate.lm.model.opening import Opened


@dataclass(frozen=True, slots=True)
class OnLine:
    """What is measured on the number line."""

    measured: list[Measured]
    zeros: dict[FigurePath, int]  # that an error is not of
    by_numeral: dict[str, dict[str, np.ndarray]]
    calibrated_on: str | None = None


def measured_on_line(
    subject: Opened,
    dataset: Dataset,
    corpora: dict[str, Corpus],
    reading: Reading,
    documents: np.ndarray,  # [N]
    *,
    oov_numerals: int,
    split: str,
    everything: bool,
    limit: int | None,
) -> OnLine:
    """Of the likeliest candidates; of `everything`, also of whole distributions over them."""
    model, corpus = subject.model, reading.corpus
    candidates = candidate_numerals(corpora["train"]).to(model.device)
    best = None if everything else model.best(reading, candidates)
    central = None
    if everything:
        central = _central(subject, dataset, corpora, candidates, split, len(corpus.rows), limit)
    if best is not None:
        predictions = predict_best(best, corpus.table, corpus.rows, candidates)
    else:
        tables = model.tables(reading.context, candidates if central is None else central.asked)
        predictions = rank_tables(
            tables if central is None else central.heed(tables),
            corpus.table,
            corpus.rows,
            candidates,
            oov_numerals,
            open_vocabulary=model.open_vocabulary,
            distribution=everything,
        )
    truth = corpus.table.values[corpus.rows]
    zeros: dict[FigurePath, int] = {("number_line", "zeros"): int((truth == 0).sum())}
    if everything:
        no_logarithm = (truth == 0) | (predictions.values == 0)
        zeros["beyond", "log10_zeros"] = int(no_logarithm.sum())
    measured = [
        *number_line(truth, predictions, documents, everything),
        *central_intervals(truth, central.ends if central else {}, documents),
    ]
    on = None if central is None else central.calibrated_on
    return OnLine(measured, zeros, by_numeral(truth, predictions, everything), on)


def _central(
    subject: Opened,
    dataset: Dataset,
    corpora: dict[str, Corpus],
    candidates: NumeralTable,
    split: str,
    count: int,
    limit: int | None,
) -> CentralIntervals:
    """On the grid of calibrated ones, which are not measured where they are calibrated."""
    model = subject.model.use(used_reference(subject, dataset))
    known = corpora["train"].vocabulary.numeral_ids()
    fitted = None if split == "dev" else used_intervals(subject, dataset, corpora["dev"], limit)
    return CentralIntervals(model, count, candidates, known, fitted)
