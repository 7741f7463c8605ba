"""How strange is each numeral where it stands? The statistic that is calibrated, and why.

Strange is what is better explained as a slip. With w what is written and "after" the few tokens
that follow it, the odds are of what may have been meant instead, m, against w itself:

    strangeness = log [ Σ_slips mean_m p(m) p(after | m) + β 10⁻ᵏ p(after) ] − log p(w) p(after | w)

A slip (`slips.py`) has its mean over all m of which it would have made w. The last term is any
other mistake: random digits, k of them significant, at a rate β. Where anything may come, what may
have been meant is about as probable as w, and nothing is strange; where only some numerals or sizes
can stand, or where w does not suit what follows (`184 m`), it is. docs/plausibility.md says what
else was tried, and how they compare.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from numerate.detector.slips import meant
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.base import Context
from numerate.lm.model.conformal import ConformalIntervals
from numerate.lm.model.grid import Grid, Written
from numerate.lm.model.numeral_distribution import draw_named
from numerate.lm.model.numeral_lm import NumeralLM, TextReading

LEVEL = 0.95  # of the plausible range
ODD = -np.log(0.05)  # a magnitude or precision that costs less is no reason
DRAWS = 1000  # numerals drawn for a closer look
LOG_OTHER = -3.0  # log β: how often a mistake is no slip, beside each kind of slip
NO_SECOND_LOOK = 1000.0  # more than odds ever are


@dataclass(frozen=True, slots=True)
class Expected:
    """What was expected where a numeral stands, and how it differs."""

    percentile: float
    interval: tuple[float, float]
    likely: str
    reason: str


class Strangeness:
    """The statistic, for one model.

    Where a second look is slow, only what is strange at `first_sight` gets one; the rest is less
    strange than all that do.
    """

    def __init__(self, model: NumeralLM, least: float = -np.inf) -> None:
        self._model = model
        self._least = least

    def __call__(
        self, reading: TextReading, rows: np.ndarray, numerals: Sequence[str]
    ) -> np.ndarray:
        """Of numerals [E] written where the numerals `rows` [E] of a reading stand."""
        if np.isneginf(self._least):
            return log_odds(self._model, reading, rows, numerals)
        sight = first_sight(numerals, log_probs_of(self._model, reading, rows, numerals))
        return self._second_look(reading, rows, numerals, sight)

    def of(self, reading: TextReading) -> np.ndarray:  # [N]
        """How strange the numerals of a text are as they stand."""
        numerals = [token.text for token in reading.numerals]
        sight = first_sight(numerals, reading.numeral_log_probs)
        return self._second_look(reading, np.arange(len(numerals)), numerals, sight)

    def _second_look(
        self,
        reading: TextReading,
        rows: np.ndarray,
        numerals: Sequence[str],
        sight: np.ndarray,
    ) -> np.ndarray:
        found = sight - NO_SECOND_LOOK
        chosen = np.flatnonzero(sight >= self._least)
        if len(chosen):
            some = [numerals[index] for index in chosen.tolist()]
            found[chosen] = log_odds(self._model, reading, rows[chosen], some)
        return found


def first_sight(numerals: Sequence[str], log_probs: np.ndarray) -> np.ndarray:
    """−log p(numeral) − k ln 10: surprisal, less what a writer of random digits would pay: [N]."""
    result: np.ndarray = -log_probs - Written.of(numerals).significant * np.log(10)
    return result


def log_probs_of(
    model: NumeralLM, reading: TextReading, rows: np.ndarray, numerals: Sequence[str]
) -> np.ndarray:
    """log p of each numeral in its own context: one table for all of a reading's."""
    distinct = {text: column for column, text in enumerate(dict.fromkeys(numerals))}
    table = model.log_prob_table(reading.context, NumeralTable(list(distinct)))
    found: np.ndarray = table[rows, [distinct[text] for text in numerals]]
    return found


def log_odds(
    model: NumeralLM, reading: TextReading, rows: np.ndarray, numerals: Sequence[str]
) -> np.ndarray:
    """The strangeness of numerals [E] written where the numerals `rows` [E] stand."""
    if not len(numerals):
        return np.zeros(0)
    by_slip = [list(meant(written).values()) for written in numerals]
    instead = [[text for some in of_one for text in some] for of_one in by_slip]
    weights = [  # of each text that may have been meant: its part of the mean over a slip's
        -np.log(len(some)) for of_one in by_slip for some in of_one for _ in some
    ]
    counts = np.array([1 + len(some) for some in instead])
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])  # where each written numeral itself is
    texts = [text for w, some in zip(numerals, instead, strict=True) for text in (w, *some)]
    log_p, log_after = model.in_place(reading, np.repeat(rows, counts), texts)
    log_mean = np.full(len(texts), -np.inf)
    log_mean[np.delete(np.arange(len(texts)), first)] = weights
    joint = log_p + log_after
    slips = np.logaddexp.reduceat(joint + log_mean, first)
    after = np.logaddexp.reduceat(joint, first) - np.logaddexp.reduceat(log_p, first)
    digits = Written.of(numerals).significant * np.log(10)
    odds: np.ndarray = np.logaddexp(slips, LOG_OTHER - digits + after) - joint[first]
    return odds


def expect(
    model: NumeralLM,
    context: Context,
    numerals: Sequence[str],
    intervals: ConformalIntervals | None,
) -> list[Expected]:
    """What was expected where numerals stand, by the grid of candidates."""
    grid = Grid(model.candidates, model.log_prob_table(context, model.candidates))
    return _expected(grid, Written.of(numerals), _ranges(grid, intervals))


def look_closer(
    model: NumeralLM, context: Context, numeral: str, intervals: ConformalIntervals | None
) -> Expected:
    """What was expected in one context, from the model itself: numerals that it draws there.

    The most likely is searched exactly. A model that can name none has nothing to draw from.
    Where it is known how to calibrate them, intervals are those of the grid of candidates.
    """
    numerals = model.next_numeral(context)
    drawn = Counter(draw_named(numerals, DRAWS, np.random.default_rng(0)))
    grid = Grid(NumeralTable(list(drawn)), np.log([list(drawn.values())]))
    likely, _ = next(numerals.stream(), (drawn.most_common(1)[0][0], 0.0))
    ranges = _ranges(grid, None)
    if intervals is not None:
        candidates = Grid(model.candidates, model.log_prob_table(context, model.candidates))
        ranges = _ranges(candidates, intervals)
    return _expected(grid, Written.of([numeral]), ranges, [likely])[0]


def _ranges(grid: Grid, intervals: ConformalIntervals | None) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the plausible range in each context."""
    if intervals is None:
        return grid.quantile((1 - LEVEL) / 2), grid.quantile((1 + LEVEL) / 2)
    return intervals.bounds(grid.line, LEVEL)


def _expected(
    grid: Grid,
    written: Written,
    ranges: tuple[np.ndarray, np.ndarray],
    likely: list[str] | None = None,
) -> list[Expected]:
    columns = zip(
        grid.percentile(written.values).tolist(),
        *(ends.tolist() for ends in ranges),
        likely or grid.likely(),
        _reasons(grid, written, ranges),
        strict=True,
    )
    return [Expected(at, (low, high), best, why) for at, low, high, best, why in columns]


def _reasons(grid: Grid, written: Written, ranges: tuple[np.ndarray, np.ndarray]) -> list[str]:
    """Magnitude or precision, whichever is odder, if it is odd by itself; else the digits.

    A magnitude is odd outside the plausible range, or where hardly anything is near it.
    """
    low, high = ranges
    percentile = grid.percentile(written.values)
    tails = -np.log(2 * np.minimum(percentile, 1 - percentile) + 1e-12)
    is_beyond = (written.values < low) | (high < written.values)
    beyond = np.where(is_beyond, np.maximum(tails, ODD), 0.0)
    magnitude = np.maximum(grid.magnitude_cost(written.values), beyond)
    precision = grid.precision_cost(written.precisions)
    larger = np.where(magnitude >= precision, "magnitude", "precision")
    reasons: list[str] = np.where(np.maximum(magnitude, precision) < ODD, "digits", larger).tolist()
    return reasons
