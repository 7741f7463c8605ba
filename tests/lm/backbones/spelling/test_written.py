"""How text writes numerals: what carries one on, and forms that can be spelled."""

import pytest
from tests.lm.backbones.pretrained import brute_force

from numerate.lm.backbones.spelling.written import goes_on, may_group, spelled_form, written_forms


@pytest.mark.parametrize(
    ("written", "text", "expected"),
    [
        ("5", "0", True),
        ("5", "mg", False),
        ("5", ".", None),
        ("5", ".5", True),
        ("5", "..", False),
        ("1.5", ".", False),
        ("1.5", ".5", False),
        ("5", ",", None),
        ("5", ",0", True),
        ("5", ", 0", False),
        ("0", ",", False),
        ("05", ",1", False),
        ("1234", ",1", False),
        ("1,234", ",", None),
        ("1.5", ",000", False),
    ],
)
def test_what_carries_a_numeral_on(written: str, text: str, expected: bool | None) -> None:
    assert goes_on(written, text) is expected
    assert may_group(written) is brute_force.can_group(written)
    numeral = brute_force.first_numeral(written + text)
    assert expected is (None if numeral is None and text in ".," else numeral != written)


def test_written_forms() -> None:
    assert written_forms("999") == ("999",)
    assert written_forms("1000") == ("1000", "1,000")
    assert written_forms("1234567.50") == ("1234567.50", "1,234,567.50")


@pytest.mark.parametrize(
    ("written", "numeral", "spelled"),
    [
        ("120", "120", "120"),
        ("007", "7", "007"),
        ("1,234.5", "1234.5", "1,234.5"),
        (".05", "0.05", "0.05"),
        ("0·05", "0.05", "0.05"),
        ("1’000", "1000", "1,000"),
        ("17 863.5", "17863.5", "17,863.5"),
        ("1\u2009234\u2009567", "1234567", "1,234,567"),
        ("１２", "12", "12"),
        ("74,5", "74.5", "74.5"),  # from here on, with a decimal comma
        ("1.234", "1234", "1,234"),
        ("1.234,50", "1234.50", "1,234.50"),
        (",05", "0.05", "0.05"),
    ],
)
def test_what_cannot_be_spelled_is_written_so_that_it_can(
    written: str, numeral: str, spelled: str
) -> None:
    assert spelled_form(written, numeral) == spelled
