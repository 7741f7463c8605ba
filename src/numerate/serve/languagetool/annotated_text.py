"""Text between markup, as clients of LanguageTool send it, with places as Java counts them."""

import re
from dataclasses import dataclass
from functools import cached_property

AROUND = 40  # units on either side of a place that are its context
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class AnnotatedText:
    """Pieces as they are read and as they were given: the same for text, while markup is read as
    what it stands for, usually nothing."""

    pieces: tuple[tuple[str, str], ...]

    @classmethod
    def plain(cls, text: str) -> "AnnotatedText":
        return cls(((text, text),))

    @cached_property
    def read(self) -> str:
        """Word processors put control characters into texts, which are as good as spaces."""
        return _CONTROLS.sub(" ", "".join(read for read, _ in self.pieces))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where what is read from `start` to `end` (code points) begins and ends as given, in
        UTF-16 units."""
        return self._places[start][0], self._places[end - 1][1]

    def is_whole(self, start: int, end: int) -> bool:
        """Whether it was given as it is read."""
        first, last = self.span(start, end)
        return self._given(first, last) == self.read[start:end]

    def context(self, start: int, end: int) -> tuple[str, int]:
        """What was given around a span, as one line, and where in it the span begins."""
        first, last = max(start - AROUND, 0), end + AROUND
        before = ("..." if first else "") + self._given(first, start)
        after = self._given(end, last) + ("..." if 2 * last < len(self._units) else "")
        line = before + self._given(start, end) + after
        return line.replace("\n", " "), _length(before)

    @cached_property
    def _places(self) -> list[tuple[int, int]]:
        """Of each character that is read; one that markup stands for has the place of all of it."""
        places: list[tuple[int, int]] = []
        at = 0
        for read, given in self.pieces:
            if read == given:
                places += [(at, at := at + _length(character)) for character in read]
            else:
                places += [(at, at + _length(given))] * len(read)
                at += _length(given)
        return places

    @cached_property
    def _units(self) -> bytes:
        return "".join(given for _, given in self.pieces).encode("utf-16-le")

    def _given(self, start: int, end: int) -> str:
        """Half a character at a border is left out."""
        return self._units[2 * start : 2 * end].decode("utf-16-le", errors="ignore")


def _length(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
