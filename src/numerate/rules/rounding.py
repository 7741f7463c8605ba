"""Interval arithmetic: all the values that a number may have had before it was rounded.

Whatever is recomputed from rounded numbers is an interval; a statement is wrong only if what is
written, itself an interval, shares no value with it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

SLACK = 1e-9  # relative, of floating point


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float

    @classmethod
    def of(cls, value: Decimal, precision: int) -> "Interval":
        """A number written with so many decimals (fewer than none: `12,000` to thousands)."""
        half = 0.5 * 10.0**-precision
        return cls(float(value) - half, float(value) + half)

    @classmethod
    def exactly(cls, value: float) -> "Interval":
        return cls(value, value)

    def __neg__(self) -> "Interval":
        return Interval(-self.high, -self.low)

    def __add__(self, other: "Interval | float") -> "Interval":
        other = _interval(other)
        return Interval(self.low + other.low, self.high + other.high)

    def __sub__(self, other: "Interval | float") -> "Interval":
        return self + -_interval(other)

    def __mul__(self, other: "Interval | float") -> "Interval":
        other = _interval(other)
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(ends), max(ends))

    def __truediv__(self, other: "Interval | float") -> "Interval":
        """All quotients; without bounds where the divisor may be zero."""
        other = _interval(other)
        if other.low <= 0 <= other.high:
            return Interval(-math.inf, math.inf)
        return self * Interval(1 / other.high, 1 / other.low)

    def through(self, function: Callable[[float], float]) -> "Interval":
        """Of a monotonous function."""
        ends = function(self.low), function(self.high)
        return Interval(min(ends), max(ends))

    def widened(self, by: float) -> "Interval":
        return Interval(self.low - by, self.high + by)

    def meets(self, other: "Interval | float") -> bool:
        """Whether some value lies in both."""
        other = _interval(other)
        ends = [end for end in (self.low, self.high, other.low, other.high) if math.isfinite(end)]
        slack = SLACK * max(map(abs, ends), default=0.0)
        return self.low <= other.high + slack and other.low <= self.high + slack

    def __contains__(self, value: float) -> bool:
        return self.meets(value)


def _interval(value: Interval | float) -> Interval:
    return value if isinstance(value, Interval) else Interval.exactly(value)
