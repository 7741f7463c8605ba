"""Tables of Markdown: between bars, in a grid, under dashes; and of HTML within it."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from numerate.documents.cell_grid import MAX_AREA
from numerate.documents.header_rows import header_rows
from numerate.documents.html_cells import HtmlCells
from numerate.documents.markdown.blocks import ALIGNED, GRID, HTML, Block, Line
from numerate.documents.pipe_tables import cell_spans
from numerate.documents.placed_table import NOTHING, PlacedCell, Rows
from numerate.documents.placed_text import PlacedText

_DASHES = re.compile(r"-{2,}")
_RULE = re.compile(r"[ \t]*[-+=:| \t]*-[-+=:| \t]*$")

Show = Callable[[PlacedText], PlacedText]
"""What is shown of a text with marks."""


class MarkdownTable(NamedTuple):
    header: Rows
    body: Rows
    caption: PlacedText | None = None  # where it is a part of the table itself
    written: str = ""
    id: str = ""


def table_of(block: Block, show: Show) -> MarkdownTable:
    if block.kind == HTML:
        (part,) = block.lines
        cells = HtmlCells(part.text, part.at)
        return MarkdownTable(cells.header, cells.body, cells.caption, cells.written, cells.id)
    if block.kind == GRID:
        return _grid(block.lines, show)
    if block.kind == ALIGNED:
        return _aligned(block.lines, show)
    rows = [_pipe_row(line, show) for line in (block.lines[0], *block.lines[2:])]
    width = len(rows[0])
    if width * len(rows) <= MAX_AREA:  # cells may be left out at the end of a row
        rows = [[*row, *[PlacedCell(NOTHING)] * (width - len(row))] for row in rows]
    return MarkdownTable(*_with_spans(rows[:1], rows[1:]))


def _pipe_row(line: Line, show: Show) -> list[PlacedCell]:
    return [PlacedCell(show(line.placed(*span))) for span in cell_spans(line.text)]


def _with_spans(header: list[list[PlacedCell]], body: list[list[PlacedCell]]) -> tuple[Rows, Rows]:
    """Rows that begin with an empty cell may belong to the header, too. Empty cells there belong to
    the filled ones before them, or above: Markdown has no other way to span."""
    texts = [[cell.content.text for cell in row] for row in [*header, *body]]
    width = max(map(len, texts), default=0)
    height = header_rows([row + [""] * (width - len(row)) for row in texts]) if header else 0
    while height > 1 and texts[height - 1][:1] != [""]:
        height -= 1
    if height <= len(header):
        return header, body
    rows = [*header, *body]
    above = rows[:height]
    if any(len(row) != width for row in above):
        return header, body
    spanning: list[list[PlacedCell]] = []
    for number, row in enumerate(above):
        is_last = number == height - 1
        kept: list[PlacedCell] = []
        for column, cell in enumerate(row):
            empty_below = not is_last and not texts[number + 1][column]
            if not cell.content.text and number and texts[number - 1][column] and not column:
                continue  # under a cell that spans rows
            if not cell.content.text and kept and column > 1 and not is_last:
                kept[-1] = kept[-1]._replace(columns=kept[-1].columns + 1)
            else:
                rows_spanned = 2 if empty_below and not column and cell.content.text else 1
                kept.append(cell._replace(rows=rows_spanned))
        spanning.append(kept)
    return spanning, rows[height:]


def _aligned(lines: Sequence[Line], show: Show) -> MarkdownTable:
    """Columns begin and end where dashes do."""
    rules = [index for index, line in enumerate(lines) if _is_rule(line)]
    under = next(index for index in rules if len(_DASHES.findall(lines[index].text)) > 1)
    ruled = set(rules)
    columns = _columns(lines[under].text)
    above = [line for line in lines[:under] if not _is_rule(line)]
    below = [line for index, line in enumerate(lines) if index > under and index not in ruled]
    several = _is_rule(lines[-1])  # lines a row, with blank ones between rows
    header = [_row(above, columns, show)] if above else []
    if several and any(line.is_blank for line in below):
        rows = [_row(some, columns, show) for some in _parted(below)]
    else:
        rows = [_row([line], columns, show) for line in below if not line.is_blank]
    return MarkdownTable(*_with_spans(header, rows))


def _is_rule(line: Line) -> bool:
    return bool(_RULE.match(line.text)) and "|" not in line.text


def _columns(dashes: str) -> list[tuple[int, int]]:
    """Each up to where the next begins."""
    starts = [group.start() for group in _DASHES.finditer(dashes)]
    return list(zip(starts, [*starts[1:], 1 << 30], strict=True))


def _parted(lines: Sequence[Line]) -> list[list[Line]]:
    found: list[list[Line]] = [[]]
    for line in lines:
        if line.is_blank:
            found.append([])
        else:
            found[-1].append(line)
    return [some for some in found if some]


def _row(lines: Sequence[Line], columns: list[tuple[int, int]], show: Show) -> list[PlacedCell]:
    return [PlacedCell(show(_joined(lines, start, end))) for start, end in columns]


def _joined(lines: Sequence[Line], start: int, end: int) -> PlacedText:
    return PlacedText.joined((line.placed(start, end) for line in lines), "\n")


def _grid(lines: Sequence[Line], show: Show) -> MarkdownTable:
    """Borders of a cell are where a line has them; one that is not there is spanned."""
    bounds = sorted(
        {at for line in lines for at, sign in enumerate(line.text) if sign == "+"}
        if all(line.text.strip() for line in lines)
        else set()
    )
    header: list[list[PlacedCell]] = []
    body: list[list[PlacedCell]] = []
    open_: list[Line] = []
    for line in lines:
        if line.text.lstrip().startswith("|"):
            open_.append(line)
            continue
        if open_:
            body.append(_grid_row(open_, bounds, show))
            open_ = []
        if "=" in line.text and not header:
            header, body = body, []
    if open_:
        body.append(_grid_row(open_, bounds, show))
    return MarkdownTable(header, body)


def _grid_row(lines: Sequence[Line], bounds: list[int], show: Show) -> list[PlacedCell]:
    cells: list[PlacedCell] = []
    start, columns = 0, 0
    for left, right in pairwise(bounds):
        if not columns:
            start = left
        columns += 1
        if all(line.text[right : right + 1] in ("|", "") for line in lines):
            cells.append(PlacedCell(show(_joined(lines, start + 1, right)), columns))
            columns = 0
    return cells
