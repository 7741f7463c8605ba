"""Text to tokens with character offsets.

A token is a numeral, else a name or run of letters, else one non-space character.
Offsets point into the original text, so nothing is lost: what lies between two
tokens is white space.
"""

import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from numerate.numeral import MAX_DIGITS, WRITTEN_NUMERAL, count_digits, normalise

MARKS = ("_cite_", "_ref_", "_math_")
"""What readers write for a citation, a cross-reference, a formula: one token each."""


class Token(NamedTuple):
    text: str  # normalised: lower case; numerals without separators and leading zeros
    start: int  # offsets into the original text
    end: int
    is_numeral: bool


# Full-width forms (U+FF01..U+FF5E) have one ASCII counterpart each, so translating
# them keeps every offset. Full NFKC would not, and would turn `10⁶` into `106`.
_WIDTH = {0xFF00 + code: 0x20 + code for code in range(1, 0x5F)}


def _non_ascii_letters() -> str:
    """Letters and combining marks as a regular-expression class: `\\w` also has digits like ²."""
    ranges: list[list[int]] = []
    for code in range(0x80, sys.maxunicode + 1):
        if unicodedata.category(chr(code))[0] in "LM":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


@cache
def _pattern(split_names: bool) -> re.Pattern[str]:
    # The look-ahead spares ASCII characters a search through hundreds of ranges.
    letters = rf"(?:[A-Za-z]++|(?=[^\x00-\x7f])[{_non_ascii_letters()}]++)+"
    name = letters if split_names else letters + "[0-9]*"
    return re.compile(rf"(?P<numeral>{WRITTEN_NUMERAL})|{'|'.join(MARKS)}|{name}|\S")


def iter_tokens(text: str, *, split_names: bool = False) -> Iterator[Token]:
    text = text.translate(_WIDTH)
    for match in _pattern(split_names).finditer(text):
        written = match.group()
        start, end = match.span()
        if match.lastgroup is None:
            yield Token(written.lower(), start, end, False)
        elif count_digits(written) > MAX_DIGITS:
            yield Token(written, start, end, False)
        else:
            yield Token(normalise(written), start, end, True)


def tokenize(text: str, *, split_names: bool = False) -> list[Token]:
    """The tokens of `text`.

    Digits glued to a letter before them belong to a name (`fev1`); `split_names`
    separates letters from digits everywhere, as the released code of the paper does.
    """
    return list(iter_tokens(text, split_names=split_names))
