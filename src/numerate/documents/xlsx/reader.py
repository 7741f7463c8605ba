"""Workbooks of Excel and others: sheets as tables, cells as they are shown.

Of a formula the value counts that was stored with it; nothing is computed, and no macro is read.
What is hidden, sheets, rows or columns, is not read.
"""

import re
from collections.abc import Iterator
from math import isfinite, nan

from numerate.documents.cell_grid import MAX_AREA
from numerate.documents.document import Document, Paragraph, Table
from numerate.documents.flow import Flow
from numerate.documents.office.package import OfficePackage, main_folder
from numerate.documents.office.xml import child, value
from numerate.documents.pipe_tables import tables_named
from numerate.documents.reader import Reader, Unit
from numerate.documents.xlsx.number_format import BUILT_IN, displayed
from numerate.documents.xlsx.sheet import MAX_COLUMN, MAX_ROW, row_and_column
from numerate.documents.xlsx.sheet_content import Sheet, sheet_content
from numerate.documents.xml import Element, local_name
from numerate.errors import DocumentError, counted
from numerate.reports.notices import say

KIND = "a workbook (.xlsx)"

_DIGITS = re.compile(r"[0-9]{1,9}")
_ESCAPED = re.compile(r"_x00[01][0-9A-Fa-f]_")


class XlsxReader(Reader):
    """One document a file: its tables, and the sentences beside them."""

    suffixes = (".xlsx", ".xlsm", ".xltx", ".xltm")
    binary = True

    def recognises(self, beginning: bytes) -> bool:
        return main_folder(beginning) == "xl"

    def read(self, unit: Unit) -> Iterator[Document]:
        paragraphs: list[Paragraph] = []
        tables: list[Table] = []
        workbook = _Workbook(OfficePackage(unit.data, unit.name, KIND))
        room = MAX_AREA
        for sheet in workbook.sheets():
            sheet.room = room
            sentences, found = sheet_content(sheet, unit.name)
            room = sheet.room
            paragraphs += sentences
            tables += found
        if count := workbook.without_value:
            formulas = counted(count, "formula")
            lacking = "without a stored value, not read: open and save the file"
            say(f"{unit.name}: {formulas} {lacking}")
        for number, table in enumerate(tables, 1):
            table.id = f"#{number}"
        for paragraph in paragraphs:
            flow = Flow()
            flow.text(paragraph.as_given)
            paragraph.tables = tables_named(paragraph.as_given, tables)
            paragraph.given = flow.finish()
        yield Document(unit.name, paragraphs, tables)


class _Workbook:
    def __init__(self, package: OfficePackage) -> None:
        self._package = package
        self._main = package.main_part()
        self._root = package.xml(self._main)
        if local_name(self._root) != "workbook":
            got = f"got root <{local_name(self._root)}> of {self._main}"
            raise DocumentError(package.name, f"not {KIND}: {got}")
        properties = child(self._root, "workbookPr")
        written = "" if properties is None else properties.get("date1904", "")
        self._from_1904 = written in ("1", "true")
        strings = package.related(self._main, "sharedStrings")[:1]
        self._strings = [one for part in strings for one in package.xml(part).iterfind("{*}si")]
        self._texts: dict[int, str] = {}
        self._formats = self._cell_formats()
        self._left = MAX_AREA  # cells that may still be read
        self.without_value = 0  # formulas; a program that writes files may leave values out

    def sheets(self) -> Iterator[Sheet]:
        """In their order, without those that are hidden and those that are charts."""
        relations = self._package.relations(self._main)
        for element in self._root.iterfind("{*}sheets/{*}sheet"):
            kind, part = relations.get(value(element, "id"), ("", ""))
            if kind == "worksheet" and element.get("state", "visible") == "visible":
                yield self._sheet(self._package.xml(part), element.get("name", ""))

    def _cell_formats(self) -> list[str]:
        """By the number that a cell gives as its style."""
        for part in self._package.related(self._main, "styles")[:1]:
            root = self._package.xml(part)
            written = {
                one.get("numFmtId", ""): one.get("formatCode", "")
                for one in root.iterfind("{*}numFmts/{*}numFmt")
            }
            known = {str(number): code for number, code in BUILT_IN.items()} | written
            styles = root.iterfind("{*}cellXfs/{*}xf")
            return [known.get(one.get("numFmtId", "0"), "General") for one in styles]
        return []

    def _sheet(self, root: Element, name: str) -> Sheet:
        sheet = Sheet(name)
        for merged in root.iterfind("{*}mergeCells/{*}mergeCell"):
            first, _, last = merged.get("ref", "").partition(":")
            ends = row_and_column(first), row_and_column(last)
            if ends[0] is not None and ends[1] is not None:
                sheet.merged.append((ends[0], ends[1]))
        sheet.hidden_columns = {
            number
            for column in root.iterfind("{*}cols/{*}col")
            if column.get("hidden") in ("1", "true")
            for number in range(
                _whole(column.get("min"), 1), min(_whole(column.get("max"), 0), MAX_COLUMN) + 1
            )
        }
        spanning = {first for first, _ in sheet.merged}
        number = 0
        for row in root.iterfind("{*}sheetData/{*}row"):
            number = _whole(row.get("r"), number + 1)
            if row.get("hidden") in ("1", "true"):
                sheet.hidden_rows.add(number)
            if 1 <= number <= MAX_ROW:
                self._read_row(row, number, spanning, sheet)
        return sheet

    def _read_row(
        self, row: Element, number: int, spanning: set[tuple[int, int]], sheet: Sheet
    ) -> None:
        """Of cells that are hidden only those that span others, which may show their text."""
        column = 0
        for cell in row.iterfind("{*}c"):
            named = row_and_column(cell.get("r", ""))
            column = column + 1 if named is None else named[1]
            place = number, column
            is_read = place in spanning or not sheet.is_hidden(place)
            text = self._cell_text(cell) if is_read else ""
            if text and column <= MAX_COLUMN:
                self._left -= 1
                if self._left < 0:
                    reason = f"too large: expected at most {MAX_AREA:,} cells"
                    raise DocumentError(self._package.name, reason)
                sheet.cells[place] = text

    def _cell_text(self, cell: Element) -> str:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            inside = child(cell, "is")
            return "" if inside is None else _string(inside)
        stored = child(cell, "v")
        written = "" if stored is None else (stored.text or "").strip()
        if not written:
            self.without_value += kind != "str" and child(cell, "f") is not None
            return ""
        if kind == "s":
            return self._shared(written)
        if kind == "b":
            return "FALSE" if written == "0" else "TRUE"
        if kind in ("str", "e", "d"):
            return _plain(written)
        try:
            number = float(written)
        except ValueError:
            number = nan
        if not isfinite(number):
            return _plain(written)
        style = _whole(cell.get("s"), 0)
        code = self._formats[style] if style < len(self._formats) else "General"
        return displayed(number, code, from_1904=self._from_1904)

    def _shared(self, written: str) -> str:
        index = _whole(written, -1)
        if not 0 <= index < len(self._strings):
            return ""
        if index not in self._texts:
            self._texts[index] = _string(self._strings[index])
        return self._texts[index]


def _string(element: Element) -> str:
    """Of one text, or of runs, some of which may stand above or below the line."""
    if element.find(".//{*}vertAlign") is None:
        texts = element.iterfind("{*}t"), element.iterfind("{*}r/{*}t")
        return _plain("".join(text.text or "" for some in texts for text in some))
    flow = Flow()
    for run in element.iterfind("{*}r"):
        text = "".join(_unescaped(one.text or "") for one in run.iterfind("{*}t"))
        script = run.find("{*}rPr/{*}vertAlign")
        aligned = "" if script is None else value(script)
        if aligned == "superscript":
            flow.superscript(text)
        elif aligned == "subscript":
            flow.subscript(text)
        else:
            flow.text(text)
    return flow.finish()


def _plain(text: str) -> str:
    return " ".join(_unescaped(text).split())


def _unescaped(text: str) -> str:
    """Characters that XML cannot hold, which are white space if anything."""
    return _ESCAPED.sub(" ", text) if "_x" in text else text


def _whole(written: str | None, usual: int) -> int:
    return int(written) if written and _DIGITS.fullmatch(written) else usual
