"""Rows of a table of a PDF: between rules, or by how far apart lines stand."""

from collections.abc import Sequence

import numpy as np

from numerate.documents.pdf.cells import NUMBER, Block, CellGrid
from numerate.documents.pdf.lines import Line
from numerate.documents.pdf.page import Rules
from numerate.documents.pdf.rules import Frame

_LOOSE = 1.06  # times the distance of lines in a cell: that of lines in two
_NEAR = 0.45  # em of white space between lines of one cell, at most


def row_edges(
    frame: Frame | None, lines: Sequence[Line], pieces: Sequence[Block]
) -> list[float] | None:
    """Edges of rows, where rules separate them all."""
    if frame is None:
        return None
    kept = [frame.top]
    for y in [*np.unique(np.round(frame.across.at)).tolist(), frame.bottom]:
        if y - kept[-1] > 3:
            kept.append(y)
    if len(kept) < 3:
        return None
    kept[0], kept[-1] = min(kept[0], lines[0].top - 1), max(kept[-1], lines[-1].bottom + 1)
    rows = np.searchsorted(kept, [lines[number].base for number in _lines_with_numbers(pieces)])
    if len(rows) != len(set(rows.tolist())):
        return None
    return kept if len(frame.down) or len(rows) > 1 else None


def _lines_with_numbers(pieces: Sequence[Block]) -> list[int]:
    """Those that are rows by themselves, with a label and numbers."""
    labelled = {piece.number for piece in pieces if piece.first == 0}
    numbers = {p.number for p in pieces if p.first > 0 and NUMBER.match(p.lines[0].text)}
    return sorted(labelled & numbers)


def ruled_rows(
    pieces: Sequence[Block], edges: list[float], bands: Sequence[float], across: Rules
) -> CellGrid:
    """Rows between rules; a cell without a rule below it goes on in the next row."""
    home: dict[tuple[int, int], Block] = {}
    grid = CellGrid(edges, [[] for _ in range(len(bands) - 1)])
    for piece in pieces:
        line = piece.lines[0]
        row = int(np.searchsorted(bands, (line.top + line.bottom) / 2).clip(1, len(bands) - 1)) - 1
        while row > 0 and not _is_closed(across, bands[row], edges, piece):
            row -= 1
        key = (row, piece.first)
        if key in home:
            home[key].lines += piece.lines
            home[key].last = max(home[key].last, piece.last)
            continue
        end = row + 1
        while end < len(bands) - 1 and not _is_closed(across, bands[end], edges, piece):
            end += 1
        piece.rows = end - row
        home[key] = piece
        grid.rows[row].append(piece)
    for row_of in grid.rows:
        row_of.sort(key=lambda block: block.first)
    return grid


def _is_closed(across: Rules, y: float, edges: Sequence[float], piece: Block) -> bool:
    middle = (edges[piece.first] + edges[piece.last + 1]) / 2
    near = np.abs(across.at - y) < 3
    return bool((near & (across.start < middle) & (across.end > middle)).any())


def spaced_rows(pieces: Sequence[Block], edges: list[float]) -> CellGrid:
    """Rows by white space: lines of one cell stand nearer to each other than cells do."""
    blocks = _blocks(pieces, len(edges) - 1)
    grid = CellGrid(edges)
    for group in _groups(blocks):
        grid.rows += _rows(group)
    _join_continued(grid)
    return grid


def _blocks(pieces: Sequence[Block], columns: int) -> list[Block]:
    """Lines of one cell put together."""
    reach = _reach_of_cells(pieces, columns)
    found: list[Block] = []
    for piece in sorted(pieces, key=lambda one: (one.lines[0].base, one.lines[0].left)):
        line = piece.lines[0]
        above = [
            block
            for block in found[-60:]
            if block.first <= piece.last
            and piece.first <= block.last
            and line.base - block.lines[-1].base <= max(reach, 0.5 * line.size)
        ]
        if above and above[-1].lines[-1].is_bold == line.is_bold:
            home = above[-1]
            home.lines.append(line)
            home.first, home.last = min(home.first, piece.first), max(home.last, piece.last)
        else:
            found.append(piece)
    return sorted(found, key=lambda block: (block.top, block.first))


def _reach_of_cells(pieces: Sequence[Block], columns: int) -> float:
    """How far apart two lines of one cell may be; 0 where every line is a row of its own.

    Lines below each other that have a label and fill most columns with numbers are two rows. The
    nearest lines of all are of one cell, unless these rows are as near.
    """
    by_line: dict[int, dict[int, Line]] = {}
    for piece in pieces:
        for column in range(piece.first, piece.last + 1):
            by_line.setdefault(piece.number, {})[column] = piece.lines[0]
    of_rows, of_any = [], []
    above: dict[int, tuple[float, bool]] = {}
    for _, cells in sorted(by_line.items()):
        numbers = sum(NUMBER.match(line.text) is not None for line in cells.values())
        is_row = 0 in cells and numbers > 0 and len(cells) > 0.6 * columns
        for column, line in cells.items():
            if column in above:
                last, was_row = above[column]
                if line.base - last > 0.9 * line.size:
                    of_any.append(line.base - last)
                    of_rows += [line.base - last] * (is_row and was_row)
            above[column] = (line.base, is_row)
    if not of_any or max(of_any) <= _LOOSE * min(of_any):
        return 0.0
    reach = _LOOSE * min(of_any)
    return reach if reach < min(of_rows, default=np.inf) else 0.0


def _groups(blocks: Sequence[Block]) -> list[list[Block]]:
    """Blocks that stand beside each other, directly or through others."""
    groups: list[list[Block]] = []
    reach = -np.inf
    for block in blocks:
        if groups and block.top < reach - 0.3 * block.lines[0].size:
            groups[-1].append(block)
            reach = max(reach, block.bottom)
        else:
            groups.append([block])
            reach = block.bottom
    return groups


def _rows(group: Sequence[Block]) -> list[list[Block]]:
    """Of blocks side by side; where a column has several, these are the rows, and others span."""
    by_column: dict[int, list[Block]] = {}
    for block in group:
        by_column.setdefault(block.first, []).append(block)
    anchor = max(by_column.values(), key=len)
    if len(anchor) == 1:
        return [sorted(group, key=lambda block: block.first)]
    rows: list[list[Block]] = [[] for _ in anchor]
    for some in by_column.values():
        for block in some:
            over = [min(block.bottom, a.bottom) - max(block.top, a.top) for a in anchor]
            touched = [
                index for index, shared in enumerate(over) if shared > 0.3 * block.lines[0].size
            ]
            first = touched[0] if touched else int(np.argmax(over))
            block.rows = len(touched) if len(touched) > 1 else 1
            rows[first].append(block)
    for row in rows:
        row.sort(key=lambda block: block.first)
    return rows


def _join_continued(grid: CellGrid) -> None:
    """What white space did not tell: a label or a cell may go on in the line below it."""
    rows: list[list[Block]] = []
    for row in filter(None, grid.rows):
        above = rows[-1] if rows else []
        pairs = [(next((b for b in above if _overlap(b, one)), None), one) for one in row]
        near = above and min(one.top for one in row) - max(b.bottom for b in above) < _NEAR * (
            row[0].lines[0].size
        )
        if near and any(before is not None and _goes_on(before, one) for before, one in pairs):
            for before, one in pairs:
                if before is None:
                    above.append(one)
                else:
                    before.lines += one.lines
            above.sort(key=lambda block: block.first)
            continue
        rows.append(row)
    grid.rows = rows


def _overlap(one: Block, other: Block) -> bool:
    return one.first <= other.last and other.first <= one.last


def _goes_on(above: Block, below: Block) -> bool:
    """Whether a cell ends in the line below it: brackets say so, and words in lower case."""
    before = " ".join(line.text for line in above.lines).rstrip()
    after = below.lines[0].text.lstrip()
    if below.first == 0:
        return after[:1].islower() and after[1:2] not in (".", ")", "")
    open_ones = sum(before.count(sign) for sign in "([") - sum(before.count(s) for s in ")]")
    return open_ones > 0 or before.endswith(("–", "±", "/", " to")) or after.startswith("to ")
