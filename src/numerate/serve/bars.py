"""A distribution over numbers as bars: of equal width on the number line, or on its logarithm."""

import math
from dataclasses import dataclass

import numpy as np

from numerate.lm.model.numeral_distribution import NumeralDistribution

BARS = 60  # about so many
MIDDLE = 0.9  # a linear line covers this part, half as much again, and what is asked for
TAILS = 0.99  # a logarithmic one covers this part
DECADES = 12  # at most, on a logarithmic line
ZERO = 0.001  # zero has a bar of its own where it is at least so probable


@dataclass(frozen=True, slots=True)
class Bars:
    edges: list[float]  # one more than masses
    masses: list[float]  # probability of a number from one edge up to, not including, the next


def linear_bars(distribution: NumeralDistribution, shown: list[float]) -> Bars:
    """Bars between round numbers: so each has as many integers or tenths in it as the next."""
    low, high = distribution.interval(MIDDLE)
    beyond = (high - low) / 4
    low, high = min([low - beyond, *shown]), max([high + beyond, *shown])
    width = _round_up((high - low) / BARS) if high > low else _round_up(max(high, 1.0) / BARS)
    first, last = math.floor(low / width), math.floor(high / width) + 2
    return _bars(distribution, np.arange(max(first, 0), last + 1) * width)


def log_bars(distribution: NumeralDistribution, shown: list[float]) -> Bars:
    """Bars of equal ratio; zero, which has no logarithm, comes first by itself."""
    high = max([distribution.interval(TAILS)[1], *shown]) or 1.0
    grid = high * np.geomspace(10.0**-DECADES, 1.0, 2 * DECADES + 1)
    masses = distribution.masses([0.0, *grid])
    start = int(np.searchsorted(np.cumsum(masses[1:]), (1 - TAILS) / 2))
    low = min([grid[start], *(value for value in shown if value > grid[0])])
    edges = np.geomspace(low / 1.1, high * 1.1, BARS + 1)
    has_zero = masses[0] >= ZERO or 0.0 in shown
    return _bars(distribution, np.concatenate([[0.0], edges]) if has_zero else edges)


def _bars(distribution: NumeralDistribution, edges: np.ndarray) -> Bars:
    return Bars(edges.tolist(), distribution.masses(edges).tolist())


def _round_up(width: float) -> float:
    """The next of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(width))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= width * 0.999)
