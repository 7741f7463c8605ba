"""A document as read: its paragraphs as one text, the tables they refer to, and the way back.

Training and checking read the same `Document`, so that a model that checks a text sees what it
would have seen, had it learnt from it.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from numerate.documents.placed_text import PlacedText
from numerate.documents.source_map import Part, Runs, SourceMap
from numerate.documents.xlsx.sheet import SheetCells

BETWEEN = "\n\n"  # two paragraphs


@dataclass(slots=True)
class Paragraph:
    """One line of text: white space is collapsed, and characters are what can be stored."""

    given: str | Callable[[], str]  # as it stands in the source; or what reads it, once wanted
    tables: tuple[str, ...] = ()  # ids of the tables it refers to, known or not
    holds: tuple[str, ...] = ()  # ids of the tables that are part of its text
    in_abstract: bool = False  # which is checked; a corpus is made of what it sums up
    log_probs: Sequence[float] | None = None  # exact, per token and end, where the source knows
    log_probs_with_tables: Sequence[float] | None = None  # the same with its tables in sight
    at: int = 0  # where it begins in the text that its document was given, if it was
    runs: Runs | None = field(default=None, compare=False, repr=False)
    """Of its characters in the text that its document was given, where they differ."""
    kind: str = ""  # "#" to "######" for headings by their level, "item" or "numbered" in lists
    line: int | None = field(default=None, compare=False)  # of a file of markup where it begins
    cell: str | None = field(default=None, compare=False)  # of a workbook: where it stands
    page: int | None = field(default=None, compare=False)  # of a file of pages where it begins
    turns: tuple[int, ...] = field(default=(), compare=False)  # where in its text pages begin
    start: int = field(default=0, init=False, compare=False)  # where it begins in the document's
    _text: str | None = field(default=None, init=False, compare=False, repr=False)

    @classmethod
    def placed(cls, given: PlacedText, **more: Any) -> "Paragraph":
        """Of a text that was read from markup, and knows where it stands there."""
        return cls(given.text, runs=given.runs, **more)

    @property
    def text(self) -> str:
        if self._text is None:
            text = " ".join(self.as_given.split())
            # JSON may hold lone surrogates, Parquet does not; every offset stays what it was.
            self._text = text if text.isascii() else text.encode("utf-8", "replace").decode()
        return self._text

    @property
    def as_given(self) -> str:
        if not isinstance(self.given, str):
            self.given = self.given()
        return self.given

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def page_at(self, offset: int) -> int | None:
        """On which page a character of its text stands."""
        return None if self.page is None else self.page + bisect_right(self.turns, offset)


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a table, and what it is said to be."""

    row: int  # of the body, from 0
    column: int
    text: str
    row_header: str  # the first cell of its row
    column_header: tuple[str, ...]  # from the top down, without repetitions


class TableSource(Protocol):
    """Where a table stands in the text that its document was given."""

    @property
    def stretches(self) -> list[tuple[int, int]]:
        """Of its lines, and of the line of its caption, in their order."""

    def span(self, row: int | None, column: int | None, start: int, end: int) -> tuple[int, int]:
        """Of a part of a cell, or of its caption; rows as in `Table.repeated`."""

    def span_of_notes(self, start: int, end: int) -> tuple[int, int] | None:
        """Of a part of its notes, if that is known."""


@dataclass(slots=True)
class Table:
    id: str
    label: str
    caption: str
    header: list[list[str]]  # rows of cells
    body: list[list[str]]
    repeated: frozenset[tuple[int, int]] = frozenset()
    """Cells (row, column) that only stand again what another one says that spans them; rows of the
    body count from 0, those of the header from −1 upwards."""
    nested: int = 0  # tables within its cells, whose text is part of theirs
    is_picture: bool = False  # of which there is no text
    notes: str = ""  # below it
    source: TableSource | None = field(default=None, compare=False, repr=False)
    line: int | None = field(default=None, compare=False)  # of a file of markup where it begins
    sheet: SheetCells | None = field(default=None, compare=False, repr=False)  # of a workbook
    page: int | None = field(default=None, compare=False)  # of a file of pages where it begins
    after: int | None = field(default=None, compare=False)
    """How many paragraphs stand before it, where nothing else tells."""
    file: "Document | None" = field(default=None, compare=False, repr=False)
    """That it was read from, where it stands beside the document that it is about."""

    def cells(self) -> Iterator[Cell]:
        """Those of the body, row by row."""
        for row in range(len(self.body)):
            for column in range(len(self.body[row])):
                yield self.cell(row, column)

    def cell(self, row: int, column: int) -> Cell:
        above = [cells[column] for cells in self.header if column < len(cells)]
        texts = self.body[row]
        return Cell(row, column, texts[column], texts[0], tuple(dict.fromkeys(filter(None, above))))


class Remark(NamedTuple):
    """A comment that is no part of the text, such as one in a web page or in code of a notebook."""

    text: str
    where: str  # behind the name of its file: `, cell 3`, `:12`
    about: tuple[int, int] | Paragraph | Table | None  # a stretch of what was given, or a block


class Document:
    """What a reader makes of a file, or of a part of one.

    `given` is its text, where that is the text of a file or what somebody typed; otherwise its
    places are those of its paragraphs.
    """

    def __init__(
        self,
        name: str,  # where it is from, as the user knows it
        paragraphs: Iterable[Paragraph],
        tables: Iterable[Table] = (),
        *,
        id: str | None = None,  # what it calls itself, if it does
        given: str | None = None,
        code: Sequence[tuple[int, int]] = (),
        comments: Sequence[tuple[int, int]] = (),
        parts: Sequence[Part] = (),
        remarks: Sequence[Remark] = (),
    ) -> None:
        self.name = name
        self.id = name if id is None else id
        self.given = given
        self.code, self.comments = code, comments  # stretches of what was given that are no text
        self.parts = parts  # of what was given, each with its own lines, and `BETWEEN` before it
        self.remarks = remarks
        self.format = ""  # by which it was read
        self.folder: Path | None = None  # that its file stands in
        self.tables = list(tables)
        self.is_article = False  # has text, even if none was found in it
        self._paragraphs = list(paragraphs)
        self._is_read = False

    def __repr__(self) -> str:
        return f"Document({self.name!r}, {len(self._paragraphs)} paragraphs)"

    def __eq__(self, other: object) -> bool:
        def content(document: Document) -> tuple[object, ...]:
            return document.id, document.given, document.paragraphs, document.tables

        return isinstance(other, Document) and content(self) == content(other)

    __hash__ = None  # type: ignore[assignment]

    def read(self, wanted: Callable[[Paragraph], bool] | None = None) -> None:
        """Read the paragraphs that are wanted, and leave out the others, and those without text."""
        found = self._paragraphs if wanted is None else filter(wanted, self._paragraphs)
        self._paragraphs = [paragraph for paragraph in found if paragraph.text]
        self._is_read = True
        start = 0
        for paragraph in self._paragraphs:
            paragraph.start = start
            start = paragraph.end + len(BETWEEN)

    @property
    def paragraphs(self) -> list[Paragraph]:
        if not self._is_read:
            self.read()
        return self._paragraphs

    @property
    def files(self) -> list[str]:
        """Other files that it takes in."""
        return [part.name for part in self.parts if part.is_file]

    @property
    def has_text(self) -> bool:
        return self.is_article or bool(self.paragraphs)

    @cached_property
    def text(self) -> str:
        """All paragraphs as a model reads them."""
        return BETWEEN.join(paragraph.text for paragraph in self.paragraphs)

    @cached_property
    def source(self) -> SourceMap:
        """From the text back to where it stands in what was given."""
        paragraphs = self.paragraphs
        if self.given is None:
            return SourceMap.of_paragraphs(self.text, [(p.start, p.end) for p in paragraphs])
        if self.parts or any(p.runs is not None for p in paragraphs):
            placed = [(p.start, p.end, p.runs or ()) for p in paragraphs]
            return SourceMap.of_runs(self.given, placed, self.parts)
        places = [(p.start, p.at, p.at + len(p.as_given)) for p in paragraphs]
        return SourceMap.of_file(self.given, places)

    @property
    def own_text(self) -> str | None:
        """Of what was given, the text of its file itself: what it takes in comes after it."""
        if self.given is None or not self.parts:
            return self.given
        return self.given[: max(self.parts[0].start - len(BETWEEN), 0)]

    def span(self, paragraph: Paragraph, start: int, end: int) -> tuple[int, int]:
        """Where a part of a paragraph stands in what was given."""
        return self.source.span(paragraph.start + start, paragraph.start + end)

    def tables_of(self, paragraph: Paragraph) -> list[Table]:
        """The tables that a paragraph refers to, as far as they are known."""
        return [table for table in self.tables if table.id in paragraph.tables]
