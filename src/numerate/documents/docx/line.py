"""A line of a Word document: runs of text put together, with fields, symbols, formulas and notes.

Tracked changes are read as accepted. What a reader of the document does not see is no text: hidden
runs, the code of fields, comments. Citations that a program keeps are citations.
"""

import re
from collections.abc import Iterator

from numerate.documents.docx.omml import omml_text
from numerate.documents.docx.styles import Styles, is_hidden, script_of
from numerate.documents.flow import CITE, REF, is_address
from numerate.documents.office.field import Field
from numerate.documents.office.line import ScriptedLine
from numerate.documents.office.styles import PLAIN
from numerate.documents.office.symbol_font import symbol
from numerate.documents.office.xml import child, value
from numerate.documents.xml import Element, entity_text, local_name

_WITHIN = {  # what only holds runs
    "ins", "moveTo", "smartTag", "customXml", "sdtContent", "dir", "bdo", "ruby", "rubyBase",
}  # fmt: skip
_OF_FIELDS = {"fldChar", "instrText"}
_SPACES = {"tab", "ptab", "br", "cr"}
_PRIVATE = re.compile("[\uf000-\uf0ff]")  # what fonts of symbols have there


class Line(ScriptedLine):
    """One paragraph, or several within a cell, as one text."""

    def __init__(self, styles: Styles, fields: list[Field]) -> None:
        super().__init__()
        self._styles = styles
        self.style = PLAIN  # of the paragraph that is written
        self._fields = fields  # that are open, the innermost last
        self.notes: list[tuple[str, str]] = []  # kind and id
        self.boxes: list[Element] = []  # of text that stands beside it

    def write(self, element: Element) -> None:
        """The content of a paragraph, or of a part of one."""
        for one in element:
            name = local_name(one)
            if name == "r":
                self._run(one)
            elif name in ("oMath", "oMathPara"):
                if self._is_visible:
                    self.formula(omml_text(one))
            elif name == "hyperlink":
                self._link(one)
            elif name == "fldSimple":
                self._simple_field(one)
            elif name == "sdt":
                if not shows_placeholder(one):
                    self.write(one)
            elif name == "AlternateContent":
                for chosen in choices(one):
                    self.write(chosen)
            elif name in _WITHIN:
                self.write(one)

    def end_paragraph(self, *, fields_go_on: bool) -> None:
        while self._fields and (not fields_go_on or self._fields[-1].is_of_one_line):
            self._fields.pop()

    @property
    def _is_visible(self) -> bool:
        return all(f.is_shown and not f.is_citation and not f.is_left_out for f in self._fields)

    def _run(self, run: Element) -> None:
        properties = child(run, "rPr")
        style = self._styles.of(properties, "rStyle")
        hidden = is_hidden(properties)
        if hidden is None:
            hidden = style.hidden or self.style.hidden
        script = script_of(properties) or style.script or self.style.script
        font = _font(properties)
        for one in run:
            if not hidden or local_name(one) in _OF_FIELDS:
                self._part(one, script, font)

    def _part(self, one: Element, script: str | None, font: str) -> None:
        name = local_name(one)
        if name == "fldChar":
            self._field_sign(value(one, "fldCharType"))
        elif name == "instrText":
            if self._fields and not self._fields[-1].is_shown:
                self._fields[-1].add_code(one.text or "")
        elif name == "AlternateContent":
            for chosen in choices(one):
                for part in chosen:
                    self._part(part, script, font)
        elif not self._is_visible:
            pass
        elif name == "t":
            self.text(_characters(one, font), script)
        elif name in _SPACES:
            self.text(" ", script)
        elif name == "noBreakHyphen":
            self.text("-", script)
        elif name == "sym":
            self.text(symbol(value(one, "char"), value(one, "font")), script)
        elif name in ("footnoteReference", "endnoteReference"):
            self.border()
            self.notes.append((name.removesuffix("Reference"), value(one, "id")))
        elif name in ("drawing", "pict", "object"):
            self.boxes += _outermost(one, "txbxContent")
        elif name == "ruby":
            self.write(one)

    def _link(self, link: Element) -> None:
        shown = "".join(text.text or "" for text in link.iter("{*}t"))
        if is_address(shown.strip()) and self._is_visible:
            self.mark(REF, shown)
        else:
            self.write(link)

    def _field_sign(self, kind: str) -> None:
        if kind == "begin":
            self._fields.append(Field())
        elif kind == "separate" and self._fields:
            self._show(self._fields[-1])
        elif kind == "end" and self._fields:
            if not self._fields[-1].is_shown:
                self._show(self._fields[-1])
            self._fields.pop()

    def _show(self, field: Field) -> None:
        rest = [one for one in self._fields if one is not field]
        field.is_shown = True
        if field.is_citation and all(one.is_shown and not one.is_citation for one in rest):
            self.mark(CITE)
        elif field.is_left_out:
            self.border()

    def _simple_field(self, element: Element) -> None:
        field = Field()
        field.add_code(value(element, "instr"))
        self._fields.append(field)
        self._show(field)
        self.write(element)
        if field in self._fields:  # which an end that has no beginning may have closed
            self._fields.remove(field)


def choices(alternatives: Element) -> Iterator[Element]:
    """What programs are offered in several ways is read in one of them, the first."""
    yield from list(alternatives)[:1]


def shows_placeholder(control: Element) -> bool:
    """Whether a field of a form only says what is to be filled in."""
    properties = child(control, "sdtPr")
    return properties is not None and child(properties, "showingPlcHdr") is not None


def _outermost(element: Element, name: str) -> Iterator[Element]:
    for one in element:
        if local_name(one) == name:
            yield one
        elif local_name(one) == "AlternateContent":
            for chosen in choices(one):
                yield from _outermost(chosen, name)
        else:
            yield from _outermost(one, name)


def _font(properties: Element | None) -> str:
    fonts = None if properties is None else child(properties, "rFonts")
    return "" if fonts is None else value(fonts, "ascii")


def _characters(text: Element, font: str) -> str:
    parts = [text.text or ""]
    for one in text:  # an entity that nobody declared
        parts += [entity_text(one), one.tail or ""]
    return _PRIVATE.sub(lambda match: symbol(f"{ord(match[0]):x}", font), "".join(parts))
