"""Tables of Word: rows of cells that are merged by saying that they go on."""

from collections.abc import Iterator

from numerate.documents.cell_grid import MAX_SPAN
from numerate.documents.office.merged_cells import MergedCell, MergedTable
from numerate.documents.office.xml import child, switch, value
from numerate.documents.xml import Element, local_name

_WITHIN = {"sdt", "sdtContent", "customXml", "ins", "moveTo"}


class WordTable(MergedTable[Element]):
    def __init__(self, table: Element) -> None:
        super().__init__([_cells(row) for row in rows_of(table)])
        for row in rows_of(table):
            properties = child(row, "trPr")
            if properties is None or not switch(properties, "tblHeader"):
                break
            self.marked += 1


def rows_of(table: Element) -> Iterator[Element]:
    """Without those that a tracked change deletes."""
    for row in _inside(table, "tr"):
        properties = child(row, "trPr")
        if properties is None or (
            child(properties, "del") is None and not switch(properties, "hidden")
        ):
            yield row


def cells_of(row: Element) -> Iterator[Element]:
    for cell in _inside(row, "tc"):
        properties = child(cell, "tcPr")
        if properties is None or child(properties, "cellDel") is None:
            yield cell


def _inside(parent: Element, name: str) -> Iterator[Element]:
    for one in parent:
        if local_name(one) == name:
            yield one
        elif local_name(one) in _WITHIN:
            yield from _inside(one, name)


def _cells(row: Element) -> list[MergedCell[Element]]:
    properties = child(row, "trPr")
    before = 0 if properties is None else _number(properties, "gridBefore", 0)
    found = [MergedCell[Element](None, 0, before, False)] if before else []
    at = before
    for element in cells_of(row):
        properties = child(element, "tcPr")
        width, goes_on = 1, False
        if properties is not None:
            width = _number(properties, "gridSpan", 1)
            merged = child(properties, "vMerge")
            goes_on = merged is not None and value(merged) != "restart"
            beside = child(properties, "hMerge")
            if beside is not None and value(beside) != "restart" and found:
                found[-1] = found[-1]._replace(width=min(found[-1].width + width, MAX_SPAN))
                at += width
                continue
        found.append(MergedCell(element, at, width, goes_on))
        at += width
    return found


def _number(properties: Element, name: str, usual: int) -> int:
    found = child(properties, name)
    written = "" if found is None else value(found)
    return min(max(int(written[:9]), usual), MAX_SPAN) if written.isdecimal() else usual
