"""The way back: from a text as read to where it stands in what was given."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

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


class SourceMap:
    """`text` is what was given: that of a file, or all paragraphs where there is no such text."""

    def __init__(
        self,
        text: str,
        spans: list[tuple[int, int]],
        pieces: list[tuple[int, int]],
        *,
        has_lines: bool,
    ) -> None:
        self.text = text
        self.spans = spans  # of each paragraph: where it starts and ends in `text`
        self._starts = [start for start, _ in spans]
        self._has_lines = has_lines
        self._read_at = [read for read, _ in pieces]  # where a piece without gaps starts: as read,
        self._given_at = [given for _, given in pieces]  # and in `text`

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

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of the text as read stands in what was given."""
        return self._back(start), self._back(end - 1) + 1

    def _back(self, offset: int) -> int:
        piece = bisect_right(self._read_at, offset) - 1
        return self._given_at[piece] + offset - self._read_at[piece]

    def read_at(self, offset: int) -> int:
        """Where a character of what was given stands in the text as read."""
        piece = max(bisect_right(self._given_at, offset) - 1, 0)
        return self._read_at[piece] + offset - self._given_at[piece]

    def paragraph_at(self, offset: int) -> int:
        """The index of the paragraph that an offset into what was given lies in."""
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
        return Place(paragraph + 1 or None, line, column, start, end)

    def line_and_column(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1
