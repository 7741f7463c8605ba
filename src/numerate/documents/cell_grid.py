"""Tables as rectangles: a cell that spans columns or rows is repeated in each."""

from typing import NamedTuple

MAX_SPAN = 200
"""No real cell spans more; a larger number is a mistake or an attack on memory."""
MAX_AREA = 1_000_000
"""Cells of one table, spans repeated. Where spans claim more, they are ignored."""


class SpanningCell(NamedTuple):
    text: str
    columns: str | None  # the spans as written in the source
    rows: str | None


class Grid(NamedTuple):
    """Header and body as rectangles, and which cells repeat one that spans them (see `Table`)."""

    header: list[list[str]]
    body: list[list[str]]
    repeated: frozenset[tuple[int, int]]


def cell_grid(header: list[list[SpanningCell]], body: list[list[SpanningCell]]) -> Grid:
    above, repeated_above = _rectangle(header)
    below, repeated_below = _rectangle(body)
    repeated_above = [(row - len(above), column) for row, column in repeated_above]
    return Grid(above, below, frozenset([*repeated_above, *repeated_below]))


def _rectangle(rows: list[list[SpanningCell]]) -> tuple[list[list[str]], list[tuple[int, int]]]:
    area = sum(_span(cell.columns) * _span(cell.rows) for cells in rows for cell in cells)
    if area > MAX_AREA:
        return [[cell.text for cell in cells] for cells in rows], []
    grid: list[list[str]] = []
    repeated: list[tuple[int, int]] = []
    carried: _Carried = {}
    for cells in rows:
        row: list[str] = []
        following: _Carried = {}
        again: list[int] = []
        for cell in cells:
            again += _take_carried(carried, row, following)
            again += range(len(row) + 1, len(row) + _span(cell.columns))
            for _ in range(_span(cell.columns)):
                if _span(cell.rows) > 1:
                    following[len(row)] = (cell.text, _span(cell.rows) - 1)
                row.append(cell.text)
        again += _take_carried(carried, row, following)
        repeated += [(len(grid), column) for column in again]
        grid.append(row)
        carried = following
    return grid, repeated


_Carried = dict[int, tuple[str, int]]  # column -> text and rows it still covers


def _take_carried(carried: _Carried, row: list[str], following: _Carried) -> range:
    """The cells from above that come next in a row: in which columns."""
    first = len(row)
    while len(row) in carried:
        text, left = carried.pop(len(row))
        if left > 1:
            following[len(row)] = (text, left - 1)
        row.append(text)
    return range(first, len(row))


def _span(written: str | None) -> int:
    if written is None:  # as of most cells
        return 1
    try:
        return min(max(int(written or 1), 1), MAX_SPAN)
    except ValueError:
        return 1
