"""Tables of word processors: rows of cells that are merged by saying that they go on."""

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from numerate.documents.cell_grid import MAX_SPAN, Grid, SpanningCell, cell_grid
from numerate.documents.header_rows import split_at, with_header

Content = TypeVar("Content")


class MergedCell(NamedTuple, Generic[Content]):
    content: Content | None  # none where a row begins further to the right
    first: int  # column
    width: int
    goes_on: bool  # it is a part of the one above


class MergedTable(Generic[Content]):
    def __init__(self, rows: list[list[MergedCell[Content]]], marked: int = 0) -> None:
        self._rows = rows
        self._heights = _heights(rows)
        self.marked = marked  # rows at the top that are repeated on every page

    @property
    def area(self) -> int:
        """How many cells its grid has; a few bytes may claim very many."""
        return sum(
            cell.width * self._heights.get((number, cell.first), 0)
            for number, row in enumerate(self._rows)
            for cell in row
        )

    def grid(self, text_of: Callable[[Content], str]) -> Grid:
        heights = self._heights
        spanning = [
            [
                SpanningCell(
                    "" if cell.content is None else text_of(cell.content),
                    str(cell.width),
                    str(heights[number, cell.first]),
                )
                for cell in row
                if (number, cell.first) in heights
            ]
            for number, row in enumerate(self._rows)
        ]
        grid = cell_grid([], spanning)
        if not self.marked:
            return with_header(grid)
        reaches = (row + height for (row, _), height in heights.items() if row < self.marked)
        reach = max(reaches, default=0)
        return split_at(grid, reach if reach < len(self._rows) else self.marked)


def _heights(rows: list[list[MergedCell[Content]]]) -> dict[tuple[int, int], int]:
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
