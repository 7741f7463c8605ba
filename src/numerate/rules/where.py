"""Where something stands in a document: in a paragraph, or in a table's caption, notes or cells."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Where:
    """A stretch of one text of a document; offsets are those of that text as read.

    In a table, `row` and `column` are None for its caption, and rows count as in `Table.repeated`:
    from 0 in the body, from −1 upwards in the header. Tables that were given beside the document
    are counted after its own.
    """

    start: int
    end: int
    paragraph: int | None = None  # index among the document's
    table: int | None = None
    row: int | None = None
    column: int | None = None
    in_notes: bool = False  # of the table, below it

    @property
    def text_of(self) -> tuple[int | None, int | None, int | None, int | None, bool]:
        """Which text it is a part of."""
        return self.paragraph, self.table, self.row, self.column, self.in_notes

    def overlaps(self, other: "Where") -> bool:
        """Whether they share a character."""
        same = self.text_of == other.text_of
        return same and self.start < other.end and other.start < self.end
