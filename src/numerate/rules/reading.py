"""A document as rules read it: its texts, each with its numbers, and its tables."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

from numerate.documents.document import Document, Paragraph, Table
from numerate.documents.flow import REF, references_of
from numerate.documents.markdown.code import stretch_at
from numerate.documents.source_map import Place
from numerate.rules.names_of_digits import NamesOfDigits
from numerate.rules.numbers import Number, numbers_in
from numerate.rules.where import Where

if TYPE_CHECKING:
    from numerate.rules.shape import Shape

MAX_WORDS = 60  # characters of a header in words about a place
_AS_WRITTEN = re.compile(r"[^\\{}\[\]@<>$`#_]{1,80}")  # a reference in a source, without markup

T = TypeVar("T")


class Piece:
    """One text within which statements stand: a paragraph, a caption, a table's notes or a cell.

    Of a paragraph of Markdown with a table in it, what stands before and after the table are two.
    """

    __slots__ = ("_numbers", "place", "shape", "text")

    def __init__(self, text: str, place: Where) -> None:
        self.text = text
        self.place = place  # of the whole
        self._numbers: list[Number] | None = None
        self.shape: Shape | None = None  # see `shape_of`

    @property
    def numbers(self) -> list[Number]:
        if self._numbers is None:
            self._numbers = numbers_in(self.text)
        return self._numbers

    def where(self, start: int, end: int) -> Where:
        p = self.place
        start, end = p.start + start, p.start + end
        return Where(start, end, p.paragraph, p.table, p.row, p.column, p.in_notes)

    def of(self, number: Number) -> Where:
        return self.where(number.start, number.end)


@dataclass(frozen=True)
class ReadDocument:
    """What every rule is given. `given` are tables beside the document's own."""

    document: Document
    given: Sequence[Table] = ()

    @cached_property
    def tables(self) -> list[Table]:
        return [*self.document.tables, *self.given]

    @cached_property
    def paragraphs(self) -> list[Piece]:
        """Without the tables of Markdown in them, and their captions; code is one long word there,
        and of comments there are but spaces."""
        stretches = sorted(
            stretch
            for table in self.document.tables
            if table.source is not None
            for stretch in table.source.stretches
        )
        texts = self._texts
        return [
            Piece(texts[index][start:end], Where(start, end, paragraph=index))
            for index, paragraph in enumerate(self.document.paragraphs)
            for start, end in _without(paragraph, stretches)
        ]

    @cached_property
    def _texts(self) -> list[str]:
        """Of paragraphs, with all characters at their places."""
        source, paragraphs = self.document.source, self.document.paragraphs
        hidden: dict[int, list[tuple[int, int, str]]] = {}
        signs = ((self.document.code, "_"), (self.document.comments, " "))
        for (start, end), sign in ((one, sign) for some, sign in signs for one in some):
            index = max(source.paragraph_at(start), 0)
            while index < len(paragraphs) and source.spans[index][0] < end:
                first, last = source.spans[index]
                first, last = max(first, start), min(last, end)
                if first < last:
                    begin, stop = source.read_at(first), source.read_at(last - 1) + 1
                    hidden.setdefault(index, []).append((begin, stop, sign))
                index += 1
        texts = [paragraph.text for paragraph in paragraphs]
        for index, some in hidden.items():
            texts[index] = _hidden(texts[index], some, paragraphs[index].start)
        return texts

    @cached_property
    def captions(self) -> list[Piece]:
        """One a table, in their order."""
        return [
            Piece(table.caption, Where(0, len(table.caption), table=index))
            for index, table in enumerate(self.tables)
        ]

    @cached_property
    def notes(self) -> list[Piece]:
        """What stands below the tables, one a table."""
        return [
            Piece(table.notes, Where(0, len(table.notes), table=index, in_notes=True))
            for index, table in enumerate(self.tables)
        ]

    @cached_property
    def cells(self) -> list[dict[tuple[int, int], Piece]]:
        """Of each table, by row and column (rows as in `Where`); those that only repeat what a
        spanning cell says are left out."""
        return [
            {
                (row, column): Piece(text, Where(0, len(text), None, index, row, column))
                for row, column, text in _texts(table)
                if (row, column) not in table.repeated
            }
            for index, table in enumerate(self.tables)
        ]

    @cached_property
    def _statements(self) -> dict[Callable[["ReadDocument"], Any], Any]:
        return {}

    def by(self, reader: Callable[["ReadDocument"], T]) -> T:
        """What a reader of statements finds; it reads once, however many rules ask."""
        if reader not in self._statements:
            self._statements[reader] = reader(self)
        found: T = self._statements[reader]
        return found

    def running(self) -> Iterator[Piece]:
        """Where sentences stand: paragraphs, captions and notes."""
        yield from self.paragraphs
        yield from self.captions
        yield from self.notes

    def pieces(self) -> Iterator[Piece]:
        yield from self.running()
        for cells in self.cells:
            yield from cells.values()

    def text(self, where: Where) -> str:
        """What stands there."""
        return self.whole(where)[where.start : where.end]

    def whole(self, where: Where) -> str:
        """All of the paragraph, caption, notes or cell that it is a part of."""
        if where.table is None:
            return self.document.paragraphs[where.paragraph or 0].text
        table = self.tables[where.table]
        if where.row is None or where.column is None:
            return table.notes if where.in_notes else table.caption
        rows = table.header if where.row < 0 else table.body
        return rows[where.row][where.column]

    def references(self, where: Where) -> list[str]:
        """What the references in all of the text that it is a part of were written as, in their
        order; "" where that is not known."""
        known = self._references
        if where.text_of not in known:
            known[where.text_of] = self._found_references(where)
        return known[where.text_of]

    @cached_property
    def _references(self) -> dict[tuple[object, ...], list[str]]:
        return {}

    def _found_references(self, where: Where) -> list[str]:
        if where.table is None:
            paragraph = self.document.paragraphs[where.paragraph or 0]
            if found := references_of(paragraph.as_given):
                return found
        text, source = self.whole(where), self.home(where).source.text
        if found := references_of(text):
            return found
        marks = (replace(where, start=m.start(), end=m.end()) for m in re.finditer(REF, text))
        written = (source[slice(*(self._span(mark) or (0, 0)))] for mark in marks)
        return [" ".join(one.split()) if _AS_WRITTEN.fullmatch(one) else "" for one in written]

    def is_beside(self, where: Where) -> bool:
        """Whether it stands in a table that was given beside the document."""
        return where.table is not None and where.table >= len(self.document.tables)

    def home(self, where: Where) -> Document:
        """The file that it stands in: of a table beside the document its own, if it has one."""
        file = self.tables[where.table or 0].file if self.is_beside(where) else None
        return file or self.document

    def file(self, where: Where) -> str:
        """The name of the file that it stands in, which may be one that the document takes in."""
        part = self.place(where).part
        return part.name if part is not None and part.is_file else self.home(where).name

    def span(self, where: Where) -> tuple[int, int] | None:
        """Offsets into the text of the document's source; None in a table beside it."""
        return None if self.is_beside(where) else self._span(where)

    def is_verbatim(self, where: Where) -> bool:
        """Whether it stands in its file letter for letter, but for white space."""
        span = self._span(where)
        written = self.home(where).source.text[slice(*span)] if span else ""
        return written.split() == self.text(where).split()

    def is_text(self, where: Where) -> bool:
        """Whether it is no code, and no comment, that stands in a paragraph."""
        if where.paragraph is None or not (self.document.code or self.document.comments):
            return True
        start, _ = self.span(where) or (0, 0)
        both = (self.document.code, self.document.comments)
        return all(stretch_at(stretches, start) is None for stretches in both)

    def is_quantity(self, where: Where) -> bool:
        """Whether the numeral there is no part of an address, a name or a number with exponent."""
        known = self._names_of_digits
        if where.text_of not in known:
            known[where.text_of] = NamesOfDigits(self.whole(where))
        return not known[where.text_of].hold(where.start)

    @cached_property
    def _names_of_digits(self) -> dict[tuple[object, ...], NamesOfDigits]:
        return {}

    def _span(self, where: Where) -> tuple[int, int] | None:
        """Offsets into the text of the file that it stands in."""
        if where.table is None:
            paragraph = self.document.paragraphs[where.paragraph or 0]
            return self.document.span(paragraph, where.start, where.end)
        table = self.tables[where.table]
        if table.source is None:
            return None
        if where.in_notes:
            return table.source.span_of_notes(where.start, where.end)
        return table.source.span(where.row, where.column, where.start, where.end)

    def place(self, where: Where) -> Place:
        """With line and column, if it stands in a file that has lines."""
        home = self.home(where)
        span = self._span(where) if home is not self.document else self.span(where)
        if span is None:
            table = None if where.table is None else self.tables[where.table]
            line, page = (table.line, table.page) if table is not None else (None, None)
            return Place(None, line, None, where.start, where.end, page=page)
        place = home.source.place(*span)
        if where.paragraph is not None:
            place = replace(place, paragraph=where.paragraph + 1)
        if place.line is None and place.paragraph is not None:
            paragraph = self.document.paragraphs[place.paragraph - 1]
            return replace(place, line=paragraph.line, page=paragraph.page_at(where.start))
        return place

    @cached_property
    def _outside_abstract(self) -> list[int]:
        """How many paragraphs up to each are not of the abstract."""
        return list(accumulate(int(not one.in_abstract) for one in self.document.paragraphs))

    def describe(self, where: Where) -> str:
        """In words: `Table 2, row Heart rate, column Placebo`; `paragraph 3`, or its line; with
        its page, where there are any: `Table 2 on page 5, row Heart rate`."""
        page = self.place(where).page
        on_page = "" if page is None else f" on page {page}"
        if where.table is None:
            return self._paragraph_named(where) + on_page
        table = self.tables[where.table]
        name = (table.label or f"Table {where.table + 1}") + on_page
        if where.row is None or where.column is None:
            return f"{name}, {'notes' if where.in_notes else 'caption'}"
        if table.sheet is not None:
            name = table.sheet.name(where.row, where.column)
        above = [cells[where.column] for cells in table.header if where.column < len(cells)]
        header = ", ".join(dict.fromkeys(filter(None, above)))
        column = f"column {_shortened(header) or where.column + 1}"
        if where.row < 0:
            return f"{name}, header of {column}"
        row = _shortened(table.body[where.row][0]) or where.row + 1
        return f"{name}, row {row}" if where.column == 0 else f"{name}, row {row}, {column}"

    def _paragraph_named(self, where: Where) -> str:
        paragraph = self.document.paragraphs[where.paragraph or 0]
        if self.document.given is not None:
            place = self.place(where)
            within = f"{place.part.name}, " if place.part else ""
            return f"{within}line {place.line}"
        if paragraph.cell is not None:
            return paragraph.cell
        if paragraph.in_abstract:
            return "abstract"
        return f"paragraph {self._outside_abstract[where.paragraph or 0]}"


def _hidden(text: str, stretches: list[tuple[int, int, str]], at: int) -> str:
    """A sign in the place of every character of some stretches; the text begins `at` somewhere."""
    left, done = list[str](), 0
    for start, end, sign in sorted(stretches):
        start, end = max(start - at, done), min(end - at, len(text))
        left += [text[done:start], sign * (end - start)]
        done = max(end, done)
    return "".join([*left, text[done:]])


def _texts(table: Table) -> Iterator[tuple[int, int, str]]:
    top = len(table.header)
    for number, texts in enumerate([*table.header, *table.body]):
        for column, text in enumerate(texts):
            yield number - top, column, text


def _shortened(words: str) -> str:
    return words if len(words) <= MAX_WORDS else words[: MAX_WORDS - 1].rstrip() + "…"


def _without(
    paragraph: Paragraph, stretches: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """What is left of a paragraph, as read, without some lines of what was given; tables that are
    read from markup are no part of one."""
    if paragraph.runs is not None:
        yield 0, len(paragraph.text)
        return
    at, end = paragraph.at, paragraph.at + len(paragraph.as_given)
    first = bisect_right(stretches, at, key=lambda stretch: stretch[1])
    last = bisect_left(stretches, end, key=lambda stretch: stretch[0])
    read, done = 0, at
    for start, stop in [*stretches[first:last], (end, end)]:
        for begin, close, is_left in ((done, start, True), (max(start, done), stop, False)):
            words = " ".join(paragraph.as_given[begin - at : max(close - at, 0)].split())
            if words:
                if is_left:
                    yield read, read + len(words)
                read += len(words) + 1
        done = max(done, stop)
