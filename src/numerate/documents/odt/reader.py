"""OpenDocument texts, as LibreOffice and others save them: what stands in them once all tracked
changes are accepted.

Footnotes and endnotes come after the text, text boxes after the paragraph that they hang on. What a
program makes of the rest is no text: indexes, lists of references, headers and footers.
"""

import posixpath
import re
from collections.abc import Callable, Iterator

from numerate.documents.captions import Block, is_caption
from numerate.documents.cell_grid import MAX_AREA
from numerate.documents.document import Document, Table
from numerate.documents.odt.line import SHAPES, Line
from numerate.documents.odt.styles import Styles
from numerate.documents.odt.table import area, cells_of, count, grid, rows_of
from numerate.documents.office.blocks import document_of
from numerate.documents.office.package import LARGE, OfficePackage
from numerate.documents.office.xml import child, value
from numerate.documents.reader import Reader, Unit, ascii_of
from numerate.documents.xml import Element, first_element, local_name, parse_xml
from numerate.errors import DocumentError

KIND = "an OpenDocument text (.odt)"

_TYPE = "application/vnd.oasis.opendocument.text"
_OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
# The first part of a package is its type, not compressed, so that the file can be told by it.
_PACKAGE = re.compile(rb"PK\x03\x04.{26}mimetype" + re.escape(_TYPE.encode()), re.DOTALL)
_CONTENT, _STYLES, _MANIFEST = "content.xml", "styles.xml", "META-INF/manifest.xml"
_INDEXES = {
    "table-of-content", "illustration-index", "table-index", "object-index", "user-index",
    "alphabetical-index",
}  # fmt: skip
_WITHIN = {
    "list", "list-item", "list-header", "numbered-paragraph", "section", "index-body",
    "index-title", "frame", "text-box", "g", "a", *SHAPES,
}  # fmt: skip
_LISTS = {"list", "numbered-paragraph"}
_BIBLIOGRAPHY = re.compile(r"ZOTERO_BIBL|CSL_BIBLIOGRAPHY|Mendeley Bibliography|JR_bib")


class OdtReader(Reader):
    """One document a file, in a package of parts or flat in one file of XML; macros are parts that
    are never read."""

    suffixes = (".odt", ".ott", ".fodt")
    binary = True

    def recognises(self, beginning: bytes) -> bool:
        if beginning.startswith(b"PK"):
            return _PACKAGE.match(beginning) is not None
        root = first_element(beginning)
        is_office = root is not None and (root.name, root.namespace) == ("document", _OFFICE)
        return is_office and _TYPE.encode() in ascii_of(beginning)

    def read(self, unit: Unit) -> Iterator[Document]:
        if ascii_of(unit.data[:64]).lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").startswith(b"<"):
            root = parse_xml(unit.data, unit.name)
            styles = Styles(root)
            story = _Story(unit.name, styles, lambda one: one.find("{*}math"))
        else:
            package = _package(unit)
            root = package.xml(_CONTENT)
            others = [package.xml(_STYLES)] if package.has(_STYLES) else []
            styles = Styles(*others, root)
            story = _Story(unit.name, styles, _formulas(package))
        story.write_all(_text_of(root, unit.name))
        yield document_of(unit.name, story.blocks)


def _package(unit: Unit) -> OfficePackage:
    package = OfficePackage(unit.data, unit.name, KIND)
    if package.has("mimetype"):
        kind = package.read("mimetype")[:200].decode("ascii", "replace").strip()
        if not kind.startswith(_TYPE):
            shown = kind if kind.isprintable() else "another type"
            raise DocumentError(unit.name, f"not {KIND}: got {shown}")
    if package.has("encrypted-package") or (
        package.has(_MANIFEST) and b"encryption-data" in package.read(_MANIFEST)
    ):
        reason = "encrypted: expected a document that opens without a password"
        raise DocumentError(unit.name, reason)
    return package


def _formulas(package: OfficePackage) -> Callable[[Element], Element | None]:
    """What finds the formula that an object is, in the object or in a part of the package."""
    named: set[str] = set()
    again = 0  # bytes of parts that are named more than once

    def found(one: Element) -> Element | None:
        nonlocal again
        within = one.find("{*}math")
        if within is not None:
            return within
        part = posixpath.normpath(posixpath.join(value(one, "href"), _CONTENT))
        if not package.has(part):
            return None
        data = package.read(part)
        again += len(data) if part in named else 0
        named.add(part)
        if again > LARGE:
            raise DocumentError(package.name, f"too large: it names {part} again and again")
        root = parse_xml(data, f"{package.name}: {part}")
        return root if local_name(root) == "math" else root.find(".//{*}math")

    return found


def _text_of(root: Element, name: str) -> Element:
    body = child(root, "body")
    text = None if body is None else child(body, "text")
    if text is None:
        raise DocumentError(name, f"not {KIND}: got root <{local_name(root)}> without a text")
    return text


class _Story:
    """The blocks of a text as they are met."""

    def __init__(
        self, name: str, styles: Styles, formula_of: Callable[[Element], Element | None]
    ) -> None:
        self.name = name  # of the document
        self.blocks: list[Block] = []
        self._styles = styles
        self._formula_of = formula_of
        self._notes: list[Element] = []  # that were referred to
        self._tables = 0  # that were met
        self._area = 0  # of all of them

    def write_all(self, body: Element) -> None:
        """Notes in the order in which the text refers to them; those of notes are among them."""
        self.write(body)
        for note in self._notes:  # which may grow
            self.write(note)

    def write(self, parent: Element, *, is_item: bool = False, is_reference: bool = False) -> None:
        for element in parent:
            name = local_name(element)
            if value(element, "display") == "none" or value(element, "is-hidden") == "true":
                continue
            if name in ("p", "h"):
                self._paragraph(element, is_item, is_reference)
            elif name == "table":
                self._table(element)
            elif name == "bibliography":
                self.write(element, is_reference=True)
            elif name in _WITHIN:
                listed = is_reference or bool(_BIBLIOGRAPHY.search(value(element, "name")))
                self.write(element, is_item=is_item or name in _LISTS, is_reference=listed)

    def _paragraph(self, element: Element, is_item: bool, is_reference: bool) -> None:
        style = self._styles.of(element, "paragraph")
        line = Line(self._styles, self._formula_of)
        line.write(element)
        self._notes += line.notes
        text = line.finish()
        if text and not style.is_aside:
            block = Block(text, line.written)
            block.level = style.level
            if local_name(element) == "h":
                outline = value(element, "outline-level")
                block.level = int(outline[:2]) if outline.isdecimal() else style.level or 1
            block.is_caption = style.is_caption
            block.is_reference = is_reference or style.is_bibliography
            block.in_abstract, block.is_item = style.is_abstract, is_item
            self.blocks.append(block)
        for box in line.boxes:
            self.write(box)

    def _table(self, element: Element) -> None:
        """One that only says where on the page something stands is read cell by cell."""
        if _is_layout(element, is_named=is_caption(self.blocks, len(self.blocks) - 1)):
            for row, _ in rows_of(element):
                for cell in cells_of(row):
                    self.write(cell)
            return
        self._area += area(element)
        if self._area > MAX_AREA:
            reason = f"too large: expected at most {MAX_AREA:,} cells in its tables"
            raise DocumentError(self.name, reason)
        boxes: list[Element] = []
        found = grid(element, lambda cell: self._cell_text(cell, boxes))
        if any(map(any, [*found.header, *found.body])):
            self._tables += 1
            self.blocks.append(Block(table=Table(f"#{self._tables}", "", "", *found)))
        for box in boxes:
            self.write(box)

    def _cell_text(self, cell: Element, boxes: list[Element]) -> str:
        line = Line(self._styles, self._formula_of)
        for paragraph in _paragraphs(cell):
            line.space()
            line.write(paragraph)
        self._notes += line.notes
        boxes += line.boxes
        return line.finish()


def _paragraphs(parent: Element) -> Iterator[Element]:
    for one in parent:
        if local_name(one) in ("p", "h"):
            yield one
        elif local_name(one) in _WITHIN and value(one, "display") != "none":
            yield from _paragraphs(one)


def _is_layout(table: Element, *, is_named: bool) -> bool:
    """Whether it holds other tables, or nothing beside anything and no caption calls it a table."""
    if any(one is not table for one in table.iter("{*}table")):
        return True
    widths = (
        sum(count(cell, "number-columns-repeated") for cell in cells_of(row))
        for row, _ in rows_of(table)
    )
    return not is_named and all(width < 2 for width in widths)
