"""Which paragraphs beside a table are its caption and its notes, where nothing but place, style
and wording tells."""

import re
from dataclasses import dataclass

from numerate.documents.document import Table
from numerate.documents.flow import REF, made_of
from numerate.documents.pipe_tables import label_and_caption

MAX_TITLE = 300  # characters of a title under a line that has nothing but the table's number

_NUMBER = r"Table\s+[A-Z]?[0-9]+[A-Za-z]?"
_LABEL = re.compile(rf"{_NUMBER}[.:]?", re.IGNORECASE)
# "Table 2 shows …" is a sentence.
_CAPTION = re.compile(rf"{_NUMBER}\s*(?:[.:|(–—-]|\Z|(?<=\s)[A-Z])", re.IGNORECASE)
_SENTENCE = re.compile(rf"{_NUMBER}\s+[a-z]")
_OF_ELSE = re.compile(r"(?:Fig|Box|Scheme|Chart|Equation|Listing|Video|Appendix)", re.IGNORECASE)
_REFERENCE = re.compile(rf"\A(\W*Table) {REF}", re.IGNORECASE)
_NOTES = re.compile(r"(?:Notes?|Abbreviations?)\s*[.:]|\^(?:[a-z0-9]|\W)|[*†‡§¶]", re.IGNORECASE)


@dataclass(slots=True)
class Block:
    """A paragraph or a table, in the order of the document."""

    text: str = ""
    written: str = ""  # as it stands there: with the numbers of tables that it names
    is_caption: bool = False  # by its style
    level: int | None = None  # of a heading
    is_item: bool = False  # of a list
    in_abstract: bool = False
    is_reference: bool = False  # one of the list of references
    table: Table | None = None


def with_captions(blocks: list[Block]) -> list[Block]:
    """Without the paragraphs that are captions and notes, which their tables have then."""
    tables = [index for index, block in enumerate(blocks) if block.table is not None]
    above = [index for index in tables if is_caption(blocks, index - 1)]
    below = [index for index in tables if is_caption(blocks, index + 1)]
    sides = (-1, 1) if len(above) >= len(below) else (1, -1)
    taken: set[int] = set()
    for side in sides:
        for index in tables:
            table = blocks[index].table
            assert table is not None
            if not table.caption and not table.label and index + side not in taken:
                taken |= _take_caption(blocks, index, side, table)
    for index in tables:
        table = blocks[index].table
        assert table is not None
        after = index + 1 if index + 1 not in taken else index + 2
        notes: list[str] = []
        while after < len(blocks) and after not in taken and _NOTES.match(blocks[after].text):
            notes.append(blocks[after].text)
            taken.add(after)
            after += 1
        table.notes = notes[0] if len(notes) == 1 else " ".join(notes)
    _number([blocks[index].table for index in tables])
    return [block for index, block in enumerate(blocks) if index not in taken]


def reads_as_caption(written: str) -> bool:
    """Whether a paragraph beside a table says that it is the caption of one."""
    return _CAPTION.match(written) is not None and not _SENTENCE.match(written)


def is_caption(blocks: list[Block], index: int) -> bool:
    """Whether a paragraph beside a table may be its caption."""
    if not 0 <= index < len(blocks) or blocks[index].table is not None:
        return False
    block = blocks[index]
    written = block.written.strip()
    if block.is_caption:
        return not _OF_ELSE.match(written)
    if reads_as_caption(written):
        return block.level is None
    return _is_title(blocks, index)


def _is_title(blocks: list[Block], index: int) -> bool:
    """Whether it stands under a line that has nothing but the number of a table."""
    return (
        index > 0
        and blocks[index - 1].table is None
        and _LABEL.fullmatch(blocks[index - 1].written.strip()) is not None
        and len(blocks[index].written) <= MAX_TITLE
    )


def _take_caption(blocks: list[Block], index: int, side: int, table: Table) -> set[int]:
    at = index + side
    if not is_caption(blocks, at):
        return set()
    table.label, table.caption = _told(blocks[at])
    if side < 0 and not table.label and _is_title(blocks, at):
        table.label, _ = _told(blocks[at - 1])
        return {at, at - 1}
    return {at}


def _told(block: Block) -> tuple[str, str]:
    """Its label as written, since "Table 2" is a reference in the text; its words as read."""
    label, words = label_and_caption(" ".join(block.written.split()))
    if not label:
        return "", block.text
    _, read = label_and_caption(_REFERENCE.sub(r"\1 1", block.text))
    return label, made_of(block.text, read) if words else ""


def _number(tables: list[Table | None]) -> None:
    """Where no table has a number, they are counted."""
    if any(table is not None and table.label for table in tables):
        return
    for number, table in enumerate(tables, 1):
        if table is not None:
            table.label = f"Table {number}"
