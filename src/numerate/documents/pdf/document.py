"""A PDF from its first page to its last: opened, read, and put together."""

import threading
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from multiprocessing import parent_process
from operator import attrgetter
from typing import Any

from numerate.documents.document import Document, Paragraph, Table
from numerate.documents.pdf.layout import Layout
from numerate.documents.pdf.lines import Line
from numerate.documents.pdf.page import MAX_CHARACTERS, Side, pdfium, read_page
from numerate.documents.pdf.paragraphs import (
    Block,
    begins_item,
    blocks_of,
    is_running,
    reference_numbers,
    without_label,
)
from numerate.documents.pdf.tables import FoundTable
from numerate.documents.pdf.text import Vocabulary, as_it_stands, written
from numerate.documents.pdf.written_tables import joined_tables, written_table
from numerate.documents.pipe_tables import tables_named
from numerate.documents.reader import Unit
from numerate.documents.section_headings import is_abstract, is_of_body, is_references
from numerate.errors import DocumentError, counted, one_line
from numerate.reports.notices import say
from numerate.reports.progress import PassProgress

_MANY = 50  # pages: so many take a while, and progress is shown
MAX_PAGES, MAX_TEXT = 10_000, 20_000_000  # characters of them all: a page may be drawn many times
_ONE_AT_A_TIME = threading.Lock()  # PDFium must not be used by two threads


def read_pdf(unit: Unit) -> Document:
    with _ONE_AT_A_TIME:
        return _read(unit)


def _read(unit: Unit) -> Document:
    layout, vocabulary = Layout(), Vocabulary()
    items = []
    for item in layout.items(_pages(unit)):
        if isinstance(item, Line):
            vocabulary.add(item)
        items.append(item)
    found = list(joined_tables(blocks_of(items, layout.body), vocabulary))
    text, references = _without_references(found)
    tables = list(_tables(found, text, vocabulary))
    abstract = set(map(id, _abstract(text)))
    paragraphs = [
        _paragraph(block, vocabulary, references, tables, in_abstract=id(block) in abstract)
        for block in text
        if is_running(block.text)
    ]
    return Document(unit.name, paragraphs, tables)


def _tables(
    found: Sequence[Block | FoundTable], text: Sequence[Block], vocabulary: Vocabulary
) -> Iterator[Table]:
    kept = set(map(id, text))
    number = before = 0
    for one in found:
        if isinstance(one, FoundTable):
            number += 1
            table = written_table(one, number, vocabulary)
            table.after = before
            yield table
        else:
            before += id(one) in kept


def _without_references(found: Sequence[Block | FoundTable]) -> tuple[list[Block], int | None]:
    """Text without the list of references, and the number of the last of these: 0 where they have
    none, and None where there is no list."""
    text: list[Block] = []
    heading: Block | None = None
    last: int | None = None
    for block in found:
        if isinstance(block, FoundTable):
            continue
        if is_references(block.text):
            heading = block
            continue
        if heading is not None and block.is_heading and _is_alike(heading, block):
            heading = None
        if heading is None:
            text.append(block)
        else:
            last = max([last or 0, *reference_numbers(block)])
    return text, last


def _abstract(text: Sequence[Block]) -> Iterator[Block]:
    """What stands under its heading, up to one that is set alike, or that says that it begins."""
    heading: Block | None = None
    for block in text:
        if block.is_heading and heading is not None:
            begins = _is_alike(heading, block) or "introduction" in block.text.lower()
            if begins:
                return
        elif heading is None and block.is_heading and is_of_body(block.text):
            return
        if heading is not None and not block.is_heading:
            yield block
        if heading is None and is_abstract(block.text):
            heading = block


def _is_alike(heading: Block, other: Block) -> bool:
    """Whether it is set as another heading is: names in a list may be bold, too."""
    one, two = heading.lines[0], other.lines[0]
    return abs(one.size - two.size) < 0.5 and one.is_bold == two.is_bold


def _paragraph(
    block: Block,
    vocabulary: Vocabulary,
    references: int | None,
    tables: Sequence[Table],
    *,
    in_abstract: bool,
) -> Paragraph:
    kind = "##" if block.is_heading else "item" if begins_item(block.lines[0]) else ""
    without_label(block)
    text = written(block.lines, vocabulary, references)
    by_page = [list(lines) for _, lines in groupby(block.lines, attrgetter("page"))]
    turns = _turns(text, [written(lines, vocabulary, references) for lines in by_page])
    named = tables_named(as_it_stands(block.lines, vocabulary), tables)
    return Paragraph(text, named, in_abstract=in_abstract, kind=kind, page=block.page, turns=turns)


def _turns(text: str, parts: Sequence[str]) -> tuple[int, ...]:
    """Where each part but the first begins in the text, which joins them by a space or a word."""
    turns, end = list[int](), 0
    for part, after in pairwise(parts):
        end += len(part)
        at = text.find(after[:12], max(end - 2, 0), end + 16)
        end = end if at < 0 else at
        turns.append(end)
    return tuple(turns)


def _pages(unit: Unit) -> Iterator[tuple[int, list[Side]]]:
    """What is written on each page, with its number; pages that cannot be read are told."""
    raw = pdfium(unit.name)
    pdf = _opened(raw, unit)
    without_text: list[int] = []
    broken: list[int] = []
    cut: list[int] = []
    read = 0
    try:
        count = raw.FPDF_GetPageCount(pdf)
        if count > MAX_PAGES:
            got = f"got {count:,} pages, expected at most {MAX_PAGES:,}"
            raise DocumentError(unit.name, f"too long: {got}")
        with PassProgress("pages") as progress:
            for index in range(count):
                if count >= _MANY and parent_process() is None:
                    progress(unit.name, index, count)
                page = raw.FPDF_LoadPage(pdf, index)
                if not page:
                    broken.append(index + 1)
                    continue
                try:
                    sides, characters = read_page(raw, page)
                    if not sides and _has_picture(raw, page):
                        without_text.append(index + 1)
                finally:
                    raw.FPDF_ClosePage(page)
                if characters > MAX_CHARACTERS:
                    cut.append(index + 1)
                read += min(characters, MAX_CHARACTERS)
                if read > MAX_TEXT:
                    got = f"expected at most {MAX_TEXT:,} characters, got more by page {index + 1}"
                    raise DocumentError(unit.name, f"too long: {got}")
                yield index + 1, sides
        _tell(unit.name, count, without_text, broken)
        if cut:
            expected = f"at most {MAX_CHARACTERS:,} characters of a page"
            say(f"{unit.name}: {_numbered(cut)} too long: read are {expected}")
    finally:
        raw.FPDF_CloseDocument(pdf)


def _opened(raw: Any, unit: Unit) -> Any:
    raw.FPDF_InitLibrary()
    pdf = raw.FPDF_LoadMemDocument64(unit.data, len(unit.data), None)
    if pdf:
        return pdf
    code = raw.FPDF_GetLastError()
    if code == raw.FPDF_ERR_PASSWORD:
        raise DocumentError(unit.name, "a PDF that needs a password, expected one without")
    if code == raw.FPDF_ERR_SECURITY:
        raise DocumentError(unit.name, "a PDF with an encryption that is not known")
    if b"%PDF" not in unit.data[:1024]:
        raise DocumentError(unit.name, f"not a PDF: it begins with {one_line(unit.data[:8])}")
    raise DocumentError(unit.name, "a broken PDF: its pages cannot be found")


def _has_picture(raw: Any, page: Any) -> bool:
    some = range(min(raw.FPDFPage_CountObjects(page), 100))
    kinds = (raw.FPDFPageObj_GetType(raw.FPDFPage_GetObject(page, index)) for index in some)
    return any(kind in (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_FORM) for kind in kinds)


def _tell(name: str, count: int, without_text: Sequence[int], broken: Sequence[int]) -> None:
    """In one line each; a document of which nothing can be read is an error."""
    if without_text and len(without_text) + len(broken) == count:
        pages = counted(count, "page")
        raise DocumentError(name, f"no text: {pages} of pictures, as of a scan; expected text")
    if broken and len(broken) == count:
        raise DocumentError(name, "a broken PDF: no page of it can be read")
    for some, reason in ((without_text, "without text, as of a scan"), (broken, "broken")):
        if some:
            say(f"{name}: {_numbered(some)} {reason}: not read; the others are")


def _numbered(pages: Sequence[int]) -> str:
    if len(pages) == 1:
        return f"page {pages[0]} is"
    some = ", ".join(map(str, pages[:5])) + (f" and {len(pages) - 5} others" * (len(pages) > 5))
    return f"pages {some} are"
