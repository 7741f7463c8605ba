"""Numbers read whole: their sign, their power of ten, and where they stand."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.test_patterns import code, rows

from numerate.text.quantities import MAX_POWER, quantities, signs_and_powers
from numerate.text.tokenizer import tokenize

WHOLE = rows("### Read whole")


def values(text: str) -> list[tuple[str, Decimal]]:
    return [(text[q.start : q.end], q.value) for q in quantities(tokenize(text))]


@pytest.mark.parametrize("row", WHOLE, ids=[row[0] for row in WHOLE])
def test_every_quantity_is_what_the_table_says(row: list[str]) -> None:
    written, whole, value = row
    (text,) = code(written)
    found = values(text)
    assert [piece for piece, _ in found] == code(whole)
    assert [number for _, number in found] == [Decimal(text) for text in code(value)]


numbers = st.decimals(
    allow_nan=False, allow_infinity=False, min_value=0, max_value=10**12, places=3
)


@given(numbers, st.integers(-MAX_POWER, MAX_POWER), st.booleans(), st.integers(0, 5))
def test_the_value_is_exact(number: Decimal, power: int, negative: bool, way: int) -> None:
    """Against Decimal's own reading of the same digits."""
    minus = "−" if power < 0 else ""
    raised = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    written = [
        f"{number}e{power}",
        f"{number}E{power:+d}",
        f"{number} × 10^{minus}{abs(power)}",
        f"{number}x10^{power}",
        f"{number}·10^{power}",
        f"{number} × 10{raised}",
    ][way]
    text = f"a change of {'−' if negative else ''}{written} mg"
    (found,) = quantities(tokenize(text))
    assert found.value == Decimal(f"{'-' if negative else ''}{number}E{power}")
    assert str(found.value).lstrip("-") == str(Decimal(f"{number}E{power}"))  # no digit rounded
    assert text[found.start : found.end] == text[12:-3]
    assert (found.sign, found.power) == (-1 if negative else 1, power)


def test_a_long_mantissa_is_not_rounded() -> None:
    digits = "1." + "23456789" * 3 + "1234567"
    ((_, value),) = values(f"−{digits}e-3")
    assert value == Decimal(f"-{digits}e-3")


@given(st.text(st.sampled_from("0123456789.,-−–+eExX×·^⁻²½ 1010(=%mIL")))
def test_quantities_stand_in_order_and_numerals_are_in_at_most_one(text: str) -> None:
    tokens = tokenize(text)
    position = 0
    for found in quantities(tokens):
        assert found.tokens.start >= position
        position = found.tokens.stop
        assert (found.start, found.end) == (tokens[found.tokens[0]].start, tokens[position - 1].end)
        assert found.position is None or tokens[found.position].is_numeral
        assert abs(found.power) <= MAX_POWER
    assert len(signs_and_powers(tokens)) == sum(token.is_numeral for token in tokens)


def test_every_numeral_of_a_reading_knows_its_sign_and_power() -> None:
    tokens = tokenize("from −1.2 × 10^−5 to 7 m^-2")
    assert [t.text for t in tokens if t.is_numeral] == ["1.2", "10", "5", "7", "2"]
    assert signs_and_powers(tokens) == [(-1, -5), (1, 0), (-1, 0), (1, 0), (-1, 0)]


def test_hostile_strings_take_time_in_proportion() -> None:
    for piece in ("10^", "10−", "e-", "−", "½", "⁻", "1e1", "×10"):
        assert len(list(quantities(tokenize(piece * 3_000)))) <= 6_000
