"""The p-value of a statistic with its degrees of freedom, and all that rounding may hide."""

import math
from collections.abc import Iterator

from numerate.rules.distributions import (
    chi_squared_upper,
    f_upper,
    normal_two_sided,
    t_two_sided,
)
from numerate.rules.p_values import BELOW, EQUAL
from numerate.rules.reported_tests import CHI_SQUARED, F, Q, R, ReportedTest, T, Z
from numerate.rules.rounding import Interval

_MAX_DF = 1e9


def recomputed_p(test: ReportedTest, *, cut_off: bool = True) -> Interval | None:
    """All two-sided p-values that the statistic may have had, rounded, or cut off too; None without
    degrees of freedom."""
    statistic = magnitude(test, cut_off=cut_off)
    if test.kind == Z:
        return statistic.through(normal_two_sided)
    degrees = [one.interval for one in test.degrees]
    if test.kind == R:
        if not degrees and test.sample is not None:
            degrees = [test.sample.interval - 2]
        if len(degrees) != 1:
            return None
        statistic = Interval(min(statistic.low, 1.0), min(statistic.high, 1.0))
    wanted = 2 if test.kind == F else 1
    if len(degrees) != wanted or any(not 0 < one.low <= one.high < _MAX_DF for one in degrees):
        return None
    corners = [
        tail(test.kind, value, *combination)
        for value in (statistic.low, statistic.high)
        for combination in _combinations(degrees)
    ]
    return Interval(min(corners), max(corners))


def least_p(test: ReportedTest) -> float | None:
    """The smallest p-value it may have had, whatever its degrees of freedom."""
    largest = magnitude(test).high
    if math.isinf(largest):
        return None
    if test.kind == T:
        return normal_two_sided(largest)
    return chi_squared_upper(largest, 1.0) if test.kind == CHI_SQUARED else None


def magnitude(test: ReportedTest, *, cut_off: bool = True) -> Interval:
    number = test.statistic.rounded
    if test.relation == EQUAL:
        rounded = Interval.of(abs(number.value), number.precision)
        high = float(abs(number.value)) + 10.0**-number.precision if cut_off else rounded.high
        return Interval(max(rounded.low, 0.0), high)
    bound = abs(float(number))
    return Interval(0.0, bound) if test.relation == BELOW else Interval(bound, math.inf)


def _combinations(degrees: list[Interval]) -> Iterator[tuple[float, ...]]:
    if len(degrees) == 1:
        yield from {(degrees[0].low,), (degrees[0].high,)}
    else:
        first, second = degrees
        yield from {(a, b) for a in (first.low, first.high) for b in (second.low, second.high)}


def tail(kind: str, statistic: float, *degrees: float) -> float:
    if math.isinf(statistic):
        return 0.0
    if kind == T:
        return t_two_sided(statistic, *degrees)
    if kind == F:
        return f_upper(statistic, *degrees)
    if kind in (CHI_SQUARED, Q):
        return chi_squared_upper(statistic, *degrees)
    if statistic >= 1:
        return 0.0
    return t_two_sided(statistic * math.sqrt(degrees[0] / (1 - statistic**2)), *degrees)
