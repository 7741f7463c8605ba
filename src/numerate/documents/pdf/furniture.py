"""What stands on pages of a PDF around the text: running heads, page numbers, line numbers."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from numerate.documents.pdf.lines import Line, Words, outer_lines
from numerate.documents.pdf.page import Flags

_DIGITS = re.compile(r"[0-9]+")
_PAGE_NUMBER = re.compile(
    r"\W*(?:p(?:age|\.)?\s*)?(?:[0-9]{1,4}|[ivxl]{1,6})(?:\s*(?:/|of|von|de)\s*[0-9]{1,4})?\W*",
    re.IGNORECASE,
)
_PRINTED = re.compile(
    r"(?:https?|file)://\S+|[0-9]{1,4}([./-])[0-9]{1,2}\1[0-9]{1,4}, [0-9]{1,2}:[0-9]{2}\b"
)
_CHANGING = 2  # numbers of a running head that change from page to page
_EDGE = 4  # lines at the top and at the bottom of a page that may be running ones


class Edges:
    """Lines at the top and at the bottom of a page, each with the words that it has."""

    def __init__(self, words: Words) -> None:
        self.lines = outer_lines(words, _EDGE)
        self.numbers: dict[tuple[str, int], list[str]] = {
            shifted: _DIGITS.findall(line.text)
            for line in self.lines
            for shifted in _around(_key(line))
        }


def running(words: Words, edges: Edges, near: Sequence[Edges]) -> Flags:
    """Which words are of lines that pages near it have in the same place, or of page numbers."""
    found = np.zeros(len(words), dtype=bool)
    alone = _outermost(edges.lines)
    for line in edges.lines:
        is_repeated = len(line.text) < 250 and any(_is_on(line, other) for other in near)
        if is_repeated or (line in alone and _is_page_number(line)):
            found |= np.isin(words.first, line.words.first)
    return found


def _is_on(line: Line, page: Edges) -> bool:
    """Whether a page has a line with the same words and numbers, but for that of the page itself:
    rows of a table may differ in numbers only."""
    numbers = page.numbers.get(_key(line))
    if numbers is None:
        return False
    own: list[str] = _DIGITS.findall(line.text)
    changed = [one for one, other in zip(numbers, own, strict=True) if one != other]
    return len(changed) <= _CHANGING


def _key(line: Line) -> tuple[str, int]:
    """The words, with any number, and about where they stand."""
    return _DIGITS.sub("#", line.text).strip().lower(), round(line.base / 4)


def _around(key: tuple[str, int]) -> list[tuple[str, int]]:
    return [(key[0], key[1] + shift) for shift in (-1, 0, 1)]


def _outermost(lines: Sequence[Line]) -> list[Line]:
    """Those that stand by themselves above or below all others."""
    if len(lines) < 3:
        return []
    found: list[Line] = []
    for edge, inner in ((lines[0], lines[1]), (lines[-1], lines[-2])):
        if abs(inner.base - edge.base) > 1.6 * inner.size:
            found.append(edge)
    return found


def _is_page_number(line: Line) -> bool:
    text = line.text.strip()
    return bool(_PAGE_NUMBER.fullmatch(text) or _PRINTED.match(text))


def line_numbers(words: Words) -> Flags:
    """Which words count the lines of a page, beside its text."""
    is_number = np.array(
        [
            last - first <= 5 and all(48 <= code <= 57 for code in words.glyphs.codes[first:last])
            for first, last in zip(words.first.tolist(), words.last.tolist(), strict=True)
        ],
        dtype=bool,
    )
    found = np.zeros(len(words), dtype=bool)
    others = ~is_number
    if is_number.sum() < 6 or others.sum() < 20:
        return found
    start, end = np.percentile(words.left[others], 2), np.percentile(words.right[others], 98)
    for beside in (words.right < start - 0.5 * words.size, words.left > end + 0.5 * words.size):
        which = np.flatnonzero(is_number & beside)
        if len(which) < 6:
            continue
        which = which[np.argsort(words.base[which])]
        steps = np.diff([int(words.text(index)) for index in which.tolist()])
        usual = Counter(steps.tolist()).most_common(1)[0]
        if usual[0] in (1, 2, 5, 10) and usual[1] >= 0.8 * len(steps):
            found[which] = True
    return found
