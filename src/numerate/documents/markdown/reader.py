"""Markdown, as plain as can be or with what pandoc, Quarto and R Markdown add to it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from numerate.documents.captions import reads_as_caption
from numerate.documents.document import Document, Paragraph, Table
from numerate.documents.header_rows import header_rows
from numerate.documents.latex.reader import UNNUMBERED, latex_fragment
from numerate.documents.markdown.blocks import (
    ALIGNED,
    CAPTION,
    CHUNK,
    DIV,
    GRID,
    HTML,
    ITEM,
    NUMBERED,
    PARAGRAPH,
    PIPES,
    TEX,
    Block,
    before_attributes,
    blocks,
    definitions,
)
from numerate.documents.markdown.inline import MarkdownText
from numerate.documents.markdown.tables import MarkdownTable, table_of
from numerate.documents.pipe_tables import label_and_caption, tables_named
from numerate.documents.placed_table import NOTHING, PlacedSource, after_label, placed_grid
from numerate.documents.placed_text import PlacedText
from numerate.documents.reader import Reader, Unit
from numerate.documents.section_headings import is_abstract, is_of_body, is_references

_TABLES = {PIPES, GRID, ALIGNED, HTML}
_ID = re.compile(r"#([\w:.-]+)")  # among attributes
_LABEL = re.compile(r"\(\\?#(tab:[\w:.-]+)\)")
_OPTION = re.compile(r"^[ \t]*#\|[ \t]*(label|tbl-cap|tab\.cap)[ \t]*:[ \t]*(\S.*)$", re.MULTILINE)
_NAMES_TABLE = re.compile(r"(?:tbl|tab)[-:]")


class MarkdownReader(Reader):
    """One document a file."""

    suffixes = (".md", ".markdown", ".mkd", ".qmd", ".rmd")

    def read(self, unit: Unit) -> Iterator[Document]:
        text = unit.text()
        found = MarkdownBody(text)
        yield Document(unit.name, found.paragraphs, found.tables, given=text)


@dataclass(slots=True)
class _Found:
    """A table before it is known what stands around it."""

    block: int
    cells: MarkdownTable
    stretch: tuple[int, int]
    caption: PlacedText = NOTHING
    written: str = ""
    id: str = ""


@dataclass(slots=True)
class _Text:
    paragraph: Paragraph
    written: str
    labels: list[str]
    block: int = 0


class MarkdownBody:
    """Paragraphs and tables of a text; places are offsets into it, moved by `base`."""

    def __init__(self, text: str, base: int = 0, tables_before: int = 0) -> None:
        self.paragraphs: list[Paragraph] = []
        self.tables: list[Table] = []
        self.texts: list[_Text] = []
        self._text, self._base, self._before = text, base, tables_before
        self._definitions = definitions(text)
        self._found: list[_Found] = []
        self._tex_tables: list[Table] = []
        self._blocks = blocks(text)
        self._in_abstract = self._in_body = False
        self._references = 0  # the level of their heading, within their list
        self._div = ""
        for index, block in enumerate(self._blocks):
            self._read(index, block)
        self._give_captions()
        self._finish_tables()
        self.tables = sorted([*self.tables, *self._tex_tables], key=_start)
        self.paragraphs = [one.paragraph for one in self.texts]
        self.refer(self.tables)

    def refer(self, tables: list[Table]) -> None:
        """Tell paragraphs which of these tables they refer to."""
        ids = {table.id for table in tables}
        for one in self.texts:
            named = tables_named(one.written, tables)
            linked = [label for label in one.labels if label in ids]
            one.paragraph.tables = tuple(dict.fromkeys([*linked, *named]))

    def _read(self, index: int, block: Block) -> None:
        if block.kind in _TABLES:
            cells = table_of(block, self._shown)
            if any(cell.content.text for row in [*cells.header, *cells.body] for cell in row):
                first, last = block.lines[0], block.lines[-1]
                stretch = first.at, last.at + max(len(last.text), 1)
                self._found.append(_Found(index, cells, stretch, id=cells.id or self._div))
                self._div = ""
        elif block.kind == CHUNK:
            self._chunk(index, block)
        elif block.kind == TEX:
            self._latex(index, block)
        elif block.kind == DIV:
            named = _id(block.name)
            self._div = named if _NAMES_TABLE.match(named) else ""
        else:
            self._block_of_text(index, block)

    def _shown(self, content: PlacedText) -> PlacedText:
        return MarkdownText(content, self._definitions).flow.placed()

    def _block_of_text(self, index: int, block: Block) -> None:
        shown = MarkdownText(_without_attributes(block), self._definitions)
        text = shown.flow.placed()
        if block.kind.startswith("#"):
            self._enter(text.text, len(block.kind))
        elif self._references:
            return  # no text of the document's own
        kind = "" if block.kind not in (ITEM, NUMBERED) and block.kind[0] != "#" else block.kind
        for content in (text, *map(self._shown, shown.notes)):
            if content.text:
                paragraph = Paragraph.placed(self._moved(content), kind=kind)
                paragraph.in_abstract = self._in_abstract and not kind.startswith("#")
                own = content is text
                written = shown.flow.written if own else content.text
                labels = shown.referred if own else []
                self.texts.append(_Text(paragraph, written, labels, index))
                kind = ""

    def _enter(self, heading: str, level: int) -> None:
        """What stands under a heading of this level."""
        self._in_body = self._in_body or is_of_body(heading)
        self._in_abstract = is_abstract(heading) and not self._in_body
        if is_references(heading):
            self._references = level
        elif level <= self._references:
            self._references = 0

    def _moved(self, content: PlacedText) -> PlacedText:
        if not self._base:
            return content
        return PlacedText(content.text, [self._base + at for at in content.places])

    def _chunk(self, index: int, block: Block) -> None:
        """A table that code makes: it has a name and a caption, and no cells here."""
        source = "\n".join(line.text for line in block.lines)
        options = {name: value.strip().strip("\"'") for name, value in _OPTION.findall(source)}
        caption = options.get("tbl-cap") or options.get("tab.cap")
        if caption is None:
            return
        line = next(one for one in block.lines if caption in one.text)
        told = line.placed(line.text.index(caption), line.text.index(caption) + len(caption))
        first, last = block.lines[0], block.lines[-1]
        stretch = first.at, last.at + max(len(last.text), 1)
        empty = MarkdownTable([], [])
        self._found.append(
            _Found(index, empty, stretch, self._shown(told), caption, options.get("label", ""))
        )

    def _latex(self, index: int, block: Block) -> None:
        (part,) = block.lines
        written, tables = latex_fragment(part.text, self._number_before(part.at) - 1)
        by = self._base + part.at
        for one in written:
            runs = [(offset, by + at) for offset, at in one.paragraph.runs or ()]
            paragraph = Paragraph(one.paragraph.given, runs=runs, kind=one.paragraph.kind)
            self.texts.append(_Text(paragraph, one.text, one.labels, index))
        for table in tables:
            assert isinstance(table.source, PlacedSource)
            table.source = table.source.moved(by)
            if table.id.startswith("#"):
                table.id = f"#tex{len(self._tex_tables) + 1}"
            if table.label.startswith(UNNUMBERED):
                line = self._text.count("\n", 0, _start(table) - self._base) + 1
                table.label = f"{UNNUMBERED} {line}"
            self._tex_tables.append(table)

    def _number_before(self, at: int) -> int:
        """That of a table there: those of LaTeX have one if they have a caption."""
        own = sum(found.stretch[0] < at for found in self._found)
        tex = [one for one in self._tex_tables if not one.label.startswith(UNNUMBERED)]
        return 1 + self._before + own + sum(_start(one) - self._base < at for one in tex)

    # Captions

    def _give_captions(self) -> None:
        """What begins with a colon, or with the number of a table. Between two tables it belongs to
        that on the side where others have only one."""
        tables = {found.block: found for found in self._found if not found.cells.written}
        captions = [one for one in self.texts if self._may_be_caption(one)]
        sides = [(one.block - 1 in tables, one.block + 1 in tables) for one in captions]
        goes_above = sides.count((True, False)) >= sides.count((False, True))
        kept: list[_Text] = []
        for one in self.texts:
            block, table = self._blocks[one.block], None
            if self._may_be_caption(one):
                around = [tables.get(one.block - 1), tables.get(one.block + 1)]
                free = [found for found in around if found and not found.caption.text]
                table = free[0 if goes_above else -1] if free else None
            if table is None:
                kept.append(one)
                continue
            placed = self._shown(_without_attributes(block))
            table.caption, table.written = placed, one.written
            if named := _id(block.content.text):
                table.id = named
        self.texts = kept

    def _may_be_caption(self, one: _Text) -> bool:
        kind = self._blocks[one.block].kind
        told = " ".join(one.written.split())
        is_told = reads_as_caption(told) and bool(label_and_caption(told)[1])
        return kind == CAPTION or (kind == PARAGRAPH and is_told)

    def _finish_tables(self) -> None:
        for found in self._found:
            number, cells = self._number_before(found.stretch[0]), found.cells
            told = cells.caption if cells.caption is not None and cells.caption.text else None
            caption, written = (told, cells.written) if told else (found.caption, found.written)
            label, words = label_and_caption(" ".join(written.split()))
            if label and words:
                caption = after_label(caption)
            grid, places = placed_grid(cells.header, cells.body)
            if not cells.header and (height := header_rows(grid.body)):
                grid, places = placed_grid(cells.body[:height], cells.body[height:])
            base = self._base
            moved = {
                cell: [base + at for at in some] if base else some for cell, some in places.items()
            }
            source = PlacedSource(
                (found.stretch[0] + base, found.stretch[1] + base),
                moved,
                self._moved(caption).places,
            )
            self.tables.append(
                Table(
                    found.id or f"#{number}",
                    label or f"Table {number}",
                    caption.text,
                    *grid,
                    is_picture=not (grid.header or grid.body),
                    source=source,
                )
            )


def _start(table: Table) -> int:
    return table.source.stretches[0][0] if table.source else 0


def _id(text: str) -> str:
    """What it is called that ends with attributes, or has a label of bookdown."""
    found = _ID.search(text, before_attributes(text)) or _LABEL.search(text)
    return found[1] if found else ""


def _without_attributes(block: Block) -> PlacedText:
    """Of captions and headings, which may end with them."""
    content = block.content
    if block.kind != CAPTION and not block.kind.startswith("#"):
        return content
    return content.part(0, before_attributes(content.text))
