"""Slots: the places of a sentence whose token depends on what the report has said so far.

A slot knows the exact probability of every token it admits under each diagnosis. Which
diagnosis it is remains unknown to the reader of a report, so probabilities are vectors.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from numerate.lm.data.cardiac.attributes import DIAGNOSES, Vector
from numerate.lm.data.cardiac.chart import Chart, Quantity
from numerate.numeral import is_numeral

Uniform = Callable[[], float]
"""Draws from [0, 1)."""

_ROOT_HALF = math.sqrt(0.5)
_EVERY: Vector = np.ones(len(DIAGNOSES))


class Slot(Protocol):
    @property
    def name(self) -> str:
        """What it is called on the chart."""

    def table(self, chart: Chart) -> Mapping[str, Vector]:
        """Every token that can stand here, with its probability under each diagnosis."""

    def probability(self, chart: Chart, token: str) -> Vector:
        """p(token | chart, diagnosis), one entry per diagnosis."""

    def draw(self, chart: Chart, belief: Vector, uniform: Uniform) -> str:
        """A token from the mixture over diagnoses with weights `belief`."""

    def write(self, chart: Chart, token: str) -> None:
        """Put the token on the chart."""


def pick(weights: Iterable[float], uniform: Uniform) -> int:
    """An index drawn in proportion to its weight; never one of weight zero."""
    weights = list(weights)
    left = uniform() * math.fsum(weights)
    chosen = 0
    for index, weight in enumerate(weights):
        if weight > 0:
            chosen = index
            if left < weight:
                break
            left -= weight
    return chosen


def normal_mass(low: float, high: float) -> float:
    """The standard Gaussian mass of an interval, accurate in both tails."""
    if low > 0:
        low, high = -high, -low
    return 0.5 * (math.erfc(-high * _ROOT_HALF) - math.erfc(-low * _ROOT_HALF))


def _identity(chart: Chart) -> tuple[float, float]:
    return 0.0, 1.0


@dataclass(frozen=True, eq=False)
class Measured:
    """A number drawn from the Gaussian given the written values and rounded as it is written.

    What is written is `offset + slope · attribute`. The rounded values admitted are those
    within the attribute's interval; the Gaussian is restricted to their rounding cells, so
    that their probabilities sum to one.
    """

    name: str
    attribute: str
    precisions: Callable[[Chart], Mapping[int, float]]
    unit: Callable[[Chart], tuple[float, float]] = _identity  # offset, slope
    ceiling: Callable[[Chart], float] | None = None  # an upper bound that the chart implies

    def _windows(self, chart: Chart, precision: int) -> list["_Window"]:
        offset, slope = self.unit(chart)
        ceiling = math.inf if self.ceiling is None else self.ceiling(chart)
        scale = 10.0**precision
        windows = []
        for mean, spread, low, high in chart.conditional(self.attribute):
            first, last = offset + slope * low, offset + slope * min(high, ceiling)
            if slope < 0:
                first, last = last, first
            windows.append(
                _Window(
                    (offset + slope * mean) * scale,
                    abs(slope) * spread * scale,
                    math.ceil(first * scale - 1e-9),
                    math.floor(last * scale + 1e-9),
                )
            )
        return windows

    def table(self, chart: Chart) -> Mapping[str, Vector]:
        found = {}
        for precision, share in self.precisions(chart).items():
            windows = self._windows(chart, precision)
            first, last = min(w.first for w in windows), max(w.last for w in windows)
            for units in range(first, last + 1):
                masses = np.array([w.mass(units) for w in windows])
                found[Quantity(units, precision).text] = share * masses
        return found

    def probability(self, chart: Chart, token: str) -> Vector:
        if not is_numeral(token):
            return np.zeros(len(DIAGNOSES))
        units, precision = Quantity.read(token)
        share = self.precisions(chart).get(precision, 0.0)
        return np.array([share * w.mass(units) for w in self._windows(chart, precision)])

    def draw(self, chart: Chart, belief: Vector, uniform: Uniform) -> str:
        shares = self.precisions(chart)
        precision = list(shares)[pick(shares.values(), uniform)]
        window = self._windows(chart, precision)[pick(belief.tolist(), uniform)]
        return Quantity(window.draw(uniform()), precision).text

    def write(self, chart: Chart, token: str) -> None:
        chart.written[self.name] = token
        offset, slope = self.unit(chart)
        chart.condition(self.attribute, (Quantity.read(token).value - offset) / slope)


class _Window(NamedTuple):
    """A Gaussian over whole units, restricted to the cells of `first` to `last`."""

    centre: float
    spread: float
    first: int
    last: int

    def _between(self, low: float, high: float) -> float:
        return normal_mass((low - self.centre) / self.spread, (high - self.centre) / self.spread)

    def mass(self, units: int) -> float:
        if not self.first <= units <= self.last:
            return 0.0
        total = self._between(self.first - 0.5, self.last + 0.5)
        return self._between(units - 0.5, units + 0.5) / total

    def draw(self, uniform: float) -> int:
        """Inverts the distribution function by bisection: the smallest units that exceed it."""
        start = self.first - 0.5
        target = uniform * self._between(start, self.last + 0.5)
        low, high = self.first, self.last
        while low < high:
            middle = (low + high) // 2
            if self._between(start, middle + 0.5) > target:
                high = middle
            else:
                low = middle + 1
        return low


@dataclass(frozen=True, eq=False)
class Listed:
    """A token from a short list: a label, a copy, or what follows by arithmetic.

    `options` returns the probability of each token, the same under every diagnosis (a float)
    or one per diagnosis (a vector).
    """

    name: str
    options: Callable[[Chart], Mapping[str, float | Vector]]

    def table(self, chart: Chart) -> Mapping[str, Vector]:
        return {token: _EVERY * weight for token, weight in self.options(chart).items()}

    def probability(self, chart: Chart, token: str) -> Vector:
        return _EVERY * self.options(chart).get(token, 0.0)

    def draw(self, chart: Chart, belief: Vector, uniform: Uniform) -> str:
        options = self.options(chart)
        if len(options) == 1:
            return next(iter(options))
        totals = [float((belief * weight).sum()) for weight in options.values()]
        return list(options)[pick(totals, uniform)]

    def write(self, chart: Chart, token: str) -> None:
        chart.written[self.name] = token
