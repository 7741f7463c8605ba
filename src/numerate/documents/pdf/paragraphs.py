"""Paragraphs of a PDF, put together from lines, across columns and pages."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from numerate.documents.pdf.lines import RAISED, Line, Run
from numerate.documents.pdf.tables import CAPTION, FIGURE, FoundTable, begins_caption

_ENDED = re.compile(r"[.!?:;][)\]”’\"']*\s*$")
_ITEM = re.compile(r"\s*(?:[•◦▪‣●○■\uf0b7]|[–—*·-]\s|\(?(?:[0-9]{1,2}|[a-z]|[ivx]{1,4})[.)]\s)")
_NUMBERED = re.compile(r"\s*(?:[0-9]{1,2}(?:\.[0-9]{1,2})*\.?|[IVX]{1,4}\.|[A-Z]\.)\s+(?=[A-Z])")
_MARK = re.compile(r"\s*(?:[0-9]{1,3}|[*†‡§¶]{1,3})(?:\s|[A-Z][a-z])")  # of a footnote
_WORD = re.compile(r"[^\W\d_]{2}")
_STATED = re.compile(r"[=<>≤≥]\s?[-−]?\.?[0-9]")  # p < .001
_FEW = 6  # words: so few may say anything
_ENTRY = re.compile(r"\s*\[?([0-9]{1,3})[\].]")


@dataclass(slots=True, eq=False)
class Block:
    """Lines that are one paragraph, or a heading."""

    lines: list[Line] = field(default_factory=list)
    is_heading: bool = False
    is_aside: bool = False  # a caption or a footnote: text goes on after it

    @property
    def page(self) -> int:
        return self.lines[0].page

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines)


def blocks_of(items: Iterable[Line | FoundTable], body: float) -> Iterator[Block | FoundTable]:
    """Paragraphs and tables in reading order; `body` is the size of running text."""
    waiting: list[Block | FoundTable] = []  # what stands between parts of one paragraph
    open_block: Block | None = None
    for one in _with_captions(_cut(items, body)):
        if isinstance(one, FoundTable) or one.is_aside:
            waiting.append(one)
            continue
        if open_block is not None and _continues(open_block, one):
            open_block.lines += one.lines
            continue
        if open_block is not None:
            yield open_block
        yield from waiting
        waiting, open_block = [], one
    if open_block is not None:
        yield open_block
    yield from waiting


def _with_captions(found: Iterable[Block | FoundTable]) -> Iterator[Block | FoundTable]:
    """A caption at the end of a column is that of the table at the top of the next."""
    last: Block | None = None
    for one in found:
        if isinstance(one, FoundTable):
            if last is not None and not one.caption and begins_caption(last.lines[0], None):
                one.caption, last = last.lines, None
            if last is not None:
                yield last
            last = None
            yield one
            continue
        if last is not None:
            yield last
        last = one
    if last is not None:
        yield last


def _cut(items: Iterable[Line | FoundTable], body: float) -> Iterator[Block | FoundTable]:
    """Blocks of lines that stand together in one column."""
    block: Block | None = None
    for item in items:
        if isinstance(item, FoundTable):
            if block is not None:
                yield block
            block = None
            yield item
            continue
        if block is None or _begins(block, item, body):
            if block is not None:
                yield block
            is_heading = _is_heading(item, body)
            block = Block([item], is_heading, _is_aside(item, body))
        else:
            block.lines.append(item)
    if block is not None:
        yield block


def _is_heading(line: Line, body: float) -> bool:
    return (line.is_bold or line.size > 1.12 * body) and len(line.text) < 200


def _is_aside(line: Line, body: float) -> bool:
    """A caption, or a note at the foot of a page, in smaller type and with a mark."""
    if FIGURE.match(line.text) or (CAPTION.match(line.text) and line.size < body - 0.3):
        return True
    marked = line.runs[0].level == RAISED or bool(re.match(r"[*†‡§¶]|[0-9]{1,2}\s", line.text))
    return line.size < body - 0.7 and marked


def _begins(block: Block, line: Line, body: float) -> bool:
    """Whether a line is the first of another block than the lines before it."""
    last = block.lines[-1]
    if line.page != last.page or line.column != last.column:
        return True
    distance = line.base - last.base
    if distance <= 0 or distance > _usual_distance(block) * 1.22 + 0.6:
        return True
    if abs(line.size - last.size) > 0.06 * last.size + 0.2 or line.is_bold != last.is_bold:
        return not (line.is_bold or last.is_bold) or _is_heading(block.lines[0], body)
    if block.is_heading:
        return False
    if _ITEM.match(line.text) and _ENDED.search(last.text):
        return True
    if line.runs[0].level == RAISED and block.is_aside:
        return True
    right = line.column[1]
    indent = line.left - last.left
    if 0.7 * line.size < indent < 4.5 * line.size and not _hangs(block):
        return _ENDED.search(last.text) is not None or line.text[:1].isupper()
    # What would have fitted into a line, and is not there, begins a paragraph.
    room = right - last.right - 0.35 * last.size
    return room > line.first_word and _ENDED.search(last.text) is not None


def _usual_distance(block: Block) -> float:
    lines = block.lines[:6]
    if len(lines) > 1:
        return min(below.base - above.base for above, below in pairwise(lines))
    return 1.36 * lines[-1].size if not block.is_heading else 1.3 * lines[-1].size


def _hangs(block: Block) -> bool:
    """A block whose first line begins further to the left than the others, as items of lists do."""
    return len(block.lines) == 1 and _ITEM.match(block.lines[0].text) is not None


def _continues(block: Block, following: Block) -> bool:
    """Whether a paragraph goes on at the top of the next column or page."""
    last, line = block.lines[-1], following.lines[0]
    beside = line.page == last.page and line.column == last.column
    if beside and 0 < line.base - last.base < 1.5 * last.size:
        return False  # only a table or a note may stand between parts in one column
    if block.is_heading or following.is_heading:
        return False
    if abs(line.size - last.size) > 0.4 or _ITEM.match(line.text):
        return False
    text = line.text.lstrip("([“\"'")
    if not _ENDED.search(last.text):
        full = last.column[1] - last.right < 0.25 * (last.column[1] - last.column[0])
        return full or text[:1].islower() or text[:1].isdigit()
    return text[:1].islower()


def reference_numbers(block: Block) -> list[int]:
    """Those that entries of a list begin with."""
    found = (_ENTRY.match(line.text) for line in block.lines)
    return [int(match[1]) for match in found if match]


def begins_item(line: Line) -> bool:
    return _ITEM.match(line.text) is not None


def without_label(block: Block) -> None:
    """The sign or number of an item, a section or a footnote is no part of what it says."""
    runs = block.lines[0].runs
    if len(runs) > 1 and runs[0].level == RAISED and _MARK.match(runs[0].text + runs[1].text):
        del runs[0]
    label = _NUMBERED.match(runs[0].text) if block.is_heading else _ITEM.match(runs[0].text)
    if label and runs[0].level == 0 and (len(runs) > 1 or label.end() < len(runs[0].text)):
        runs[0] = Run(0, runs[0].text[label.end() :].lstrip())


def is_running(text: str) -> bool:
    """Tell text that states something from the numbers along the axes of a figure."""
    words = text.split()
    if len(words) < _FEW:
        return any(character.isalnum() for character in text)
    if _STATED.search(text):
        return True
    return sum(_WORD.search(word) is not None for word in words) > len(words) / 4
