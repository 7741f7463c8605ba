"""Digits and Benford's law against sums written out, Decimal, and SciPy."""

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from numerate.lm.inspect.digit_laws import (
    DigitShares,
    benford,
    chi_square_tail,
    conformity,
    significant_digits,
)


@pytest.mark.parametrize("position", [1, 2, 3])
def test_the_law_is_that_of_a_mantissa_uniform_in_logarithm(position: int) -> None:
    """Every number of n digits claims the part of [1, 10) that starts with it."""
    expected = np.zeros(10)
    for number in range(10 ** (position - 1), 10**position):
        expected[number % 10] += math.log10(number + 1) - math.log10(number)
    np.testing.assert_allclose(benford(position), expected, rtol=1e-12)
    assert benford(position).sum() == pytest.approx(1)


def test_known_values() -> None:
    assert benford(1)[[0, 1, 9]] == pytest.approx([0, 0.30103, 0.04576], abs=1e-5)
    assert benford(2)[[0, 9]] == pytest.approx([0.11968, 0.08500], abs=1e-5)
    assert benford(3)[0] == pytest.approx(0.10178, abs=1e-5)


@given(st.floats(0, 400), st.integers(1, 30))
def test_the_tail_is_that_of_scipy(statistic: float, degrees: int) -> None:
    expected = stats.chi2.sf(statistic, degrees)
    assert chi_square_tail(statistic, degrees) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@given(st.decimals(0, 10**9, places=4))
def test_digits_are_those_of_the_decimal(value: Decimal) -> None:
    digits = "".join(map(str, value.as_tuple().digits)).lstrip("0")
    assert significant_digits(f"{value:f}") == digits


@pytest.mark.parametrize(
    ("text", "digits"),
    [("0.0040", "40"), ("1.50", "150"), ("0", ""), ("0.00", ""), ("2,000", "2000"),
     ("-1.5e-7", "15"), ("3E10", "3"), (".5", "5")],
)  # fmt: skip
def test_digits_come_from_the_text(text: str, digits: str) -> None:
    assert significant_digits(text) == digits


def test_conformity_is_that_of_scipy_and_of_its_definition() -> None:
    generator = np.random.default_rng(1)
    numbers = {f"{x:.4g}": 1 for x in 10 ** generator.uniform(0, 3, 3000)}
    shares = DigitShares.of("numbers", numbers)
    for position in (1, 2, 3):
        possible = slice(position == 1, 10)
        counts = shares.counts[position - 1][possible]
        law = benford(position)[possible]
        expected = stats.chisquare(counts, law * counts.sum())
        found = conformity(shares, position)
        assert found.chi_square == pytest.approx(expected.statistic)
        assert found.p_value == pytest.approx(expected.pvalue)
        deviations = [abs(c / counts.sum() - p) for c, p in zip(counts, law, strict=True)]
        assert found.deviation == pytest.approx(sum(deviations) / len(law))
    assert conformity(shares, 1).verdict(1) in {"close", "acceptable"}


def test_numbers_far_from_the_law_are_told() -> None:
    shares = DigitShares.of("nines", {"9": 500, "99": 500})
    assert conformity(shares, 1).verdict(1) == "none"
    assert conformity(shares, 1).p_value < 1e-100
    assert conformity(shares, 3).verdict(3) == "–"
    assert math.isnan(conformity(shares, 3).chi_square)


def test_repetitions_count() -> None:
    counted = DigitShares.of("x", {"12": 3, "0": 2, "2.5": 1})
    assert counted.numbers == 6
    assert counted.having(1) == 4
    assert counted.shares(1)[[1, 2]].tolist() == [0.75, 0.25]
    assert counted.shares(2)[[2, 5]].tolist() == [0.75, 0.25]
