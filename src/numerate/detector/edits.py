"""Errors put into texts and tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from numerate.documents.document import Table
from numerate.text.reading_rules import ReadingRules
from numerate.text.table_numbers import numbers_in_sight
from numerate.text.tokenizer import DEFAULT_RULES


@dataclass(frozen=True, slots=True)
class Edit:
    """An error: in which of the numerals, of which kind, and what is written there instead."""

    index: int
    kind: str
    written: str
    numeral: str  # the same, normalised


def apply(
    text: str, spans: Sequence[tuple[int, int]], edits: Iterable[Edit]
) -> tuple[str, list[tuple[int, int]]]:
    """A text with errors, and where its numerals, at `spans` before, stand now."""
    instead = {edit.index: edit.written for edit in edits}
    parts: list[str] = []
    found: list[tuple[int, int]] = []
    last = length = 0
    for index, (start, end) in enumerate(spans):
        written = instead.get(index, text[start:end])
        parts += [text[last:start], written]
        length += start - last + len(written)
        found.append((length - len(written), length))
        last = end
    return "".join([*parts, text[last:]]), found


def apply_to_table(
    table: Table, edits: Iterable[Edit], rules: ReadingRules = DEFAULT_RULES
) -> Table:
    """A table with errors; where a cell spans others, all that repeat it have them."""
    wrong = replace(table, header=[*map(list, table.header)], body=[*map(list, table.body)])
    numbers = numbers_in_sight(table, rules)
    by_cell: dict[tuple[int, int], list[Edit]] = {}
    for edit in edits:
        number = numbers[edit.index]
        by_cell.setdefault((number.row, number.column), []).append(edit)
    for (row, column), some in by_cell.items():
        text = cell_text(table, row, column)
        for edit in sorted(some, key=lambda edit: -edit.index):  # from the right
            number = numbers[edit.index]
            text = text[: number.start] + edit.written + text[number.end :]
        for cell_row, cell_column in _span(table, row, column):
            _row(wrong, cell_row)[cell_column] = text
    return wrong


def _row(table: Table, row: int) -> list[str]:
    return table.body[row] if row >= 0 else table.header[row]


def cell_text(table: Table, row: int, column: int) -> str:
    return _row(table, row)[column]


def texts_around(table: Table, row: int, column: int) -> tuple[str, ...]:
    """The texts of the four cells next to one; equal ones in a header are read as one."""
    top, bottom = -len(table.header), len(table.body)
    rows = [_row(table, other) for other in (row - 1, row + 1) if top <= other < bottom]
    beside = [cells[column] for cells in rows if column < len(cells)]
    cells = _row(table, row)
    return (*beside, *cells[max(0, column - 1) : column], *cells[column + 1 : column + 2])


def _span(table: Table, row: int, column: int) -> list[tuple[int, int]]:
    """The cell and those that repeat it, to its right and below."""
    text, height = cell_text(table, row, column), len(table.header)
    found, waiting = {(row, column)}, [(row, column)]
    while waiting:
        at_row, at_column = waiting.pop()
        for cell in ((at_row, at_column + 1), (at_row + 1, at_column)):
            inside = cell[0] < len(table.body) and cell[1] < len(_row(table, cell[0]))
            if not inside or cell in found or cell_text(table, *cell) != text:
                continue
            if cell in table.repeated or -height <= cell[0] < 0:
                found.add(cell)
                waiting.append(cell)
    return sorted(found)
