"""How strange is each numeral where it stands? The statistic that is calibrated, and why.

Surprisal alone would flag every long numeral: each digit that cannot be known costs about ln 10.
What a writer of random digits would pay for the significant digits is therefore taken off:

    strangeness = −log p(numeral) − k ln 10,    k significant digits

docs/plausibility.md says what else was tried, and how they compare.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from numerate.numeral_table import NumeralTable
from numerate.plausibility.distribution import draw_named
from numerate.plausibility.grid import Grid, Written
from numerate.plausibility.number_model import NumberModel, Reading, States

LEVEL = 0.95  # of the plausible range
ODD = -np.log(0.05)  # a magnitude or precision that costs less is no reason
DRAWS = 1000  # numerals drawn for a closer look


@dataclass(frozen=True, slots=True)
class Expected:
    """What was expected where a numeral stands, and how it differs."""

    percentile: float
    interval: tuple[float, float]
    likely: str
    reason: str


def strangeness(written: Written, log_probs: np.ndarray) -> np.ndarray:
    """Of each numeral, from its log-probability where it stands: [N]."""
    result: np.ndarray = -log_probs - written.significant * np.log(10)
    return result


def strangeness_of(reading: Reading) -> np.ndarray:  # [N]
    """Of the numerals of a text that has been read."""
    written = Written.of([token.text for token in reading.numerals])
    return strangeness(written, reading.numeral_log_probs)


def expect(model: NumberModel, states: States, numerals: Sequence[str]) -> list[Expected]:
    """What was expected where numerals stand, by the grid of candidates."""
    grid = Grid(model.candidates, model.log_probs(states, model.candidates))
    return _expected(grid, Written.of(numerals))


def look_closer(model: NumberModel, state: States, numeral: str) -> Expected:
    """What was expected in one context, from the model itself: numerals that it draws there.

    The most likely is searched exactly. A model that can name none has nothing to draw from.
    """
    numerals = model.next_numeral(state)
    drawn = Counter(draw_named(numerals, DRAWS, np.random.default_rng(0)))
    grid = Grid(NumeralTable(list(drawn)), np.log([list(drawn.values())]))
    likely, _ = next(numerals.stream(), (drawn.most_common(1)[0][0], 0.0))
    return _expected(grid, Written.of([numeral]), [likely])[0]


def _expected(grid: Grid, written: Written, likely: list[str] | None = None) -> list[Expected]:
    columns = zip(
        grid.percentile(written.values).tolist(),
        grid.quantile((1 - LEVEL) / 2).tolist(),
        grid.quantile((1 + LEVEL) / 2).tolist(),
        likely or grid.likely(),
        _reasons(grid, written),
        strict=True,
    )
    return [Expected(at, (low, high), best, why) for at, low, high, best, why in columns]


def _reasons(grid: Grid, written: Written) -> list[str]:
    """Magnitude or precision, whichever is odder, if it is odd by itself; else the digits.

    A magnitude is odd far out on the number line, or where hardly anything is near it.
    """
    percentile = grid.percentile(written.values)
    tails = 2 * np.minimum(percentile, 1 - percentile)  # below 0.05 outside the plausible range
    magnitude = np.maximum(grid.magnitude_cost(written.values), -np.log(tails + 1e-12))
    precision = grid.precision_cost(written.precisions)
    larger = np.where(magnitude >= precision, "magnitude", "precision")
    reasons: list[str] = np.where(np.maximum(magnitude, precision) < ODD, "digits", larger).tolist()
    return reasons
