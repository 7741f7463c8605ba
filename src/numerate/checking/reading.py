"""A document as rules read it: its texts, each with its numbers, and its tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from numerate.checking.numbers import Number, numbers_in
from numerate.checking.where import Where
from numerate.documents.document import Document, Table


class Piece:
    """One text within which statements stand: a paragraph, a caption, a table's notes or a cell."""

    __slots__ = ("_numbers", "place", "text")

    def __init__(self, text: str, place: Where) -> None:
        self.text = text
        self.place = place  # of the whole
        self._numbers: list[Number] | None = None

    @property
    def numbers(self) -> list[Number]:
        if self._numbers is None:
            self._numbers = numbers_in(self.text)
        return self._numbers

    def where(self, start: int, end: int) -> Where:
        p = self.place
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
        return [
            Piece(paragraph.text, Where(0, len(paragraph.text), paragraph=index))
            for index, paragraph in enumerate(self.document.paragraphs)
        ]

    @cached_property
    def captions(self) -> list[Piece]:
        """One a table, in their order."""
        return [
            Piece(table.caption, Where(0, len(table.caption), table=index))
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

    def running(self) -> Iterator[Piece]:
        """Where sentences stand: paragraphs, captions and notes."""
        yield from self.paragraphs
        yield from self.captions

    def pieces(self) -> Iterator[Piece]:
        yield from self.running()
        for cells in self.cells:
            yield from cells.values()


def _texts(table: Table) -> Iterator[tuple[int, int, str]]:
    top = len(table.header)
    for number, texts in enumerate([*table.header, *table.body]):
        for column, text in enumerate(texts):
            yield number - top, column, text
