"""Tables of Rich Text: rows that say where their cells end, and which go on."""

from dataclasses import dataclass, field, replace
from itertools import pairwise

from numerate.documents.captions import Block
from numerate.documents.cell_grid import MAX_SPAN
from numerate.documents.document import Table
from numerate.documents.office.merged_cells import MergedCell, MergedTable

_SAME = 30  # twips, by which edges may differ that are meant to be one


@dataclass(slots=True)
class CellRule:
    """What a row says of one of its cells before there is any text."""

    edge: int = 0  # where it ends on the right, in twips
    goes_on: bool = False  # it is a part of the one above
    is_joined: bool = False  # it is a part of the one before it


@dataclass(slots=True)
class RowRules:
    cells: list[CellRule] = field(default_factory=list)
    is_header: bool = False
    next_cell: CellRule = field(default_factory=CellRule)

    def end_cell(self, edge: int) -> None:
        self.cells.append(replace(self.next_cell, edge=edge))
        self.next_cell = CellRule()


class Rows:
    """The rows of one table as they are met; a cell holds paragraphs, and perhaps tables."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []  # of the cell that is open
        self._cells: list[list[Block]] = []  # of the row that is open
        self._rows: list[tuple[list[list[Block]], RowRules]] = []

    def end_cell(self) -> None:
        self._cells.append(self.blocks)
        self.blocks = []

    def end_row(self, rules: RowRules) -> None:
        if self.blocks:
            self.end_cell()
        if self._cells:
            self._rows.append((self._cells, rules))
        self._cells = []

    @property
    def content(self) -> list[Block]:
        """What stands in the cells, one after the other."""
        return [block for cells, _ in self._rows for cell in cells for block in cell]

    def is_layout(self, *, is_named: bool) -> bool:
        """Whether it holds other tables, or nothing beside anything and no caption calls it a
        table."""
        if any(block.table is not None for block in self.content):
            return True
        return not is_named and all(len(cells) < 2 for cells, _ in self._rows)

    def merged(self) -> MergedTable[str]:
        edges = _edges([rules for _, rules in self._rows])
        rows = [_merged_row(cells, rules, edges) for cells, rules in self._rows]
        marked = 0
        for _, rules in self._rows:
            if not rules.is_header:
                break
            marked += 1
        return MergedTable(rows, marked if marked < len(rows) else 0)


def table_of(merged: MergedTable[str], number: int) -> Table | None:
    """The table, if it has any text."""
    grid = merged.grid(str)
    if not any(map(any, [*grid.header, *grid.body])):
        return None
    return Table(f"#{number}", "", "", *grid)


def _edges(rows: list[RowRules]) -> list[int]:
    """Where columns end, those together that are meant to be one."""
    written = sorted({cell.edge for rules in rows for cell in rules.cells})
    return [edge for edge, after in pairwise([*written, 1 << 40]) if after - edge > _SAME]


def _merged_row(
    cells: list[list[Block]], rules: RowRules, edges: list[int]
) -> list[MergedCell[str]]:
    found: list[MergedCell[str]] = []
    at = 0  # column
    for number, blocks in enumerate(cells):
        text = " ".join(block.text for block in blocks)
        rule = rules.cells[number] if number < len(rules.cells) else CellRule()
        width = 1
        while at + width < len(edges) and edges[at + width - 1] + _SAME < rule.edge:
            width += 1
        width = min(width, MAX_SPAN)
        if rule.is_joined and found:
            found[-1] = found[-1]._replace(width=min(found[-1].width + width, MAX_SPAN))
        else:
            found.append(MergedCell(text, at, width, rule.goes_on))
        at += width
    return found
