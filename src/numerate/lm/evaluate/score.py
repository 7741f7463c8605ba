"""What a model says of the numerals of a split: its best candidates, and how good all of it is."""

from dataclasses import dataclass, replace

import numpy as np
import torch

from numerate.lm.backbones.contract import Tables
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.evaluate.distribution import crps, percentage_medians, quantiles
from numerate.lm.perplexity import numeral_shares, proper


@dataclass(frozen=True, slots=True)
class Predictions:
    """What a model says of each numeral of a split, from the candidates' distribution: [N]."""

    values: np.ndarray  # of the best candidate
    exact: np.ndarray  # whether the best candidate is the numeral itself
    medians: np.ndarray  # the number of least expected error
    percentage_medians: np.ndarray  # and of least expected percentage error
    crps: np.ndarray


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
    return replace(
        predict_best(best, numerals, rows, candidates),
        medians=medians,
        percentage_medians=percentage,
        crps=scores,
    )


def predict_best(
    best: np.ndarray, numerals: NumeralTable, rows: np.ndarray, candidates: NumeralTable
) -> Predictions:
    """From the best candidates [N] alone, with nothing known of the others."""
    texts = np.array(candidates.texts, dtype=object)[best]
    true_texts = np.array(numerals.texts, dtype=object)[rows]
    unknown = np.full(len(rows), np.nan)
    return Predictions(candidates.values[best], texts == true_texts, unknown, unknown, unknown)
