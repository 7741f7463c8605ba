"""Intervals that contain the number as often as they say: conformal prediction on the number line.

A model's own interval of 90 % holds 90 % of its probability, which is no promise about numbers. The
dev split tells how far to go instead (split conformal prediction; Vovk et al., 2005), by where its
numbers y lie in the distributions F that the model had for them (distributional conformal
prediction; Chernozhukov et al., 2021). F is a step function: y is at least the quantile a where
F(y) ≥ a, and at most the quantile b where F(y−) ≤ b. So for each tail

    low  = the largest a that a share (1 − level)/2 of the F(y)  is below
    high = the least   b that a share (1 − level)/2 of the F(y−) is above

which is exact however large the steps are: nothing is randomised. Shares are taken among places of
about the same predicted spread, so that intervals hold where a model is sure and where it is not
(Mondrian; Vovk et al., 2005).

Documents are exchangeable, numerals of one document are not: each document counts as one, whatever
its length (Lee, Barber and Willett, 2023). Let a numeral be drawn from a new document of the same
kind, among its places of a group: the interval misses it with a probability of at most
1 − level + 2/(K + 1), K being the documents of the dev split that have such places, as far as the
candidates reach. Where a single number holds more than the level, no interval holds less.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from numerate.errors import NumerateError, RunError
from numerate.model.candidate_line import CandidateLine, Floats
from numerate.records import Shape, misfit

PARAGRAPHS = 100  # of the dev split on which a model that reads slowly is calibrated
GROUPS = 5  # of predicted spread, at most
DOCUMENTS = 20  # that each group needs at least: a tail of 5 % is one of them
TAILS = 100  # shares that are stored of each tail: 0.5 %, 1 %, … 50 %
SMALLEST = 1e-3  # numbers below it, zero among them, are as good as equal to it
SPREAD = 0.9  # the predicted spread is the logarithm of the ratio of this interval's ends
_DIGITS = 10.0**7  # of a share that are stored
INTERVALS_SHAPE: Shape = {
    "documents": int,
    "spreads": [float],
    "low": [[float]],
    "high": [[float]],
}


@dataclass(frozen=True, slots=True)
class Placed:
    """Where the true numbers of N places lie in what a model expected there: [N] each."""

    below: Floats  # F(y−)
    through: Floats  # F(y)
    spread: Floats

    @classmethod
    def of(cls, line: CandidateLine, truth: Floats) -> "Placed":
        return cls(line.below(truth), line.through(truth), predicted_spread(line))

    @classmethod
    def together(cls, parts: Sequence["Placed"]) -> "Placed":
        columns = [[part.below for part in parts], [part.through for part in parts]]
        columns.append([part.spread for part in parts])
        return cls(*(np.concatenate([np.zeros(0), *column]) for column in columns))


@dataclass(frozen=True, slots=True)
class ConformalIntervals:
    """How far to go into each tail, by the predicted spread of a place: G groups."""

    documents: int  # that it was fitted on
    spreads: Floats  # [G - 1], ascending: where the next group begins
    low: Floats  # [G, TAILS]: the quantile below which 0.5 %, 1 %, … of numbers lie
    high: Floats  # [G, TAILS]: and above which

    @classmethod
    def fit(cls, placed: Placed, documents: np.ndarray) -> "ConformalIntervals":
        """`documents` [N] says which document each place is of."""
        if not len(placed.spread):
            raise NumerateError("intervals: no numeral to fit them to")
        _, document = np.unique(documents, return_inverse=True)
        count = int(document.max()) + 1
        groups = max(1, min(GROUPS, count // DOCUMENTS))
        shares = np.arange(1, groups) / groups
        spreads = np.unique(np.quantile(placed.spread, shares, method="higher"))
        spreads = spreads[spreads > placed.spread.min()]  # so that every group has places
        group = np.searchsorted(spreads, placed.spread, side="right")
        low, high = np.empty((2, len(spreads) + 1, TAILS))
        for index in range(len(low)):
            chosen = group == index
            sizes = np.bincount(document[chosen])
            weights = 1 / sizes[document[chosen]]
            low[index] = _tail(placed.through[chosen], weights)
            high[index] = -_tail(-placed.below[chosen], weights)
        # Intervals contain their middle: none is empty, and the wider hold the narrower.
        middle = (low[:, -1:] + high[:, -1:]) / 2
        return cls(count, spreads, np.minimum(low, middle), np.maximum(high, middle))

    @classmethod
    def read(cls, record: dict[str, Any]) -> "ConformalIntervals":
        """Raises RunError over what are no such intervals."""
        if wrong := misfit(record, INTERVALS_SHAPE):
            raise RunError(f"intervals: {wrong}")
        low, high = (np.array(record[name], dtype=np.float64) for name in ("low", "high"))
        spreads = np.array(record["spreads"], dtype=np.float64)
        expected = (len(spreads) + 1, TAILS)
        fits = low.shape == high.shape == expected
        if not fits or (low > high).any() or (np.diff(spreads) < 0).any():
            raise RunError(f"intervals: expected {expected[0]} × {TAILS} ends of tails")
        return cls(record["documents"], spreads, low, high)

    def record(self) -> dict[str, Any]:
        """Digits that are left out make intervals no narrower."""
        return {
            "documents": self.documents,
            "spreads": self.spreads.tolist(),
            "low": (np.floor(self.low * _DIGITS) / _DIGITS).tolist(),
            "high": (np.ceil(self.high * _DIGITS) / _DIGITS).tolist(),
        }

    def bounds(self, line: CandidateLine, level: float) -> tuple[Floats, Floats]:
        """The ends of the interval in each place, both included: [N], [N]."""
        if not 0 < level < 1:
            raise NumerateError(f"level: got {level}, expected between 0 and 1")
        group = np.searchsorted(self.spreads, predicted_spread(line), side="right")
        tail = int(np.floor((1 - level) * TAILS + 1e-9))  # the next wider one that is stored
        if not tail:
            return np.full(len(line), line.values[0]), np.full(len(line), line.values[-1])
        low, high = self.low[group, tail - 1], self.high[group, tail - 1]
        return line.quantile(low), line.quantile_above(high)


def predicted_spread(line: CandidateLine) -> Floats:
    """log10 of the ratio of the ends of the model's own interval: [N]."""
    ends = (line.quantile((1 + sign * SPREAD) / 2) for sign in (-1, 1))
    low, high = (np.log10(np.maximum(end, SMALLEST)) for end in ends)
    spread: Floats = high - low
    return spread


def _tail(scores: Floats, weights: Floats) -> Floats:
    """The largest of the scores that so much of the weight is below, at most: [TAILS]."""
    order = np.argsort(scores, kind="stable")
    ascending = scores[order]
    before = np.cumsum(weights[order]) - weights[order]  # weight of what comes before each
    first = np.searchsorted(ascending, ascending, side="left")  # equal scores are not below
    shares = np.arange(1, TAILS + 1) / (2 * TAILS) * weights.sum()
    places = np.searchsorted(before[first], shares + 1e-9, side="right") - 1
    found: Floats = ascending[places]
    return found
