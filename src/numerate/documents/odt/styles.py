"""Styles of an OpenDocument text: what they say that matters for its text."""

import re

from numerate.documents.office.line import SUBSCRIPT, SUPERSCRIPT
from numerate.documents.office.styles import MAX_CHAIN, PLAIN, Style, level_named
from numerate.documents.office.xml import child, value
from numerate.documents.xml import Element, local_name

_ENCODED = re.compile(r"_([0-9a-f]{1,4})_")  # what a name may not have: `Heading_20_1`
_MOVED = re.compile(r"(-?)[0-9.]*[1-9][0-9.]*%")


class Styles:
    """Automatic styles of the text, and the named ones that they are based on."""

    def __init__(self, *roots: Element) -> None:
        self._elements = {
            (value(one, "family"), value(one, "name")): one
            for root in roots
            for group in root
            if local_name(group) in ("styles", "automatic-styles")
            for one in group
            if local_name(one) == "style"
        }
        self._known: dict[tuple[str, str], Style] = {}

    def of(self, element: Element, family: str) -> Style:
        """The style that a paragraph or a run names."""
        name = value(element, "style-name")
        if not name:
            return PLAIN
        if (family, name) not in self._known:
            self._known[family, name] = self._resolved(family, name)
        return self._known[family, name]

    def _resolved(self, family: str, name: str) -> Style:
        """What a style does not say itself is said by the one that it is based on."""
        names: list[str] = []
        level: int | None = None
        hidden: bool | None = None
        script: str | None = None
        for _ in range(MAX_CHAIN):
            names.append(_ENCODED.sub(lambda code: chr(int(code[1], 16)), name).lower())
            element = self._elements.get((family, name))
            level = level or level_named(names[-1])
            if element is None:
                break
            if shown := value(element, "display-name"):
                names.append(shown.lower())
            run = child(element, "text-properties")
            if run is not None:
                display = value(run, "display")
                hidden = display == "none" if hidden is None and display else hidden
                script = script or _script(value(run, "text-position"))
            name = value(element, "parent-style-name")
            if not name:
                break
        return Style(frozenset(names), level, bool(hidden), script)


def _script(position: str) -> str | None:
    """What `super 58%`, `-33% 58%` or `0% 100%` means; None where nothing is said."""
    first = position.partition(" ")[0]
    if first in ("super", "sub"):
        return SUPERSCRIPT if first == "super" else SUBSCRIPT
    if moved := _MOVED.fullmatch(first):
        return SUBSCRIPT if moved[1] else SUPERSCRIPT
    return "baseline" if first else None
