"""What is said of a numeral is a sentence for people, and true."""

import pytest

from numerate.plausibility.finding import REASONS, Finding
from numerate.plausibility.wording import explain, for_people, level_of, share, what_is_odd


def finding(numeral: str, reason: str, plausibility: float, *, likely: str = "61") -> Finding:
    return Finding(
        start=0,
        end=len(numeral),
        numeral=numeral,
        written=numeral,
        surprisal=12.9,
        percentile=0.973,
        interval=(24.0, 76.0),
        likely=likely,
        reason=reason,
        plausibility=plausibility,
        flagged=plausibility <= 0.01,
    )


@pytest.mark.parametrize(
    ("numeral", "reason", "said"),
    [
        ("612", "magnitude", "it is far larger than expected"),
        ("80", "magnitude", "it is larger than expected"),
        ("20", "magnitude", "it is smaller than expected"),
        ("8", "magnitude", "it is far smaller than expected"),
        ("0", "magnitude", "it is far smaller than expected"),
        ("70", "magnitude", "numbers of about this size are rare"),
        ("61", "precision", "it is rarely written without decimals"),
        ("61.2", "precision", "it is rarely written with 1 decimal"),
        ("61.250", "precision", "it is rarely written with 3 decimals"),
        ("57", "digits", "its size is usual, but this very number is rare"),
    ],
)
def test_what_is_odd(numeral: str, reason: str, said: str) -> None:
    assert what_is_odd(numeral, reason, (24.0, 76.0)) == said
    usual = "Usual: 24 to 76, most likely 60."
    assert explain(finding(numeral, reason, 0.005, likely="60")) == (
        f"{numeral} is implausible here: {said}. {usual}"
    )
    assert explain(finding(numeral, reason, 0.05, likely="60")) == (
        f"{numeral} is unusual here: {said}. {usual}"
    )


@pytest.mark.parametrize("reason", REASONS)
def test_what_is_plausible_is_not_odd(reason: str) -> None:
    found = finding("61", reason, 0.6)
    assert level_of(found) == "plausible"
    assert explain(found) == "61 is plausible here. Usual: 24 to 76."


def test_numbers_for_people() -> None:
    numbers = [0.0, 0.05, 1.7512345, 61.0, 12345.6, 123456789.0, float("inf"), 0.00001]
    expected = ["0", "0.05", "1.751", "61", "12,346", "1.23e+08", "inf", "1e-05"]
    assert [for_people(number) for number in numbers] == expected


def test_shares_for_people() -> None:
    assert share(1 / 640) == "1 in 640"
    assert share(0.6) == "60 in 100"
