"""From a detector's logits to odds that can be believed, and to false alarms."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from numerate.detector.logistic import fit_logistic
from numerate.detector.scored import PRIOR
from numerate.errors import NumerateError

MOST_POINTS = 5_000


@dataclass(frozen=True, slots=True)
class LogOdds:
    """Fitted on the dev split: with errors at a rate that is known for the odds (Platt, 1999), and
    as it stands, where all is taken to be right, for the alarms."""

    slope: float
    offset: float  # for the prior of texts as people write them
    right: tuple[float, ...]  # logits of right numerals, ascending

    @classmethod
    def fit(cls, logits: np.ndarray, is_wrong: np.ndarray, right: np.ndarray) -> "LogOdds":
        """`logits` of numerals of which some are wrong, and of those that all are `right`."""
        if not is_wrong.any() or is_wrong.all() or not len(right):
            raise NumerateError("calibration: expected right and wrong numerals in the dev split")
        slope, offset = fit_line(logits, is_wrong)
        rate = is_wrong.mean()
        shift = PRIOR - np.log(rate / (1 - rate))
        return cls(float(slope), float(offset + shift), tuple(_thinned(np.sort(right)).tolist()))

    def of(self, logits: np.ndarray) -> np.ndarray:
        """Calibrated log-odds that each is an error."""
        odds: np.ndarray = self.slope * logits + self.offset
        return odds

    @property
    def finest(self) -> float:
        """The smallest rate of false alarms at which anything can be flagged."""
        return 1 / (len(self.right) + 1)

    def alarms(self, logits: np.ndarray) -> np.ndarray:
        """The share of right numerals that are at least as suspicious, itself counted in: a
        conformal p-value."""
        right = np.array(self.right)
        above = len(right) - np.searchsorted(right, logits, side="left")
        share: np.ndarray = (above + 1) / (len(right) + 1)
        return share

    def record(self) -> dict[str, Any]:
        right = [float(f"{value:.7g}") for value in self.right]
        return {"slope": self.slope, "offset": self.offset, "right": right}


def _thinned(ascending: np.ndarray) -> np.ndarray:
    if len(ascending) <= MOST_POINTS:
        return ascending
    chosen: np.ndarray = ascending[
        np.linspace(0, len(ascending) - 1, MOST_POINTS).round().astype(int)
    ]
    return chosen


def fit_line(logits: np.ndarray, is_wrong: np.ndarray) -> tuple[float, float]:
    """Slope and offset of the most likely logistic line.

    Targets are drawn in a little, as by one more right and one more wrong numeral (Platt, 1999).
    """
    wrong = is_wrong.astype(np.float64)
    positives, negatives = wrong.sum(), (1 - wrong).sum()
    target = np.where(is_wrong, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    inputs = np.stack([logits, np.ones_like(logits)], axis=1)  # [N, 2]
    slope, offset = fit_logistic(inputs, target, start=np.array([1.0, 0.0]))
    return float(slope), float(offset)
