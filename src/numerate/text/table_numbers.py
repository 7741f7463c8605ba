"""Tables as columns: the numbers of their cells, with the words of their headers.

Whoever counts the numbers that a model sees of a table, to store them, to write the table out or to
show a source, takes them from `numbers_in_sight`, so that all count the same in one order.
"""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from numerate.documents.document import Table
from numerate.text.columns import HEADER_WORDS, SightColumns, join_words
from numerate.text.reading_rules import ReadingRules
from numerate.text.tokenizer import DEFAULT_RULES, MARKS, iter_tokens

MAX_NUMBERS = 4096
"""In view of a paragraph, and of one table."""
MAX_VIEWS = 256
"""Tables, and earlier paragraphs, in view of a paragraph."""
MAX_PLACE = np.iinfo(np.int16).max  # of a row or a column; what stands further away is left out
MAX_STUB = 3  # leading columns that say what a row is

_DIGIT = re.compile("[0-9０-９]")
_UNITS = frozenset("%‰°$€£¥")
# A raised number is a footnote or belongs to a unit, but for a power of ten: `12^1`, `m^2`, `10^6`;
# a raised letter at the beginning of the alphabet, or several, are footnotes.
_RAISED = re.compile(
    r"(?<!(?<![0-9.,])10)\^[(\[{]?[−–-]?[0-9]{1,2}(?:[,;][0-9]{1,2})*+(?![0-9]|[.,][0-9])"
    r"|\^[(\[{]?[a-h](?:[,;] ?[a-h])*+(?![A-Za-z0-9])"
)


class NumberInTable(NamedTuple):
    """A numeral and where it stands."""

    text: str  # normalised, as the tokenizer does
    row: int  # of the body, from 0; −1, −2 …: of the header, upwards
    column: int
    start: int  # within the text of the cell
    end: int


def numbers_of(table: Table, rules: ReadingRules = DEFAULT_RULES) -> list[NumberInTable]:
    """Every number of a table once: those of its header first, then row by row.

    A cell that spans others is repeated in a `Table`; its numbers are not.

    Examples:
        >>> from numerate.documents.document import Table
        >>> from numerate.text.table_numbers import numbers_of
        >>> table = Table("t1", "Table 1", "", [["", "Placebo (n = 48)"]], [["Age", "49 (19–87)"]])
        >>> [number.text for number in numbers_of(table)]
        ['48', '49', '19', '87']
    """
    return list(_numbers(table, CellTexts(rules)))


def numbers_in_sight(table: Table, rules: ReadingRules = DEFAULT_RULES) -> list[NumberInTable]:
    """Those of its numbers that a model sees: not too many, and none too far away."""
    return _in_sight(_numbers(table, CellTexts(rules)))


def _in_sight(numbers: Iterable[NumberInTable]) -> list[NumberInTable]:
    near = (number for number in numbers if max(abs(number.row), number.column) <= MAX_PLACE)
    return list(islice(near, MAX_NUMBERS))


class CellTexts:
    """The numbers and words of texts; each distinct text is read once."""

    def __init__(self, rules: ReadingRules) -> None:
        self.rules = rules
        self._read: dict[str, tuple[list[tuple[str, int, int]], list[str]]] = {"": ([], [])}

    def numbers(self, text: str) -> list[tuple[str, int, int]]:
        """Numeral, start and end of each; of most texts it takes a glance that there is none."""
        return self._parts(text)[0] if _DIGIT.search(text) else []

    def words(self, text: str) -> list[str]:
        return self._parts(text)[1]

    def _parts(self, text: str) -> tuple[list[tuple[str, int, int]], list[str]]:
        parts = self._read.get(text)
        if parts is None:
            plain = _RAISED.sub(_blank, text) if "^" in text else text
            tokens = list(iter_tokens(plain, self.rules))
            numbers = [(t.text, t.start, t.end) for t in tokens if t.is_numeral]
            words = [t.text for t in tokens if not t.is_numeral and is_word(t.text)]
            parts = self._read[text] = (numbers, words)
        return parts


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def is_word(token: str) -> bool:
    """Whether it says what a number is: a word, a name or a unit, no mark."""
    return token in _UNITS or (any(map(str.isalpha, token)) and token not in MARKS)


def _numbers(table: Table, texts: CellTexts) -> Iterator[NumberInTable]:
    height = len(table.header)
    for row, cells in enumerate([*table.header, *table.body], -height):
        above = table.header[row + height - 1] if -height < row < 0 else []
        for column, text in enumerate(cells):
            found = texts.numbers(text)
            if not found or (row, column) in table.repeated:
                continue
            # In headers written without spans, neighbours that are equal are one cell.
            neighbours = cells[max(0, column - 1) : column] + above[column : column + 1]
            if row < 0 and text in neighbours:
                continue
            for numeral, start, end in found:
                yield NumberInTable(numeral, row, column, start, end)


def row_headers(table: Table, texts: CellTexts) -> list[list[str]]:
    """The words that say what each row of the body is.

    They are those of its leading cells, after those of the last row above that has nothing but a
    heading: `Body weight (kg)`, then `All lambs`. An empty cell goes on with the one above it.
    """
    width = _stub(table, texts)
    section: list[str] = []
    stub: list[list[str]] = [[]] * width
    headers = []
    for cells in table.body:
        own = texts.words(cells[0]) if cells else []
        if own and all(text in ("", cells[0]) for text in cells[1:]):
            section, stub = own, [[]] * width
            headers.append(own)
            continue
        for column, text in enumerate(cells[:width]):
            if text:
                is_repeated = column and text == cells[column - 1]
                words = [] if is_repeated else texts.words(text)
                stub = [*stub[:column], words, *[[]] * (width - column - 1)]
        further = [word for words in stub[1:] for word in words]
        headers.append([*section, *stub[0], *further[: HEADER_WORDS // 2]])
    return headers


def _stub(table: Table, texts: CellTexts) -> int:
    """How many columns say what a row is: the first, and those after it that are mostly words."""
    for column in range(1, MAX_STUB):
        filled = [cells[column] for cells in table.body if column < len(cells) and cells[column]]
        numbers = sum(1 for text in filled if texts.numbers(text))
        if numbers and 2 * numbers > sum(1 for text in filled if texts.words(text)):
            return column
    return MAX_STUB


def column_headers(table: Table, texts: CellTexts) -> list[list[str]]:
    """The words above each column, from the top down.

    Of a table without a header, those of its first row, if that has no number.
    """
    rows = table.header
    if not rows and table.body and not any(map(texts.numbers, table.body[0])):
        rows = table.body[:1]
    headers = []
    for column in range(max(map(len, [*table.header, *table.body]), default=0)):
        above = dict.fromkeys(cells[column] for cells in rows if column < len(cells))
        headers.append([word for text in above for word in texts.words(text)])
    return headers


class ColumnsBuilder:
    """Tables and paragraphs put together as columns, and what has them in view."""

    def __init__(self, rules: ReadingRules = DEFAULT_RULES) -> None:
        self.texts = CellTexts(rules)
        self.sizes: list[int] = []  # numbers of each table
        self.left_out = 0  # numbers of tables that have too many
        self._words: dict[str, int] = {}
        self._numerals: dict[str, int] = {}
        self._number_offsets = array("q", [0])
        self._numbers = [array("i") for _ in range(5)]
        self._bag_offsets = array("q", [0])
        self._bags: list[list[str]] = []
        self._view_offsets = array("q", [0])
        self._views = array("i")

    def add_table(self, table: Table) -> int:
        """Its number among the tables."""
        found = list(_numbers(table, self.texts))
        kept = _in_sight(found)
        self.left_out += len(found) - len(kept)
        bags = [self.texts.words(f"{table.label} {table.caption}")]
        rows: dict[int, int] = {}
        columns: dict[int, int] = {}
        if kept:
            of_row, of_column = row_headers(table, self.texts), column_headers(table, self.texts)
            for row in dict.fromkeys(number.row for number in kept):
                rows[row] = len(bags)
                bags.append(of_row[row] if row >= 0 else self.texts.words(table.header[row][0]))
            for column in dict.fromkeys(number.column for number in kept):
                columns[column] = len(bags)
                bags.append(of_column[column])
        for number in kept:
            self._add_number(
                number.text, rows[number.row], columns[number.column], number.row, number.column
            )
        return self._end_table(bags)

    def add_paragraph(self, tokens: Sequence[str], numerals: Sequence[int]) -> int:
        """A paragraph as a table of one row a numeral, between the words before and after it."""
        at = [position for position, token in enumerate(tokens) if is_word(token)]
        words = [tokens[position] for position in at]
        bags: list[list[str]] = [[]]
        for row, place in enumerate(np.searchsorted(at, numerals[:MAX_NUMBERS]).tolist()):
            self._add_number(tokens[numerals[row]], len(bags), len(bags) + 1, row, 0)
            bags.append(words[max(0, place - HEADER_WORDS) : place])
            bags.append(words[place : place + HEADER_WORDS])
        return self._end_table(bags)

    def add_view(self, tables: Iterable[int]) -> None:
        """What the next paragraph has in view."""
        self._views.extend(tables)
        self._view_offsets.append(len(self._views))

    def finish(self, tables: Sequence[Table] | None = None) -> SightColumns:
        numerals, *places = self._numbers
        rows, columns, cell_rows, cell_columns = (
            np.array(values, dtype=np.int16) for values in places
        )
        return SightColumns(
            bags=join_words(self._bags, self._words),
            words=list(self._words),
            numerals=list(self._numerals),
            number_offsets=np.array(self._number_offsets, dtype=np.int64),
            number_numerals=np.array(numerals, dtype=np.int32),
            number_rows=rows,
            number_columns=columns,
            cell_rows=cell_rows,
            cell_columns=cell_columns,
            bag_offsets=np.array(self._bag_offsets, dtype=np.int64),
            view_offsets=np.array(self._view_offsets, dtype=np.int64),
            views=np.array(self._views, dtype=np.int32),
            tables=None if tables is None else tuple(tables),
            rules=None if tables is None else self.texts.rules,
        )

    def _add_number(self, numeral: str, *places: int) -> None:
        code = self._numerals.setdefault(numeral, len(self._numerals))
        for column, value in zip(self._numbers, (code, *places), strict=True):
            column.append(value)

    def _end_table(self, bags: list[list[str]]) -> int:
        self.sizes.append(len(self._numbers[0]) - self._number_offsets[-1])
        self._number_offsets.append(len(self._numbers[0]))
        self._bags += bags
        self._bag_offsets.append(len(self._bags))
        return len(self._bag_offsets) - 2


def columns_of_texts(
    tables: Sequence[Sequence[Table]], rules: ReadingRules = DEFAULT_RULES
) -> SightColumns:
    """Texts with the tables that each has in view, as columns. A table of several is there once."""
    builder = ColumnsBuilder(rules)
    added: dict[int, int] = {}  # by identity
    distinct: list[Table] = []
    for of_text in tables:
        for table in of_text:
            if id(table) not in added:
                added[id(table)] = builder.add_table(table)
                distinct.append(table)
        builder.add_view(within_view((added[id(table)] for table in of_text), builder.sizes))
    return builder.finish(distinct)


def within_view(tables: Iterable[int], sizes: Sequence[int]) -> list[int]:
    """Of some tables, in their order, those whose numbers fit in view; without numbers, none."""
    left = MAX_NUMBERS
    found = []
    for table in islice(tables, MAX_VIEWS):
        if 0 < sizes[table] <= left:
            left -= sizes[table]
            found.append(table)
    return found
