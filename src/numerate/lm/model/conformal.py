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
from numerate.lm.model.candidate_line import CandidateLine, Floats
from numerate.storage.records import Shape, misfit

VERSION = 2  # of how they are fitted; the calibration of another is made anew
PARAGRAPHS = 100  # of the dev split on which a model that reads slowly is calibrated
GROUPS = 5  # of predicted spread, at most
DOCUMENTS = 20  # that each group needs at least: a tail of 5 % is one of them
TAILS = 100  # shares that are stored of each tail: 0.5 %, 1 %, … 50 %
SPREAD = 0.9  # the predicted spread is the logarithm of the ratio of this interval's ends
LEAST_END = 1e-3  # ends below it, zero among them, are taken for it
_DIGITS = 10.0**7  # of a share that are kept
INTERVALS_SHAPE: Shape = {
    "version": int,
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
        spreads = _borders(placed.spread, document, max(1, min(GROUPS, count // DOCUMENTS)))
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
        low, high = np.minimum(low, middle), np.maximum(high, middle)
        # As they are stored: digits that are left out make intervals no narrower.
        low, high = np.floor(low * _DIGITS) / _DIGITS, np.ceil(high * _DIGITS) / _DIGITS
        return cls(count, spreads, low, high)

    @classmethod
    def read(cls, record: dict[str, Any]) -> "ConformalIntervals":
        """Read what `record` wrote; raises RunError over anything else."""
        if wrong := misfit(record, INTERVALS_SHAPE):
            raise RunError(f"intervals: {wrong}")
        if (version := record["version"]) != VERSION:
            raise RunError(f"intervals: version: got {version}, expected {VERSION}")
        spreads = np.array(record["spreads"], dtype=np.float64)
        groups = len(spreads) + 1
        sizes = [[len(row) for row in record[name]] for name in ("low", "high")]
        if sizes != [[TAILS] * groups] * 2:
            raise RunError(f"intervals: expected {groups} × {TAILS} ends of tails")
        low, high = (np.array(record[name], dtype=np.float64) for name in ("low", "high"))
        if (low > high).any() or (np.diff(spreads) < 0).any():
            raise RunError("intervals: expected ends of tails in order")
        return cls(record["documents"], spreads, low, high)

    def record(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "documents": self.documents,
            "spreads": self.spreads.tolist(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
        }

    def shortage(self, where: str = "the dev split") -> str | None:
        """Why they promise too little to be shown, fitted to what; None where they do not."""
        if self.documents >= DOCUMENTS:
            return None
        return (
            f"got {self.documents} documents with numerals in {where}, expected at least "
            f"{DOCUMENTS}"
        )

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
    low, high = (np.log10(np.maximum(end, LEAST_END)) for end in ends)
    spread: Floats = high - low
    return spread


def _borders(spread: Floats, document: np.ndarray, groups: int) -> Floats:
    """Where the next group begins, of about as many places each; those of too few documents are
    joined with their neighbours."""
    found = np.unique(np.quantile(spread, np.arange(1, groups) / groups, method="higher"))
    kept = [-np.inf]
    for border in found.tolist():
        if _documents_from(kept[-1], spread, document, border) >= DOCUMENTS:
            kept.append(border)
    while len(kept) > 1 and _documents_from(kept[-1], spread, document) < DOCUMENTS:
        kept.pop()
    return np.array(kept[1:])


def _documents_from(low: float, spread: Floats, document: np.ndarray, high: float = np.inf) -> int:
    return len(np.unique(document[(low <= spread) & (spread < high)]))


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
