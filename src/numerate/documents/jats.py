"""JATS: articles as PubMed Central and many publishers keep them."""

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain

from numerate.documents.cell_grid import SpanningCell, cell_grid
from numerate.documents.document import Document, Paragraph, Table
from numerate.documents.flow import CITE, MATH, REF, Flow, is_address
from numerate.documents.markup_comments import Block, Comments
from numerate.documents.mathml import write_mathml
from numerate.documents.reader import Reader, Unit
from numerate.documents.xml import (
    Element,
    entity_text,
    first_element,
    line_of,
    local_name,
    parse_xml,
)
from numerate.errors import DocumentError

# Not running text: what stands beside the paragraphs, even when it is written inside one.
_ASIDE = {
    "fig", "fig-group", "table-wrap", "table-wrap-group", "supplementary-material", "media",
    "graphic", "inline-graphic", "fn", "fn-group", "ref-list", "caption", "label", "title",
    "object-id", "permissions", "attrib", "alt-text", "index-term",
}  # fmt: skip
_BLOCKS = {
    "p", "list", "list-item", "def-list", "def-item", "disp-quote", "break", "preformat",
    "table", "tr", "th", "td",
}  # fmt: skip
_ENVELOPES = {"pmc-articleset", "OAI-PMH", "record"}
_NAMESPACE = re.compile(r"https?://[\w.]*\b(?:nlm\.nih\.gov|niso\.org)/")  # most have none
_FORMULAS = {"disp-formula", "disp-formula-group", "chem-struct-wrap"}
_CITATIONS = {"bibr", "ref"}
# Journals of medicine raise the decimal point, 0·05; but 3·10 and a power is a product.
_RAISED_POINT = re.compile(r"(?<![\w.])([0-9]+)[·∙](?!10\Z)(?=[0-9])")
_TEX_NOISE = re.compile(r"\\(?:documentclass|usepackage|setlength)[^\n]*|[${}]|\\[,;!: ]|~")


class JatsReader(Reader):
    """One article a file."""

    suffixes = (".xml", ".nxml")
    articles = True
    fallback = True  # so that other XML is refused by its root

    def recognises(self, beginning: bytes) -> bool:
        """Tell it by its root, an article or an envelope of some, in no other namespace."""
        root = first_element(beginning)
        if root is None:
            return False
        if root.name in _ENVELOPES:
            return True
        return root.name == "article" and _is_jats(root.namespace)

    def read(self, unit: Unit) -> Iterator[Document]:
        article = _article(parse_xml(unit.data, unit.name, comments=True), unit.name)
        comments = Comments(article)
        parts = [
            *article.iterfind("{*}front/{*}article-meta/{*}abstract"),
            *article.iterfind("{*}body"),
        ]
        paragraphs = {
            element: Paragraph(
                partial(_text, element),
                _table_ids(element),
                in_abstract=local_name(part) == "abstract",
                line=line_of(element),
            )
            for part in parts
            for element in _paragraph_elements(part)
        }
        wraps = enumerate(article.iter("{*}table-wrap"), 1)
        tables = {wrap: _tables(wrap, number) for number, wrap in wraps}
        blocks: dict[Element, Block] = {wrap: found[0] for wrap, found in tables.items()}
        blocks |= paragraphs
        yield Document(
            unit.name,
            paragraphs.values(),
            chain.from_iterable(tables.values()),
            id=_article_id(article),
            remarks=comments.remarks(article, blocks, _is_no_text),
        )


def _article(root: Element, name: str) -> Element:
    """Find the root, or the one article in an envelope; articles of other formats are refused."""
    found = list(root.iter("{*}article")) if local_name(root) in _ENVELOPES else [root]
    if len(found) > 1:
        raise DocumentError(name, f"a set of {len(found)} articles, expected one a file")
    article = found[0] if found else root
    namespace, _, kind = str(article.tag).removeprefix("{").rpartition("}")
    if kind != "article" or not _is_jats(namespace):
        got = f"<{kind}>" + (f" of {namespace}" if namespace else "")
        raise DocumentError(name, f"not a JATS article: got root {got}, expected <article>")
    return article


def _is_jats(namespace: str) -> bool:
    return not namespace or _NAMESPACE.match(namespace) is not None


def _article_id(article: Element) -> str | None:
    ids = {
        element.get("pub-id-type", ""): "".join(map(str, element.itertext())).strip()
        for element in article.iterfind("{*}front/{*}article-meta/{*}article-id")
    }
    for kind in ("pmc", "pmcid"):
        if ids.get(kind):
            return "PMC" + ids[kind].removeprefix("PMC")
    return ids.get("doi") or ids.get("publisher-id") or None


def _paragraph_elements(parent: Element) -> list[Element]:
    found = []
    for child in parent:
        name = local_name(child)
        if name == "p":
            found.append(child)
        elif name not in _ASIDE and name not in _FORMULAS:
            found.extend(_paragraph_elements(child))
    return found


def _is_no_text(element: Element) -> bool:
    return local_name(element) in _ASIDE


def _table_ids(paragraph: Element) -> tuple[str, ...]:
    """Tables the running text refers to, in order; references in captions and notes are aside."""
    ids: dict[str, None] = {}
    for xref in paragraph.iter("{*}xref"):
        if xref.get("ref-type") == "table" and not _is_aside(xref, paragraph):
            ids.update(dict.fromkeys(xref.get("rid", "").split() or ["?"]))
    return tuple(ids)


def _is_aside(element: Element, paragraph: Element) -> bool:
    parent = element.getparent()
    while parent is not None and parent is not paragraph:
        if local_name(parent) in _ASIDE:
            return True
        parent = parent.getparent()
    return False


def _text(element: Element) -> str:
    flow = Flow()
    _write_content(flow, element)
    return flow.finish()


def _write_content(flow: Flow, element: Element) -> None:
    _write_text(flow, element.text)
    for child in element:
        _write_inline(flow, child)
        _write_text(flow, child.tail)


def _write_text(flow: Flow, text: str | None) -> None:
    flow.text(text and _RAISED_POINT.sub(r"\1.", text))


def _write_inline(flow: Flow, element: Element) -> None:
    name = local_name(element)
    if name == "&":
        flow.text(entity_text(element))
    elif name == "xref":
        if element.get("ref-type") in _CITATIONS:
            flow.mark(CITE)
        else:
            flow.mark(REF, shown=_plain(element))
    elif name in _ASIDE:
        flow.space()
    elif name in _FORMULAS:
        flow.mark(MATH)
    elif name == "inline-formula":
        _write_formula(flow, element)
    elif name == "math":
        write_mathml(flow, element)
    elif name == "tex-math":
        flow.text(_tex_text(element))
    elif name == "sup":
        flow.superscript(_text(element))
    elif name == "sub":
        flow.subscript(_text(element))
    elif name == "inline-supplementary-material" or _is_address(element, name):
        flow.mark(REF, shown=_plain(element))
    elif name in _BLOCKS:
        flow.space()
        _write_content(flow, element)
        flow.space()
    else:
        _write_content(flow, element)


def _is_address(element: Element, name: str) -> bool:
    return name in {"ext-link", "uri"} and is_address(_text(element))


def _write_formula(flow: Flow, formula: Element) -> None:
    """The same formula may be given in several notations; one of them is written."""
    for name, write in (("math", write_mathml), ("tex-math", _write_inline)):
        for notation in formula.iter(f"{{*}}{name}"):
            write(flow, notation)
            return
    if "".join(map(str, formula.itertext())).strip():
        _write_content(flow, formula)
    else:
        flow.mark(MATH)  # a picture


def _tex_text(element: Element) -> str:
    source = "".join(map(str, element.itertext()))
    body = source.partition(r"\begin{document}")[2].partition(r"\end{document}")[0]
    return f" {_TEX_NOISE.sub(' ', body or source)} "


def _tables(wrap: Element, number: int) -> list[Table]:
    """One; or several under one heading, each with a header of its own. What stands above them is
    said with the first, what stands below with the last, so that everything is said once."""
    label = wrap.find("{*}label")
    caption = wrap.find("{*}caption")
    tables = [
        Table(
            wrap.get("id") or f"#{number}",  # nothing refers to one without a name
            "" if label is None else _plain(label),
            "",
            *cell_grid(header, body),
            line=line_of(wrap),
        )
        for header, body in _headers_and_bodies(wrap)
    ]
    first, last = tables[0], tables[-1]
    first.caption = "" if caption is None else _caption_text(caption)
    first.nested = sum(1 for table in wrap.iter("{*}table") if _is_in_cell(table))
    is_empty = not (first.header or first.body)
    first.is_picture = is_empty and wrap.find(".//{*}graphic") is not None
    last.notes = _notes_text(wrap)
    return tables


_Rows = list[list[SpanningCell]]


def _headers_and_bodies(wrap: Element) -> list[tuple[_Rows, _Rows]]:
    """A header below a body is that of another table."""
    parts: list[tuple[_Rows, _Rows]] = [([], [])]
    for row in _rows(wrap):
        cells = [_cell(cell) for cell in row if local_name(cell) in {"td", "th"}]
        is_header = _in_header(row)
        if is_header and parts[-1][1]:
            parts.append(([], []))
        header, body = parts[-1]
        (header if is_header else body).append(cells)
    return parts


def _rows(parent: Element) -> Iterator[Element]:
    """Without those of tables within cells, or of others beside it under one heading."""
    for child in parent:
        name = local_name(child)
        if name == "tr":
            yield child
        elif name != "table-wrap":
            yield from _rows(child)


def _is_in_cell(table: Element) -> bool:
    wraps = {"td", "th", "table-wrap"}
    parent = table.getparent()
    while parent is not None and local_name(parent) not in wraps:
        parent = parent.getparent()
    return parent is not None and local_name(parent) != "table-wrap"


def _plain(element: Element) -> str:
    """The text as it stands: in a label, "Table 2" is no reference."""
    return " ".join("".join(map(str, element.itertext())).split())


def _in_header(row: Element) -> bool:
    parent = row.getparent()
    return parent is not None and local_name(parent) == "thead"


def _cell(cell: Element) -> SpanningCell:
    return SpanningCell(_text(cell), cell.get("colspan"), cell.get("rowspan"))


def _notes_text(wrap: Element) -> str:
    """Without the marks by which cells refer to them, which would read as numbers."""
    flow = Flow()
    for foot in wrap.iterfind("{*}table-wrap-foot"):
        for paragraph in foot.iter("{*}p"):
            flow.space()
            _write_content(flow, paragraph)
    return flow.finish()


def _caption_text(caption: Element) -> str:
    flow = Flow()
    for child in caption:
        if local_name(child) in {"title", "p"}:
            flow.space()
            _write_content(flow, child)
    return flow.finish()
