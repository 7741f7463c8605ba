import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from numerate.rules.distributions import (
    chi_squared_upper,
    f_upper,
    largest_share,
    normal_quantile,
    normal_two_sided,
    t_quantile,
    t_two_sided,
)

STATISTICS = st.floats(1e-3, 300)
DEGREES = st.floats(0.5, 1e5)


def is_close(ours: float, theirs: float) -> bool:
    return math.isclose(ours, theirs, rel_tol=1e-5, abs_tol=1e-250)


@given(STATISTICS, DEGREES)
def test_t(t: float, df: float) -> None:
    assert is_close(t_two_sided(-t, df), 2 * float(stats.t.sf(t, df)))


@given(STATISTICS, DEGREES, DEGREES)
def test_f(f: float, df1: float, df2: float) -> None:
    assert is_close(f_upper(f, df1, df2), float(special.fdtrc(df1, df2, f)))


@given(STATISTICS, DEGREES)
def test_chi_squared(x: float, df: float) -> None:
    assert is_close(chi_squared_upper(x, df), float(special.chdtrc(df, x)))


@pytest.mark.parametrize("df", [0.9e6, 1.1e6, 2e7, 1e8, 5e8])
@pytest.mark.parametrize("deviations", [-3, 0, 2, 5])
def test_chi_squared_of_many_degrees_of_freedom(df: float, deviations: float) -> None:
    x = df + deviations * math.sqrt(2 * df)
    theirs = float(stats.chi2.sf(x, df))
    assert math.isclose(chi_squared_upper(x, df), theirs, rel_tol=1e-4)


@pytest.mark.parametrize(
    ("hits", "count"), [(0, 1), (0, 24), (1, 30), (7, 7), (199, 200), (50, 471)]
)
def test_the_largest_share_is_that_of_clopper_and_pearson(hits: int, count: int) -> None:
    known = stats.binomtest(hits, count).proportion_ci(0.95, "exact").high
    assert math.isclose(largest_share(hits, count, 0.025), known, rel_tol=1e-9)


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("df", [1, 5, 30.5])
def test_quantiles_of_t(level: float, df: float) -> None:
    assert math.isclose(t_quantile(1 - level, df), stats.t.ppf((1 + level) / 2, df), rel_tol=1e-9)


@given(st.floats(0, 37))
def test_normal(z: float) -> None:
    p = normal_two_sided(z)
    assert is_close(p, 2 * float(stats.norm.sf(z)))
    assert normal_quantile(p) == pytest.approx(z, abs=1e-6)


def test_limits() -> None:
    assert t_two_sided(0, 5) == f_upper(0, 1, 5) == chi_squared_upper(0, 1) == 1
    assert t_two_sided(1.96, 1e8) == normal_two_sided(1.96)
    assert f_upper(1e300, 2, 3) == pytest.approx(0)
    assert normal_quantile(0) == math.inf
