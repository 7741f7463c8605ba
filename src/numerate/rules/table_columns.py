"""Columns of tables by what their headers say they hold, whichever way round a table is written.

A header may be repeated further down, or be the first column: `Rows` gives every line of numbers
with the headers that hold for it, and says nothing of how it came by them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from numerate.rules.numbers import MINUS
from numerate.rules.reading import Piece, ReadDocument
from numerate.rules.shape import shape_of
from numerate.rules.stated import Stated

_SQUARED = "χ𝜒𝛘ꭓXxRrη"  # what a raised 2 is no note of
_NOTES = re.compile(
    rf"_(?:ref|cite)_|(?<![{_SQUARED}])(?<![{_SQUARED}] )"
    r"\^\s?[(\[]?[a-z0-9*†‡§¶#,]{1,5}[)\]]?(?=\s|$)|[*†‡§¶∗]+"
)
# What may stand after a number or its bracket: stars, daggers, notes (`^a,b`, `c`), references; `♯`
# is how shapes have a `#` of the text. It never gives back what it took, so it takes linear time.
MARKS = r"(?:[\s*∗†‡§¶♯]|\^\s?[(\[]?[\w*∗†‡§¶♯,]{1,5}+[)\]]?|_(?:ref|cite)_|[a-e](?!\w))*+"
STANDARD_ERROR = re.compile(
    r"\b(?:S(?:E|EM|TE)|se|sem)\b|\bS\. ?E\b|[Ss]td?\.? ?[Ee]rr|[Ss]tandard\.? ?[Ee]rror"
)
_ONE = re.compile(rf"(?P<number>[+{MINUS}]?\s?\#)\s?%?{MARKS}")
MAX_CELLS = 200_000  # of a table; a larger one is data


@dataclass(frozen=True, slots=True)
class Line:
    """A row of numbers (or a column, where headers stand before rows)."""

    label: str  # its first cell
    cells: Sequence[Piece | None]
    headers: Sequence[str]  # of each cell, the lowest, without notes; words in lower case
    above: Sequence[str]  # of each cell, all its headers, as they stand
    caption: str
    notes: str  # of the table


def without_notes(text: str) -> str:
    return " ".join(_NOTES.sub(" ", text).split())


@lru_cache(maxsize=1 << 12)  # several readers look at each table, and at its columns too
def _cleaned(text: str) -> str:
    """Single letters keep their case: `t` is a statistic, `T` an amino acid."""
    text = without_notes(text).removeprefix("±").lstrip()
    return text if len(text) == 1 else text.lower()


def lines_of(
    read: ReadDocument, table: int, is_header: Callable[[Sequence[str]], bool]
) -> Iterator[list[Line]]:
    """The lines of a table in runs under one header each; `is_header` tells one by its texts."""
    cells = read.cells[table]
    if not 0 < len(cells) <= MAX_CELLS:
        return
    source = read.tables[table]
    top = len(source.header)
    texts = [*source.header, *source.body]
    width = max(map(len, texts))
    grid = [
        [cells.get((number - top, column)) for column in range(width)]
        for number in range(len(texts))
    ]
    texts = [[*row, *[""] * (width - len(row))] for row in texts]
    caption = f"{source.caption} {source.label}"
    found = False
    for run in _runs(texts, grid, caption, source.notes, is_header):
        found = True
        yield run
    if not found:
        flipped = [list(column) for column in zip(*texts, strict=True)]
        flipped_grid = [list(column) for column in zip(*grid, strict=True)]
        yield from _runs(flipped, flipped_grid, caption, source.notes, is_header)


def _runs(
    texts: Sequence[Sequence[str]],
    grid: Sequence[Sequence[Piece | None]],
    caption: str,
    notes: str,
    is_header: Callable[[Sequence[str]], bool],
) -> Iterator[list[Line]]:
    run: list[Line] = []
    headers: list[str] | None = None
    above: list[str] = []
    titles: list[Sequence[str]] = []  # rows above the header
    section = ""
    for row, pieces in zip(texts, grid, strict=True):
        cleaned = [_cleaned(text) for text in row]
        if len(row) > 2 and len(set(row)) == 1:
            section = row[0]
        elif is_header(cleaned):
            if run:
                yield run
            lowest = [*zip(*([_cleaned(text) for text in title] for title in titles), strict=True)]
            run = []
            headers = [
                text or next(filter(None, reversed(lowest[index] if lowest else ())), "")
                for index, text in enumerate(cleaned)
            ]
            titles.append(row)  # of a header right below, too
            columns = zip(*titles, strict=True)
            above = [" ".join(dict.fromkeys(filter(None, column))) for column in columns]
        elif headers is None:
            titles.append(row)
        else:
            titles = []
            label = f"{section} {row[0]}".strip()
            run.append(Line(label, pieces, headers, above, caption, notes))
    if run:
        yield run


def single(piece: Piece | None) -> Stated | None:
    """The number that is all of a cell."""
    if piece is None or len(piece.text) > 30:
        return None
    shape = shape_of(piece)
    match = _ONE.fullmatch(shape.text)
    if match is None:
        return None
    number = shape.number(match.end("number") - 1)
    return Stated(number, piece.of(number))
