"""Which rows of a table of a PDF are its header, and which columns its headings are for."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from numerate.documents.pdf.cells import CellGrid
from numerate.documents.pdf.lines import Line
from numerate.documents.pdf.rules import Frame


def header_rule(frame: Frame | None, lines: Sequence[Line]) -> float:
    """Where the header ends, if a rule goes all the way below it."""
    if frame is None or len(frame.across) < 2:
        return -np.inf
    full = frame.across.end - frame.across.start > 0.85 * (frame.right - frame.left)
    for y in sorted(frame.across.at[full].tolist()):
        above = sum(1 for line in lines if line.base < y)
        if above and y > lines[0].base:
            return float(y) if above < len(lines) and above <= 12 else -np.inf
    return -np.inf


def bold_at_top(lines: Sequence[Line]) -> float:
    """Where lines end that are bold, if those below them are not."""
    bold = [line.is_bold for line in lines]
    count = bold.index(False) if False in bold else 0
    return lines[count - 1].base if 0 < count < len(lines) - 1 else -np.inf


def header_height(grid: CellGrid, frame: Frame | None) -> int:
    """How many rows at the top are above the first rule that goes all the way, or bold."""
    lines = [line for row in grid.rows for block in row for line in block.lines]
    lines.sort(key=lambda line: line.base)
    end = header_rule(frame, lines)
    above = [max(block.lines[-1].base for block in row) < end for row in grid.rows]
    count = above.index(False) if False in above else 0
    bold = [
        all(line.is_bold for block in row for line in block.lines)
        and not (number and len(row) == 1 < len(grid.rows[number - 1]))  # the title of a part
        for number, row in enumerate(grid.rows)
    ]
    bolds = bold.index(False) if False in bold else 0
    if frame is not None and len(frame.down) and bolds:
        return bolds
    while 0 < count < len(grid.rows) - 1 and _goes_on_below(grid, count, frame):
        count += 1
    return max(count, bolds) if count < len(grid.rows) else bolds


def _goes_on_below(grid: CellGrid, count: int, frame: Frame | None) -> bool:
    """Whether headings span others in the next row, which has a rule of its own below it."""
    filled = sum(1 for block in grid.rows[count - 1] if block.first)
    row, after = grid.rows[count], grid.rows[count + 1]
    if frame is None or filled >= sum(1 for block in row if block.first):
        return False
    bottom, top = max(b.bottom for b in row), min(b.top for b in after)
    return bool(((frame.across.at > bottom - 3) & (frame.across.at < top + 3)).any())


def fold_header(grid: CellGrid) -> None:
    """The heading of the labels may stand between the rows of others: it is of the row below."""
    row = 0
    while row < grid.header - 1:
        here, below = grid.rows[row : row + 2]
        if len(here) == 1 and here[0].last == 0 and all(block.first > 0 for block in below):
            below.insert(0, here[0])
            del grid.rows[row]
            grid.header -= 1
        else:
            row += 1


def widen_headings(grid: CellGrid) -> None:
    """A heading of several columns may stand above some of them only: it has those that are empty
    beside it and filled in the row below, to its right where headings begin with their columns,
    else the nearest."""
    for above, below in pairwise(grid.rows[: grid.header]):
        filled = {column for b in below for column in range(b.first, b.last + 1)}
        taken = {column for b in above for column in range(b.first, b.last + 1)}
        taken |= {column for b in above if b.rows > 1 for column in range(b.first, b.last + 1)}
        spanning = [block for block in above if block.first > 0 and block.rows == 1]
        starts = {block.first: block.lines[0].left for block in below}
        flush = all(
            abs(starts.get(block.first, np.inf) - block.lines[0].left) < 0.5 * block.lines[0].size
            for block in spanning
        )
        for column in range(1, grid.columns):
            if column in taken or column not in filled or not spanning:
                continue
            middle = next(b for b in below if b.first <= column <= b.last).lines[0]
            before = [block for block in spanning if block.last == column - 1]
            after = [block for block in spanning if block.first > column]
            near = [*before, *([] if flush else after[:1])]
            if not near:
                continue
            best = min(near, key=lambda block: _between(block.lines[0], middle))
            if best in before:
                best.last = column
            elif all(other not in taken for other in range(column, best.first)):
                best.first = column
            taken.add(column)


def _between(one: Line, other: Line) -> float:
    return abs(one.left + one.right - other.left - other.right) / 2
