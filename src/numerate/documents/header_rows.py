"""Which rows of a table are its header, where its source does not say so."""

import re
from itertools import pairwise

from numerate.documents.cell_grid import Grid

MAX_HEADER = 3  # rows

_YEAR = re.compile(r"(?:19|20)[0-9]{2}")


def with_header(grid: Grid) -> Grid:
    """The same with its header told from its body, if nothing told it before."""
    return grid if grid.header else split_at(grid, header_rows(grid.body, grid.repeated))


def split_at(grid: Grid, height: int) -> Grid:
    """The same, all of it a body until now, with so many rows of it as its header."""
    repeated = frozenset((row - height, column) for row, column in grid.repeated)
    return Grid(grid.body[:height], grid.body[height:], repeated)


def header_rows(rows: list[list[str]], repeated: frozenset[tuple[int, int]] = frozenset()) -> int:
    """How many rows at the top say what the columns are, and leave others below them.

    The first does unless most of its cells begin with a digit and its corner is filled; those after
    it do while they have no number, and begin with an empty cell or stand under cells that span:
    empty ones, equal neighbours; and while the corner, by what is repeated, reaches down to them.
    """
    if len(rows) < 2 or not is_heading(rows[0]):
        return 0
    height = 1
    while height < min(MAX_HEADER, len(rows) - 1):
        above, row = rows[height - 1][1:], rows[height]
        spans = "" in above or any(a == b for a, b in pairwise(above))
        has_number = any(character.isdigit() for cell in row for character in cell)
        is_below = (spans or not any(row[:1])) and not has_number and any(row[1:])
        if not is_below and (height, 0) not in repeated:
            break
        height += 1
    return height


def is_heading(row: list[str]) -> bool:
    beginnings = [next(filter(str.isalnum, cell), "") for cell in row]
    digits = sum(map(str.isdigit, beginnings))
    letters = sum(map(str.isalpha, beginnings))
    if row[1:] and all(map(_YEAR.fullmatch, row[1:])) and not beginnings[0].isdigit():
        return row[1:] == sorted(set(row[1:]))
    return letters > digits or (bool(letters) and not row[0])
