"""Rows of tables as lines of text, by which a model learns, and is asked, what stands in a cell.

    Age (years), mean (SD); Placebo: 51 (9.8); Losartan: 49 (10.2)

A line is read with the rest of its table in sight: all of it but this row. Its cells may come in
any order, so that one line asks for a cell given any of the others: the one that is wanted is last.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from numerate.documents.document import Document, Paragraph, Table
from numerate.text.reading_rules import ReadingRules
from numerate.text.table_numbers import CellTexts
from numerate.text.tokenizer import DEFAULT_RULES

MAX_ROWS = 8  # of a table, by chance: each has a view of its own
BETWEEN = "; "


@dataclass(frozen=True, slots=True)
class RowLine:
    """A row of a table with the cells that hold numbers."""

    row: int  # of the body, from 0
    label: str  # what it is: the heading above it, and its first cell
    columns: tuple[int, ...]  # those with numbers
    headers: tuple[str, ...]  # of every column
    texts: tuple[str, ...]  # of every column

    def text(self, columns: Sequence[int]) -> str:
        """The line, with these cells in this order."""
        cells = [f"{self._header(column)}{self.texts[column]}" for column in columns]
        return BETWEEN.join(filter(None, [self.label, *cells]))

    def before(self, column: int) -> str:
        """The line up to a cell, which is its last."""
        others = [other for other in self.columns if other != column]
        line = self.text(others)
        return f"{line}{BETWEEN if line else ''}{self._header(column)}"

    def _header(self, column: int) -> str:
        return f"{self.headers[column]}: " if self.headers[column] else ""


def row_lines(table: Table, rules: ReadingRules = DEFAULT_RULES) -> Iterator[RowLine]:
    """Every row that says what it is; those without numbers too."""
    cells = CellTexts(rules)
    width = max(map(len, [*table.header, *table.body]), default=0)
    headers = tuple(_column_header(table, column) for column in range(width))
    section, first = "", ""
    for row, texts in enumerate(table.body):
        own = texts[0] if texts else ""
        if own and all(text in ("", own) for text in texts[1:]) and not cells.numbers(own):
            section, first = own, ""
            continue
        first = own or first
        padded = (*texts, *[""] * (width - len(texts)))
        columns = tuple(
            column
            for column, text in enumerate(texts)
            if column and cells.numbers(text) and (row, column) not in table.repeated
        )
        label = ", ".join(filter(None, [section, first]))
        yield RowLine(row, label, columns, headers, padded)


def _column_header(table: Table, column: int) -> str:
    above = dict.fromkeys(cells[column] for cells in table.header if column < len(cells))
    return " ".join(filter(None, above))


def without_row(table: Table, row: int) -> Table:
    """The table as it is in sight of a line of it: the row says what it is, and no more."""
    body = list(table.body)
    body[row] = [*body[row][:1], *[""] * (len(body[row]) - 1)]
    return replace(table, id=f"{table.id} but row {row}", body=body)


def rows_of_document(document: Document, rules: ReadingRules) -> Document:
    """Rows with numbers as paragraphs, their cells in any order, which refer to the table without
    the row. What is drawn depends on the document alone."""
    seed = int.from_bytes(hashlib.sha256(document.id.encode()).digest()[:8])
    generator = np.random.default_rng(seed)
    paragraphs, tables = [], []
    for table in document.tables:
        lines = [line for line in row_lines(table, rules) if line.columns]
        for index in sorted(generator.permutation(len(lines))[:MAX_ROWS].tolist()):
            line = lines[index]
            seen = without_row(table, line.row)
            text = line.text(generator.permutation(line.columns).tolist())
            paragraphs.append(Paragraph(text, tables=(seen.id,)))
            tables.append(seen)
    return Document(document.name, paragraphs, tables, id=document.id)
