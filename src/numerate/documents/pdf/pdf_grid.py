"""The cells of a table of a PDF, told by rules and by white space."""

from collections.abc import Sequence

from numerate.documents.pdf.pdf_cell_columns import column_edges, cut_at_columns, space_in_cells
from numerate.documents.pdf.pdf_cell_headings import fold_header, header_height, widen_headings
from numerate.documents.pdf.pdf_cell_rows import row_edges, ruled_rows, spaced_rows
from numerate.documents.pdf.pdf_cells import CellGrid
from numerate.documents.pdf.pdf_lines import Words, lines_of
from numerate.documents.pdf.pdf_rules import Frame


def grid_of(words: Words, frame: Frame | None, before: CellGrid | None = None) -> CellGrid | None:
    """None where no columns can be told; of a table that goes on from `before`, they are known."""
    lines = lines_of(words)
    if len(lines) < 2:
        return None
    edges = column_edges(lines, words, frame)
    if before is not None and len(edges) < len(before.edges) and _fits(words, before.edges):
        edges = before.edges
    if len(edges) < 3:
        return None
    space = space_in_cells(lines)
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


def _fits(words: Words, edges: Sequence[float]) -> bool:
    left, right = float(words.left.min()), float(words.right.max())
    return abs(left - edges[0]) < 12 and abs(right - edges[-1]) < 40
