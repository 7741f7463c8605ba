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


def cell_grid(rows: list[list[SpanningCell]]) -> list[list[str]]:
    area = sum(_span(cell.columns) * _span(cell.rows) for cells in rows for cell in cells)
    if area > MAX_AREA:
        return [[cell.text for cell in cells] for cells in rows]
    grid: list[list[str]] = []
    carried: _Carried = {}
    for cells in rows:
        row: list[str] = []
        following: _Carried = {}
        for cell in cells:
            _take_carried(carried, row, following)
            for _ in range(_span(cell.columns)):
                if _span(cell.rows) > 1:
                    following[len(row)] = (cell.text, _span(cell.rows) - 1)
                row.append(cell.text)
        _take_carried(carried, row, following)
        grid.append(row)
        carried = following
    return grid


_Carried = dict[int, tuple[str, int]]  # column -> text and rows it still covers


def _take_carried(carried: _Carried, row: list[str], following: _Carried) -> None:
    while len(row) in carried:
        text, left = carried.pop(len(row))
        if left > 1:
            following[len(row)] = (text, left - 1)
        row.append(text)


def _span(written: str | None) -> int:
    try:
        return min(max(int(written or 1), 1), MAX_SPAN)
    except ValueError:
        return 1
