"""Slips are slips, of their kind, and what was meant is found again from what was written."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.detector.slips import (
    MOST_ZEROS,
    SLIPS,
    add_point,
    drop_point,
    meant,
    replace_digit,
    scale,
    swap_digits,
)
from numerate.numeral import is_numeral

NUMERALS = st.builds(
    lambda whole, decimals, precision: f"{whole}.{decimals:0{precision}}"[
        : len(str(whole)) + 1 + precision
    ].rstrip("."),
    st.integers(0, 10**8),
    st.integers(0, 10**5 - 1),
    st.integers(0, 5),
)


@given(NUMERALS, st.sampled_from(list(SLIPS)))
def test_a_slip_makes_other_numerals(numeral: str, kind: str) -> None:
    wrong = SLIPS[kind](numeral)
    assert all(is_numeral(text) and text != numeral for text in wrong)
    assert len(set(wrong)) == len(wrong)


@given(NUMERALS)
def test_each_kind_is_what_it_says(numeral: str) -> None:
    for swapped in swap_digits(numeral):
        places = [i for i in range(len(numeral)) if numeral[i] != swapped[i]]
        assert len(places) == 2
        assert places[1] == places[0] + 1
        assert sorted(swapped) == sorted(numeral)
    assert replace_digit(numeral)
    for replaced in replace_digit(numeral):
        assert sum(a != b for a, b in zip(numeral, replaced, strict=True)) == 1
    assert len(drop_point(numeral)) == ("." in numeral)
    for dropped in drop_point(numeral):
        assert int(dropped) == int(numeral.replace(".", ""))
    for added in add_point(numeral):
        assert added.replace(".", "") == numeral
    for digits in (1, 3):
        assert (Decimal(numeral) == 0) == (scale(digits)(numeral) == [])
        for scaled in scale(digits)(numeral):
            ratio = Decimal(scaled) / Decimal(numeral)
            assert ratio in {Decimal(10) ** digits, Decimal(10) ** -digits}


def test_by_hand() -> None:
    assert drop_point("0.05") == ["5"]
    assert drop_point("12.5") == ["125"]
    assert add_point("125") == ["1.25", "12.5"]
    assert add_point("7") == []
    assert swap_digits("10") == []  # 01 would be seen
    assert swap_digits("77") == []
    assert set(scale(1)("12")) == {"120", "1.2"}
    assert set(scale(3)("1.25")) == {"1250", "0.00125"}


@given(NUMERALS, st.sampled_from(list(SLIPS)))
def test_what_was_meant_is_among_what_could_have_been(numeral: str, kind: str) -> None:
    zeros = len(numeral.partition(".")[2]) - len(numeral.partition(".")[2].lstrip("0"))
    if kind == "point dropped" and Decimal(numeral) < 1 and zeros >= MOST_ZEROS:
        return
    for wrong in SLIPS[kind](numeral):
        assert numeral in meant(wrong)[kind]


@given(NUMERALS)
def test_what_could_have_been_meant_is_another_numeral(written: str) -> None:
    assert meant(written).keys() == SLIPS.keys()
    for texts in meant(written).values():
        assert all(is_numeral(text) and text != written for text in texts)
        assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    ("written", "kind", "intended"),
    [("635", "point dropped", "63.5"), ("50", "factor 10", "5"), ("0.5", "factor 10", "5")],
)
def test_meant_by_hand(written: str, kind: str, intended: str) -> None:
    assert intended in meant(written)[kind]
