"""Distributions over candidate numerals as steps on the number line, many places at once."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.perplexity import proper

Floats = NDArray[np.float64]

_ROUND_OFF = 1e-12  # of a cumulative sum: eight tenths must reach the quantile 0.8


class CandidateLine:
    """N distributions over the values of C candidates: weights [N, C], each row summing to 1.

    Candidates that write one number are one step of F(x) = P(number ≤ x).
    """

    def __init__(self, values: Floats, weights: Floats) -> None:
        order = np.argsort(values, kind="stable")
        self.values = values[order]
        steps = np.cumsum(weights[:, order], axis=1)
        self.cumulated = np.pad(steps / steps[:, -1:], ((0, 0), (1, 0)))  # of the first 0, 1, … C

    @classmethod
    def of(cls, candidates: NumeralTable, log_probs: Floats) -> "CandidateLine":
        """From log-probabilities [N, C], scaled to sum to one."""
        return cls(candidates.values, scaled(log_probs))

    def __len__(self) -> int:
        return len(self.cumulated)

    def below(self, numbers: Floats) -> Floats:
        """F(y−), the probability of less than each number: [N]."""
        return self._at(np.searchsorted(self.values, numbers, side="left"))

    def through(self, numbers: Floats) -> Floats:
        """F(y), the probability of at most each number: [N]."""
        return self._at(np.searchsorted(self.values, numbers, side="right"))

    def quantile(self, q: ArrayLike) -> Floats:
        """The smallest value x with F(x) ≥ q: [N]; a number y is at least that where F(y) ≥ q."""
        return self._value(self.cumulated[:, 1:] < _column(q) - _ROUND_OFF)

    def quantile_above(self, q: ArrayLike) -> Floats:
        """The smallest value x with F(x) > q: [N]; a number y is at most that where F(y−) ≤ q."""
        return self._value(self.cumulated[:, 1:] <= _column(q) + _ROUND_OFF)

    def _at(self, places: NDArray[np.intp]) -> Floats:
        found: Floats = self.cumulated[np.arange(len(self)), places]
        return found

    def _value(self, is_short: NDArray[np.bool_]) -> Floats:
        """After the candidates that fall short; the largest where all do."""
        found: Floats = self.values[np.minimum(is_short.sum(1), len(self.values) - 1)]
        return found


def _column(q: ArrayLike) -> Floats:
    return np.asarray(q, dtype=np.float64).reshape(-1, 1)


def scaled(log_probs: Floats) -> Floats:
    """Probabilities among the candidates alone: [N, C] → [N, C]."""
    found: Floats = np.exp(proper(log_probs) - log_probs.max(1, keepdims=True))
    found /= found.sum(1, keepdims=True)
    return found
