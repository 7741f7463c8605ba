"""Groups of Rich Text: what each says of its text, and where that text belongs."""

import re
from dataclasses import dataclass, field, replace

from lxml import etree

from numerate.documents.captions import Block
from numerate.documents.docx.omml import omml_text
from numerate.documents.flow import CITE
from numerate.documents.office.field import Field
from numerate.documents.office.line import SUBSCRIPT, SUPERSCRIPT
from numerate.documents.rtf import characters
from numerate.documents.rtf.characters import Fonts, joined
from numerate.documents.rtf.story import ParagraphProperties, Story, Tables
from numerate.documents.rtf.styles import Styles
from numerate.documents.rtf.table import RowRules
from numerate.documents.rtf.tokens import BYTES, CLOSE, HEX, OPEN, WORD, Token, tokens
from numerate.documents.xml import Element
from numerate.errors import DocumentError
from numerate.reports.notices import say

MAX_RUN = 1000  # characters of a formula that are put together
MAX_DEPTH = 256  # of groups, as of elements of XML

TEXT, SKIP, CODE, FONTS, STYLES, MATH = "text", "skip", "code", "fonts", "styles", "math"
_SKIPPED = {
    "colortbl", "info", "pict", "objdata", "objclass", "objname", "header", "headerl", "headerr",
    "headerf", "footer", "footerl", "footerr", "footerf", "ftnsep", "ftnsepc", "ftncn", "aftnsep",
    "aftnsepc", "aftncn", "annotation", "atnid", "atnauthor", "atnref", "listtable", "listtext",
    "listoverridetable", "pntext", "pntxta", "pntxtb", "bkmkstart", "bkmkend", "xe", "tc", "rxe",
    "nonshppict", "shprslt", "sp", "filetbl", "revtbl", "rsidtbl", "generator", "themedata",
    "latentstyles", "datastore", "nonesttables", "mmathPict", "formfield", "background", "txe",
    "fchars", "lchars", "private", "template", "userprops", "docvar", "xmlnstbl", "atrfstart",
    "atrfend", "keywords", "comment", "passwordhash", "protusertbl", "pgdsctbl", "datafield",
}  # fmt: skip
_READ = {  # though they need not be understood
    "footnote", "fldinst", "shpinst", "do", "nesttableprops", "moMath", "moMathPara", "mmath", "ud",
    "shptxt", "cs", "ds", "ts", "shpgrp",
}  # fmt: skip
_BOXES = {"shptxt", "dptxbxtext"}
_CHARACTERS = {
    "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“",
    "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ", "qmspace": " ", "line": " ",
    "softline": " ", "lbr": " ",
}  # fmt: skip
_NOT_OF_XML = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_SIGNS = {b"~": "\N{NO-BREAK SPACE}", b"_": "-", b"\\": "\\", b"{": "{", b"}": "}"}
_ENCODINGS = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850", "ansi": characters.USUAL}


@dataclass(slots=True)
class _State:
    destination: str = TEXT
    font: int | None = None
    script: str | None = None
    hidden: bool = False
    deleted: bool = False
    fallback: int = 1  # characters after one of Unicode, for programs that know none
    before: str = TEXT  # the destination around two ways to say the same
    in_nested_row: bool = False
    paragraph: ParagraphProperties = field(default_factory=ParagraphProperties)
    ends: str = ""  # what its end ends
    element: Element | None = None  # of a formula


class Groups:
    def __init__(self, name: str) -> None:
        self._name = name
        self._tables = Tables(name)
        self._stories = [Story(self._tables)]  # that are open, the innermost last
        self._notes: list[list[Block]] = []
        self._fonts, self._styles = Fonts(), Styles()
        self._state = _State()
        self._around: list[_State] = []
        self._fields: list[Field] = []
        self._rules = [RowRules(), RowRules()]  # of rows, and of those within cells
        self._begins = False  # a group, whose first word may say where its text belongs
        self._is_optional = False  # that destination
        self._to_skip = 0  # characters that stand for one of Unicode
        self._bytes: list[bytes] = []
        self._characters: list[str] = []

    def read(self, data: bytes) -> None:
        for token in tokens(data):
            if token.kind in (BYTES, HEX):
                self._take_bytes(token)
            elif token.kind == OPEN:
                self._open()
            elif token.kind == CLOSE:
                if not self._around:
                    break
                self._close()
                if not self._around:
                    return  # what follows is no part of the document
            elif token.kind == WORD:
                self._word(token.text.decode("ascii"), token.number)
            else:
                self._sign(token.text)
        say(f"{self._name}: its last group has no end; read as far as it goes")
        self._flush()
        while self._around:
            self._close()

    def blocks(self) -> list[Block]:
        """What was read, with the notes after the text."""
        found = self._stories[0].finish()
        return [*found, *(block for note in self._notes for block in note)]

    @property
    def _story(self) -> Story:
        return self._stories[-1]

    @property
    def _is_visible(self) -> bool:
        state = self._state
        hidden = state.hidden or state.deleted or state.destination != TEXT
        return not hidden and self._fields_show

    @property
    def _fields_show(self) -> bool:
        return all(f.is_shown and not f.is_citation and not f.is_left_out for f in self._fields)

    # Characters.

    def _take_bytes(self, token: Token) -> None:
        left = token.text[self._to_skip :]
        self._to_skip = max(self._to_skip - len(token.text), 0)
        if left:
            self._begins = self._is_optional = False
            self._bytes.append(left)

    def _decode(self) -> None:
        if self._bytes:
            data, self._bytes = b"".join(self._bytes), []
            self._characters.append(self._fonts.decode(data, self._state.font))

    def _flush(self) -> None:
        self._decode()
        if not self._characters:
            return
        text, self._characters = joined("".join(self._characters)), []
        state = self._state
        if state.destination == CODE:
            if self._fields:
                self._fields[-1].add_code(text)
        elif state.destination == FONTS:
            if state.font is not None:
                self._fonts.name(state.font, text)
        elif state.destination == STYLES:
            self._styles.name(text)
        elif state.destination == MATH:
            _write_math(state.element, text)
        elif self._is_visible:
            self._story.text(text, state.script)

    def _sign(self, sign: bytes) -> None:
        if self._to_skip:
            self._to_skip -= 1
        elif sign == b"*":
            self._is_optional = True
        elif sign in _SIGNS:
            self._decode()
            self._characters.append(_SIGNS[sign])
            self._begins = False
        elif sign in (b"\n", b"\r"):
            self._flush()
            self._paragraph_word("par")

    # Groups.

    def _open(self) -> None:
        self._flush()
        if len(self._around) >= MAX_DEPTH:
            raise DocumentError(self._name, f"groups nested more than {MAX_DEPTH} deep")
        self._around.append(self._state)
        self._state = replace(self._state, paragraph=replace(self._state.paragraph), ends="")
        self._begins, self._is_optional, self._to_skip = True, False, 0
        if self._state.destination == STYLES:
            self._styles.begin()

    def _close(self) -> None:
        self._flush()
        self._begins, self._is_optional, self._to_skip = False, False, 0
        state, self._state = self._state, self._around.pop()
        if state.ends == "note":
            self._notes.append(self._stories.pop().finish())
        elif state.ends == "box":
            blocks = self._stories.pop().finish()
            self._story.box(blocks)
        elif state.ends == "result":
            self._story.end_link(self._fields[-1] if self._fields else None)
        elif state.ends == "field":
            self._fields.pop()
        elif state.ends == "formula" and state.element is not None and self._is_visible:
            self._story.formula(omml_text(state.element))

    def _begin_destination(self, word: str) -> bool:
        """Let a group have the destination that its first word names, if that names one."""
        state = self._state
        if state.destination == SKIP and word != "ud":
            return True
        if state.destination == MATH and word.startswith("m") and word != "m":
            parent = state.element
            state.element = etree.Element(word[1:])
            if parent is not None:
                parent.append(state.element)
        elif word in _SKIPPED or (self._is_optional and word not in _READ):
            state.destination = SKIP
        elif word == "fonttbl":
            state.destination, state.font = FONTS, None
        elif word == "stylesheet":
            state.destination = STYLES
        elif word in ("moMath", "moMathPara"):
            state.destination, state.ends = MATH, "formula"
            state.element = etree.Element(word[1:])
        elif word == "upr":
            state.before, state.destination = state.destination, SKIP
        elif word == "ud":
            state.destination = state.before
        elif word == "field":
            self._fields.append(Field())
            state.ends = "field"
        elif word == "fldinst":
            state.destination = CODE
        elif word == "fldrslt":
            self._begin_result()
        elif word == "footnote" or word in _BOXES:
            self._begin_story(word)
        elif word == "nesttableprops":
            state.in_nested_row = True
        else:
            return False
        return True

    def _begin_story(self, word: str) -> None:
        state = self._state
        if not self._is_visible:
            state.destination = SKIP
            return
        if word == "footnote":
            self._story.border()
        state.ends = "note" if word == "footnote" else "box"
        state.script, state.paragraph = None, ParagraphProperties()
        self._stories.append(Story(self._tables))

    def _begin_result(self) -> None:
        if not self._fields:
            return
        shown = self._fields[-1]
        self._state.destination = (
            TEXT if self._state.destination == CODE else self._state.destination
        )
        around, self._fields = self._fields, self._fields[:-1]
        is_visible, self._fields = self._is_visible, around
        shown.is_shown = True
        if shown.is_citation and is_visible:
            self._story.mark(CITE)
        elif shown.is_left_out and is_visible:
            self._story.border()
        elif self._is_visible and (shown.is_link or shown.is_reference):
            self._state.ends = "result"
            self._story.begin_link()

    # Words.

    def _word(self, word: str, number: int | None) -> None:
        if word == "u":
            self._decode()
            if self._state.destination != SKIP:
                self._characters.append(self._fonts.character(number or 0, self._state.font))
            self._to_skip, self._begins = self._state.fallback, False
            return
        if self._to_skip:
            self._to_skip -= 1
            return
        self._flush()
        if (self._begins or self._is_optional) and self._begin_destination(word):
            self._begins = self._is_optional = False
            return
        self._begins = self._is_optional = False
        state = self._state
        if word == "uc":
            state.fallback = min(max(number or 0, 0), 16)
        elif state.destination == FONTS:
            self._font_word(word, number)
        elif state.destination == STYLES:
            self._styles.word(word, number)
        elif state.destination == TEXT:
            self._character_word(word, number)
            self._paragraph_word(word, number)
            self._row_word(word, number or 0)
        elif state.destination in (CODE, MATH) and word in _CHARACTERS:
            self._characters.append(_CHARACTERS[word])
        if word in ("ansicpg", "deff", *_ENCODINGS):
            self._head_word(word, number)

    def _head_word(self, word: str, number: int | None) -> None:
        if word == "deff":
            self._fonts.default = number
        elif word == "ansicpg":
            self._fonts.page = characters.code_page(number)
        else:
            self._fonts.page = _ENCODINGS[word]

    def _font_word(self, word: str, number: int | None) -> None:
        font = self._state.font
        if word == "f":
            self._state.font = number
        elif font is not None and word == "fcharset":
            self._fonts.charset(font, number or 0)
        elif font is not None and word == "cpg":
            self._fonts.code_page(font, number or 0)

    def _character_word(self, word: str, number: int | None) -> None:
        state = self._state
        is_on = number != 0
        if word in _CHARACTERS:
            self._characters.append(_CHARACTERS[word])
        elif word == "f":
            state.font = number
        elif word == "plain":
            state.font, state.script = self._fonts.default, None
            state.hidden = state.deleted = False
        elif word == "v":
            state.hidden = is_on
        elif word == "deleted":
            state.deleted = is_on
        elif word in ("super", "sub"):
            script = SUPERSCRIPT if word == "super" else SUBSCRIPT
            state.script = script if is_on else None
        elif word in ("up", "dn"):
            script = SUPERSCRIPT if word == "up" else SUBSCRIPT
            state.script = script if (6 if number is None else number) > 1 else None
        elif word == "nosupersub":
            state.script = None

    def _paragraph_word(self, word: str, number: int | None = None) -> None:
        state = self._state
        paragraph = state.paragraph
        if word in ("par", "sect", "page", "column"):
            if not state.deleted and state.destination == TEXT and self._fields_open:
                self._story.end_paragraph(paragraph)
        elif word == "tab":
            if self._is_visible:
                self._story.tab(state.script, hangs=paragraph.hangs)
        elif word == "pard":
            state.paragraph = ParagraphProperties()
        elif word == "s":
            paragraph.style = self._styles.of(number or 0)
        elif word == "outlinelevel":
            paragraph.level = number + 1 if number is not None and 0 <= number < 9 else None
        elif word == "ls":
            paragraph.is_item = bool(number)
        elif word == "fi":
            paragraph.hangs = (number or 0) < 0
        elif word == "intbl":
            paragraph.depth = max(paragraph.depth, 1)
        elif word == "itap":
            paragraph.depth = min(max(number or 0, 0), MAX_DEPTH)

    @property
    def _fields_open(self) -> bool:
        """Whether a paragraph may end here: not within a field that shows nothing."""
        return self._fields_show or not self._fields

    def _row_word(self, word: str, number: int) -> None:
        state = self._state
        which = int(state.in_nested_row)
        rules = self._rules[which]
        if word == "trowd":
            self._rules[which] = RowRules()
        elif word == "trhdr":
            rules.is_header = True
        elif word == "clvmrg":
            rules.next_cell.goes_on = True
        elif word == "clmrg":
            rules.next_cell.is_joined = True
        elif word == "cellx":
            rules.end_cell(number)
        elif word in ("cell", "nestcell"):
            least = 1 if word == "cell" else 2
            depth = 1 if word == "cell" else max(state.paragraph.depth, 2)
            self._story.end_cell(replace(state.paragraph, depth=max(depth, least)))
        elif word == "row":
            self._story.end_row(1, rules)
        elif word == "nestrow":
            self._story.end_row(max(state.paragraph.depth, 2), self._rules[1])


def _write_math(element: Element | None, text: str) -> None:
    """What stands in a run is its text, what stands in a property is its value."""
    text = _NOT_OF_XML.sub(" ", text)
    if element is None or not text.strip():
        return
    if element.tag == "r":
        last = element[-1] if len(element) else etree.SubElement(element, "t")
        if len(last.text or "") > MAX_RUN:
            last = etree.SubElement(element, "t")
        last.text = (last.text or "") + text
    else:
        element.set("val", text.strip())
