"""Styles of a Word document: what they say that matters for its text."""

from numerate.documents.office.styles import MAX_CHAIN, PLAIN, Style, level_named
from numerate.documents.office.xml import child, switch, value
from numerate.documents.xml import Element, local_name

_RAISED = 2  # half points: from here on, text above or below the line is a script


class Styles:
    def __init__(self, root: Element | None) -> None:
        self._elements = (
            {}
            if root is None
            else {value(one, "styleId"): one for one in root if local_name(one) == "style"}
        )
        self._known: dict[str, Style] = {}

    def of(self, properties: Element | None, kind: str) -> Style:
        """Of a paragraph or a run, by the element of its properties that names it."""
        named = None if properties is None else child(properties, kind)
        return PLAIN if named is None else self._style(value(named))

    def _style(self, id: str) -> Style:
        if id not in self._known:
            self._known[id] = self._resolved(id)
        return self._known[id]

    def _resolved(self, id: str) -> Style:
        """What a style does not say itself is said by the one that it is based on."""
        names: list[str] = []
        level: int | None = None
        hidden: bool | None = None
        script: str | None = None
        for _ in range(MAX_CHAIN):
            element = self._elements.get(id)
            if element is None:
                break
            name = child(element, "name")
            names += [value(name).lower()] if name is not None else []
            level = level or _level(names[-1:], child(element, "pPr"))
            run = child(element, "rPr")
            hidden = is_hidden(run) if hidden is None else hidden
            script = script_of(run) if script is None else script
            base = child(element, "basedOn")
            id = "" if base is None else value(base)
        return Style(frozenset(names), level, bool(hidden), script)


def _level(names: list[str], properties: Element | None) -> int | None:
    for name in names:
        if level := level_named(name):
            return level
    return outline_level(properties)


def outline_level(properties: Element | None) -> int | None:
    """Of a paragraph that is a heading without a style for it."""
    outline = None if properties is None else child(properties, "outlineLvl")
    written = "" if outline is None else value(outline)
    return int(written) + 1 if written in set("012345678") else None


def is_hidden(run: Element | None) -> bool | None:
    """What its properties say, if they do."""
    return None if run is None else switch(run, "vanish")


def script_of(run: Element | None) -> str | None:
    """What its properties say, if they do; `baseline` is neither above nor below."""
    if run is None:
        return None
    aligned = child(run, "vertAlign")
    if aligned is not None:
        return value(aligned)
    moved = child(run, "position")
    try:
        height = 0 if moved is None else int(value(moved))
    except ValueError:
        return None
    return "superscript" if height >= _RAISED else "subscript" if height <= -_RAISED else None
