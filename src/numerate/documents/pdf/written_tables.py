"""Tables of a PDF as those of a document: texts of cells, parts on several pages put together."""

import re
from collections.abc import Iterable, Iterator

from numerate.documents.cell_grid import SpanningCell, cell_grid
from numerate.documents.document import Table
from numerate.documents.flow import REF
from numerate.documents.header_rows import with_header
from numerate.documents.pdf.cells import Block, CellGrid
from numerate.documents.pdf.lines import Line
from numerate.documents.pdf.paragraphs import Block as TextBlock
from numerate.documents.pdf.tables import FoundTable
from numerate.documents.pdf.text import Vocabulary, as_it_stands, written
from numerate.documents.pipe_tables import label_and_caption

_CONTINUED = re.compile(r"[\s(\[]*cont(?:inued|['’]?d|\.)", re.IGNORECASE)


def joined_tables(
    found: Iterable[TextBlock | FoundTable], vocabulary: Vocabulary
) -> Iterator[TextBlock | FoundTable]:
    """A table that goes on at the top of the next page is one with its beginning."""
    open_table: FoundTable | None = None
    is_last = False
    for one in found:
        if isinstance(one, FoundTable):
            if open_table is not None and _goes_on(open_table, one, vocabulary, is_last):
                _append(open_table, one, vocabulary)
                continue
            open_table = one
        is_last = one is open_table or (is_last and isinstance(one, TextBlock) and one.is_aside)
        yield one


def _goes_on(table: FoundTable, after: FoundTable, vocabulary: Vocabulary, is_next: bool) -> bool:
    """Whether a table goes on in another, on the next page or at the top of the next column."""
    if table.grid is None or after.grid is None or table.grid.columns != after.grid.columns:
        return False
    if table.last_page == after.page:
        last, first = table.lines[-1], after.lines[0]
        return is_next and not after.caption and first.base < last.base and first.left > last.left
    if after.page != table.last_page + 1:
        return False
    if not after.caption:
        return is_next or _texts(table.grid.rows[0], vocabulary) == _texts(
            after.grid.rows[0], vocabulary
        )
    label, words = label_and_caption(as_it_stands(after.caption, vocabulary))
    same = label == label_and_caption(as_it_stands(table.caption, vocabulary))[0]
    return same or _CONTINUED.match(words) is not None


def _append(table: FoundTable, after: FoundTable, vocabulary: Vocabulary) -> None:
    """Without the header that is there again."""
    assert table.grid is not None
    assert after.grid is not None
    rows = after.grid.rows
    while rows and any(
        _texts(rows[0], vocabulary) == _texts(row, vocabulary)
        for row in table.grid.rows[: max(table.grid.header, 3)]
    ):
        rows = rows[1:]
    table.grid.rows += rows
    table.lines += after.lines
    table.notes += after.notes
    table.last_page = after.last_page


def _texts(row: list[Block], vocabulary: Vocabulary) -> list[str]:
    return [written(block.lines, vocabulary) for block in row]


def written_table(table: FoundTable, number: int, vocabulary: Vocabulary) -> Table:
    label, caption = label_and_caption(as_it_stands(table.caption, vocabulary))
    if table.caption and label:
        # Signs and numbers of the caption as running text has them.
        told = written(table.caption, vocabulary)
        caption = told.partition(REF)[2].lstrip(" .:—–|") if REF in told else caption
    grid = table.grid or _lines_only(table.lines)
    rows = _cells(grid, vocabulary)
    cells = with_header(cell_grid(rows[: grid.header], rows[grid.header :]))
    return Table(
        f"#{number}",
        label,
        caption,
        *cells,
        notes=written(table.notes, vocabulary),
        page=table.page,
    )


def _lines_only(lines: list[Line]) -> CellGrid:
    """Where columns cannot be told, each line is a cell, so that nothing is read into them."""
    return CellGrid([0.0, 1.0], [[Block(0, 0, [line])] for line in lines])


def _cells(grid: CellGrid, vocabulary: Vocabulary) -> list[list[SpanningCell]]:
    rows = []
    covered: dict[int, int] = {}  # column -> rows that a cell from above still has there
    for blocks in grid.rows:
        row: list[SpanningCell] = []
        column = 0
        waiting = list(blocks)
        while column < grid.columns:
            if covered.get(column, 0) > 0:
                covered[column] -= 1
                column += 1
                continue
            here = [block for block in waiting if block.first <= column]
            waiting = [block for block in waiting if block.first > column]
            if not here:
                row.append(SpanningCell("", None, None))
                column += 1
                continue
            last = max(block.last for block in here)
            if waiting:
                last = min(last, waiting[0].first - 1)
            while any(covered.get(other, 0) for other in range(column + 1, last + 1)):
                last -= 1
            height = max(block.rows for block in here)
            lines = [line for block in here for line in block.lines]
            row.append(
                SpanningCell(written(lines, vocabulary), str(last - column + 1), str(height))
            )
            for other in range(column, last + 1):
                covered[other] = height - 1
            column = last + 1
        rows.append(row)
    return rows
