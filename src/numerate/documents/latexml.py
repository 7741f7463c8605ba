"""LaTeXML: articles written in TeX, as its XML or as the HTML of arXiv and ar5iv.

The HTML keeps LaTeXML's own element names as classes (`ltx:para` is `div.ltx_para`), so
one reader serves both: everything below asks for an element's kind, never for its tag.
"""

import re
from collections.abc import Iterator
from itertools import islice

from numerate.documents.cell_grid import SpanningCell, cell_grid
from numerate.documents.document import Document, Paragraph, Table
from numerate.documents.flow import CITE, MATH, REF, Flow, is_address
from numerate.documents.markup_comments import Block, Comments
from numerate.documents.mathml import mathml_text
from numerate.documents.reader import Reader, Unit, ascii_of
from numerate.documents.xml import (
    Element,
    entity_text,
    first_element,
    line_of,
    local_name,
    parse_html,
    parse_xml,
)
from numerate.errors import DocumentError

_NAMESPACE = "http://dlmf.nist.gov/LaTeXML"
_XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
# Not running text: what stands beside the paragraphs, even when it is written inside one.
_ASIDE = {
    "abstract", "acknowledgements", "authors", "bibliography", "caption", "classification",
    "contact", "creator", "date", "dates", "ERROR", "figure", "float", "glossary", "graphics",
    "index", "indexmark", "keywords", "listing", "navigation", "note", "page_footer",
    "page_header", "page_navbar", "picture", "rdf", "resource", "subtitle", "table", "tag",
    "tags", "title", "TOC", "toccaption", "toctitle",
    "footer", "head", "nav", "script", "style", "svg",
}  # fmt: skip
_DISPLAYS = {"equation", "equationgroup"}
_BLOCKS = {
    "br", "break", "inline-block", "inline-para", "item", "p", "para", "quote", "tabular", "td",
    "tr",
}  # fmt: skip
_MADE_BY_LATEXML = re.compile(
    rb"<!--\s*Generated[^<>]{0,200}LaTeXML|<meta\s[^<>]{0,200}generator[^<>]{0,200}LaTeXML"
    rb"|<[a-z][^<>]{0,1000}?\sclass\s*=\s*[\"']?(?:[^\"'<>]{0,1000}?\s)?ltx_",
    re.IGNORECASE,
)
_HTML = re.compile(rb"<(?:!doctype\s+)?html", re.IGNORECASE)
_OUTWARD = re.compile(r"(?:[a-z][a-z0-9+.-]*:|//)", re.IGNORECASE)
_ARXIV_ID = re.compile(
    r"(?:/(?:abs|html|pdf)/|arXiv:)([a-z-]+(?:\.[A-Z]{2})?/[0-9]{7}|[0-9]{4}\.[0-9]{4,5})"
)
_BETWEEN_FORMULAS = re.compile(rf"{MATH}\s*{MATH}")


class LatexmlReader(Reader):
    """One article a file."""

    suffixes = (".xml", ".html", ".htm", ".xhtml")
    articles = True

    def recognises(self, beginning: bytes) -> bool:
        """Tell its XML by the namespace of the root, its HTML by a class or the generator."""
        root = first_element(beginning)
        if root is None:
            return False
        is_page = root.name.lower() == "html"
        return root.namespace == _NAMESPACE or (
            is_page and _MADE_BY_LATEXML.search(ascii_of(beginning)) is not None
        )

    def read(self, unit: Unit) -> Iterator[Document]:
        root = _parse(unit.data, unit.name)
        comments = Comments(root)
        tables = [element for element in root.iter("*") if _kind(element) == "table"]
        targets = {key: _id(table) for table in tables for key in _keys(table)}
        paragraphs = []
        blocks: dict[Element, Block] = {}
        abstracts = [element for element in root.iter("*") if _kind(element) == "abstract"]
        for part in [*abstracts, root]:
            for run in _runs(part):
                writer = _Writer(targets)
                writer.write_run(run)
                text, referred = writer.flow.finish(), tuple(writer.tables)
                in_abstract, line = part is not root, line_of(run[0])
                paragraphs.append(Paragraph(text, referred, in_abstract=in_abstract, line=line))
                blocks |= dict.fromkeys(run, paragraphs[-1])
        read = [_table(table, number) for number, table in enumerate(tables, 1)]
        blocks |= zip(tables, read, strict=True)
        remarks = comments.remarks(root, blocks, _is_no_text)
        yield Document(unit.name, paragraphs, read, id=_arxiv_id(root), remarks=remarks)


def _parse(data: bytes, name: str) -> Element:
    head = data[:1024].replace(b"\0", b"")  # UTF-16 too
    if b"<?xml" in head or not _HTML.search(head):
        root = parse_xml(data, name, comments=True)
    else:
        root = parse_html(data, name, comments=True)
        # The parser of HTML forgives everything; LaTeXML never leaves a page open.
        if b"</html" not in data.replace(b"\0", b"").lower():
            raise DocumentError(name, "truncated HTML: no </html>")
    if not _is_latexml(root):
        got = local_name(root)
        expected = "<document> of LaTeXML, or HTML with its ltx_ classes"
        raise DocumentError(name, f"not a LaTeXML document: got root <{got}>, expected {expected}")
    return root


def _is_latexml(root: Element) -> bool:
    if str(root.tag).startswith(f"{{{_NAMESPACE}}}"):
        return True
    return any("ltx_" in element.get("class", "") for element in root.iter("*"))


def _kind(element: Element) -> str:
    """LaTeXML's name of the element; in HTML it is the first class `ltx_…`."""
    tag = element.tag
    if isinstance(tag, str) and not tag.startswith(f"{{{_NAMESPACE}}}"):
        for name in _classes(element):
            if name.startswith("ltx_"):
                return name.removeprefix("ltx_")
    return local_name(element)


def _classes(element: Element) -> list[str]:
    return element.get("class", "").split()


def _id(element: Element) -> str:
    return element.get(_XML_ID) or element.get("id") or ""


def _keys(table: Element) -> list[str]:
    """What a reference may call it: its id, or the labels its author gave."""
    return [_id(table), *table.get("labels", "").split()] if _id(table) else []


def _arxiv_id(root: Element) -> str | None:
    """The identifier without version, so that all copies of an article count as one."""
    places = [
        *(link.get("href") for link in root.iter("{*}link") if link.get("rel") == "canonical"),
        *(base.get("href") for base in root.iter("{*}base")),
        *(mark.text for mark in root.iter("{*}div") if mark.get("id") == "watermark-tr"),
    ]
    for place in places:
        if match := _ARXIV_ID.search(place or ""):
            return match.group(1)
    return None


def _is_no_text(element: Element) -> bool:
    kind = _kind(element)
    return kind in _ASIDE and kind != "abstract"


def _runs(parent: Element) -> Iterator[list[Element]]:
    """Runs of blocks that make one paragraph each.

    LaTeXML cuts a paragraph where an equation is displayed; the reader of an article does
    not. A list cuts it: its items are paragraphs of their own.
    """
    run: list[Element] = []
    for child in parent:
        kind = _kind(child)
        if kind in _ASIDE:
            continue
        if kind == "p" or kind in _DISPLAYS:
            run.append(child)
            continue
        for inner in _runs(child):
            if run:
                yield run
                run = []
            yield inner
    if run:
        yield run


class _Writer:
    """Writes running text, and notes the tables it refers to."""

    def __init__(self, targets: dict[str, str]) -> None:
        self.flow = Flow()
        self.tables: dict[str, None] = {}  # in order
        self._targets = targets

    def write_run(self, run: list[Element]) -> None:
        for block in run:
            self._write_inline(block)
            self.flow.space()

    def write_content(self, element: Element) -> None:
        self.flow.text(element.text)
        for child in element:
            self._write_inline(child)
            self.flow.text(child.tail)

    def _write_inline(self, element: Element) -> None:
        kind = _kind(element)
        if kind == "&":
            self.flow.text(entity_text(element))
        elif kind in _ASIDE or (kind == "tabular" and not _is_in_cell(element)):
            self.flow.space()
        elif kind in {"cite", "bibref"}:
            self.flow.mark(CITE)
        elif kind == "ref":
            self._write_reference(element)
        elif kind in {"Math", "math"}:
            self._write_formula(element)
        elif kind == "MathFork":  # the whole, then its parts as aligned
            for whole in islice(element, 1):
                self._write_inline(whole)
        elif kind in _DISPLAYS:
            self.flow.text(_BETWEEN_FORMULAS.sub(" ", f" {self._apart(element)} "))
        elif kind == "sup":
            self.flow.superscript(self._apart(element))
        elif kind == "sub":
            self.flow.subscript(self._apart(element))
        elif kind in _BLOCKS:
            self.flow.space()
            self.write_content(element)
            self.flow.space()
        else:
            self.write_content(element)

    def _write_reference(self, ref: Element) -> None:
        text = self._apart(ref)
        if _is_outward(ref) and not is_address(text):
            self.flow.text(text)  # the author's own words, linked
            return
        self.flow.mark(REF, shown=_plain(ref))
        fragment = ref.get("href", "").partition("#")[2]
        table = self._targets.get(ref.get("idref") or ref.get("labelref") or fragment)
        if table is not None:
            self.tables[table] = None

    def _write_formula(self, formula: Element) -> None:
        self.flow.mark(MATH)
        tex = _tex(formula)
        if tex:
            self.flow.text(f" {tex} ")
            self.flow.mark(MATH)

    def _apart(self, element: Element) -> str:
        """The text of an element by itself."""
        flow, self.flow = self.flow, Flow()
        self.write_content(element)
        text, self.flow = self.flow.finish(), flow
        return text


def _is_outward(ref: Element) -> bool:
    """arXiv writes references within the article as full addresses too, but with a fragment."""
    href = ref.get("href")
    if href is None or ref.get("idref") or ref.get("labelref") or not _OUTWARD.match(href):
        return False
    return "#" not in href or not {"ltx_href", "ltx_url"}.isdisjoint(_classes(ref))


def _is_in_cell(element: Element) -> bool:
    parent = element.getparent()
    while parent is not None and _kind(parent) != "td":
        parent = parent.getparent()
    return parent is not None


def _text(element: Element) -> str:
    writer = _Writer({})
    writer.write_content(element)
    return writer.flow.finish()


def _plain(element: Element) -> str:
    """The text as it stands: in a label, "Table 2" is no reference."""
    return " ".join("".join(map(str, element.itertext())).split())


# Tables


def _table(table: Element, number: int) -> Table:
    caption = next(_descend(table, "caption", {"table"}), None)
    tag = None if caption is None else next(_descend(caption, "tag", set()), None)
    header: list[list[SpanningCell]] = []
    body: list[list[SpanningCell]] = []
    for row in _descend(table, "tr", {"caption", "toccaption"}):
        cells = [cell for cell in row if _kind(cell) in {"td", "th"}]
        is_header = bool(cells) and all(_is_column_header(cell) for cell in cells)
        (header if is_header or _is_in_head(row) else body).append([_cell(cell) for cell in cells])
    return Table(
        _id(table) or f"#{number}",  # nothing refers to one without a name
        "" if tag is None else _plain(tag).rstrip(" :."),
        "" if caption is None else _text(caption),
        *cell_grid(header, body),
        nested=sum(1 for inner in table.iter("*") if _is_nested(inner)),
        is_picture=not (header or body) and any(_kind(e) == "graphics" for e in table.iter("*")),
        notes=_notes_text(table),
        line=line_of(table),
    )


def _notes_text(table: Element) -> str:
    """What the author wrote under it."""
    writer = _Writer({})
    writer.write_run(list(_descend(table, "p", {"caption", "table", "tabular", "tr"})))
    return writer.flow.finish()


def _is_nested(element: Element) -> bool:
    return _kind(element) == "tabular" and _is_in_cell(element)


def _descend(parent: Element, kind: str, closed: set[str]) -> Iterator[Element]:
    """Outermost elements of a kind, without looking into `closed` ones."""
    for child in parent:
        found = _kind(child)
        if found == kind:
            yield child
        elif found not in closed:
            yield from _descend(child, kind, closed)


def _is_in_head(row: Element) -> bool:
    parent = row.getparent()
    return parent is not None and _kind(parent) == "thead"


def _is_column_header(cell: Element) -> bool:
    return (
        "column" in cell.get("thead", "")
        or "ltx_th_column" in _classes(cell)
        or _kind(cell) == "th"
    )


def _cell(cell: Element) -> SpanningCell:
    return SpanningCell(_text(cell), cell.get("colspan"), cell.get("rowspan"))


# TeX


def _tex(formula: Element) -> str:
    """The source of a formula: an attribute of XML, HTML or of a picture, or an annotation."""
    source = formula.get("tex") or formula.get("alttext") or formula.get("alt")
    if source is None:
        for annotation in formula.iter("{*}annotation"):
            if annotation.get("encoding") == "application/x-tex":
                source = annotation.text
    return mathml_text(formula) if source is None else clean_tex(source)


_LENGTH = r"[+-]?\s*(?:[0-9]+\.?[0-9]*|\.[0-9]+)\s*(?:pt|em|ex|mu|cm|mm|in|pc|bp|sp|dd|cc|fil+)"
_GROUP = r"\s*\{(?:[^{}]|\{[^{}]*\})*\}"
_OPTION = r"(?:\[[^][]*\])?"
_WORD_END = r"(?![A-Za-z])"

_LINE_END = re.compile(r"(\\[\\%])|(\\[A-Za-z]+)?%\s*")
_THOUSANDS = re.compile(
    r"(?<![0-9.])[1-9][0-9]{0,2}(?:(?:\\,|\{,\}|\{\\,\}|,\\!)[0-9]{3})+(?![0-9])"
)
_DECIMAL_GROUP = re.compile(r"(?<=[0-9])\{([.,])\}(?=[0-9])")
_TEX_REF = re.compile(rf"\\[A-Za-z]*ref{_WORD_END}\*?{_GROUP}")
_TEX_CITE = re.compile(rf"\\cite[A-Za-z]*\*?(?:{_OPTION}){{0,2}}{_GROUP}")
_VISUAL = re.compile(
    "|".join(
        [
            rf"\\(?:[hvm]skip|m?kern|raise|lower|[hv]box\s*(?:to|spread))\s*{_LENGTH}"
            rf"(?:\s*(?:plus|minus)\s*{_LENGTH})*",
            rf"\\(?:[hv]space\*?|[hv]?phantom|label|tag\*?|scalebox|color){_OPTION}{_GROUP}",
            rf"\\(?:rule|fontsize){_OPTION}{_GROUP}{_GROUP}",
            rf"\\textcolor{_OPTION}{_GROUP}",
            rf"\\definecolor{_OPTION}(?:{_GROUP}){{3}}",
            rf"\\pgfsys@color@(?:rgb@[a-z]+(?:{_GROUP}){{3}}|cmyk@[a-z]+(?:{_GROUP}){{4}}"
            rf"|gray@[a-z]+{_GROUP})",
            rf"\{{\s*{_LENGTH}\s*\}}|\[\s*{_LENGTH}\s*\]",
            rf"\\(?:(?:display|text|script|scriptscript)style|q?quad|nonumber|notag){_WORD_END}",
            r"\\[,;:!> ]|~|(?<!\\)\$",
        ]
    )
)
_ESCAPED = re.compile(r"\\([%#&$])")


def clean_tex(source: str) -> str:
    """TeX without what only moves or colours ink: `\\hskip 5.0pt` holds no number of the text."""
    tex = " ".join(_LINE_END.sub(_join_lines, source).split())  # also spares patterns long spaces
    tex = _THOUSANDS.sub(_comma_groups, tex)
    tex = _DECIMAL_GROUP.sub(r"\1", tex)
    tex = _TEX_REF.sub(f" {REF} ", tex)
    tex = _TEX_CITE.sub(f" {CITE} ", tex)
    tex = _VISUAL.sub(" ", tex)
    return " ".join(_ESCAPED.sub(r"\1", tex).split())


def _join_lines(match: re.Match[str]) -> str:
    """LaTeXML breaks long formulas anywhere, with a comment sign: `12%⏎34` is 1234."""
    escaped, command = match.groups()
    return escaped or (f"{command} " if command else "")


def _comma_groups(match: re.Match[str]) -> str:
    """`10\\,000` and `10{,}000` are `10,000`."""
    return ",".join(re.findall("[0-9]+", match.group()))
