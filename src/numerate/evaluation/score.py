"""A model against a split: the log-probability of every token, a distribution at every numeral.

Everything is in the order of the corpus, whatever the batches were, so that two runs can be
compared token by token.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import torch

from numerate.batching import UNKNOWN_ID, Batch, Corpus, bucketed_batches
from numerate.evaluation.distribution import (
    crps,
    interval_coverage,
    percentage_medians,
    quantiles,
)
from numerate.evaluation.perplexity import numeral_shares, proper
from numerate.model.language_model import LanguageModel
from numerate.numeral_table import NumeralTable

BATCH_SIZE = 50
TABLE_ROWS = 64  # numerals ranked at a time: their prefix states fit the cache
LEVELS = (0.5, 0.9)

Tables = Iterator[tuple[np.ndarray, torch.Tensor]]
"""Places among the numerals asked for, and log p of every candidate there: [n], [n, C]."""


@dataclass(frozen=True, slots=True)
class Targets:
    """What is to be predicted in a split, ends included: [T] each."""

    is_numeral: np.ndarray
    is_unknown: np.ndarray
    paragraphs: np.ndarray
    rows: np.ndarray  # of the numerals, in the table of the corpus: [N]

    @classmethod
    def of(cls, corpus: Corpus) -> "Targets":
        ends = corpus.offsets[1:]
        is_unknown = np.insert(corpus.words == UNKNOWN_ID, ends, False)
        is_unknown[corpus.target_is_numeral] = corpus.table.known[corpus.rows] == 0
        paragraphs = np.repeat(np.arange(len(corpus)), corpus.lengths + 1)
        return cls(corpus.target_is_numeral, is_unknown, paragraphs, corpus.rows)

    def knowing_words(self) -> "Targets":
        """The same for a model to which no word is unknown."""
        return replace(self, is_unknown=self.is_unknown & self.is_numeral)


@dataclass(frozen=True, slots=True)
class Predictions:
    """What a model says of each numeral of a split, from the candidates' distribution: [N]."""

    values: np.ndarray  # of the best candidate
    exact: np.ndarray  # whether the best candidate is the numeral itself
    medians: np.ndarray  # the number of least expected error
    percentage_medians: np.ndarray  # and of least expected percentage error
    crps: np.ndarray
    covered: dict[float, np.ndarray]  # by the central interval of each level


def token_log_probs(model: LanguageModel, corpus: Corpus) -> np.ndarray:
    """log p of every target, in the order of the corpus: float64 [T]."""
    result = np.empty(len(corpus.words) + len(corpus))
    starts = corpus.offsets[:-1] + np.arange(len(corpus))
    with exactly():
        for paragraphs in bucketed_batches(corpus.lengths, BATCH_SIZE):
            batch = corpus.collate(paragraphs)
            steps, columns = coordinates(batch, batch.positions)
            result[starts[paragraphs[columns]] + steps] = model.log_prob(batch).double().cpu()
    return result


def numeral_tables(model: LanguageModel, corpus: Corpus, candidates: NumeralTable) -> Tables:
    """log p(candidate | a numeral comes) before each numeral, some rows at a time."""
    targets = Targets.of(corpus)
    with exactly():
        for places, hidden in _states_before_numerals(model, corpus, targets):
            for begin in range(0, len(places), TABLE_ROWS):
                states = hidden[begin : begin + TABLE_ROWS]
                table = model.output.numeral_table(states, candidates).double()
                yield places[begin : begin + TABLE_ROWS], table


def rank_tables(
    tables: Tables,
    numerals: NumeralTable,
    rows: np.ndarray,
    candidates: NumeralTable,
    oov_numerals: int,
    *,
    open_vocabulary: bool,
    distribution: bool = False,
) -> Predictions:
    """The best candidate before each numeral; with `distribution`, also how good all of it is.

    What truly stands there are `rows` [N] of the table `numerals`.
    """
    count = len(rows)
    best = np.empty(count, dtype=np.int64)
    scores, medians, percentage = np.full((3, count), np.nan)
    covered = {level: np.zeros(count, dtype=bool) for level in LEVELS}
    truth = numerals.values[rows]
    shares = numeral_shares(candidates.known, oov_numerals, open_vocabulary=open_vocabulary)
    penalty = torch.from_numpy(shares)
    for places, log_probs in tables:
        table = log_probs + penalty.to(log_probs.device)
        proper(table.max(1).values.cpu().numpy())  # nan if any is
        best[places] = table.argmax(1).cpu().numpy()
        if distribution:
            probabilities = torch.softmax(table, dim=1).cpu().numpy()
            scores[places] = crps(probabilities, candidates.values, truth[places])
            medians[places] = quantiles(probabilities, candidates.values, 0.5)
            percentage[places] = percentage_medians(probabilities, candidates.values)
            for level in LEVELS:
                covered[level][places] = interval_coverage(
                    probabilities, candidates.values, truth[places], level
                )
    return replace(
        predict_best(best, numerals, rows, candidates),
        medians=medians,
        percentage_medians=percentage,
        crps=scores,
        covered=covered,
    )


def predict_best(
    best: np.ndarray, numerals: NumeralTable, rows: np.ndarray, candidates: NumeralTable
) -> Predictions:
    """From the best candidates [N] alone, with nothing known of the others."""
    texts = np.array(candidates.texts, dtype=object)[best]
    true_texts = np.array(numerals.texts, dtype=object)[rows]
    unknown = np.full(len(rows), np.nan)
    return Predictions(candidates.values[best], texts == true_texts, unknown, unknown, unknown, {})


def numeral_states(model: LanguageModel, corpus: Corpus) -> torch.Tensor:
    """The hidden state before each numeral, in the order of the corpus: [N, D]."""
    targets = Targets.of(corpus)
    device = corpus.table.device
    result = torch.empty(len(targets.rows), model.config.hidden, device=device)
    with exactly():
        for places, hidden in _states_before_numerals(model, corpus, targets):
            result[torch.from_numpy(places).to(device)] = hidden.float()
    return result


def _states_before_numerals(
    model: LanguageModel, corpus: Corpus, targets: Targets
) -> Iterator[tuple[np.ndarray, torch.Tensor]]:
    """Batch by batch: places of numerals among all of the corpus, and the states before them."""
    starts = corpus.offsets[:-1] + np.arange(len(corpus))
    numeral_index = np.cumsum(targets.is_numeral) - 1  # [T] a target's place among numerals
    for paragraphs in bucketed_batches(corpus.lengths, BATCH_SIZE):
        batch = corpus.collate(paragraphs)
        if batch.numerals is not None:
            _, positions = batch.by_class(batch.positions)
            steps, columns = coordinates(batch, positions)
            places = numeral_index[starts[paragraphs[columns]] + steps]
            yield places, model.hidden(batch).index_select(0, positions)


@contextmanager
def exactly() -> Iterator[None]:
    """Without gradients, and without the shortened floats that cuDNN's LSTM takes by default."""
    with torch.no_grad(), torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        yield


def coordinates(batch: Batch, positions: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    return np.divmod(positions.cpu().numpy(), batch.shape[1])
