"""Paragraphs of a text with their places in it: blank lines separate them."""

import re
from collections.abc import Iterator

_PARAGRAPH = re.compile(r"\S(?:.|\n(?![^\S\n]*(?:\n|$)))*")


def iter_paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Where each paragraph starts, and the paragraph as it stands."""
    for match in _PARAGRAPH.finditer(text):
        yield match.start(), match.group()
