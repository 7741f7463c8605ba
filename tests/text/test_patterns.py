"""The tables of docs/corpora.md say what becomes of each pattern: here they are held to it."""

import re
from pathlib import Path

import pytest

from numerate.numeral import NARROW_SPACES
from numerate.text.reading_rules import ReadingRules
from numerate.text.tokenizer import tokenize

TEXT = (Path(__file__).parents[2] / "docs" / "corpora.md").read_text(encoding="utf-8")
NARROW = "⎵"  # in the documentation, any of the narrow spaces


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table under a heading, without its head."""
    section = TEXT.split(f"\n{heading}\n", 1)[1].split("\n#", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


PATTERNS = rows("### Numerals, names, dates")
COMMA = rows("### With a decimal comma")


def check(written: str, tokens: str, numbers: str, rules: ReadingRules) -> None:
    for space in NARROW_SPACES if NARROW in written else [NARROW]:
        (text,) = code(written)
        found = tokenize(text.replace(NARROW, space), rules)
        assert [token.text for token in found] == code(tokens)
        assert [token.text for token in found if token.is_numeral] == code(numbers)


@pytest.mark.parametrize("row", PATTERNS, ids=[row[0] for row in PATTERNS])
def test_every_pattern_is_read_as_the_table_says(row: list[str]) -> None:
    written, tokens, numbers, split = row
    check(written, tokens, numbers, ReadingRules())
    kept = tokens if split == "the same" else split
    found = tokenize(
        code(written)[0].replace(NARROW, NARROW_SPACES[0]), ReadingRules("point", True)
    )
    assert [token.text for token in found] == code(kept)


@pytest.mark.parametrize("row", COMMA, ids=[row[0] for row in COMMA])
def test_every_pattern_with_a_decimal_comma(row: list[str]) -> None:
    check(*row, ReadingRules("comma"))


def test_the_tables_have_every_pattern_of_the_rules() -> None:
    written = " ".join(row[0] for row in PATTERNS)
    for pattern in (
        *(".05", "v1.05", "17 863", "2019 863", NARROW, "2.2e-16", "× 10^5", "10−3", "IL-6"),
        *("GB-0998", "COVID-19", "5-HT", "n-3", "day-1", "v1.2.3", "1.2.3", "31.12.2020"),
        *("2020-12-31", "3:05", "F(1,139)", "0·05", "1’000", "½"),
    ):
        assert pattern in written
    assert len(PATTERNS) >= 40
    assert len(COMMA) >= 8
