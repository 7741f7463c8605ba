"""Styles of word processors: what their names and properties say that matters for the text."""

import re
from typing import NamedTuple

MAX_CHAIN = 20  # styles that are based on each other
_HEADING = re.compile(r"heading ([1-9])")
_ASIDE = re.compile(r"toc \d|toc heading|contents (?:\d|heading)|table of figures|index \d")
_OF_PICTURE = re.compile("image|figure|illustration|picture|drawing")


class Style(NamedTuple):
    names: frozenset[str] = frozenset()  # its own, and of those it is based on, in small letters
    level: int | None = None  # of a heading, from 1
    hidden: bool = False
    script: str | None = None  # `superscript` or `subscript`

    @property
    def is_aside(self) -> bool:
        """Of a table of contents and the like, whose numbers are those of pages."""
        return any(map(_ASIDE.fullmatch, self.names))

    @property
    def is_caption(self) -> bool:
        """Of a table, as far as the style tells."""
        of_picture = any(map(_OF_PICTURE.search, self.names))
        return any("caption" in name for name in self.names) and not of_picture

    @property
    def is_abstract(self) -> bool:
        return "abstract" in self.names

    @property
    def is_bibliography(self) -> bool:
        return "bibliography" in self.names


PLAIN = Style()


def level_named(name: str) -> int | None:
    """The level of the heading that a style, by its name in small letters, is for."""
    heading = _HEADING.match(name)
    return int(heading[1]) if heading else None
