"""A table of HTML within another source, such as Markdown, with the places of its cells."""

import re
from html import unescape

from numerate.documents.cell_grid import MAX_SPAN
from numerate.documents.flow import PlacedFlow
from numerate.documents.placed_table import NOTHING, PlacedCell
from numerate.documents.placed_text import PlacedText

_TAG = re.compile(
    r"<(/?)([A-Za-z][A-Za-z0-9]*)([^<>]*)>|&(?:[A-Za-z0-9]{2,31}|#[0-9xXA-Fa-f]{1,8});"
)
_TABLE = re.compile(r"<(?:table\b[^<>]*|(/)table\s*)>", re.IGNORECASE)
_SPAN = re.compile(r"\b(col|row)span\s*=\s*[\"']?([0-9]{1,4})", re.IGNORECASE)
_ID = re.compile(r"\bid\s*=\s*[\"']?([^\s\"'>]+)")
_SILENT = {"script", "style"}
_PARTS = {"thead", "tr", "td", "th", "caption"}
_BLOCKS = {"br", "p", "div", "li", "ul", "ol", "hr"}

Rows = list[list[PlacedCell]]


def elements(text: str, name: str) -> list[tuple[int, int]]:
    """Where elements of HTML begin and end that hold none of their own kind."""
    opening = re.compile(rf"<{name}\b[^<>]*>", re.IGNORECASE)
    closing = re.compile(rf"</{name}\s*>", re.IGNORECASE)
    found: list[tuple[int, int]] = []
    start = opening.search(text)
    while start and (end := closing.search(text, start.end())):
        found.append((start.start(), end.end()))
        start = opening.search(text, end.end())
    return found


def outer_tables(text: str) -> list[tuple[int, int]]:
    """Where tables of HTML begin and end that are in no other; those within belong to them."""
    found: list[tuple[int, int]] = []
    open_: list[int] = []
    for tag in _TABLE.finditer(text):
        if not tag[1]:
            open_.append(tag.start())
        elif open_:
            start = open_.pop()
            while found and found[-1][0] > start:
                found.pop()
            found.append((start, tag.end()))
    return found


class HtmlCells:
    def __init__(self, text: str, base: int) -> None:
        self.header: Rows = []
        self.body: Rows = []
        self.caption: PlacedText = NOTHING
        self.written = ""  # of the caption, with its number
        found = _ID.search(text[: text.index(">")])
        self.id = found[1] if found else ""
        self._base = base
        self._flow: PlacedFlow | None = None
        self._scripts: list[PlacedFlow] = []
        self._depth = 0  # of tables
        self._in_head = False
        self._row: list[tuple[PlacedCell, bool]] = []
        self._cell: tuple[int, int, bool] | None = None
        self._silent = ""
        done = 0
        for tag in _TAG.finditer(text):
            self._text(text, done, tag.start())
            done = tag.end()
            if tag[2] is None:
                shown = unescape(tag[0])
                if self._flow is not None:
                    self._flow.text(shown, [base + tag.start()] * len(shown))
            elif self._silent in ("", tag[2].lower()):
                self._tag(tag[2].lower(), tag[3], base + tag.start(), closes=bool(tag[1]))
        self._end_row()

    def _text(self, text: str, start: int, end: int) -> None:
        if self._flow is not None and start < end and not self._silent:
            self._flow.text(text[start:end], range(self._base + start, self._base + end))

    def _tag(self, name: str, attributes: str, at: int, *, closes: bool) -> None:
        if name in _SILENT:
            self._silent = "" if closes else name
        elif name == "table":
            self._depth += -1 if closes else 1
        elif name in _PARTS and self._depth > 1:  # of a table within a cell, which is its text
            if self._flow is not None:
                self._flow.space()
        elif name == "thead":
            self._in_head = not closes
        elif name == "tr":
            self._end_row()
        elif name in ("td", "th"):
            self._end_cell()
            if not closes:
                spans = {kind.lower(): int(size) for kind, size in _SPAN.findall(attributes)}
                wide, high = spans.get("col", 1), spans.get("row", 1)
                self._cell = min(max(wide, 1), MAX_SPAN), min(max(high, 1), MAX_SPAN), name == "th"
                self._flow = PlacedFlow(at)
        elif name == "caption":
            if closes and self._flow is not None:
                self.caption, self.written = self._flow.placed(), self._flow.written
                self._flow = None
            elif not closes:
                self._flow = PlacedFlow(at)
        elif name in ("sup", "sub") and self._flow is not None:
            self._script(name, at, closes=closes)
        elif name in _BLOCKS and self._flow is not None:
            self._flow.space()

    def _script(self, name: str, at: int, *, closes: bool) -> None:
        if not closes and self._flow is not None:
            self._scripts.append(self._flow)
            self._flow = PlacedFlow(at)
        elif self._scripts and self._flow is not None:
            script, self._flow = self._flow.placed(), self._scripts.pop()
            (self._flow.superscript if name == "sup" else self._flow.subscript)(*script)

    def _end_cell(self) -> None:
        if self._cell is not None and self._flow is not None:
            if self._scripts:  # that nobody ended
                self._flow = self._scripts[0]
            wide, high, is_heading = self._cell
            self._row.append((PlacedCell(self._flow.placed(), wide, high), is_heading))
        self._cell, self._flow, self._scripts = None, None, []

    def _end_row(self) -> None:
        self._end_cell()
        if self._row:
            cells = [cell for cell, _ in self._row]
            of_headings = all(is_heading for _, is_heading in self._row) and not self.body
            (self.header if self._in_head or of_headings else self.body).append(cells)
        self._row = []
