"""Text that differs from its source, with the way back of every character."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple

Places = Sequence[int]
"""Of each character: where it stands in the source, or what it stands for begins."""


def standing_for(length: int, start: int, end: int) -> Places:
    """Of characters that are not in the source, but stand for a stretch of it: together they cover
    all of it."""
    return [start] * (length - 1) + [max(start, end - 1)] if length > 1 else [start] * length


def _common_words(one: str, other: str) -> int:
    """The length of the words that two texts begin with, and of the space after them."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return one.rfind(" ", 0, sum(1 for _ in same)) + 1


class PlacedText(NamedTuple):
    text: str
    places: Places

    def part(self, start: int, end: int) -> "PlacedText":
        return PlacedText(self.text[start:end], self.places[start:end])

    def stripped(self) -> "PlacedText":
        bare = self.text.lstrip()
        start = len(self.text) - len(bare)
        return self.part(start, start + len(bare.rstrip()))

    def replaced(
        self, pattern: re.Pattern[str], by: Callable[[re.Match[str]], str]
    ) -> "PlacedText":
        """Replace every match. What is as long as what it replaces stands for it character by
        character; words that both begin with keep their places."""
        texts: list[str] = []
        places: list[int] = []
        done = 0
        for match in pattern.finditer(self.text):
            start, end = match.span()
            if start == end:
                continue
            new = by(match)
            if len(new) != end - start:
                same = _common_words(match.group(), new)
                start, new = start + same, new[same:]
            texts += [self.text[done:start], new]
            places += self.places[done:start]
            if len(new) == end - start:
                places += self.places[start:end]
            else:
                first, last = self.places[start], self.places[end - 1]
                places += standing_for(len(new), first, last + 1)
            done = end
        if not texts:
            return self
        return PlacedText("".join([*texts, self.text[done:]]), [*places, *self.places[done:]])

    @classmethod
    def joined(cls, texts: Iterable["PlacedText"], by: str) -> "PlacedText":
        """One after another, without empty ones; what is put between stands for what is before."""
        text, places = "", list[int]()
        for one in texts:
            if one.text.strip():
                if text:
                    text += by
                    places += [places[-1]] * len(by)
                text += one.text
                places += one.places
        return cls(text, places)

    @property
    def runs(self) -> list[tuple[int, int]]:
        """Where stretches begin that stand in the source letter for letter: here, and there."""
        found: list[tuple[int, int]] = []
        expected = None
        for offset, place in enumerate(self.places):
            if place != expected:
                found.append((offset, place))
            expected = place + 1
        return found
