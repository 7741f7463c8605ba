"""Tail probabilities of test statistics, to relative double precision far into the tails.

Continued fractions (Lentz's method) of the incomplete beta and gamma functions: all that is needed
of a library of special functions, without waiting for one to load.
"""

import math
from collections.abc import Callable, Iterator
from functools import lru_cache

_TINY = 1e-300
_STEPS = 10_000
_LARGE = 1e7  # degrees of freedom from which on a distribution is its limit
_MANY = 1e6  # from which on a cube root of χ² is as good as normal (Wilson and Hilferty, 1931)


def normal_two_sided(z: float) -> float:
    return math.erfc(abs(z) / math.sqrt(2))


def t_two_sided(t: float, df: float) -> float:
    if df > _LARGE:
        return normal_two_sided(t)
    return _beta_tail(df / 2, 0.5, t * t / df)


def f_upper(f: float, df1: float, df2: float) -> float:
    if f <= 0:
        return 1.0
    if df2 > _LARGE:
        return chi_squared_upper(f * df1, df1)
    return _beta_tail(df2 / 2, df1 / 2, f * df1 / df2)


def chi_squared_upper(x: float, df: float) -> float:
    if x <= 0:
        return 1.0
    if df > _MANY:
        spread = 2 / (9 * df)
        return math.erfc((math.cbrt(x / df) - 1 + spread) / math.sqrt(2 * spread)) / 2
    a, x = df / 2, x / 2
    scale = math.exp(min(a * math.log(x) - x - math.lgamma(a), 700.0))
    if x < a + 1:
        term = total = 1 / a
        for step in range(1, _STEPS):
            term *= x / (a + step)
            total += term
            if term < total * 1e-16:
                break
        return max(0.0, 1 - scale * total)
    fractions = ((-step * (step - a), x + 1 - a + 2 * step) for step in range(1, _STEPS))
    return min(1.0, scale / _lentz(x + 1 - a, fractions))


def normal_quantile(two_sided: float) -> float:
    """z with that two-sided tail probability."""
    return _quantile(normal_two_sided, two_sided, 40.0)


@lru_cache(maxsize=64)
def t_quantile(two_sided: float, df: float) -> float:
    return _quantile(lambda t: t_two_sided(t, df), two_sided, 1e6)


@lru_cache(maxsize=1024)
def largest_share(hits: int, count: int, tail: float) -> float:
    """The share of which so few hits, or fewer, still have that probability (Clopper and Pearson,
    1934)."""
    if hits >= count:
        return 1.0
    odds = _quantile(lambda odds: _beta_tail(count - hits, hits + 1, odds), tail, 1e9)
    return odds / (1 + odds)


def _quantile(tail: Callable[[float], float], probability: float, high: float) -> float:
    """By bisection of a tail that falls."""
    if probability <= 0:
        return math.inf
    low = 0.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > probability else (low, middle)
    return low


def _beta_tail(a: float, b: float, odds: float) -> float:
    """The regularised incomplete beta function at 1 / (1 + odds), without loss where that is 1."""
    x, y = 1 / (1 + odds), odds / (1 + odds)
    if y <= 0:
        return 1.0
    if x <= 0:
        return 0.0
    log_scale = (
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) - a * math.log1p(odds)
    ) + b * (math.log(odds) - math.log1p(odds))
    scale = math.exp(log_scale)
    if x < (a + 1) / (a + b + 2):
        return min(1.0, scale / (a * _beta_fraction(a, b, x)))
    return max(0.0, 1 - scale / (b * _beta_fraction(b, a, y)))


def _beta_fraction(a: float, b: float, x: float) -> float:
    def fractions() -> Iterator[tuple[float, float]]:
        for m in range(_STEPS):
            yield -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), 1.0
            n = m + 1
            yield n * (b - n) * x / ((a + 2 * n - 1) * (a + 2 * n)), 1.0

    return _lentz(1.0, fractions())


def _lentz(first: float, fractions: Iterator[tuple[float, float]]) -> float:
    """first + a₁ / (b₁ + a₂ / (b₂ + …))"""
    value = c = first or _TINY
    d = 0.0
    for a, b in fractions:
        d = 1 / ((b + a * d) or _TINY)
        c = (b + a / c) or _TINY
        value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value
