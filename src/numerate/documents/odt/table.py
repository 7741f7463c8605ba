"""Tables of an OpenDocument text: rows, those of the header among them, and cells that span."""

from collections.abc import Callable, Iterator

from numerate.documents.cell_grid import MAX_SPAN, Grid, SpanningCell, cell_grid
from numerate.documents.header_rows import with_header
from numerate.documents.office.xml import value
from numerate.documents.xml import Element, local_name

_GROUPS = {"table-header-rows", "table-rows", "table-row-group"}


def rows_of(table: Element, *, in_header: bool = False) -> Iterator[tuple[Element, bool]]:
    """The rows that are shown, and whether each is one of the header."""
    for one in table:
        name = local_name(one)
        if name in _GROUPS:
            yield from rows_of(one, in_header=in_header or name == "table-header-rows")
        elif name == "table-row" and value(one, "visibility") not in ("collapse", "filter"):
            yield one, in_header


def cells_of(row: Element) -> Iterator[Element]:
    """Without those that another one covers."""
    return (one for one in row if local_name(one) == "table-cell")


def area(table: Element) -> int:
    """How many cells its grid has; a few bytes may claim very many."""
    return sum(
        count(row, "number-rows-repeated")
        * count(cell, "number-columns-repeated")
        * count(cell, "number-columns-spanned")
        * count(cell, "number-rows-spanned")
        for row, _ in rows_of(table)
        for cell in cells_of(row)
    )


def grid(table: Element, text_of: Callable[[Element], str]) -> Grid:
    header: list[list[SpanningCell]] = []
    body: list[list[SpanningCell]] = []
    for row, in_header in rows_of(table):
        cells = [
            cell
            for element in cells_of(row)
            for cell in [_spanning(element, text_of)] * count(element, "number-columns-repeated")
        ]
        part = header if in_header and not body else body
        part += [cells] * count(row, "number-rows-repeated")
    if header and not body:
        header, body = [], header
    return with_header(cell_grid(header, body))


def _spanning(cell: Element, text_of: Callable[[Element], str]) -> SpanningCell:
    columns, rows = (count(cell, f"number-{kind}-spanned") for kind in ("columns", "rows"))
    return SpanningCell(text_of(cell), str(columns), str(rows))


def count(element: Element, name: str) -> int:
    written = value(element, name)
    return min(max(int(written[:9]), 1), MAX_SPAN) if written.isdecimal() else 1
