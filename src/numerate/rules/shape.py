"""The shape of a text: every number a single sign, so that statements are simple patterns.

`t(28) = 2.05, p = .049` has the shape `t(#) = #, p = #`; how numbers are written is the business of
`numbers.py` alone.
"""

from bisect import bisect_left, bisect_right
from functools import cached_property

from numerate.rules.numbers import Number
from numerate.rules.reading import Piece
from numerate.rules.where import Where


def shape_of(piece: Piece) -> "Shape":
    """Made once, whoever asks."""
    if piece.shape is None:
        piece.shape = Shape(piece)
    return piece.shape


class Shape:
    """Of one piece; `text` is what patterns are matched against. Signs stay before their `#`."""

    def __init__(self, piece: Piece) -> None:
        self.piece = piece
        parts: list[str] = []
        self._at: list[int] = []  # of each number, in the shape
        stop = length = 0
        for number in piece.numbers:
            between = piece.text[stop : number.start].replace("#", "♯")
            parts += between, "#"
            length += len(between) + 1
            self._at.append(length - 1)
            stop = number.stop
        parts.append(piece.text[stop:].replace("#", "♯"))
        self.text = "".join(parts)

    @cached_property
    def folded(self) -> str:
        """In lower case, every offset as it was: there are letters whose small form is two."""
        small = self.text.lower()
        if len(small) != len(self.text):
            small = "".join(c if len(c.lower()) > 1 else c.lower() for c in self.text)
        return small

    def number(self, index: int) -> Number:
        """The one whose sign stands here."""
        return self.piece.numbers[bisect_left(self._at, index)]

    def offset(self, index: int) -> int:
        """Where that place of the shape stands in the text."""
        before = bisect_right(self._at, index) - 1
        if before < 0:
            return index
        number, at = self.piece.numbers[before], self._at[before]
        return number.start if index == at else number.stop + index - at - 1

    def where(self, start: int, end: int) -> Where:
        return self.piece.where(self.offset(start), self.offset(end - 1) + 1 if end > start else 0)

    def sentence(self, start: int, end: int) -> str:
        """What stands around it, as far as it may be said of it."""
        text = self.text
        begin = max(text.rfind(". ", max(0, start - 400), start) + 1, start - 400, 0)
        stop = text.find(". ", end, end + 400)
        return text[begin : stop if stop >= 0 else end + 400]
