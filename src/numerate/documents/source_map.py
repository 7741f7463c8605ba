"""The way back: from a text as read to where it stands in what was given."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

Runs = Sequence[tuple[int, int]]
"""Where stretches begin that stand in a source letter for letter: as read, and there."""

_COLLAPSED = re.compile(r"\s{2,}")


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands. Lines and columns are those of a text file, from 1; in markup there
    is no column, and the line is that where its paragraph or table begins."""

    paragraph: int | None  # from 1; None in a table beside the text, or in a file of tables
    line: int | None
    column: int | None
    start: int  # offsets: into the text of the file, or of the paragraph, caption, notes or cell
    end: int
    part: "Part | None" = None  # of what was given, in which lines and offsets are counted
    page: int | None = None  # of a file that has pages


class Part(NamedTuple):
    """A stretch of what was given, up to the next, that has lines of its own: a file that the
    document takes in, or a cell of a notebook."""

    start: int
    name: str
    is_file: bool


def name_in(document: str, place: Place) -> str:
    """What the lines of a place are counted in: the document, a file it takes in, or a cell."""
    if place.part is None:
        return document
    return place.part.name if place.part.is_file else f"{document}, {place.part.name}"


class SourceMap:
    """`text` is what was given: that of a file, or all paragraphs where there is no such text."""

    def __init__(
        self,
        text: str,
        spans: list[tuple[int, int]],
        pieces: list[tuple[int, int]],
        *,
        has_lines: bool,
        parts: Sequence[Part] = (),
    ) -> None:
        self.text = text
        self.spans = spans  # of each paragraph: where it starts and ends in `text`
        self._starts = [start for start, _ in spans]
        self._has_lines = has_lines
        self._read_at = [read for read, _ in pieces]  # where a piece without gaps starts: as read,
        self._given_at = [given for _, given in pieces]  # and in `text`
        self._parts = parts
        self._inverse: list[tuple[int, int]] | None = None  # where pieces come in another order

    @classmethod
    def of_paragraphs(cls, text: str, spans: list[tuple[int, int]]) -> "SourceMap":
        return cls(text, spans, [(0, 0)], has_lines=False)

    @classmethod
    def of_file(cls, text: str, places: Sequence[tuple[int, int, int]]) -> "SourceMap":
        """Of each paragraph: where it starts as read, and where it starts and ends in the file."""
        spans, pieces = [], []
        for read, start, end in places:
            given = text[start:end]
            start += len(given) - len(given.lstrip())
            end -= len(given) - len(given.rstrip())
            spans.append((start, end))
            pieces.append((read, start))
            for gap in _COLLAPSED.finditer(text, start, end):
                last_read, last_given = pieces[-1]
                pieces.append((last_read + gap.start() + 1 - last_given, gap.end()))
        return cls(text, spans, pieces, has_lines=True)

    @classmethod
    def of_runs(
        cls, text: str, paragraphs: Sequence["tuple[int, int, Runs]"], parts: Sequence[Part]
    ) -> "SourceMap":
        """Of each paragraph: where it starts and ends as read, and the runs of its characters in
        the source, where paragraphs may stand within others, such as notes."""
        pieces = [(start + at, given) for start, _, runs in paragraphs for at, given in runs]
        found = cls(text, [], pieces, has_lines=True, parts=parts)
        found.spans = [found.span(start, end) for start, end, _ in paragraphs]
        found._starts = [start for start, _, _ in paragraphs]
        found._inverse = sorted(zip(found._given_at, found._read_at, strict=True))
        return found

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of the text as read stands in what was given."""
        first, last = self._back(start), self._back(end - 1)
        return first, max(first, last) + 1

    def _back(self, offset: int) -> int:
        piece = bisect_right(self._read_at, offset) - 1
        return self._given_at[piece] + offset - self._read_at[piece]

    def read_at(self, offset: int) -> int:
        """Where a character of what was given stands in the text as read."""
        if self._inverse:
            piece = max(bisect_right(self._inverse, offset, key=lambda pair: pair[0]) - 1, 0)
            given, read = self._inverse[piece]
            return read + offset - given
        piece = max(bisect_right(self._given_at, offset) - 1, 0)
        return self._read_at[piece] + offset - self._given_at[piece]

    def paragraph_at(self, offset: int) -> int:
        """The index of the paragraph that an offset into what was given lies in."""
        if self._inverse:
            offset = self.read_at(offset)
        return bisect_right(self._starts, offset) - 1

    @cached_property
    def _lines(self) -> list[int]:
        """Where each begins."""
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def place(self, start: int, end: int) -> Place:
        """Of what stands between two offsets into what was given."""
        paragraph = self.paragraph_at(start)
        if not self._has_lines:
            offset = self._starts[paragraph]
            return Place(paragraph + 1, None, None, start - offset, end - offset)
        line, column = self.line_and_column(start)
        part = self.part_at(start)
        at = part.start if part else 0
        return Place(paragraph + 1 or None, line, column, start - at, end - at, part)

    def part_at(self, offset: int) -> Part | None:
        index = bisect_right(self._parts, offset, key=lambda part: part.start) - 1
        return self._parts[index] if index >= 0 else None

    def line_and_column(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._lines, offset)
        column = offset - self._lines[line - 1] + 1
        part = self.part_at(offset)
        return line - bisect_right(self._lines, part.start) + 1 if part else line, column
