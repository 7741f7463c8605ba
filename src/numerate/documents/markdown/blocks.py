"""Markdown as blocks: paragraphs, headings, items, notes and tables, in their order."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from numerate.documents.html_cells import elements, outer_tables
from numerate.documents.markdown.code import fences_and_comments, stretch_at
from numerate.documents.pipe_tables import begins_table
from numerate.documents.placed_text import PlacedText

PARAGRAPH, ITEM, NUMBERED, NOTE, CAPTION = "paragraph", "item", "numbered", "note", "caption"
PIPES, GRID, ALIGNED, HTML, CHUNK, DIV = "pipes", "grid", "aligned", "html", "chunk", "div"
TEX = "tex"
# A heading is of the kind "#" to "######".

_FRONT = re.compile(  # a rule has a blank line below
    r"---[ \t]*\r?\n(?![ \t]*\r?$).*?^(?:---|\.\.\.)[ \t]*\r?$", re.DOTALL | re.MULTILINE
)
_HIDDEN = ("script", "style", "pre")
_QUOTED = re.compile(r"(?: {0,3}>[ \t]?)+")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|$)(.*)$")
_TAGS = re.compile(r"(?:</?[A-Za-z][\w-]*(?:\s[^<>]*|/)?>\s*)*")  # show nothing
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_BULLET = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)]|#\.|\([0-9a-z]{1,4}\))[ \t]+(?=\S)")
_TASK = re.compile(r"\[[ xX]\][ \t]+")
_TEX = re.compile(r" {0,3}\\begin\{([A-Za-z]+\*?)\}")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_FOOTNOTE = re.compile(r" {0,3}\[\^([^\]\s]+)\]:[ \t]*")
_DEFINITION = re.compile(r" {0,3}\[([^\]^][^\]]*)\]:[ \t]*\S")
_CAPTION = re.compile(r"[ \t]*(?:[Tt]able)?:[ \t]+(?=\S)")
_DIV = re.compile(r"[ \t]*:{3,}(.*)$")
_BORDER = re.compile(r"[ \t]*\+(?:[-=:]+\+)+[ \t]*$")
_DASHES = re.compile(r"[ \t]*-{2,}(?:[ \t]+-{2,})+[ \t]*$")
_LONG_DASHES = re.compile(r"[ \t]*-{4,}[ \t]*$")
MAX_LINES = 100_000  # of one table


@dataclass(frozen=True, slots=True)
class Line:
    """What is left of it without the marks of quotations; ends do not count."""

    text: str
    at: int  # in the source

    @property
    def is_blank(self) -> bool:
        return not self.text or self.text.isspace()

    def placed(self, start: int = 0, end: int | None = None) -> PlacedText:
        text = self.text[start:end]
        return PlacedText(text, range(self.at + start, self.at + start + len(text)))


@dataclass(slots=True)
class Block:
    kind: str
    lines: list[Line]
    content: PlacedText  # of text; of other kinds empty
    name: str = ""  # of a note or a division


def masked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text with blanks for what is not shown, all else in its place; and where code is."""
    code, comments = fences_and_comments(text)
    gone = list(comments)
    front = _FRONT.match(text)
    if front is not None:
        gone = [front.span(), *(one for one in gone if one[0] >= front.end())]
        code = [one for one in code if one[0] >= front.end()]
    if "<" in text:
        hidden = [one for name in _HIDDEN for one in elements(text, name)]
        gone += [one for one in hidden if not stretch_at(code, one[0])]
    done, pieces = 0, list[str]()
    for start, end in sorted(gone):
        if start >= done:
            pieces += [text[done:start], re.sub(r"[^\r\n]", " ", text[start:end])]
            done = end
    return "".join([*pieces, text[done:]]), code


def blocks(text: str) -> list[Block]:
    shown, code = masked(text)
    reading = _Blocks(shown, code)
    reading.read()
    return reading.found


class _Blocks:
    def __init__(self, text: str, code: Sequence[tuple[int, int]]) -> None:
        self.found: list[Block] = []
        raw = text.splitlines(keepends=True)
        self._starts = [0, *accumulate(map(len, raw))]
        self._lines = [_line(line, at) for line, at in zip(raw, self._starts, strict=False)]
        self._text, self._code = text, code
        self._tables = outer_tables(text)
        self._open: list[PlacedText] = []  # lines of the text that is being read
        self._kind, self._name = PARAGRAPH, ""
        self._in_list = False
        self._unclosed: set[str] = set()  # environments of LaTeX

    def read(self) -> None:
        index = 0
        while index < len(self._lines):
            index += self._read_at(index)
        self._end()

    def _read_at(self, index: int) -> int:
        """A line, or several that belong together: how many."""
        line = self._lines[index]
        if fence := stretch_at(self._code, self._starts[index] + _indent(line.text)):
            return self._lone(CHUNK, index, self._line_of(fence[1] - 1))
        if table := self._html_at(index):
            self._open.append(line.placed(0, max(table[0] - line.at, 0)))
            self._end()
            part = Line(self._text[slice(*table)], table[0])
            self.found.append(Block(HTML, [part], PlacedText("", ())))
            return self._go_on_behind(table[1]) - index
        if line.is_blank:
            self._end()
            return 1
        if (begins := _TEX.match(line.text)) and (end := self._end_of_tex(line, begins)):
            self._end()
            start = line.at + begins.end(0) - len(begins[0].lstrip())
            part = Line(self._text[start:end], start)
            self.found.append(Block(TEX, [part], PlacedText("", ())))
            return self._line_of(end - 1) + 1 - index
        for kind, last in self._tables_at(index):
            return self._lone(kind, index, last)
        self._text_at(index)
        return 1

    def _line_of(self, offset: int) -> int:
        return bisect_right(self._starts, offset) - 1

    def _go_on_behind(self, offset: int) -> int:
        """The line which what is left of it becomes, or the next if nothing is."""
        index = self._line_of(offset - 1)
        rest = self._text[offset : self._starts[index + 1]].rstrip("\r\n")
        if not rest.strip():
            return index + 1
        self._lines[index], self._starts[index] = Line(rest, offset), offset
        return index

    def _lone(self, kind: str, first: int, last: int) -> int:
        self._end()
        last = max(first, min(last, len(self._lines) - 1))
        self._in_list = self._in_list and _indent(self._lines[first].text) > 0
        self.found.append(Block(kind, self._lines[first : last + 1], PlacedText("", ())))
        return last + 1 - first

    def _html_at(self, index: int) -> tuple[int, int] | None:
        """A table that begins in a line, outside of code."""
        start, end = self._starts[index : index + 2]
        first = bisect_right(self._tables, (start, -1))
        if first == len(self._tables) or self._tables[first][0] >= end:
            return None
        return None if "`" in self._text[start : self._tables[first][0]] else self._tables[first]

    def _end_of_tex(self, line: Line, begins: re.Match[str]) -> int | None:
        """Where an environment of LaTeX ends; None if it never does."""
        name = begins[1]
        if name in self._unclosed:
            return None
        depth = 0
        signs = re.compile(rf"\\(begin|end)\{{{re.escape(name)}\}}")
        for sign in signs.finditer(self._text, line.at):
            depth += 1 if sign[1] == "begin" else -1
            if depth == 0:
                return sign.end()
        self._unclosed.add(name)
        return None

    # Tables: of which kind, and up to which line

    def _tables_at(self, index: int) -> Iterator[tuple[str, int]]:
        lines, text = self._lines, self._lines[index].text
        if "|" in text and begins_table([one.text for one in lines[index : index + 2]], 0):
            last = index + 1
            while last + 1 < len(lines) and "|" in lines[last + 1].text:
                last += 1
            yield PIPES, last
        elif self._open:
            return
        elif _BORDER.match(text):
            last = index
            while last + 1 < len(lines) and lines[last + 1].text.lstrip().startswith(("|", "+")):
                last += 1
            if last > index + 1:
                yield GRID, last
        elif index + 2 < len(lines) and _DASHES.match(lines[index + 1].text):
            last = self._until(index + 2, _ends_rows)
            if last > index + 2:
                yield ALIGNED, last - 1
        elif _LONG_DASHES.match(text) or _DASHES.match(text):
            closing = _LONG_DASHES if _LONG_DASHES.match(text) else _DASHES
            last = self._until(index + 1, lambda line: bool(closing.match(line.text)))
            inside = lines[index + 1 : last]
            columns = closing is _DASHES or any(_DASHES.match(line.text) for line in inside)
            if last < len(lines) and inside and columns and not inside[0].is_blank:
                yield ALIGNED, last

    def _until(self, index: int, ends: Callable[[Line], bool]) -> int:
        last = index
        while last < len(self._lines) and last - index < MAX_LINES:
            if ends(self._lines[last]):
                return last
            last += 1
        return last

    # Text

    def _text_at(self, index: int) -> None:
        line = self._lines[index]
        text = line.text
        if division := _DIV.match(text):
            self._end()
            self.found.append(Block(DIV, [line], PlacedText("", ()), division[1].strip()))
        elif heading := _HEADING.match(text):
            self._end()
            self._open.append(
                line.placed(heading.start(2), _end_of_heading(text, heading.start(2)))
            )
            self._end(heading[1])
        elif self._open and self._kind == PARAGRAPH and (under := _UNDERLINE.match(text)):
            self._end("#" if under[1][0] == "=" else "##")
        elif _RULE.match(text) or _DEFINITION.match(text):
            self._end()
        elif note := _FOOTNOTE.match(text):
            self._begin(NOTE, line, note.end(), note[1])
        elif not self._open and (caption := _CAPTION.match(text)):
            self._begin(CAPTION, line, caption.end())
        elif (bullet := _BULLET.match(text)) and self._begins_item(bullet[0].strip()):
            kind = ITEM if bullet[0].strip() in {"-", "*", "+"} else NUMBERED
            task = _TASK.match(text, bullet.end())
            self._begin(kind, line, task.end() if task else bullet.end())
            self._in_list = True
        elif self._open:
            self._open.append(line.placed())
        elif _indent(text) < 4 or self._in_list or self._follows_note():
            self._in_list = self._in_list and _indent(text) > 0
            self._begin(PARAGRAPH, line, 0)
        # What else is indented is code.

    def _begins_item(self, mark: str) -> bool:
        """Within a paragraph, a number is only the first of a list if it says so."""
        if not self._open or self._kind != PARAGRAPH or mark in {"-", "*", "+"}:
            return True
        return mark in {"1.", "1)"}

    def _follows_note(self) -> bool:
        return bool(self.found) and self.found[-1].kind == NOTE

    def _begin(self, kind: str, line: Line, start: int, name: str = "") -> None:
        self._end()
        self._kind, self._name = kind, name
        self._open.append(line.placed(start))

    def _end(self, kind: str | None = None) -> None:
        if self._open:
            text, places = "", list[int]()
            for part in self._open:
                if text:
                    text += "\n"
                    places.append(part.places[0] if part.places else places[-1])
                text += part.text
                places += part.places
            content = PlacedText(text, places).stripped()
            if not _TAGS.fullmatch(content.text):
                self.found.append(Block(kind or self._kind, [], content, self._name))
        self._open, self._kind, self._name = [], PARAGRAPH, ""


def before_attributes(text: str) -> int:
    """Where it ends without those that stand in braces behind it."""
    bare = text.rstrip()
    start = bare.rfind("{")
    if start >= 0 and bare.endswith("}") and "}" not in bare[start:-1]:
        bare = bare[:start].rstrip()
    return len(bare)


def _end_of_heading(text: str, start: int) -> int:
    """It may be closed by as many signs as it likes."""
    shown = text[start : before_attributes(text)]
    bare = shown.rstrip("#")
    closed = not bare or bare[-1].isspace()
    return start + len(bare.rstrip() if closed else shown)


def definitions(text: str) -> frozenset[str]:
    """Names of links whose targets stand on lines of their own."""
    return frozenset(
        found[1].strip().lower() for found in map(_DEFINITION.match, text.splitlines()) if found
    )


def _line(text: str, at: int) -> Line:
    quoted = _QUOTED.match(text)
    start = quoted.end() if quoted else 0
    return Line(text[start:].rstrip("\r\n"), at + start)


def _ends_rows(line: Line) -> bool:
    """A row of nothing but spaces is a row; fewer are a blank line."""
    return (line.is_blank and len(line.text) < 4) or bool(_DIV.match(line.text))


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
