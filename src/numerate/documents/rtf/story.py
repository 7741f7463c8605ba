"""The blocks of Rich Text as they are met: of the text, of a note, or of a box beside it."""

import re
from dataclasses import dataclass

from numerate.documents.captions import Block, is_caption
from numerate.documents.cell_grid import MAX_AREA
from numerate.documents.flow import REF, is_address
from numerate.documents.office.field import Field
from numerate.documents.office.line import NUMBER_ALONE, ScriptedLine
from numerate.documents.office.styles import PLAIN, Style
from numerate.documents.rtf.table import RowRules, Rows, table_of
from numerate.errors import DocumentError

_LABEL = re.compile(r"\s*(?:[•·▪◦–-]|\(?(?:[0-9]{1,3}|[a-z]|[ivx]{1,5})[.)])\s*")


@dataclass(slots=True)
class ParagraphProperties:
    style: Style = PLAIN
    level: int | None = None  # of a heading
    is_item: bool = False
    hangs: bool = False  # its first line begins further to the left
    depth: int = 0  # in how many tables it stands


class Tables:
    """What all stories of a document count together."""

    def __init__(self, name: str) -> None:
        self.name = name  # of the document
        self.count = 0
        self._area = 0

    def table(self, rows: Rows) -> Block | None:
        merged = rows.merged()
        self._area += merged.area
        if self._area > MAX_AREA:
            reason = f"too large: expected at most {MAX_AREA:,} cells in its tables"
            raise DocumentError(self.name, reason)
        table = table_of(merged, self.count + 1)
        self.count += table is not None
        return None if table is None else Block(table=table)


class Story:
    def __init__(self, tables: Tables) -> None:
        self.blocks: list[Block] = []
        self._tables = tables
        self._open: list[Rows] = []  # tables, the outermost first
        self._line = ScriptedLine()
        self._is_item = False
        self._boxes: list[Block] = []
        self._link: list[tuple[str, str | None]] | None = None  # what a link or a reference shows

    def text(self, text: str, script: str | None) -> None:
        if self._link is None:
            self._line.text(text, script)
        else:
            self._link.append((text, script))

    def tab(self, script: str | None, *, hangs: bool) -> None:
        """Write a space, unless nothing but the label of an item stands before it."""
        line = self._line
        if hangs and self._link is None and line.is_short and _LABEL.fullmatch(line.written):
            self._line, self._is_item = ScriptedLine(), True
        else:
            self.text(" ", script)

    def mark(self, mark: str) -> None:
        self.end_link(None)
        self._line.mark(mark)

    def border(self) -> None:
        self.end_link(None)
        self._line.border()

    def formula(self, text: str) -> None:
        self.end_link(None)
        self._line.formula(text)

    def box(self, blocks: list[Block]) -> None:
        """Text that stands beside the paragraph comes after it, or after its table."""
        self._boxes += blocks

    def begin_link(self) -> None:
        self._link = self._link or []

    def end_link(self, field: Field | None) -> None:
        """A link that shows its address is a reference, and so is a reference that is a number."""
        written, self._link = self._link or [], None
        shown = "".join(text for text, _ in written).strip()
        is_number = field is not None and field.is_reference and NUMBER_ALONE.fullmatch(shown)
        if field is not None and (is_address(shown) or is_number):
            self._line.mark(REF, shown)
        else:
            for text, script in written:
                self._line.text(text, script)

    def end_paragraph(self, properties: ParagraphProperties) -> None:
        self.end_link(None)
        self._nest(properties.depth)
        line, self._line = self._line, ScriptedLine()
        is_item, self._is_item = self._is_item or properties.is_item, False
        text, style = line.finish(), properties.style
        if text and not style.is_aside:
            block = Block(text, line.written, style.is_caption)
            block.level = properties.level or style.level
            block.is_item, block.in_abstract = is_item, style.is_abstract
            block.is_reference = style.is_bibliography
            self._here.append(block)
        if not self._open:
            self.blocks += self._boxes
            self._boxes = []

    def end_cell(self, properties: ParagraphProperties) -> None:
        self.end_paragraph(properties)
        self._open[-1].end_cell()

    def end_row(self, depth: int, rules: RowRules) -> None:
        self._nest(depth)
        self._open[-1].end_row(rules)

    def finish(self) -> list[Block]:
        self.end_paragraph(ParagraphProperties())
        return self.blocks

    @property
    def _here(self) -> list[Block]:
        return self._open[-1].blocks if self._open else self.blocks

    def _nest(self, depth: int) -> None:
        """Close the tables that have ended, and open those that begin."""
        while len(self._open) > depth:
            rows = self._open.pop()
            rows.end_row(RowRules())
            here = self._here
            if rows.is_layout(is_named=is_caption(here, len(here) - 1)):
                here += rows.content
            elif block := self._tables.table(rows):
                here.append(block)
        while len(self._open) < depth:
            self._open.append(Rows())
