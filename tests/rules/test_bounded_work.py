"""Nothing in a document makes a rule crash, hang or take more time than its length is worth."""

import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numerate.documents.text import read_text
from numerate.rules.numbers import Number, numbers_in
from numerate.rules.percentage import fits, wholes
from numerate.rules.recompute import recompute
from numerate.rules.rule import RULES

SECONDS = 120  # for all hostile documents together, which take a few; each would have taken days
ROOT = Path(__file__).parents[2]
_HEADER = "| | t | df | p | n (%) | Total | OR (95% CI) | Mean (SD) |\n" + "|---" * 8 + "|\n"
_MARKS = ("†", "*", "^***", " ", "^a", "_ref_", "#", "a ", "%", "^(a)", "(1", "[", "1 (2) ")
_EXTREME = (
    "5e-308", "9e308", "1e300", "1e-300", "9e99", "9" * 32 + "e99", "0e-400", "10^300", "10^-250",
    "−1e99", "0", "123456789012345", "0." + "3" * 30,
)  # fmt: skip
_NUMERAL = re.compile(r"[0-9](?:[0-9.,]*[0-9])?")


def _rows(cell: str) -> str:
    return _HEADER + ("| Women " + f"| {cell} " * 7 + "|\n") * 4


def _hostile() -> list[str]:
    """Documents on which a pattern or a loop without bounds would not end."""
    marked = [
        _rows(number + mark * 60 + end)
        for number in ("0.49", "42 (35)", "2.1 (0.9 to 3.4)")
        for mark in _MARKS
        for end in ("x", "(")
    ]
    words = [
        "We saw 120 patients (" + "10 abcdefgh, " * 40 + "and 10 abcdefgh %",
        "We saw 120 patients: " + "10 women and " * 40 + "10 men %",
        "In all 120 " + "abc " * 400 + "patients were randomised " * 40,
        "from 4 to 5 " + "by an increase of " * 200,
        "35% of " + "the " * 400 + "patients (n = 42",
        "The mean was 4 (" + "range from 1 to " * 200,
        "t(28) = 2.05, " + "x = 1, " * 200 + "p = .04 " + "(" * 400,
        "OR 1.2 (95% CI " + "of was is " * 100 + "0.9 to 1.4",
    ]
    numbers = [
        "We saw 999999999999999 of 1999999999999999 patients (35%).",
        "The mean number of falls was 5.191234567890123 (SD 1.3, n = 999999999).",
        "| | Placebo (n = 999999999) |\n|---|---|\n"
        "| Number of falls, mean (SD) | 5.191234567890123 (1.3) |\n",
    ]
    return [*marked, *words, *numbers]


def test_hostile_documents_take_bounded_time() -> None:
    """In a process of their own: a regular expression that runs away cannot be interrupted."""
    program = "from tests.rules.test_bounded_work import read_all; read_all()"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, timeout=SECONDS, check=False)
    assert done.returncode == 0


def read_all() -> None:
    for text in _hostile():
        recompute(read_text(text))


@pytest.mark.parametrize("code", sorted(RULES))
def test_extreme_numbers_crash_no_rule(code: str) -> None:
    for text in {*RULES[code].wrong, *RULES[code].right}:
        places = [match.span() for match in _NUMERAL.finditer(text)]
        for extreme in _EXTREME:
            recompute(read_text(_NUMERAL.sub(extreme, text)), codes={code})
            for start, end in places:
                recompute(read_text(text[:start] + extreme + text[end:]), codes={code})


_FRAGMENTS = [text for rule in RULES.values() for text in rule.wrong]


@settings(max_examples=60)
@given(
    st.lists(
        st.sampled_from([*_FRAGMENTS, *_EXTREME, *_MARKS, "\n", "|", " of ", "%"]), max_size=8
    ),
    st.sampled_from(["", " ", "\n\n"]),
)
def test_extremes_beside_statements_and_tables_can_be_read(parts: list[str], between: str) -> None:
    recompute(read_text(between.join(parts)))


@given(st.integers(-999, 999), st.integers(0, 10**32), st.integers(0, 31))
def test_numbers_are_finite_with_their_powers(power: int, digits: int, decimals: int) -> None:
    written = f"{Decimal(digits).scaleb(-decimals):f}e{power}"
    for number in numbers_in(written):
        ends = number.interval.low, number.interval.high
        assert all(abs(end) < 1e140 for end in ends)
        assert 0 < 10.0 ** (2 + number.precision) < 1e303


def test_what_is_beyond_all_powers_is_no_number() -> None:
    assert numbers_in("1e-400 and 3 × 10^−320") == []
    (p,) = numbers_in("1e-250")
    assert p.value == Decimal("1e-250")


@settings(max_examples=50)
@given(st.integers(1, 200), st.integers(0, 1200), st.integers(0, 2))
def test_wholes_are_all_that_fit(count: int, digits: int, decimals: int) -> None:
    value = Decimal(digits).scaleb(-decimals)
    percentage = Number(0, 0, f"{value:f}", value, decimals, 0)
    one_by_one = [n for n in range(count, 1000) if fits(count, n, percentage)]
    assert list(wholes(count, percentage, 999)) == one_by_one
