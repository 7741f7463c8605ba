"""Numerals that say nothing by themselves: in addresses, in names, and in numbers with an exponent.

A tokenizer cuts `10.1186` out of a DOI, `02280.2` out of `NM_02280.2` and `2` out of `2E-09`. To a
model these look like numbers, and strange ones.
"""

import re
from bisect import bisect_right

_NUMBER = r"[0-9]++(?:\.[0-9]++)*+"
_NAMES = re.compile(
    r"\b(?:[a-z]{2,12}://|www\.|doi:\s?|10\.[0-9]{4,9}/)\S++"
    rf"|(?<=[A-Za-z]_){_NUMBER}"
    rf"|(?<![\w.]){_NUMBER}e[-−–+]?[0-9]{{1,3}}(?!\w)",
    re.IGNORECASE,
)


class NamesOfDigits:
    """Those of one text."""

    def __init__(self, text: str) -> None:
        self._spans = [match.span() for match in _NAMES.finditer(text)]

    def hold(self, place: int) -> bool:
        before = bisect_right(self._spans, place, key=lambda span: span[0])
        return before > 0 and place < self._spans[before - 1][1]
