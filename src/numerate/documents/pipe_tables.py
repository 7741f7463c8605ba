"""Tables of Markdown: rows of cells between bars, under a row of dashes."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain
from typing import NamedTuple

from numerate.documents.cell_grid import MAX_AREA
from numerate.documents.document import Table
from numerate.documents.markdown.code import fences_and_comments, stretch_at

_DASHES = re.compile(r":?-+:?")
_BAR = re.compile(r"(?<!\\)\|")
_LINK = re.compile(r"!?\[([^][]*)\]\([^()\s]*\)")
_RAISED = re.compile(r"<sup>([^<>]*)</sup>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_EMPHASIS = re.compile(r"(\*\*|__|~~|`)(?=\S)(.{1,200}?)(?<=\S)\1")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_SIGN = re.compile(r"[\[<*_~`\\]")  # without one there is no markup
# What stands for each: this, and what is in its last group.
_MARKUP = ((_LINK, ""), (_RAISED, "^"), (_TAG, " "), (_EMPHASIS, ""), (_ESCAPED, ""))
_NUMBERS = r"[0-9]{1,4}(?:\s?[–-]\s?[0-9]{1,4})?"
_NAMED = re.compile(rf"\b[Tt]ables? ({_NUMBERS}(?:(?:,|,? and|,? &) {_NUMBERS})*)")
_LABEL = re.compile(r"[\W_]*(Table\s+[A-Z]?[0-9]+[A-Za-z]?)\b[\s.:—–*_-]*(.*)", re.IGNORECASE)


def pipe_tables(text: str) -> Iterator[Table]:
    """All tables of a text. What a row has beyond the others stays; short rows are filled up."""
    return (table for _, table in placed_tables(text))


def placed_tables(
    text: str, no_text: Sequence[tuple[int, int]] | None = None
) -> Iterator[tuple[int, Table]]:
    """The same, each after where it begins; none in stretches that are `no_text`, if not otherwise
    known code between fences and comments.

    A text with more bars than a table may have cells is not looked through.
    """
    if not 2 <= text.count("|") <= MAX_AREA:
        return
    lines = text.splitlines()
    starts = [0, *accumulate(map(len, text.splitlines(keepends=True)))]  # and where it ends
    if no_text is None:
        no_text = sorted(chain(*fences_and_comments(text)))
    number, index = 0, 0
    while index < len(lines):
        if begins_table(lines, index) and stretch_at(no_text, starts[index]) is None:
            end = index + 2
            while end < len(lines) and "|" in lines[end] and not stretch_at(no_text, starts[end]):
                end += 1
            number += 1
            caption = _caption(lines, index, end)
            table = _table(lines[index:end], number, caption.text(lines) if caption else "")
            table.source = PipeSource(text, starts[index : end + 1], caption and caption.at(starts))
            yield starts[index], table
            index = end
            continue
        index += 1


def begins_table(lines: Sequence[str], index: int) -> bool:
    """A row of cells, and under it as many dashes."""
    if "|" not in lines[index] or index + 1 == len(lines):
        return False
    below = lines[index + 1]
    if "|" not in below or "-" not in below:
        return False
    dashes = _cells(below)
    return all(map(_DASHES.fullmatch, dashes)) and len(_cells(lines[index])) == len(dashes)


def _table(lines: Sequence[str], number: int, told: str) -> Table:
    header = _cells(lines[0])
    body = [_cells(line) for line in lines[2:]]
    for cells in body:
        cells += [""] * (len(header) - len(cells))
    label, caption = label_and_caption(told)
    return Table(f"#{number}", label or f"Table {number}", caption, [header], body)


class _CaptionLine(NamedTuple):
    number: int
    skipped: int  # characters before it begins

    def text(self, lines: Sequence[str]) -> str:
        return _plain(lines[self.number][self.skipped :])

    def at(self, starts: Sequence[int]) -> tuple[int, int, int]:
        """Where its line, itself and the next line begin."""
        start, end = starts[self.number : self.number + 2]
        return start, start + self.skipped, end


def _caption(lines: Sequence[str], start: int, end: int) -> _CaptionLine | None:
    """The line above it that names a table, or the one below it that begins with a colon."""
    for number in range(start - 1, max(0, start - 2) - 1, -1):
        if lines[number].strip():
            if _LABEL.fullmatch(lines[number]):
                return _CaptionLine(number, 0)
            break
    for number in range(end, min(end + 2, len(lines))):
        if lines[number].strip():
            bare = lines[number].lstrip()
            skipped = len(lines[number]) - len(bare) + 1
            return _CaptionLine(number, skipped) if bare.startswith(":") else None
    return None


@dataclass(frozen=True, slots=True)
class PipeSource:
    """Where the cells and the caption of a table stand in a text: looked up only when asked."""

    text: str
    lines: list[int]  # where each begins: of the header, of the dashes, of each row; and the end
    caption: tuple[int, int, int] | None

    @property
    def stretches(self) -> list[tuple[int, int]]:
        found = [(self.lines[0], self.lines[-1])]
        if self.caption is not None:
            found.append((self.caption[0], self.caption[2]))
        return sorted(found)

    def span(self, row: int | None, column: int | None, start: int, end: int) -> tuple[int, int]:
        if row is None or column is None:
            assert self.caption is not None
            _, at, stop = self.caption
            plain, places = _plain_with_places(self.text[at:stop])
            _, words = label_and_caption(plain)
            start, end = start + len(plain) - len(words), end + len(plain) - len(words)
        else:
            line = 0 if row < 0 else row + 2
            at, stop = self.lines[line : line + 2]
            first, last = cell_spans(self.text[at:stop])[column]
            at, stop = at + first, at + last
            _, places = _plain_with_places(self.text[at:stop])
        return at + places[start], at + places[end - 1] + 1

    def span_of_notes(self, start: int, end: int) -> None:
        """It has none."""


def label_and_caption(text: str) -> tuple[str, str]:
    """`Table 2. Ages` as `Table 2` and `Ages`."""
    named = _LABEL.fullmatch(text)
    return (" ".join(named[1].split()), named[2]) if named else ("", text)


def tables_named(text: str, tables: Sequence[Table]) -> tuple[str, ...]:
    """The ids of the tables that a text refers to by their numbers: `Tables 1 and 3–5`."""
    text = " ".join(text.split())
    if not _NAMED.search(text):
        return ()
    numbered = {table.label.removeprefix("Table "): table.id for table in tables}
    named: dict[str, None] = {}
    for match in _NAMED.finditer(text):
        for numbers in re.findall(_NUMBERS, match[1]):
            first, last = re.findall("[0-9]+", numbers)[0], re.findall("[0-9]+", numbers)[-1]
            for number in range(int(first), min(int(last), int(first) + len(tables)) + 1):
                if id := numbered.get(str(number)):
                    named[id] = None
    return tuple(named)


def _cells(line: str) -> list[str]:
    return [_plain(line[start:end]) for start, end in cell_spans(line)]


def cell_spans(line: str) -> list[tuple[int, int]]:
    """Where the cells of a line stand in it, as written."""
    end = len(line.rstrip())
    start = len(line) - len(line.lstrip())
    bars = [bar.start() for bar in _BAR.finditer(line, start, end)]
    if bars and bars[0] == start:
        bars.pop(0)
        start += 1
    spans = list(zip([start, *(bar + 1 for bar in bars)], [*bars, end], strict=True))
    if len(spans) > 1 and not line[slice(*spans[-1])].strip():
        spans.pop()
    return spans


def _plain(text: str) -> str:
    if not _SIGN.search(text):
        return " ".join(text.split())
    for pattern, sign in _MARKUP:
        text = pattern.sub(partial(_stand_in, sign), text)
    return " ".join(text.split())


def _stand_in(sign: str, match: re.Match[str]) -> str:
    return sign + _kept(match)


def _kept(match: re.Match[str]) -> str:
    if not match.lastindex:
        return ""
    return match[match.lastindex].strip() if match.re is _RAISED else match[match.lastindex]


def _plain_with_places(text: str) -> tuple[str, list[int]]:
    """The same, and where each of its characters stands in what was written."""
    places = list(range(len(text)))
    for pattern, sign in _MARKUP:
        pieces: list[str] = []
        after: list[int] = []
        done = 0
        for match in pattern.finditer(text):
            kept = _kept(match)
            inner = match.start(match.lastindex) if match.lastindex else match.start()
            inner += text[inner : match.end()].find(kept)
            pieces += [text[done : match.start()], sign, kept]
            after += places[done : match.start()] + [places[match.start()]] * len(sign)
            after += places[inner : inner + len(kept)]
            done = match.end()
        text, places = "".join([*pieces, text[done:]]), after + places[done:]
    words = list(re.finditer(r"\S+", text))
    joined = [
        place
        for word in words
        for place in [places[max(word.start() - 1, 0)], *places[slice(*word.span())]]
    ]
    return " ".join(word[0] for word in words), joined[1:]
