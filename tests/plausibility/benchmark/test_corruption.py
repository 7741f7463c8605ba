"""Injected errors are errors, of their kind, and the same for the same seed."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.numeral import is_numeral
from numerate.plausibility.benchmark.corruption import (
    ERRORS,
    KINDS,
    add_point,
    by_factor,
    corrupt,
    drop_point,
    replace_digit,
    swap_digits,
)

NUMERALS = st.builds(
    lambda whole, decimals, precision: f"{whole}.{decimals:0{precision}}"[
        : len(str(whole)) + 1 + precision
    ].rstrip("."),
    st.integers(0, 10**8),
    st.integers(0, 10**5 - 1),
    st.integers(0, 5),
)


@given(NUMERALS, st.sampled_from(list(ERRORS)), st.integers(0, 100))
def test_an_error_is_another_numeral(numeral: str, kind: str, seed: int) -> None:
    wrong = ERRORS[kind](numeral, np.random.default_rng(seed))
    if wrong is not None:
        assert is_numeral(wrong)
        assert wrong != numeral


@given(NUMERALS, st.integers(0, 100))
def test_each_kind_is_what_it_says(numeral: str, seed: int) -> None:
    generator = np.random.default_rng(seed)
    swapped = swap_digits(numeral, generator)
    if swapped:
        places = [i for i in range(len(numeral)) if numeral[i] != swapped[i]]
        assert len(places) == 2
        assert places[1] == places[0] + 1
        assert sorted(swapped) == sorted(numeral)
    replaced = replace_digit(numeral, generator)
    assert replaced is not None
    assert sum(a != b for a, b in zip(numeral, replaced, strict=True)) == 1
    dropped = drop_point(numeral, generator)
    if "." not in numeral:
        assert dropped is None
    elif dropped:
        assert int(dropped) == int(numeral.replace(".", ""))
    added = add_point(numeral, generator)
    if added:
        assert added.replace(".", "") == numeral
    for digits in (1, 3):
        scaled = by_factor(digits)(numeral, generator)
        if Decimal(numeral) == 0:
            assert scaled is None
        elif scaled:
            ratio = Decimal(scaled) / Decimal(numeral)
            assert ratio in {Decimal(10) ** digits, Decimal(10) ** -digits}


def test_by_hand() -> None:
    generator = np.random.default_rng(1)
    assert drop_point("0.05", generator) == "5"
    assert drop_point("12.5", generator) == "125"
    assert add_point("7", generator) is None
    assert swap_digits("10", generator) is None  # 01 would be seen
    assert swap_digits("77", generator) is None
    found = {by_factor(1)("12", np.random.default_rng(seed)) for seed in range(20)}
    assert found == {"120", "1.2"}
    found = {by_factor(3)("1.25", np.random.default_rng(seed)) for seed in range(20)}
    assert found == {"1250", "0.00125"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_decides(kind: str) -> None:
    numerals = [f"{number / 10:.1f}" if number % 3 else str(number) for number in range(10, 200)]
    documents = np.arange(len(numerals)) // 10
    places, wrong = corrupt(numerals, documents, kind, seed=1)
    again = corrupt(numerals, documents, kind, seed=1)
    other = corrupt(numerals, documents, kind, seed=2)
    assert wrong == again[1]
    assert wrong != other[1] or kind == "point dropped"  # which leaves no choice
    assert all(numerals[place] != error for place, error in zip(places, wrong, strict=True))


def test_numbers_from_elsewhere_come_from_other_documents() -> None:
    numerals = ["1", "2", "1", "3"]
    places, wrong = corrupt(numerals, np.array([0, 0, 1, 1]), "other document", seed=1)
    assert places.tolist() == [0, 1, 2, 3]
    assert wrong[0] == "3"  # the other 1 is the same numeral
    assert wrong[2] == "2"
    places, _ = corrupt(["5", "6"], np.array([0, 0]), "other document", seed=1)
    assert len(places) == 0
