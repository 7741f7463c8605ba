"""Tables of Word: rows of cells that are merged by saying that they go on."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from numerate.documents.cell_grid import MAX_SPAN, Grid, SpanningCell, cell_grid
from numerate.documents.header_rows import split_at, with_header
from numerate.documents.office.xml import child, switch, value
from numerate.documents.xml import Element, local_name

_WITHIN = {"sdt", "sdtContent", "customXml", "ins", "moveTo"}


class _Cell(NamedTuple):
    element: Element | None  # none where a row begins further to the right
    first: int  # column
    width: int
    goes_on: bool  # it is a part of the one above


class WordTable:
    def __init__(self, table: Element) -> None:
        self._rows = [_cells(row) for row in rows_of(table)]
        self._heights = _heights(self._rows)
        self._marked = 0  # rows at the top that are repeated on every page
        for row in rows_of(table):
            properties = child(row, "trPr")
            if properties is None or not switch(properties, "tblHeader"):
                break
            self._marked += 1

    @property
    def area(self) -> int:
        """How many cells its grid has; a few bytes may claim very many."""
        return sum(
            cell.width * self._heights.get((number, cell.first), 0)
            for number, row in enumerate(self._rows)
            for cell in row
        )

    def grid(self, text_of: Callable[[Element], str]) -> Grid:
        heights = self._heights
        spanning = [
            [
                SpanningCell(
                    "" if cell.element is None else text_of(cell.element),
                    str(cell.width),
                    str(heights[number, cell.first]),
                )
                for cell in row
                if (number, cell.first) in heights
            ]
            for number, row in enumerate(self._rows)
        ]
        grid = cell_grid([], spanning)
        if not self._marked:
            return with_header(grid)
        reaches = (row + height for (row, _), height in heights.items() if row < self._marked)
        reach = max(reaches, default=0)
        return split_at(grid, reach if reach < len(self._rows) else self._marked)


def rows_of(table: Element) -> Iterator[Element]:
    """Without those that a tracked change deletes."""
    for row in _inside(table, "tr"):
        properties = child(row, "trPr")
        if properties is None or (
            child(properties, "del") is None and not switch(properties, "hidden")
        ):
            yield row


def cells_of(row: Element) -> Iterator[Element]:
    for cell in _inside(row, "tc"):
        properties = child(cell, "tcPr")
        if properties is None or child(properties, "cellDel") is None:
            yield cell


def _inside(parent: Element, name: str) -> Iterator[Element]:
    for one in parent:
        if local_name(one) == name:
            yield one
        elif local_name(one) in _WITHIN:
            yield from _inside(one, name)


def _cells(row: Element) -> list[_Cell]:
    properties = child(row, "trPr")
    before = 0 if properties is None else _number(properties, "gridBefore", 0)
    found = [_Cell(None, 0, before, False)] if before else []
    at = before
    for element in cells_of(row):
        properties = child(element, "tcPr")
        width, goes_on = 1, False
        if properties is not None:
            width = _number(properties, "gridSpan", 1)
            merged = child(properties, "vMerge")
            goes_on = merged is not None and value(merged) != "restart"
            beside = child(properties, "hMerge")
            if beside is not None and value(beside) != "restart" and found:
                found[-1] = found[-1]._replace(width=min(found[-1].width + width, MAX_SPAN))
                at += width
                continue
        found.append(_Cell(element, at, width, goes_on))
        at += width
    return found


def _number(properties: Element, name: str, usual: int) -> int:
    found = child(properties, name)
    written = "" if found is None else value(found)
    return min(max(int(written[:9]), usual), MAX_SPAN) if written.isdecimal() else usual


def _heights(rows: list[list[_Cell]]) -> dict[tuple[int, int], int]:
    """Of each cell that is not a part of one above: by row and column, how many rows it spans."""
    heights: dict[tuple[int, int], int] = {}
    above: dict[int, tuple[int, int]] = {}  # by column: which cell reaches down to the last row
    for number, row in enumerate(rows):
        reaching: dict[int, tuple[int, int]] = {}
        for cell in row:
            origin = above.get(cell.first) if cell.goes_on else None
            if origin is None or number - origin[0] >= MAX_SPAN:
                origin = (number, cell.first)
                heights[origin] = 1
            else:
                heights[origin] += 1
            reaching[cell.first] = origin
        above = reaching
    return heights
