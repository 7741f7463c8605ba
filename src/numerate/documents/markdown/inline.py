"""Markdown within a block: what is shown of it, without the marks, and where it stands."""

import re
from dataclasses import dataclass
from html import unescape

from numerate.documents.flow import CITE, MATH, REF, PlacedFlow, is_address
from numerate.documents.latex.macros import MacroStream
from numerate.documents.latex.text import TexText
from numerate.documents.markdown.code import Backticks
from numerate.documents.placed_text import PlacedText, standing_for

_INSIDE = r"(?:[^\[\]\\]|\\.|\[(?:[^\[\]\\]|\\.)*\])*+"  # of brackets, which may hold brackets
_TARGET = r"\((?:[^()\n]|\([^()\n]*\))*+\)"
_SPAN = re.compile(
    r"(?P<escape>\\(?!@ref)[!-/:-@\[-`{-~\n])"
    r"|(?P<bookdown>\\@ref\([^()\s]+\))"
    r"|(?P<tex>\\[A-Za-z]+(?:\[[^\[\]\n]{0,200}\])?(?:\{(?:[^{}\n]|\{[^{}\n]*\})*+\})*+)"
    r"|(?P<label>\(\\?\#[a-z]+:[\w:.-]+\))"
    r"|(?P<code>`+)"  # if others close it
    r"|(?P<display>\$\$.+?\$\$)"
    r"|(?P<math>\$(?=[^\s$])(?:\\.|[^$\\])+?(?<=\S)\$(?![0-9$]))"
    r"|(?P<shortcode>\{\{[<%][^\n]{0,500}?[>%]\}\})"
    rf"|(?P<image>!\[{_INSIDE}\](?:{_TARGET}|\[[^\]]*\])(?:\{{[^{{}}\n]*\}})?)"
    r"|(?P<notemark>\[\^[^\]\s]{1,200}\])"
    rf"|(?P<note>\^\[{_INSIDE}\])"
    r"|(?P<cite>\[[^\[\]]{0,400}?(?<![\w.])-?@[^\[\]]{0,400}\])"
    rf"|(?P<link>\[(?P<shown>{_INSIDE})\](?:{_TARGET}|\[[^\]]*\])?(?:\{{[^{{}}\n]*\}})?)"
    r"|(?P<address><?https?://[^\s<>]+>?|<[^\s<>@]+@[^\s<>]+>)"
    r"|(?P<key>(?<![\w@./])-?@\{?[A-Za-z][\w:.-]*\w\}?)"
    r"|(?P<script><su[bp]>[^<>]*</su[bp]>|\^(?:\\.|[^\s^\[\]\\])+\^|(?<!~)~(?:\\.|[^\s~\\])+~(?!~))"
    r"|(?P<anchor><a\b[^<>]*>[^<>]*</a>)"
    r"|(?P<tag></?[A-Za-z][^<>]*>)"
    r"|(?P<entity>&(?:[A-Za-z][A-Za-z0-9]{1,30}|\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6});)"
    r"|(?P<dash>(?<!-)---?(?!-))"
    r"|(?P<stress>\*+|_+|~~)"
    r"|(?P<attributes>\{[#.][^{}\n]*\})",
    re.DOTALL,
)
_ATTRIBUTES = re.compile(r"\{[^{}\n]*\}")
_BREAKS = re.compile(r"</?(?:br|p|div|li|ul|ol|hr|td|th|tr)\b", re.IGNORECASE)
_OURS = re.compile(r"(?:tbl|fig|eq|sec|lst|tab|thm)[-:]")
_TARGET_OF = re.compile(r"\(\s*([^()\s]+)")
_HREF = re.compile(r"href\s*=\s*[\"']?([^\s\"'>]+)")
_ESCAPED = re.compile(r"\\(?=.)")
_KEY = re.compile(r"@\{?([A-Za-z][\w:.-]*\w)")


@dataclass(slots=True)
class _Stress:
    """Signs around what is emphasised, as far as others match them."""

    piece: PlacedText
    opens: bool
    closes: bool
    left: int  # signs that are printed


_BORDER = ""  # what stands for a note: two numbers beside it stay apart


class MarkdownText:
    """One block. What it refers to, and the notes in it, are told beside its text."""

    def __init__(self, content: PlacedText, definitions: frozenset[str] = frozenset()) -> None:
        self.referred: list[str] = []  # labels of tables and figures
        self.notes: list[PlacedText] = []
        self._definitions = definitions  # names of links that are defined elsewhere
        self.flow = PlacedFlow(content.places[0] if content.places else 0)
        self._pieces: list[PlacedText | _Stress | tuple[str, PlacedText]] = []
        self._read(content)
        _match(self._pieces)
        self._write()

    def _read(self, content: PlacedText) -> None:
        text, add = content.text, self._pieces.append
        backticks = Backticks.of(text)
        done = at = 0
        while match := _SPAN.search(text, at):
            start, at = match.span()
            if match["code"] is not None:
                close = backticks.close(start, at)
                if close is None:
                    continue
                attributes = _ATTRIBUTES.match(text, close)
                at = attributes.end() if attributes else close
            if start > done:
                add(content.part(done, start))
            if match["code"] is not None:
                add((MATH, content.part(start, at)))
            else:
                self._span(match, content)
            done = at
        if done < len(text):
            add(content.part(done, len(text)))

    def _span(self, match: re.Match[str], content: PlacedText) -> None:
        kind = next(name for name in _KINDS if match[name] is not None)
        whole = content.part(*match.span())
        add = self._pieces.append
        if kind == "escape":
            add(whole.part(1, 2) if match[0][1] != "\n" else PlacedText(" ", whole.places[:1]))
        elif kind == "tex":
            self._tex(whole)
        elif kind == "bookdown":
            self.referred.append(match[0][6:-1])
            add((REF, whole))
        elif kind == "display":
            add((MATH, whole))
        elif kind == "math":
            add(_math(whole.part(1, len(match[0]) - 1)))
        elif kind in ("shortcode", "image"):
            add(PlacedText(" ", whole.places[:1]))
        elif kind == "note":
            self.notes.append(whole.part(2, len(match[0]) - 1))
            add((_BORDER, whole))
        elif kind == "notemark":
            add((_BORDER, whole))
        elif kind in ("cite", "key"):
            ours = [key for key in _KEY.findall(match[0]) if _OURS.match(key)]
            self.referred += ours
            add((REF if ours else CITE, whole))
        elif kind == "link":
            self._link(match, content)
        elif kind == "address":
            add((REF, whole))
        elif kind == "script":
            add(("^" if match[0].startswith(("^", "<sup")) else "_", _without_marks(whole)))
        elif kind == "anchor":
            self._anchor(whole)
        elif kind == "tag":
            if _BREAKS.match(match[0]):
                add(PlacedText(" ", whole.places[:1]))
        elif kind == "entity":
            shown = unescape(match[0])
            add(PlacedText(shown, [whole.places[0]] * len(shown)))
        elif kind == "dash":
            add(PlacedText("—" if len(match[0]) == 3 else "–", whole.places[:1]))
        elif kind == "stress":
            add(_stress(match, content, whole))

    def _tex(self, whole: PlacedText) -> None:
        """A command of LaTeX, as it would be printed."""
        writer = TexText(MacroStream(whole.text, lambda _what, _at: None))
        writer.run()
        self.referred += writer.referred
        text, places = writer.flow.placed()
        if text:
            self._pieces.append(PlacedText(text, [whole.places[at] for at in places]))

    def _anchor(self, whole: PlacedText) -> None:
        """A link of HTML."""
        start, end = whole.text.index(">") + 1, whole.text.rindex("<")
        shown = whole.part(start, end)
        target = _HREF.search(whole.text[:start])
        self._add_link(shown, target[1] if target else "")

    def _add_link(self, shown: PlacedText, target: str) -> None:
        """One within the document, such as to a figure by its number, is a reference."""
        inner = MarkdownText(shown, self._definitions)
        text = inner.flow.placed()
        self.referred += inner.referred
        if target.startswith("#") and any(map(str.isdigit, shown.text)):
            self.referred.append(target[1:])
            self._pieces.append((REF, text))
        elif target and is_address(text.text):
            self._pieces.append((REF, text))
        else:
            self._pieces.append(text)

    def _link(self, match: re.Match[str], content: PlacedText) -> None:
        """Brackets that lead nowhere are brackets."""
        shown = content.part(*match.span("shown"))
        after = match[0][len(shown.text) + 2 :]
        if after or shown.text.strip().lower() in self._definitions:
            target = _TARGET_OF.match(after)
            is_span = after.startswith("{")
            self._add_link(shown, "" if is_span else target[1] if target else after or "?")
            return
        start, end = match.span()
        self._pieces.append(content.part(start, start + 1))
        self._read(shown)
        self._pieces.append(content.part(end - 1, end))

    def _write(self) -> None:
        for piece in self._pieces:
            if isinstance(piece, _Stress):
                self.flow.text(*piece.piece.part(0, piece.left))
            elif isinstance(piece, PlacedText):
                self.flow.text(*piece)
            else:
                kind, (text, places) = piece
                if kind == _BORDER:
                    self.flow.border()
                elif kind == "^":
                    self.flow.superscript(text, places)
                elif kind == "_":
                    self.flow.subscript(text, places)
                else:
                    ends = (places[0], places[-1] + 1) if places else None
                    self.flow.mark(kind, standing_for(len(kind), *ends) if ends else ())


_KINDS = [name for name in _SPAN.groupindex if name not in ("code", "shown")]


def _without_marks(script: PlacedText) -> PlacedText:
    around = 5 if script.text.startswith("<") else 1
    end = len(script.text) - (around + 1 if around == 5 else 1)
    return script.part(around, end).replaced(_ESCAPED, lambda _: "")


def _math(inside: PlacedText) -> PlacedText:
    """TeX, of which each character knows its place in the block."""
    writer = TexText(MacroStream(inside.text, lambda _what, _at: None))
    writer.stream.in_math = True
    writer.run()
    text, places = writer.flow.placed()
    return PlacedText(text, [inside.places[at] for at in places])


def _stress(match: re.Match[str], content: PlacedText, whole: PlacedText) -> _Stress:
    """Signs open before what is no space, and close behind it; within words only stars do."""
    before = content.text[match.start() - 1 : match.start()] or " "
    after = content.text[match.end() : match.end() + 1] or " "
    opens = not after.isspace() and (after.isalnum() or not before.isalnum())
    closes = not before.isspace() and (before.isalnum() or not after.isalnum())
    if before.isdigit() and after.isdigit():  # a product
        opens = closes = False
    elif match[0][0] == "_":
        within = before.isalnum() and after.isalnum()
        opens, closes = opens and not within, closes and not within
    return _Stress(whole, opens, closes, len(match[0]))


def _match(pieces: list[PlacedText | _Stress | tuple[str, PlacedText]]) -> None:
    open_: dict[str, list[_Stress]] = {"*": [], "_": [], "~": []}
    for piece in pieces:
        if not isinstance(piece, _Stress):
            continue
        stack = open_[piece.piece.text[0]]
        while piece.closes and piece.left and stack:
            opener = stack[-1]
            taken = min(opener.left, piece.left)
            opener.left -= taken
            piece.left -= taken
            if not opener.left:
                stack.pop()
        if piece.opens and piece.left:
            stack.append(piece)
