"""Places in a text as editors count them: lines, and units of an encoding within a line."""

import re
from bisect import bisect_right
from enum import StrEnum

_END = re.compile(r"\r\n|\n|\r")  # of a line; other separators of Unicode are none to editors


class Encoding(StrEnum):
    """In whose units characters are counted; the best for us first."""

    UTF_32 = "utf-32"
    UTF_8 = "utf-8"
    UTF_16 = "utf-16"  # what every editor knows


def _length(text: str, encoding: Encoding) -> int:
    if encoding is Encoding.UTF_32 or text.isascii():
        return len(text)
    if encoding is Encoding.UTF_8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(character > "\uffff" for character in text)


class Lines:
    """One text, from offsets to places and back."""

    def __init__(self, text: str, encoding: Encoding = Encoding.UTF_16) -> None:
        self.text = text
        self._encoding = encoding
        ends = [found.span() for found in _END.finditer(text)]
        self._starts = [0, *(end for _, end in ends)]
        self._ends = [*(start for start, _ in ends), len(text)]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and unit, both from 0."""
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        return line, _length(self.text[start : min(offset, self._ends[line])], self._encoding)

    def offset(self, line: int, unit: int) -> int:
        """The nearest there is: an editor may ask of a text that has changed meanwhile."""
        if line >= len(self._starts):
            return len(self.text)
        start, end = self._starts[max(line, 0)], self._ends[max(line, 0)]
        within = self.text[start:end]
        if self._encoding is Encoding.UTF_32 or within.isascii():
            return min(start + max(unit, 0), end)
        for index, character in enumerate(within):
            unit -= _length(character, self._encoding)
            if unit < 0:
                return start + index
        return end

    def end_of_line(self, offset: int) -> int:
        return self._ends[bisect_right(self._starts, offset) - 1]
