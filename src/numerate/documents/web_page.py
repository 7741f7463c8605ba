"""Ordinary pages in HTML: their running text, without what is around it, and their tables."""

from collections.abc import Iterator

from numerate.documents.cell_grid import MAX_AREA
from numerate.documents.document import Document, Paragraph, Remark, Table
from numerate.documents.flow import Flow
from numerate.documents.latexml import LatexmlReader
from numerate.documents.markup_comments import Block, Comment, Comments
from numerate.documents.mathml import mathml_text
from numerate.documents.pipe_tables import tables_named
from numerate.documents.reader import Reader, Unit
from numerate.documents.table_file import html_table
from numerate.documents.xml import (
    Element,
    entity_text,
    first_element,
    line_of,
    local_name,
    parse_html,
)
from numerate.errors import DocumentError

# Neither running text nor numbers that somebody states.
_ASIDE = {
    "aside", "button", "code", "footer", "form", "head", "iframe", "kbd", "nav", "noscript",
    "object", "option", "pre", "samp", "script", "select", "style", "svg", "template", "textarea",
    "title", "var",
}  # fmt: skip
_INLINE = {
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "data", "del", "dfn", "em", "font",
    "i", "img", "input", "ins", "label", "mark", "meter", "output", "q", "rp", "rt", "ruby", "s",
    "small", "span", "strike", "strong", "time", "tt", "u", "wbr",
}  # fmt: skip
# Elements that a page or a part of one begins with, where it may begin with others in XML too.
_FIRST = {
    "html", "head", "title", "meta", "link", "base", "style", "script", "body", "main", "div", "p",
    "h1", "h2", "h3", "h4", "h5", "h6", "header", "nav", "ul", "ol", "dl", "span", "blockquote",
    "pre", "hr", "center", "table",
}  # fmt: skip


class WebPageReader(Reader):
    """One document a page; other elements than these of HTML are taken for blocks."""

    suffixes = (".html", ".htm", ".xhtml")
    fallback = True  # readers of special pages go before it

    def recognises(self, beginning: bytes) -> bool:
        """Tell it by its first element, for standard input; LaTeXML's pages are not for it."""
        root = first_element(beginning)
        is_page = root is not None and root.name.lower() in _FIRST
        return is_page and not LatexmlReader().recognises(beginning)

    def read(self, unit: Unit) -> Iterator[Document]:
        root = parse_html(unit.data, unit.name, comments=True)
        comments = Comments(root)
        if sum(1 for _ in root.iter("{*}td", "{*}th")) > MAX_AREA:
            raise DocumentError(unit.name, f"too large: expected at most {MAX_AREA:,} cells")
        page = _Page(comments)
        page.write(_content(root))
        page.end()
        for paragraph, written in zip(page.paragraphs, page.written, strict=True):
            paragraph.tables = tables_named(written, page.tables)
        yield Document(unit.name, page.paragraphs, page.tables, remarks=page.remarks)


def _content(root: Element) -> Element:
    """Of a page that says so, its only article or its main part."""
    for name in ("main", "article", "body"):
        found = list(root.iter(f"{{*}}{name}"))
        if len(found) == 1:
            return found[0]
    return root


class _Page:
    def __init__(self, comments: Comments) -> None:
        self.paragraphs: list[Paragraph] = []
        self.written: list[str] = []  # as each stands there: with the numbers of tables it names
        self.tables: list[Table] = []
        self.remarks: list[Remark] = []
        self._comments = comments
        self._waiting: list[Comment] = []  # for the block that is being read, or the next one
        self._flow = Flow()
        self._texts: list[str] = []
        self._line: int | None = None

    def write(self, element: Element) -> None:
        self._text(element.text, element)
        self._waiting += self._comments.in_text(element)
        for child in element:
            name = local_name(child)
            if name == "&":
                self._text(entity_text(child), element)
            elif name in _ASIDE or child.get("hidden") is not None:
                self._flow.space()
            elif name == "math":
                self._flow.text(mathml_text(child))
            elif name == "br":
                self._flow.space()
            elif name == "sup":
                self._flow.superscript(self._inside(child))
            elif name == "sub":
                self._flow.subscript(self._inside(child))
            elif name == "table" and _holds_data(child):
                self.end_paragraph()
                self.tables.append(html_table(child, len(self.tables) + 1))
                self._waiting += self._comments.within(child)
                self._remark_on(self.tables[-1])
            elif name in _INLINE:
                self.write(child)
            else:
                self.end_paragraph()
                self.write(child)
                self.end_paragraph()
            self._text(child.tail, child)
            self._waiting += self._comments.in_tail(child)

    def _text(self, text: str | None, element: Element) -> None:
        if self._line is None and text and not text.isspace():
            self._line = line_of(element)
        self._texts.append(text or "")
        self._flow.text(text)

    def end_paragraph(self) -> None:
        if text := self._flow.finish():
            self.paragraphs.append(Paragraph(text, line=self._line))
            self.written.append("".join(self._texts))
            self._remark_on(self.paragraphs[-1])
        self._flow, self._texts, self._line = Flow(), [], None

    def end(self) -> None:
        """End the last paragraph; comments behind it are about nothing."""
        self.end_paragraph()
        self._remark_on(None)

    def _remark_on(self, block: Block | None) -> None:
        self.remarks += [comment.about(block) for comment in self._waiting]
        self._waiting = []

    def _inside(self, element: Element) -> str:
        script = _Page(self._comments)
        script.write(element)
        script.end_paragraph()
        self._waiting += self._comments.within(element)
        return " ".join(paragraph.as_given for paragraph in script.paragraphs)


def _holds_data(table: Element) -> bool:
    """Other tables only say where on the page something stands."""
    nested = sum(1 for _ in table.iter("{*}table")) > 1
    return not nested and table.get("role") not in ("presentation", "none")
