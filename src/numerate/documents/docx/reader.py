"""Word documents: what stands in them once all tracked changes are accepted.

Footnotes and endnotes come after the text, text boxes after the paragraph that they hang on. What a
program makes of the rest is no text: tables of contents, lists of references, headers and footers.
"""

from collections.abc import Iterator

from numerate.documents.captions import Block, is_caption
from numerate.documents.cell_grid import MAX_AREA
from numerate.documents.document import Document, Table
from numerate.documents.docx.line import Line, choices, shows_placeholder
from numerate.documents.docx.styles import Styles, outline_level
from numerate.documents.docx.table import WordTable, cells_of, rows_of
from numerate.documents.office.blocks import document_of
from numerate.documents.office.field import Field
from numerate.documents.office.package import OfficePackage, main_folder
from numerate.documents.office.xml import child, value
from numerate.documents.reader import Reader, Unit
from numerate.documents.xml import Element, local_name
from numerate.errors import DocumentError

KIND = "a Word document (.docx)"

_WITHIN = {"sdtContent", "customXml", "ins", "moveTo", "smartTag"}
_GALLERIES = {"Table of Contents", "Bibliographies"}


class DocxReader(Reader):
    """One document a file; macros are parts that are never read."""

    suffixes = (".docx", ".docm", ".dotx", ".dotm")
    binary = True

    def recognises(self, beginning: bytes) -> bool:
        return main_folder(beginning) == "word"

    def read(self, unit: Unit) -> Iterator[Document]:
        package = OfficePackage(unit.data, unit.name, KIND)
        main = package.main_part()
        root = package.xml(main)
        body = child(root, "body")
        if local_name(root) != "document" or body is None:
            raise DocumentError(unit.name, f"not {KIND}: got root <{local_name(root)}> of {main}")
        roots = [package.xml(part) for part in package.related(main, "styles")[:1]]
        styles = Styles(roots[0] if roots else None)
        notes = _notes(package, main)
        story = _Story(unit.name, styles)
        story.write_all(body, notes)
        if story.has_endless_field:
            story = _Story(unit.name, styles, fields_go_on=False)
            story.write_all(body, notes)
        yield document_of(unit.name, story.blocks)


def _notes(package: OfficePackage, main: str) -> dict[tuple[str, str], Element]:
    """By kind and id."""
    return {
        (kind, value(note, "id")): note
        for kind in ("footnote", "endnote")
        for part in package.related(main, f"{kind}s")
        for note in package.xml(part).iterfind(f"{{*}}{kind}")
    }


class _Story:
    """The blocks of a text as they are met."""

    def __init__(self, name: str, styles: Styles, *, fields_go_on: bool = True) -> None:
        self.name = name  # of the document
        self.styles = styles
        self.has_endless_field = False  # by which text was left out
        self._fields_go_on = fields_go_on  # over the end of a paragraph
        self.blocks: list[Block] = []
        self.notes: list[tuple[str, str]] = []  # that were referred to: kind and id
        self._tables = 0  # that were met
        self._area = 0  # of all of them
        self._fields: list[Field] = []
        self._line: Line | None = None  # that goes on: the end of its paragraph was deleted

    def write_all(self, body: Element, notes: dict[tuple[str, str], Element]) -> None:
        """Notes in the order in which the text refers to them; those of notes are among them."""
        self.write(body)
        self.end()
        known = dict(notes)
        while self.notes:
            found = known.pop(self.notes.pop(0), None)
            if found is not None:
                self.write(found)
                self.end()

    def write(self, parent: Element) -> None:
        for element in parent:
            name = local_name(element)
            if name == "p":
                self._paragraph(element)
            elif name == "tbl":
                self._table(element)
            elif name == "sdt":
                if not shows_placeholder(element) and _gallery(element) not in _GALLERIES:
                    self.write(element)
            elif name == "AlternateContent":
                for chosen in choices(element):
                    self.write(chosen)
            elif name in _WITHIN:
                self.write(element)

    def end(self) -> None:
        """Here nothing goes on."""
        if self._line is not None:
            self._close(self._line, None)
        self._end_fields(self._fields)
        self._fields = []

    def _end_fields(self, still_open: list[Field]) -> None:
        self.has_endless_field |= any(field.is_left_out for field in still_open)

    def _paragraph(self, element: Element) -> None:
        properties = child(element, "pPr")
        line = self._line or Line(self.styles, self._fields)
        line.style = self.styles.of(properties, "pStyle")
        line.write(element)
        line.end_paragraph(fields_go_on=self._fields_go_on)
        if _mark_is_deleted(properties):
            self._line = line
        else:
            self._close(line, properties)

    def _close(self, line: Line, properties: Element | None) -> None:
        self._line = None
        text, style = line.finish(), line.style
        self.notes += line.notes
        if text and not style.is_aside:
            block = Block(text, line.written)
            block.level = outline_level(properties) or style.level
            block.is_caption, block.is_reference = style.is_caption, style.is_bibliography
            block.in_abstract = style.is_abstract
            block.is_item = properties is not None and child(properties, "numPr") is not None
            self.blocks.append(block)
        self._boxes(line)

    def _boxes(self, line: Line) -> None:
        fields = self._fields
        for box in line.boxes:
            self._fields = []
            self.write(box)
            self.end()
        self._fields = fields

    def _table(self, element: Element) -> None:
        """One that only says where on the page something stands is read cell by cell."""
        fields, self._fields = self._fields, []
        self.end()
        if _is_layout(element, is_named=is_caption(self.blocks, len(self.blocks) - 1)):
            for row in rows_of(element):
                for cell in cells_of(row):
                    self.write(cell)
                    self.end()
        else:
            beside: list[Line] = []
            table = WordTable(element)
            self._area += table.area
            if self._area > MAX_AREA:
                reason = f"too large: expected at most {MAX_AREA:,} cells in its tables"
                raise DocumentError(self.name, reason)
            grid = table.grid(lambda cell: self._cell_text(cell, beside))
            if any(map(any, [*grid.header, *grid.body])):
                self._tables += 1
                self.blocks.append(Block(table=Table(f"#{self._tables}", "", "", *grid)))
            for line in beside:
                self._boxes(line)
        self.end()
        self._fields = fields

    def _cell_text(self, cell: Element, beside: list[Line]) -> str:
        fields: list[Field] = []
        line = Line(self.styles, fields)
        for paragraph in cell.iter("{*}p"):
            if _is_of_cell(paragraph, cell):
                line.space()
                line.style = self.styles.of(child(paragraph, "pPr"), "pStyle")
                line.write(paragraph)
                line.end_paragraph(fields_go_on=self._fields_go_on)
        self._end_fields(fields)
        self.notes += line.notes
        beside.append(line)
        return line.finish()


def _is_layout(table: Element, *, is_named: bool) -> bool:
    """Whether it holds other tables, or nothing beside anything and no caption calls it a table."""
    if any(one is not table for one in table.iter("{*}tbl")):
        return True
    return not is_named and all(sum(1 for _ in cells_of(row)) < 2 for row in rows_of(table))


def _is_of_cell(paragraph: Element, cell: Element) -> bool:
    """Whether nothing but wrappers stands between them: no text box, and no deletion."""
    parent = paragraph.getparent()
    while parent is not None and parent is not cell:
        name = local_name(parent)
        if name not in _WITHIN and (name != "sdt" or shows_placeholder(parent)):
            return False
        parent = parent.getparent()
    return True


def _mark_is_deleted(properties: Element | None) -> bool:
    mark = None if properties is None else child(properties, "rPr")
    return mark is not None and (child(mark, "del") is not None)


def _gallery(control: Element) -> str:
    found = control.find("{*}sdtPr/{*}docPartObj/{*}docPartGallery")
    return "" if found is None else value(found)
