"""How strange is each numeral where it stands? The statistic that is calibrated, and why.

Surprisal alone would flag every long numeral: each digit that cannot be known costs about ln 10.
What a writer of random digits would pay for the significant digits is therefore taken off:

    strangeness = −log p(numeral) − k ln 10,    k significant digits

docs/plausibility.md says what else was tried, and how they compare.
"""

from dataclasses import dataclass

import numpy as np

from numerate.plausibility.grid import Grid, Written
from numerate.plausibility.number_model import NumberModel, Reading

LEVEL = 0.95  # of the plausible range
ODD = -np.log(0.05)  # a magnitude or precision that costs less is no reason


@dataclass(frozen=True, slots=True)
class Assessment:
    """N numerals, before any threshold; arrays are [N]."""

    surprisal: np.ndarray
    strangeness: np.ndarray  # what is calibrated and compared with a threshold
    percentile: np.ndarray
    low: np.ndarray  # of the plausible range
    high: np.ndarray
    likely: list[str]
    reasons: list[str]


def strangeness(written: Written, log_probs: np.ndarray) -> np.ndarray:
    """Of each numeral, from its log-probability where it stands: [N]."""
    result: np.ndarray = -log_probs - written.significant * np.log(10)
    return result


def assess(model: NumberModel, reading: Reading) -> Assessment:
    """All numerals of a text that has been read."""
    grid = Grid(model.candidates, model.log_probs(reading.states, model.candidates))
    written = Written.of([token.text for token in reading.numerals])
    return Assessment(
        surprisal=-reading.numeral_log_probs,
        strangeness=strangeness(written, reading.numeral_log_probs),
        percentile=grid.percentile(written.values),
        low=grid.quantile((1 - LEVEL) / 2),
        high=grid.quantile((1 + LEVEL) / 2),
        likely=grid.likely(),
        reasons=_reasons(grid, written),
    )


def _reasons(grid: Grid, written: Written) -> list[str]:
    """Magnitude or precision, whichever is odder, if it is odd by itself; else the digits."""
    magnitude = grid.magnitude_cost(written.values)
    precision = grid.precision_cost(written.precisions)
    larger = np.where(magnitude >= precision, "magnitude", "precision")
    reasons: list[str] = np.where(np.maximum(magnitude, precision) < ODD, "digits", larger).tolist()
    return reasons
