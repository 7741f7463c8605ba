"""How numerals stand to each other, against the slips themselves."""

from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.detector.kinds_of_error import add_digit, drop_digit
from numerate.detector.relations import RELATIONS, NumeralColumns, relations
from numerate.detector.slips import replace_digit, swap_digits

NUMERALS = st.builds(
    lambda units, decimals: f"{Decimal(units).scaleb(-decimals):f}",
    st.integers(0, 10**6),
    st.integers(0, 4),
)


def between(a: str, b: str) -> set[str]:
    columns = NumeralColumns.of([a, b])
    found = relations(columns, np.array([0]), np.array([1]))[0]
    return {name for name, holds in zip(RELATIONS, found, strict=True) if holds}


@given(NUMERALS, NUMERALS)
def test_relations_are_what_their_names_say(a: str, b: str) -> None:
    found = between(a, b)
    assert ("same text" in found) == (a == b)
    assert ("same value" in found) == (a != b and Decimal(a) == Decimal(b))
    assert ("digit replaced" in found) == (b in replace_digit(a))
    assert ("digits swapped" in found) == (b in swap_digits(a))
    assert ("smaller" in found) == (Decimal(a) < Decimal(b))


@pytest.mark.parametrize(("a", "b"), [("13", "22"), ("19", "28"), ("1.24", "1.33")])
def test_two_digits_of_the_same_sum_are_not_swapped(a: str, b: str) -> None:
    assert "digits swapped" not in between(a, b)


@given(NUMERALS)
def test_slips_are_one_slip_apart(numeral: str) -> None:
    for wrong in replace_digit(numeral)[:10]:
        assert "digit replaced" in between(numeral, wrong)
    for wrong in swap_digits(numeral):
        assert "digits swapped" in between(numeral, wrong)
    for wrong in drop_digit(numeral):
        if Decimal(wrong) != Decimal(numeral):
            assert "digit more" in between(numeral, wrong)
    for wrong in add_digit(numeral)[::7]:
        if Decimal(wrong) != Decimal(numeral):
            assert "digit less" in between(numeral, wrong)


@given(NUMERALS, st.integers(0, 3))
def test_rounding(numeral: str, decimals: int) -> None:
    rounded = f"{Decimal(numeral).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP):f}"
    if len(rounded.partition(".")[2]) < len(numeral.partition(".")[2]):
        assert between(rounded, numeral) & {"rounds it", "same value"}
        assert between(numeral, rounded) & {"is rounded by it", "same value"}


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("12.5", "125", "factor 10"),
        ("0.05", "0.5", "factor 10"),
        ("0.05", "5", "other power of ten"),
        ("120", "12", "factor 10"),
        ("12.5", "12.6", "within 0.01 decades"),
    ],
)
def test_by_hand(a: str, b: str, expected: str) -> None:
    assert expected in between(a, b)


def test_nothing_is_a_power_of_ten_of_zero() -> None:
    assert not {"factor 10", "other power of ten"} & between("0", "0.0")
    assert "factor 10" not in between("12345678901234567890123", "1234567890123456789012")
