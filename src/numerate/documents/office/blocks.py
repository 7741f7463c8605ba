"""From the blocks of a word processor's document to paragraphs and tables.

The list of references is left out, the abstract is known, and a table has its caption and notes.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from numerate.documents.captions import Block, with_captions
from numerate.documents.document import Document, Paragraph, Table
from numerate.documents.flow import made_of
from numerate.documents.pipe_tables import tables_named
from numerate.documents.section_headings import is_abstract, is_of_body, is_references
from numerate.documents.unlinked_citations import with_citations

_LEGEND = re.compile(
    r"(?:supplement\w*\s|extended data\s)?(?:fig(?:ure|\.)|table|box|scheme|video)\s*[A-Z]?[0-9]",
    re.IGNORECASE,
)
_ENTRY = re.compile(  # "1. ", "[1] ", "Low, A. " or "van Low AB, ", and somewhere a year
    r"(?:\[?[0-9]{1,3}[\].)]|(?:[a-z]{1,3} ){0,2}[A-Z][\w'’-]*,? [A-Z]{1,3}[.,;])"
    r".*\b(?:19|20)[0-9]{2}"
)
_NUMBER_OF_HEADING = re.compile(r"\A[0-9]{1,2}(?:\.[0-9]{1,2})*\.?\s+(?=[^\W\d])")
_HEADING_WORDS = 5  # of a heading without a style


def document_of(name: str, blocks: list[Block]) -> Document:
    """Make a document of blocks in their order; notes come last."""
    blocks = with_captions(blocks)
    tables = [block.table for block in blocks if block.table is not None]
    return Document(name, list(_paragraphs(blocks, tables)), tables)


def _paragraphs(blocks: list[Block], tables: list[Table]) -> Iterator[Paragraph]:
    """Without the list of references; with those of the abstract told from the others."""
    kept = {id(block) for block in _without_references(blocks)}
    references = sum(block.table is None for block in blocks) - len(kept)
    before = 0
    for block in blocks:
        if block.table is not None:
            block.table.after = before
        if id(block) not in kept:
            continue
        before += 1
        text = block.text
        if block.level:
            text = made_of(text, _NUMBER_OF_HEADING.sub("", text))
        yield Paragraph(
            with_citations(text, references),
            tables_named(block.written, tables),
            in_abstract=block.in_abstract,
            kind="#" * min(block.level, 6) if block.level else "item" * block.is_item,
        )


def _without_references(blocks: list[Block]) -> Iterator[Block]:
    part, level = "", 0  # that we are in, and that of its heading; 0 of one without style
    in_body = False  # a summary at the end is no abstract
    for block, following in pairwise([*blocks, Block()]):
        if _ends(part, level, block, following):
            part = ""
        if block.table is not None:
            continue
        in_body = in_body or (not part and _is_heading(block) and is_of_body(block.text))
        if is_references(block.text):
            part, level = "references", block.level or 0
        elif is_abstract(block.text) and not part and not in_body:
            part, level = "abstract", block.level or 0
        elif part == "references" or block.is_reference:
            continue
        block.in_abstract |= part == "abstract"
        yield block


def _ends(part: str, level: int, block: Block, following: Block) -> bool:
    """After references, manuscripts have legends, tables and supplements, often without a heading
    of the same level; but a list of references may also have headings of its own."""
    if block.level is not None and block.level <= level:
        return True
    if part == "references":
        is_other = block.table is not None or _LEGEND.match(block.written.strip())
        return bool(is_other or _is_heading(block)) and not _ENTRY.match(following.text)
    return _is_heading(block) and not level


def _is_heading(block: Block) -> bool:
    """By its level, or by its looks."""
    if block.level is not None or not block.text:
        return block.level is not None
    text = block.text
    has_sign = any(character.isdigit() or character in ".,;:" for character in text.rstrip(":"))
    return not has_sign and len(text.split()) <= _HEADING_WORDS
