"""A proofread document as people see it: blocks in their order, and what is marked in each.

The HTML report and the page of the server show the same.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from numerate.documents.markdown.code import stretch_at
from numerate.proofread.proofread import ProofreadDocument
from numerate.proofread.report import for_people
from numerate.rules.where import Where

MOST_TEXT = 400_000  # characters that are shown whole; of a longer text, where findings are
HEADINGS = {"#" * level for level in range(1, 7)}

_LINE = re.compile(r"^[ \t]*(\S[^\n]*)", re.MULTILINE)
_MARK = re.compile(r"[ \t]*(#{1,6}|[-*+]|[0-9]{1,3}[.)])[ \t]+(?=\S)")  # of a heading or an item


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of text, or a table."""

    kind: str  # that of a paragraph, or "code"
    place: Where  # of a table: its caption


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a text of which the same is said throughout."""

    text: str
    numeral_of: tuple[int, ...]  # findings
    evidence_of: tuple[int, ...]
    begins: tuple[int, ...]  # findings whose numeral begins with it


@dataclass(frozen=True, slots=True)
class _Mark:
    """A stretch that a finding is about, or that is evidence for it."""

    start: int
    end: int
    finding: int
    is_numeral: bool


Marks = dict[tuple[int | None, int | None, int | None, int | None, bool], list[_Mark]]


class ShownDocument:
    """Its findings are counted from `first`."""

    def __init__(self, proofread: ProofreadDocument, first: int = 0) -> None:
        self._proofread = proofread
        self._marks = _marks(proofread, first)

    def blocks(self) -> list[Block]:
        """Text and tables in the order in which they stand; of a long text, where findings are."""
        read = self._proofread.read
        paragraphs = [piece.place for piece in read.paragraphs]
        whole = sum(place.end - place.start for place in paragraphs) <= MOST_TEXT
        found = [
            (_stands_at(self._proofread, place), Block(kind, place))
            for kind, place in _kinds(self._proofread, self._shown(paragraphs))
            if whole or self._within(place)
        ]
        in_marks = {key[1] for key in self._marks if key[1] is not None}
        for index, table in enumerate(read.tables):
            place = Where(0, len(table.caption), table=index)
            if index in in_marks or (whole and not read.is_beside(place)):
                found.append((_stands_at(self._proofread, place), Block("", place)))
        return [block for _, block in sorted(found, key=lambda pair: pair[0])]

    def segments(self, place: Where) -> Iterator[Segment]:
        """Cut a text of the document, or a part of one, where a mark begins or ends."""
        read, size = self._proofread.read, place.end - place.start
        inside = self._within(place)
        ends = {min(at - place.start, size) for mark in inside for at in (mark.start, mark.end)}
        starting: dict[int, list[_Mark]] = {}
        for mark in inside:
            starting.setdefault(mark.start - place.start, []).append(mark)
        at, open_marks = 0, list[_Mark]()
        for border in [*sorted(ends), size]:
            if border > at:
                part = replace(place, start=place.start + at, end=place.start + border)
                yield _segment(for_people(read, part), open_marks, part.start)
            at = border
            open_marks = [mark for mark in open_marks if mark.end - place.start > border]
            open_marks += starting.get(border, [])

    def _within(self, place: Where) -> list[_Mark]:
        """Marks that begin in a piece of a text."""
        some = self._marks.get(place.text_of, [])
        first = bisect_left(some, place.start, key=_start)
        return some[first : bisect_left(some, place.end, key=_start)]

    def _shown(self, paragraphs: Sequence[Where]) -> Iterable[Where]:
        """All pieces of the text; where a model marks a table of Markdown in the text itself, all
        of its paragraph as it is written, instead of its pieces."""
        covered = {id(mark) for place in paragraphs for mark in self._within(place)}
        whole = {
            key[0]: len(self._proofread.document.paragraphs[key[0]].text)
            for key, some in self._marks.items()
            if key[0] is not None and any(id(mark) not in covered for mark in some)
        }
        for place in paragraphs:
            if place.paragraph not in whole:
                yield place
        for index, length in sorted(whole.items()):
            yield Where(0, length, paragraph=index)


def _marks(proofread: ProofreadDocument, first: int) -> Marks:
    """Of every text that has any, by which text it is."""
    found: Marks = {}
    for number, finding in enumerate(proofread, first):
        places = [place for one in finding.evidence for place in one.places]
        own = _Mark(finding.where.start, finding.where.end, number, True)
        found.setdefault(finding.where.text_of, []).append(own)
        for where in dict.fromkeys((*finding.involved, *places)):
            mark = _Mark(where.start, where.end, number, False)
            found.setdefault(where.text_of, []).append(mark)
    for some in found.values():
        some.sort(key=_start)
    return found


def _start(mark: _Mark) -> int:
    return mark.start


def _segment(text: str, marks: Sequence[_Mark], at: int) -> Segment:
    numeral = [mark for mark in marks if mark.is_numeral]
    evidence = dict.fromkeys(mark.finding for mark in marks if not mark.is_numeral)
    return Segment(
        text,
        tuple(mark.finding for mark in numeral),
        tuple(evidence),
        tuple(mark.finding for mark in numeral if mark.start == at),
    )


def _stands_at(proofread: ProofreadDocument, place: Where) -> tuple[float, float]:
    """Where in its document: offset or line, and after how many paragraphs; what has none comes
    last, as it is counted."""
    read = proofread.read
    if place.table is not None:
        table = read.tables[place.table]
        if read.is_beside(place):
            return math.inf, math.inf
        if table.source is not None:
            return table.source.stretches[0][0], 0
        if table.after is not None:
            return 0, table.after - 0.5
        return math.inf if table.line is None else table.line, math.inf
    index = place.paragraph or 0
    if read.document.given is not None:
        span = read.document.span(read.document.paragraphs[index], place.start, place.end)
        return span[0], 0
    # A paragraph whose line is not known stands after the last one whose line is.
    before = (one.line for one in read.document.paragraphs[index::-1])
    return next((line for line in before if line is not None), 0), index


def _kinds(proofread: ProofreadDocument, places: Iterable[Where]) -> Iterator[tuple[str, Where]]:
    """Text as it was written is cut where a line begins a heading or an item of Markdown."""
    document = proofread.document
    for place in places:
        paragraph = document.paragraphs[place.paragraph or 0]
        if document.given is None or paragraph.runs is not None:
            yield paragraph.kind, place
            continue
        start, end = proofread.read.span(place) or (0, 0)
        at = paragraph.start
        if stretch_at(document.code, start) is not None:
            yield "code", place
            continue
        kind, begin = "", place.start
        for line in _LINE.finditer(document.given, start, end):
            mark = _MARK.match(document.given, *line.span())
            if mark is None and kind not in HEADINGS:
                continue
            here = document.source.read_at(line.start(1)) - at
            if here > begin:
                yield kind, replace(place, start=begin, end=here - 1)
            kind, begin = "", here
            if mark is not None:
                kind = mark[1] if mark[1] in HEADINGS else "item"
                if mark[1][0].isdigit():
                    kind = "numbered"
                else:  # what the mark says is shown otherwise
                    begin = document.source.read_at(mark.end(1) - 1) + 2 - at
        if begin < place.end:
            yield kind, replace(place, start=begin, end=place.end)
