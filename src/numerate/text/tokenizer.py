"""Text to tokens with character offsets.

A token is a numeral, else a name, date, time or run of letters, else one non-space character.
Offsets point into the original text, so nothing is lost: what lies between two tokens is
white space. docs/corpora.md has a table of what becomes of each pattern.
"""

import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from numerate.numeral import (
    MAX_DIGITS,
    count_digits,
    fold,
    normalise,
    not_after,
    written_numeral,
)
from numerate.text.reading_rules import ReadingRules

MARKS = ("_cite_", "_ref_", "_math_")
"""What readers write for a citation, a cross-reference, a formula: one token each."""

DEFAULT_RULES = ReadingRules()

_HYPHENS = str.maketrans("\u2010\u2011", "--")

# `IL-6` is a name, `day-1` a count of days. Digits after a hyphen are a number after a single
# small letter (`n-3`, `h-96`) and after these words, where it says how much, when or where:
_COUNTED = (
    "second", "minute", "hour", "day", "night", "week", "month", "year", "age", "aged", "visit",
    "cycle", "level", "grade", "stage", "phase",  # a place in time or on a scale
    "mg", "kg", "ml", "dl", "cm", "mm", "km", "nm", "min", "hr", "hrs", "sec", "mmol", "mmhg",
    "ci", "sd", "se",  # the range `5 mg-10 mg`, the limits `95% CI-3 to 4`
    "and", "or", "to", "of", "by", "at", "in", "from", "than", "vs", "versus",
    "top", "under", "over", "pre", "post", "mid",
)  # fmt: skip
# `5-HT` is a name; before a unit or a statistic, in `5-MHz` and `1-OR`, stands a number.
_NO_NAMES = "IU|[KMGT]B|[MGT]Hz|[MG]Pa|[MGT]?eV|M?V|[MG]?W|MBq|GBq|MJ|OR|RR|HR|CI|SD|SE"


class Token(NamedTuple):
    text: str  # normalised: lower case; numerals without separators and leading zeros
    start: int  # offsets into the original text
    end: int
    is_numeral: bool


@cache
def _letters() -> str:
    """Runs of letters and combining marks: `\\w` also has digits like ²."""
    ranges: list[list[int]] = []
    for code in range(0x80, sys.maxunicode + 1):
        if unicodedata.category(chr(code))[0] in "LM":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    others = "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)
    # The look-ahead spares ASCII characters a search through hundreds of ranges.
    return rf"(?:[A-Za-z]++|(?=[^\x00-\x7f])[{others}]++)++"


def _names(letters: str) -> str:
    """`fev1`, `v1.2`, `ca19-9`, `il-6`, `eq-5d-5l`; what follows a digit (`5mg`) begins anew."""
    glued = r"(?:[0-9]++(?:\.[0-9]++)*+)?+"
    joined = (
        rf"(?:(?=-[0-9])(?<!(?<![A-Za-z])[a-z]){not_after(_COUNTED)}"
        r"(?:-[0-9]++[A-Za-z0-9]*+)++(?![.,·∙][0-9]))?+"
    )
    return rf"(?<=[0-9]){letters}{glued}|{letters}{glued}{joined}"


def _names_in_digits(decimal: str) -> str:
    """`1.2.3` and `31.12.2020`; `2020-12-31` and `31/12/2020`; `3:05`; `5-HT`."""
    dotted = r"[0-9]++(?:\.[0-9]++){2,}+"
    if decimal == "comma":
        dotted = rf"(?![1-9][0-9]{{0,2}}+(?:\.[0-9]{{3}})++(?!\.?[0-9])){dotted}"
    month, day = "(?:0?[1-9]|1[0-2])", "(?:0?[1-9]|[12][0-9]|3[01])"
    date = (
        rf"[12][0-9]{{3}}(?:-{month}-{day}|/{month}/{day})(?![0-9]|[-/][0-9])"
        rf"|{day}/{day}/[12][0-9]{{3}}(?![0-9]|/[0-9])"
    )
    # `1:10` is a ratio, but for `1:10 pm`.
    time = (
        r"(?!1:[1-5][0-9](?! ?[ap]\.?m\b))(?:[01]?[0-9]|2[0-4]):[0-5][0-9](?::[0-5][0-9])?+"
        r"(?![0-9]|[.,:][0-9])"
    )
    name = rf"[0-9]{{1,2}}-(?!(?:{_NO_NAMES})\b)[A-Z]{{2}}[A-Za-z0-9]*+(?:-[0-9]++[A-Za-z0-9]*+)*+"
    return rf"{dotted}|(?<![0-9A-Za-z.,:/-])(?:{date}|{time}|{name})"


@cache
def _pattern(rules: ReadingRules) -> re.Pattern[str]:
    letters, marks = _letters(), "|".join(MARKS)
    # What no numeral begins with is not tried as one: the conditions of numerals take time.
    numeral = rf"(?=[0-9.,])(?P<numeral>{written_numeral(rules.decimal)})"
    if rules.split_names:
        return re.compile(rf"{letters}|{numeral}|{marks}|\S")
    in_digits = rf"(?=[0-9])(?:{_names_in_digits(rules.decimal)})"
    return re.compile(rf"{_names(letters)}|{in_digits}|{numeral}|{marks}|\S")


def iter_tokens(text: str, rules: ReadingRules = DEFAULT_RULES) -> Iterator[Token]:
    text, decimal = fold(text), rules.decimal
    if not text.isascii():
        text = text.translate(_HYPHENS)
    for match in _pattern(rules).finditer(text):
        written = match.group()
        start, end = match.span()
        if match.lastgroup is None:
            yield Token(written.lower(), start, end, False)
        elif end - start > MAX_DIGITS and count_digits(written) > MAX_DIGITS:
            yield Token(written, start, end, False)
        else:
            yield Token(normalise(written, decimal), start, end, True)


def tokenize(text: str, rules: ReadingRules = DEFAULT_RULES) -> list[Token]:
    """The tokens of `text`, cut by the rules of a dataset."""
    return list(iter_tokens(text, rules))
