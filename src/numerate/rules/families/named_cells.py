"""NUM604: a sentence names a row and a column of a table, and has another number than the cell."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from numerate.numeral import count_digits, normalise
from numerate.rules.finding import RECOMPUTED, Evidence, Finding, Suggestion
from numerate.rules.numbers import Number
from numerate.rules.one_slip import one_slip
from numerate.rules.reading import Piece, ReadDocument
from numerate.rules.rule import Outcome, Rule, add_rule
from numerate.rules.where import Where

_SENTENCE = re.compile(r"(?<=[\w)%\]][.?!])\s+(?=[A-Z0-9])")
_STATISTIC = re.compile(r"[^\W\d_]\s?=\s?[-−–]?\Z")  # `U = 14.00`, which no cell names
_SIZE = re.compile(r"[(\[,]?\s?\b[nN]\s?=\s?[0-9,]+[)\]]?")
_WORD = re.compile(r"[^\W\d_]{2,}|[^\W\d_]+\d+")
_SILENT = frozenset(
    {
        "mean", "median", "sd", "se", "sem", "iqr", "range", "ci", "no", "number", "the", "of",
        "and", "in", "at", "to", "for", "with", "or", "per", "on", "by", "group", "groups", "arm",
        "table", "ref", "value", "values", "patients", "participants", "subjects", "mg", "kg", "mm",
        "hg", "ml", "min", "years", "year", "days", "bpm", "beats", "percent", "total", "all", "cm",
        "dl", "hr", "rr", "odds", "hazard", "risk", "ratio", "beta", "effect", "estimate",
        "coefficient", "difference", "change",
    }
)  # fmt: skip
STEM = 6  # letters by which words are told apart
MAX_ROWS = 300  # of a table; a larger one is data


@dataclass(frozen=True, slots=True)
class _Line:
    """A row or column, by the words that name it."""

    index: int
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Named:
    table: int
    rows: list[_Line]
    columns: list[_Line]


def named_cells(read: ReadDocument) -> Iterator[Outcome]:
    indices: dict[str, list[int]] = defaultdict(list)
    for index, table in enumerate(read.tables):
        indices[table.id].append(index)
    # What is given beside a text is what the text is about, whether it says so or not.
    beside = [i for i in range(len(read.tables)) if read.is_beside(Where(0, 0, table=i))]
    named: dict[int, _Named] = {}
    written = {
        normalise(number.written)
        for cells in read.cells
        for cell in cells.values()
        for number in cell.numbers
    }
    for piece in read.paragraphs:
        paragraph = read.document.paragraphs[piece.place.paragraph or 0]
        referred = [index for id in paragraph.tables for index in indices.get(id, ())]
        referred += [index for index in beside if index not in referred]
        if not referred or not piece.numbers:
            continue
        for index in referred:
            if index not in named:
                named[index] = _named(read, index)
        for text, numbers in _sentences(piece):
            words = _words(text)
            for index in referred:
                yield from _in_sentence(read, piece, numbers, words, named[index], written)


def _sentences(piece: Piece) -> Iterator[tuple[str, list[Number]]]:
    ends = [match.start() for match in _SENTENCE.finditer(piece.text)]
    begin, at = 0, 0
    for end in [*ends, len(piece.text)]:
        numbers = []
        while at < len(piece.numbers) and piece.numbers[at].start < end:
            numbers.append(piece.numbers[at])
            at += 1
        if numbers:
            yield piece.text[begin:end], numbers
        begin = end


def _named(read: ReadDocument, table: int) -> _Named:
    source = read.tables[table]
    if not source.header or len(source.body) > MAX_ROWS:
        return _Named(table, [], [])
    rows = [_Line(row, _words(texts[0])) for row, texts in enumerate(source.body) if texts]
    columns = [
        _Line(column, _words(_SIZE.sub(" ", text)))
        for column, text in enumerate(source.header[-1])
        if column
    ]
    return _Named(table, _telling(rows), _telling(columns))


def _telling(lines: Sequence[_Line]) -> list[_Line]:
    """Those that have words, and not the same as others."""
    counts: dict[frozenset[str], int] = defaultdict(int)
    for line in lines:
        counts[line.words] += 1
    return [line for line in lines if line.words and counts[line.words] == 1]


def _words(text: str) -> frozenset[str]:
    found = _WORD.findall(text.lower())
    return frozenset(word[:STEM] for word in found if word not in _SILENT)


def _in_sentence(
    read: ReadDocument,
    piece: Piece,
    numbers: Sequence[Number],
    words: frozenset[str],
    table: _Named,
    elsewhere: set[str],
) -> Iterator[Outcome]:
    """`elsewhere` are all numerals of tables: what is one of them is no slip of another."""
    columns = [column.index for column in table.columns if column.words <= words]
    if not columns:
        return
    here = {normalise(number.written) for number in numbers}
    rows = [row for row in table.rows if row.words <= words]
    for row in rows:
        for column in columns:
            cell = read.cells[table.table].get((row.index, column))
            if cell is None or not cell.numbers or count_digits(cell.numbers[0].written) < 2:
                continue
            stands = cell.numbers[0]
            written = normalise(stands.written)
            if written in here:
                same = [number for number in numbers if normalise(number.written) == written]
                yield Outcome(cell.of(stands), used=tuple(map(piece.of, same)))
                continue
            odd = [
                number
                for number in numbers
                if number.precision == stands.precision
                and not _STATISTIC.search(piece.text, max(number.start - 8, 0), number.start)
                and normalise(number.written) not in elsewhere
                and _is_slip(number.written, stands.written)
            ]
            if len(odd) == len(rows) == 1:
                yield Outcome(cell.of(stands), _finding(read, piece, odd[0], cell))


def _is_slip(written: str, meant: str) -> bool:
    """Of numbers with decimals and three digits that count: others are alike by chance."""
    digits = normalise(meant).replace(".", "").lstrip("0")
    return "." in meant and len(digits) > 2 and one_slip(written, meant)


def _finding(read: ReadDocument, piece: Piece, number: Number, cell: Piece) -> Finding:
    where, elsewhere = piece.of(number), cell.of(cell.numbers[0])
    meant = cell.numbers[0].written
    place = read.describe(elsewhere)
    return Finding(
        "NUM604",
        where,
        number.written,
        f"{number.written} stands here, and {meant} in {place}.",
        (Evidence(RECOMPUTED, f"{place}: {meant}", (elsewhere,)),),
        (where, elsewhere),
        Suggestion(meant),
    )


_EXAMPLE = """\
As Table 1 shows, heart rate was {} in the placebo group.

Table 1. Vital signs

| Sign | Placebo (n = 60) | Drug (n = 60) |
|---|---|---|
| Heart rate, bpm | 79.5 | 88.1 |
| Weight, kg | 71.2 | 70.4 |
"""
add_rule(
    Rule(
        "NUM604",
        "table-says-otherwise",
        "cells named in the text",
        "The text has another number than the cell of the table that it names.",
        "A sentence is held against a cell only where it names all words of its row and of its "
        "column, and no other row, and the number has decimals, is a slip away from the cell's and "
        "stands nowhere else in the table.",
        (_EXAMPLE.format("97.5"),),
        (_EXAMPLE.format("79.5"),),
        "Look up which of the two is right.",
        0.46,
        named_cells,
    )
)
