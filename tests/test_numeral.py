from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.numeral import MAX_DIGITS, Numeral, fold, is_numeral

whole = st.integers(0, 10**20 - 1).map(str)
decimals = st.text("0123456789", min_size=1, max_size=12)
written = st.builds(
    lambda zeros, whole, point, decimals: zeros + whole + ("." + decimals if point else ""),
    st.text("0", max_size=0) | st.just("00"),
    whole,
    st.booleans(),
    decimals,
).filter(lambda text: len(text.replace(".", "")) <= MAX_DIGITS)


@pytest.mark.parametrize(
    ("text", "normal", "value", "precision"),
    [
        ("2,000", "2000", "2000", 0),
        ("1,234,567.80", "1234567.80", "1234567.80", 2),
        ("007", "7", "7", 0),
        ("00.50", "0.50", "0.5", 2),
        ("000", "0", "0", 0),
        ("1.50", "1.50", "1.5", 2),
        ("0.000001", "0.000001", "0.000001", 6),
        ("9" * 32, "9" * 32, "9" * 32, 0),
        (".05", "0.05", "0.05", 2),
        ("1 000", "1000", "1000", 0),
        ("17\u2009863.50", "17863.50", "17863.5", 2),
        ("1’234’567", "1234567", "1234567", 0),
        ("0·05", "0.05", "0.05", 2),
    ],
)
def test_parse(text: str, normal: str, value: str, precision: int) -> None:
    numeral = Numeral.parse(text)
    assert (numeral.text, numeral.value, numeral.precision) == (normal, Decimal(value), precision)
    assert numeral.digits == normal.replace(".", "")


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("74,5", "74.5"),
        ("1.234,50", "1234.50"),
        ("1.234.567", "1234567"),
        (",05", "0.05"),
        ("12’345,6", "12345.6"),
        ("007", "7"),
    ],
)
def test_parse_with_a_decimal_comma(text: str, normal: str) -> None:
    assert Numeral.parse(text, "comma").text == normal


@pytest.mark.parametrize("text", ["1.5", "0.123", "1,234.5", "1.2345"])
def test_a_decimal_comma_has_no_decimal_point_beside_it(text: str) -> None:
    with pytest.raises(ValueError, match="not a numeral: got"):
        Numeral.parse(text, "comma")


def test_folding_keeps_every_offset() -> None:
    assert fold("（ｐ＝０．０５）⁶٣") == "(p=0.05)⁶٣"
    assert all(len(fold(chr(code))) == 1 for code in range(0xD800))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5.",
        "-1",
        "1e5",
        "1,23",
        "1,2345",
        "0,123",
        "1 00",
        "1 0000",
        "1’00",
        "1,000’000",
        "1·2·3",
        "٣",
        "１２",
        "²",
        "9" * 33,
        "1\n",
    ],
)
def test_parse_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="not a numeral: got"):
        Numeral.parse(text)


@given(written)
def test_round_trip_is_exact(text: str) -> None:
    numeral = Numeral.parse(text)
    assert Numeral.parse(str(numeral)) == numeral
    assert is_numeral(str(numeral))
    assert numeral.value == Decimal(text)
    assert numeral.precision == len(text.partition(".")[2])
    assert f"{numeral.value:f}" == numeral.text  # Decimal keeps every digit written


@given(written)
def test_the_text_identifies_a_numeral(text: str) -> None:
    more = text + ("0" if "." in text else ".0")
    if len(more.replace(".", "")) <= MAX_DIGITS:
        assert Numeral.parse(more).value == Numeral.parse(text).value
        assert Numeral.parse(more) != Numeral.parse(text)
