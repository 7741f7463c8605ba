"""Tables read from markup whose cells know where they stand in the source."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from numerate.documents.cell_grid import Grid, SpanningCell, cell_grid
from numerate.documents.flow import REF
from numerate.documents.placed_text import PlacedText, Places

NOTHING = PlacedText("", ())
_LABEL = re.compile(rf"Table (?:{REF}|[A-Z]?[0-9]+)[\s.:—–-]*", re.IGNORECASE)


class PlacedCell(NamedTuple):
    content: PlacedText
    columns: int = 1  # that it spans
    rows: int = 1


@dataclass(slots=True)
class PlacedSource:
    """The way back from every cell, the caption and the notes."""

    stretch: tuple[int, int]  # of the whole table
    cells: dict[tuple[int, int], Places] = field(default_factory=dict)
    caption: Places = ()
    notes: Places = ()

    @property
    def stretches(self) -> list[tuple[int, int]]:
        return [self.stretch]

    def span(self, row: int | None, column: int | None, start: int, end: int) -> tuple[int, int]:
        if row is None or column is None:
            return _span(self.caption, start, end)
        return _span(self.cells[row, column], start, end)

    def span_of_notes(self, start: int, end: int) -> tuple[int, int] | None:
        return _span(self.notes, start, end) if self.notes else None

    def moved(self, by: int) -> "PlacedSource":
        """The same for a source of which this is a part."""
        start, end = self.stretch
        cells: dict[tuple[int, int], Places] = {
            cell: [by + at for at in places] for cell, places in self.cells.items()
        }
        caption, notes = [by + at for at in self.caption], [by + at for at in self.notes]
        return PlacedSource((by + start, by + end), cells, caption, notes)


def _span(places: Places, start: int, end: int) -> tuple[int, int]:
    first, last = places[start], places[max(start, end - 1)]
    return first, max(first, last) + 1


Rows = Sequence[Sequence[PlacedCell]]


def placed_grid(header: Rows, body: Rows) -> tuple[Grid, dict[tuple[int, int], Places]]:
    """As `cell_grid` has it, and the places of each cell that is not empty."""
    contents = [cell.content for row in [*header, *body] for cell in row]
    texts = cell_grid(_spanning(header), _spanning(body))
    number = iter(range(len(contents)))
    # The same with the numbers of the cells instead of their texts says which stands where.
    numbers = cell_grid(_spanning(header, number), _spanning(body, number))
    places = {
        (index - len(numbers.header), column): contents[int(cell)].places
        for index, row in enumerate([*numbers.header, *numbers.body])
        for column, cell in enumerate(row)
        if contents[int(cell)].text
    }
    return texts, places


def _spanning(rows: Rows, numbers: Iterable[int] | None = None) -> list[list[SpanningCell]]:
    number = None if numbers is None else iter(numbers)
    return [
        [
            SpanningCell(
                cell.content.text if number is None else str(next(number)),
                str(cell.columns),
                str(cell.rows),
            )
            for cell in row
        ]
        for row in rows
    ]


def after_label(caption: PlacedText) -> PlacedText:
    """Without the number of the table that it begins with."""
    label = _LABEL.match(caption.text)
    return caption.part(label.end(), len(caption.text)) if label else caption
