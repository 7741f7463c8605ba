"""Paragraphs of a text with their places in it: blank lines separate them."""

import re
from collections.abc import Iterator

_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")


def iter_paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Where each paragraph starts, and the paragraph as it stands, without space around it."""
    start = 0
    ends = [(match.start(), match.end()) for match in _BLANK_LINES.finditer(text)]
    for end, following in [*ends, (len(text), len(text))]:
        part = text[start:end]
        stripped = part.lstrip()
        if stripped:
            yield start + len(part) - len(stripped), stripped.rstrip()
        start = following
