"""A line of an OpenDocument text: text in spans, with fields, formulas, references and notes.

What a reader of the document does not see is no text: hidden spans, comments, deletions. Citations
that a program keeps are citations.
"""

import re
from collections.abc import Callable

from numerate.documents.flow import CITE, REF, is_address
from numerate.documents.mathml import mathml_text
from numerate.documents.odt.styles import Styles
from numerate.documents.office.line import NUMBER_ALONE, ScriptedLine
from numerate.documents.office.xml import value
from numerate.documents.xml import Element, entity_text, local_name

MAX_SPACES = 1000  # that one element stands for

_LEFT_OUT = {
    "annotation", "annotation-end", "placeholder", "script", "ruby-text", "change",
    "tracked-changes", "alphabetical-index-mark", "toc-mark", "user-index-mark",
    "event-listeners", "forms", "shape-id",
}  # fmt: skip
_COUNTED = {"page-number", "page-count", "page-continuation", "note-ref"}  # no quantities
_SPACES = {"tab", "line-break", "soft-page-break"}
_REFERENCES = {"bookmark-ref", "reference-ref", "sequence-ref"}
_CITED = re.compile(
    r"(?:ZOTERO_ITEM|ZOTERO_BREF|CSL_CITATION|Mendeley Citation|EN\.CITE|JR_cite|JABREF_|CID_)"
)


class Line(ScriptedLine):
    """One paragraph, or several within a cell, as one text."""

    def __init__(self, styles: Styles, formula_of: Callable[[Element], Element | None]) -> None:
        super().__init__()
        self._styles = styles
        self._formula_of = formula_of  # an object; nothing if it is something else
        self.notes: list[Element] = []
        self.boxes: list[Element] = []  # of text that stands beside it
        self._citations: set[str] = set()  # that are open, by the names of their marks
        self._ends: set[str] = set()  # of marks, in the paragraph that is written

    def write(self, paragraph: Element) -> None:
        """Write the content of a paragraph."""
        style = self._styles.of(paragraph, "paragraph")
        self._citations = set()
        self._ends = {
            value(end, "name") for end in paragraph.iter("{*}reference-mark-end", "{*}bookmark-end")
        }
        if not style.hidden:
            self._inside(paragraph, style.script)

    def _inside(self, element: Element, script: str | None) -> None:
        self._shown(element.text, script)
        for one in element:
            self._part(one, script)
            self._shown(one.tail, script)

    def _shown(self, text: str | None, script: str | None) -> None:
        if text and not self._citations:
            self.text(text, script)

    def _part(self, one: Element, script: str | None) -> None:
        name = local_name(one)
        if name in ("reference-mark-start", "bookmark-start"):
            self._begin_mark(value(one, "name"))
        elif name in ("reference-mark-end", "bookmark-end"):
            self._citations.discard(value(one, "name"))
        elif name in _LEFT_OUT or self._citations or _is_hidden(one):
            pass
        elif name in _COUNTED:
            self.border()
        elif name == "&":
            self.text(entity_text(one), script)
        elif name == "s":
            count = value(one, "c")
            self.text(" " * (min(int(count[:9]), MAX_SPACES) if count.isdecimal() else 1), script)
        elif name in _SPACES:
            self.text(" ", script)
        elif name == "span":
            style = self._styles.of(one, "text")
            if not style.hidden:
                self._inside(one, style.script or script)
        elif name == "note":
            self.border()
            self.notes += one.iterfind("{*}note-body")
        elif name == "bibliography-mark":
            self.mark(CITE)
        elif name in _REFERENCES:
            self._reference(one, script)
        elif name == "a" and is_address(shown := _plain(one)):
            self.mark(REF, shown)
        elif name in ("frame", "g") or name in SHAPES:
            self._frame(one)
        elif name == "math":
            self.formula(mathml_text(one))
        else:
            self._inside(one, script)

    def _begin_mark(self, name: str) -> None:
        """A citation whose mark ends in the same paragraph is one, whatever is shown for it."""
        if _CITED.match(name) and name in self._ends:
            if not self._citations:
                self.mark(CITE)
            self._citations.add(name)

    def _reference(self, one: Element, script: str | None) -> None:
        """`Table 2` is written as it stands, a number alone as a reference, unless what is referred
        to is shown in full."""
        shown = _plain(one)
        is_text = value(one, "reference-format") in ("text", "caption")
        if not is_text and NUMBER_ALONE.fullmatch(shown):
            self.mark(REF, shown)
        else:
            self._inside(one, script)

    def _frame(self, frame: Element) -> None:
        if any(local_name(one) == "text-box" for one in frame) or local_name(frame) != "frame":
            self.boxes.append(frame)
            return
        for one in frame:
            formula = self._formula_of(one) if local_name(one) == "object" else None
            if formula is not None:
                self.formula(mathml_text(formula))
                return


SHAPES = {
    "custom-shape", "rect", "ellipse", "circle", "line", "polyline", "polygon", "path", "caption",
    "connector", "regular-polygon",
}  # fmt: skip


def _plain(element: Element) -> str:
    return "".join(map(str, element.itertext())).strip()


def _is_hidden(one: Element) -> bool:
    return value(one, "is-hidden") == "true" or value(one, "display") == "none"
