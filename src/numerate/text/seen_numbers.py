"""Where a numeral may have been taken from: the numbers in view, by name."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from numerate.text.tokenizer import Token


@dataclass(frozen=True, slots=True)
class SeenNumber:
    """A number in view, and where it stands: in a table, or among the tokens of the text."""

    text: str
    token: int | None = None  # of the text itself, or of the earlier paragraph
    paragraph: int | None = None  # an earlier one of the document
    start: int | None = None  # offsets of the token
    end: int | None = None
    table: int | None = None  # of those in view, counted as they were given
    row: int | None = None  # of the body; −1, −2 …: of the header, upwards
    column: int | None = None
    label: str = ""  # of the table
    row_header: str = ""
    column_header: str = ""

    @property
    def where(self) -> tuple[int | None, ...]:
        """The cell, the earlier paragraph, or the text as a whole."""
        return self.table, self.row, self.column, self.paragraph

    @property
    def place(self) -> str:
        """In words: `Table 2, Age, Placebo`, or `text`."""
        if self.paragraph is not None:
            return f"paragraph {self.paragraph + 1}"
        if self.table is None:
            return "text"
        names = (self.label or f"Table {self.table + 1}", self.row_header, self.column_header)
        return ", ".join(filter(None, names))


@dataclass(frozen=True, slots=True)
class Source:
    """A part of a distribution's probability, and what it was made of."""

    numeral: str
    probability: float
    numbers: tuple[SeenNumber, ...]
    kind: str | None = None  # the name of an operation; None: a copy
    operation: str | None = None  # with the numbers in it; None: a copy

    def __str__(self) -> str:
        return f"{self.wording} ({self.probability:.2f})"

    @property
    def wording(self) -> str:
        """All but the probability: `Table 2, Age, Placebo: 51`, or `100 · 12/48 = 25`."""
        if self.operation is not None:
            return f"{self.operation} = {self.numeral}"
        (number,) = self.numbers
        rounded = f", of {number.text}" if number.text != self.numeral else ""
        return f"{number.place}: {self.numeral}{rounded}"

    def record(self) -> dict[str, Any]:
        """As plain values, and in words."""
        return {"words": str(self), "reason": self.reason, **asdict(self)}

    @property
    def reason(self) -> str:
        """Why this numeral, in a few words: `100 · 12/48`, or where it stands."""
        return self.operation if self.operation is not None else self.numbers[0].place


def located(source: Source, tokens: Sequence[Token]) -> Source:
    """The same with the offsets of the numbers that stand in the text itself."""
    numbers = tuple(
        number
        if number.token is None or number.paragraph is not None
        else replace(number, start=tokens[number.token].start, end=tokens[number.token].end)
        for number in source.numbers
    )
    return replace(source, numbers=numbers)


def merged(sources: Iterable[Source]) -> list[Source]:
    """The most probable first; the same numeral by the same way from the same places once.

    A sum is the same in either order, and a number that stands in the text twice is one number.
    """
    found: dict[object, Source] = {}
    for source in sources:
        places = frozenset((number.text, number.where) for number in source.numbers)
        key = source.numeral, source.kind, places
        if key in found:
            more = found[key].probability + source.probability
            found[key] = replace(found[key], probability=more)
        else:
            found[key] = source
    return sorted(found.values(), key=lambda source: -source.probability)
