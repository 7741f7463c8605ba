"""Predicted distributions over one fixed grid of numerals, many contexts at once.

Exact distributions are for one context at a time (`NextNumeral`). To judge every numeral of a
document, the candidates of `lm/model/candidates.py` stand for all numerals: their
probabilities, scaled to sum to one, say where on the number line a value is to be expected.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.model.candidate_line import CandidateLine, scaled

LEAST_MAGNITUDE = 1e-4  # numbers below it, zero among them, are of this magnitude
_LEAST = 1e-12  # probability: a cost is at most 28 nats


@dataclass(frozen=True, slots=True)
class Written:
    """N numerals as arrays, [N] each."""

    values: np.ndarray
    precisions: np.ndarray
    significant: np.ndarray  # digits that carry information: 3 in 1,250, 3 in 0.0120, 1 in 0

    @classmethod
    def of(cls, numerals: Sequence[str]) -> "Written":
        return cls(
            np.array([float(text) for text in numerals]),
            np.array([len(text.partition(".")[2]) for text in numerals], dtype=np.int64),
            np.array([_significant(text) for text in numerals], dtype=np.int64),
        )


class Grid:
    """N distributions over the C candidates: log-probabilities [N, C]."""

    def __init__(self, candidates: NumeralTable, log_probs: np.ndarray) -> None:
        self.candidates = candidates
        self.weights = scaled(log_probs)  # [N, C]

    def __getitem__(self, rows: np.ndarray) -> "Grid":
        part = object.__new__(Grid)
        part.candidates, part.weights = self.candidates, self.weights[rows]
        return part

    def likely(self) -> list[str]:
        """The most probable candidate in each context."""
        return [self.candidates.texts[index] for index in self.weights.argmax(1)]

    def percentile(self, values: np.ndarray) -> np.ndarray:
        """F(y−) + ½ P(y): the probability below each value, and half of that at it."""
        middle: np.ndarray = (self.line.below(values) + self.line.through(values)) / 2
        return middle

    def quantile(self, q: float) -> np.ndarray:
        """The smallest candidate value x with F(x) ≥ q in each context."""
        return self.line.quantile(q)

    def magnitude_cost(self, values: np.ndarray) -> np.ndarray:
        """−log of the probability near each value: within about a factor of e."""
        logs = _log(self.candidates.values)
        near = np.exp(-0.5 * (_log(values)[:, None] - logs) ** 2)  # [N, C]
        cost: np.ndarray = -np.log((self.weights * near).sum(1) + _LEAST)
        return cost

    def precision_cost(self, precisions: np.ndarray) -> np.ndarray:
        """−log of the probability of each number of decimals."""
        same = self.candidates.precisions == precisions[:, None]
        # Finer than any candidate is rarer than the least that can be told.
        cost: np.ndarray = -np.log((self.weights * same).sum(1) + 1e-6)
        return cost

    @cached_property
    def line(self) -> CandidateLine:
        return CandidateLine(self.candidates.values, self.weights)


def _log(values: np.ndarray) -> np.ndarray:
    logs: np.ndarray = np.log(np.maximum(values, LEAST_MAGNITUDE))
    return logs


def _significant(text: str) -> int:
    digits = text.replace(".", "") if "." in text else text.rstrip("0")
    return len(digits.lstrip("0")) or 1
