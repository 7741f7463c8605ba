"""Interval masses against mpmath, which takes the naive difference with 200 digits."""

import itertools

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from numerate.lm.heads.interval_mass import BLOCK, FARTHEST, log_interval_mass, log_upper_mass

TOLERANCE = 1e-12  # the promise is 1e-9, relative to the logarithm
TINY = np.finfo(np.float64).tiny  # logarithms nearer to zero have fewer digits


def double(*numbers: float) -> list[torch.Tensor]:
    return [torch.tensor(number, dtype=torch.float64) for number in numbers]


def upper_tail(x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.erfc(x / mpmath.sqrt(2)) / 2


def exact_log_mass(centre: float, half_width: float, mean: float, sd: float) -> mpmath.mpf:
    v, e, m, s = map(mpmath.mpf, (centre, half_width, mean, sd))
    z, w = abs(v - m) / s, e / s
    if z <= w:
        return mpmath.log1p(-(upper_tail(w - z) + upper_tail(z + w)))
    return mpmath.log(upper_tail(z - w) - upper_tail(z + w))


def assert_close(got: float, exact: mpmath.mpf, what: object) -> None:
    error = abs(mpmath.mpf(got) - exact) / max(abs(exact), TINY)
    assert error <= TOLERANCE, f"{what}: got {got}, expected {mpmath.nstr(exact, 17)}"


@pytest.fixture(autouse=True, scope="module")
def two_hundred_digits():
    with mpmath.workdps(200):
        yield


def test_values_of_every_precision_against_components_of_every_scale():
    """The use in the mixture head: a column of intervals against a row of components."""
    values = torch.tensor([[0.0], [0.000001], [7.0], [99.8], [2018.0], [999999999999.0], [1e30]])
    half_widths = torch.tensor([[0.5], [5e-7], [0.5], [0.05], [0.5], [0.5], [0.5]])
    means = torch.tensor([0.0, 1.0, 7.0, 100.0, 2018.3, 1e12, 1e31])
    sds = torch.tensor([1e-3, 0.3, 1e-3, 1e15, 4.0, 1e30, 1e-3])
    got = log_interval_mass(*(x.double() for x in (values, half_widths, means, sds)))
    assert got.shape == (7, 7)
    for i, j in itertools.product(range(7), range(7)):
        arguments = [x.item() for x in (values[i], half_widths[i], means[j], sds[j])]
        assert_close(got[i, j].item(), exact_log_mass(*arguments), arguments)


@pytest.mark.parametrize("sign", [-1, 1])
def test_both_tails_and_thirty_orders_of_magnitude_of_width(sign: int):
    z = [0, 1e-9, 1e-3, 0.06, 0.25, 0.5, 1, 3, 8, 26, 37.5, 38.6, 100, 1e4, 1e6, 1e10, 1e20]
    w = [*10.0 ** np.arange(-15, 16), 0.0624, 0.2499, 0.25, 0.2501, 8.2, 26, 38]
    for x, half_width in itertools.product(z, w):
        got = log_interval_mass(*double(sign * x, half_width, 0, 1)).item()
        assert_close(got, exact_log_mass(sign * x, half_width, 0, 1), (x, half_width))


exponents = st.floats(-15, 15)
signs = st.sampled_from([-1.0, 1.0])


@settings(max_examples=300, deadline=None)
@given(signs, exponents, exponents, exponents, signs, exponents)
def test_any_position_width_and_scale(side, distance, width, scale, side_of_mean, mean):
    sd, mu = 10**scale, side_of_mean * 10**mean
    centre, half_width = mu + side * sd * 10**distance, sd * 10**width
    got = log_interval_mass(*double(centre, half_width, mu, sd)).item()
    assert_close(got, exact_log_mass(centre, half_width, mu, sd), (centre, half_width, mu, sd))


@settings(max_examples=200, deadline=None)
@given(exponents, st.floats(-3, 3), st.floats(-100, 100))
def test_an_edge_near_the_mean_of_a_far_interval(distance, scale, offset):
    """z and w are both huge, and the mass hangs on their small difference."""
    centre, sd = 10**distance, 10**scale
    half_width = abs(centre + offset * sd) or 1.0
    mean = offset * sd / 3
    got = log_interval_mass(*double(centre, half_width, mean, sd)).item()
    assert_close(got, exact_log_mass(centre, half_width, mean, sd), (centre, half_width, mean, sd))


def test_finite_and_at_most_zero_for_all_representable_arguments():
    largest, least = np.finfo(np.float64).max, 5e-324
    numbers = [0.0, least, 1e-300, 1e-9, 1.0, 1e30, 1e154, 1e200, largest]
    signed = numbers + [-x for x in numbers]
    grid = itertools.product(signed, numbers[1:], signed, numbers[1:])
    got = log_interval_mass(*torch.tensor(list(grid), dtype=torch.float64).unbind(1))
    assert torch.isfinite(got).all()
    assert (got <= 0).all()


def test_masses_too_small_for_float64_are_cut_at_a_finite_value():
    at_limit = log_interval_mass(*double(FARTHEST, 1e-3, 0, 1))
    assert at_limit.item() == pytest.approx(-0.5 * FARTHEST**2, rel=1e-12)
    beyond = log_interval_mass(*double(1e300, 1e-3, 0, 1e-300))
    assert -6e307 < beyond.item() < -4e307
    far = log_interval_mass(*double(-1e150, 1e-3, 0, 1))
    assert far.item() == pytest.approx(-0.5 * 1e300, rel=1e-12)


def test_blocks_do_not_show():
    centre = torch.linspace(-5, 900, BLOCK // 100 + 7, dtype=torch.float64)[:, None]
    half_width = torch.full_like(centre, 0.05)
    mean, sd = torch.arange(100.0), torch.linspace(0.1, 30, 100)
    got = log_interval_mass(centre, half_width, mean, sd)
    assert got.shape == (len(centre), 100)
    some = torch.arange(0, len(centre), 97)
    expected = log_interval_mass(centre[some], half_width[some], mean, sd)
    torch.testing.assert_close(got[some], expected, rtol=1e-14, atol=0)
    many = log_interval_mass(centre[:, 0].repeat(101), *double(0.05, 3, 7))  # one dimension
    assert torch.equal(many[: len(centre)], many[-len(centre) :])


def test_float32_inputs_are_computed_in_float64():
    got = log_interval_mass(
        torch.tensor([[50.0]]), torch.tensor([[0.5]]), torch.zeros(3), torch.ones(3)
    )
    assert got.dtype == torch.float64
    assert_close(got[0, 0].item(), exact_log_mass(50, 0.5, 0, 1), "float32")


@settings(max_examples=200, deadline=None)
@given(signs, st.floats(-15, 6), exponents)
def test_upper_mass(side, distance, scale):
    sd = 10**scale
    mean = side * sd * 10**distance
    got = log_upper_mass(*double(-0.5, mean, sd)).item()
    x = (mpmath.mpf(-0.5) - mpmath.mpf(mean)) / mpmath.mpf(sd)
    exact = mpmath.log(upper_tail(x)) if x > 0 else mpmath.log1p(-upper_tail(-x))
    assert_close(got, exact, (mean, sd))


@pytest.mark.parametrize(("precision", "mean", "sd"), [(0, 3.0, 20.0), (1, -2.0, 1.5), (2, 4, 0.1)])
def test_non_negative_numerals_of_one_precision_share_the_upper_mass(precision, mean, sd):
    half_width = torch.tensor(0.5 * 10.0**-precision, dtype=torch.float64)
    values = torch.arange(30_000, dtype=torch.float64) / 10**precision
    total = log_interval_mass(values, half_width, *double(mean, sd)).logsumexp(0)
    assert total.item() == pytest.approx(
        log_upper_mass(-half_width, *double(mean, sd)).item(), rel=1e-9
    )


def test_upper_mass_is_finite_for_all_representable_arguments():
    numbers = [0.0, 5e-324, 1e-9, 1.0, 1e154, 1e300, np.finfo(np.float64).max]
    signed = numbers + [-x for x in numbers]
    grid = itertools.product(signed, signed, numbers[1:])
    got = log_upper_mass(*torch.tensor(list(grid), dtype=torch.float64).unbind(1))
    assert torch.isfinite(got).all()
    assert (got <= 0).all()
