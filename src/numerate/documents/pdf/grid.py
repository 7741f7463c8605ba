"""The cells of a table of a PDF, told by rules and by white space."""

from collections.abc import Sequence

import numpy as np

from numerate.documents.pdf.cell_columns import column_edges, cut_at_columns, space_in_cells
from numerate.documents.pdf.cell_headings import fold_header, header_height, widen_headings
from numerate.documents.pdf.cell_rows import row_edges, ruled_rows, spaced_rows
from numerate.documents.pdf.cells import NUMBER, CellGrid
from numerate.documents.pdf.lines import Line, Words, lines_of
from numerate.documents.pdf.rules import Frame


def grid_of(words: Words, frame: Frame | None, before: CellGrid | None = None) -> CellGrid | None:
    """None where no columns can be told; of a table that goes on from `before`, they are known."""
    lines = lines_of(words)
    if len(lines) < 2 and before is None:
        return None
    edges = column_edges(lines, words, frame)
    space = space_in_cells(lines)
    if before is not None and len(edges) < len(before.edges) and _fits(words, before.edges):
        by_line = [cut_at_columns(line, 0, before.edges, space) for line in lines]
        spanning = sum(any(one.first < one.last for one in some) for some in by_line)
        edges = before.edges if 4 * spanning <= len(lines) else edges
    if len(edges) < 3:
        return None
    pieces = [
        piece
        for number, line in enumerate(lines)
        for piece in cut_at_columns(line, number, edges, space)
    ]
    bands = row_edges(frame, lines, pieces)
    if frame is None or bands is None:
        grid = spaced_rows(pieces, edges)
    else:
        grid = ruled_rows(pieces, edges, bands, frame.across)
    grid.rows = [row for row in grid.rows if row]
    grid.header = header_height(grid, frame)
    fold_header(grid)
    widen_headings(grid)
    return grid


def are_rows_of(table: CellGrid, lines: Sequence[Line]) -> bool:
    """Whether each line has one cell in every column of a table, and the last has numbers in most:
    the header may stand there again."""
    numbers = 0
    for line in lines:
        cells = cut_at_columns(line, 0, table.edges, space_in_cells([line]))
        if [(cell.first, cell.last) for cell in cells] != [(at, at) for at in range(table.columns)]:
            return False
        numbers = sum(NUMBER.match(cell.lines[0].text) is not None for cell in cells)
    return 2 * numbers > table.columns and _fits(words_in(lines), table.edges)


def words_in(lines: Sequence[Line]) -> Words:
    """Put the words of some lines together."""
    parts = [line.words for line in lines]
    names = Words.__slots__[1:]
    return Words(
        parts[0].glyphs,
        *(np.concatenate([getattr(part, name) for part in parts]) for name in names),
    )


def _fits(words: Words, edges: Sequence[float]) -> bool:
    left, right = float(words.left.min()), float(words.right.max())
    return abs(left - edges[0]) < 12 and abs(right - edges[-1]) < 40
