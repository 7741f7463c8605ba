"""Proofread documents as one HTML file: text, tables and findings side by side.

A finding and its numeral lead to each other; choosing one also shows the places of its evidence.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape as escaped
from importlib.resources import files

from numerate.checking.finding import Finding
from numerate.checking.where import Where
from numerate.documents.markdown.markdown_code import stretch_at
from numerate.proofreading.proofread import ProofreadDocument
from numerate.proofreading.proofread_report import (
    Report,
    for_people,
    further,
    location,
    name_some,
    suggestion_in_words,
    sureness,
)
from numerate.report.page import Section, escape, page

MOST_TEXT = 400_000  # characters that are shown whole; of a longer text, where findings are

_LINE = re.compile(r"^[ \t]*(\S[^\n]*)", re.MULTILINE)
_MARK = re.compile(r"[ \t]*(#{1,6}|[-*+]|[0-9]{1,3}[.)])[ \t]+(?=\S)")  # of a heading or an item
_HEADINGS = {"#" * level for level in range(1, 7)}

Texts = dict[tuple[int | None, int | None, int | None, int | None, bool], list["_Mark"]]


def as_html(report: Report) -> str:
    lead = escape(report.summary)
    lead += "".join(
        f'</p>\n<p class="misfit">{escape(line)}' for line in (*report.failures, *report.misfits)
    )
    if report.unusual:
        odd = name_some([odd.written for _, odd in report.unusual])
        lead += f"</p>\n<p>Unusual, but not flagged: {escape(odd)}."
    sections = []
    number = 1
    for proofread in report.documents:
        if len(proofread):
            body = _side_by_side(proofread, number)
            sections.append(Section(proofread.document.name, body))
        number += len(proofread)
    style, script = _part("report.css"), _part("report.js")
    return page("numerate check", lead, sections, style=style, script=script)


def as_fragment(proofread: ProofreadDocument) -> str:
    """For a notebook: a table, without script."""
    rows = "".join(
        f"<tr><td>{escaped(location(proofread, finding.where))}</td><td>{finding.code}</td>"
        f"<td>{escaped(finding.written)}</td><td>{escaped(_said(finding))}</td>"
        f"<td>{finding.probability:.2f}</td></tr>"
        for finding in proofread
    )
    counted = f"{len(proofread)} finding{'s' * (len(proofread) != 1)}"
    head = "".join(f"<th>{name}</th>" for name in ("where", "code", "number", "why", "probability"))
    return (
        f"<table><caption>{counted}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )


def _said(finding: Finding) -> str:
    suggestion = suggestion_in_words(finding)
    said = [finding.message, *further(finding), suggestion]
    return " · ".join(filter(None, said))


def _side_by_side(proofread: ProofreadDocument, first: int) -> str:
    marks = _marks(proofread, first)
    cards = "".join(
        _card(proofread, finding, number) for number, finding in enumerate(proofread, first)
    )
    return (
        f'<div class="proof"><div class="read">{_texts(proofread, marks)}</div>\n'
        f'<ol class="findings" start="{first}">{cards}</ol></div>\n'
    )


def _card(proofread: ProofreadDocument, finding: Finding, number: int) -> str:
    evidence = "".join(f"<li>{escape(said)}</li>" for said in further(finding))
    suggestion = suggestion_in_words(finding)
    fix = f'<p class="fix">{escape(suggestion.capitalize())}</p>' if suggestion else ""
    sure = escape(sureness(proofread, finding))
    return (
        f'<li id="finding_{number}" class="card" data-number="{number}">'
        f'<p class="head"><a href="#place_{number}"><b>{number}</b> '
        f"<code>{escape(finding.code)}</code> "
        f"{escape(_short(proofread, finding))}</a> <small>{sure}</small></p>"
        f'<p id="reason_{number}">{escape(finding.message)}</p>'
        f"<ul>{evidence}</ul>{fix}</li>\n"
    )


def _short(proofread: ProofreadDocument, finding: Finding) -> str:
    place = proofread.read.place(finding.where)
    if place.column is not None:
        return f"{place.line}:{place.column}"
    return proofread.read.describe(finding.where)


class _Mark:
    """A stretch of a text, and the findings that it is the numeral of, or evidence for."""

    __slots__ = ("end", "evidence_of", "numeral_of", "start")

    def __init__(self, where: Where, numeral_of: int | None, evidence_of: int | None) -> None:
        self.start, self.end = where.start, where.end
        self.numeral_of = numeral_of
        self.evidence_of = evidence_of


def _marks(proofread: ProofreadDocument, first: int) -> Texts:
    """Of every text that has any."""
    found: Texts = {}
    for number, finding in enumerate(proofread, first):
        found.setdefault(finding.where.text_of, []).append(_Mark(finding.where, number, None))
        places = [place for one in finding.evidence for place in one.places]
        for where in dict.fromkeys((*finding.involved, *places)):
            found.setdefault(where.text_of, []).append(_Mark(where, None, number))
    for some in found.values():
        some.sort(key=_start)
    return found


def _start(mark: _Mark) -> int:
    return mark.start


def _within(marks: Texts, place: Where) -> list[_Mark]:
    """Those that begin in a piece of a text."""
    some = marks.get(place.text_of, [])
    first = bisect_left(some, place.start, key=_start)
    return some[first : bisect_left(some, place.end, key=_start)]


def _texts(proofread: ProofreadDocument, marks: Texts) -> str:
    """Text and tables in the order in which they stand; of a long text, where findings are."""
    read = proofread.read
    paragraphs = [piece.place for piece in read.paragraphs]
    whole = sum(map(_length, paragraphs)) <= MOST_TEXT
    blocks = [
        (_stands_at(proofread, place), _block(proofread, kind, place, marks))
        for kind, place in _kinds(proofread, _shown(paragraphs, proofread, marks))
        if whole or _within(marks, place)
    ]
    in_marks = {key[1] for key in marks if key[1] is not None}
    for index in range(len(read.tables)):
        table = Where(0, 0, table=index)
        if index in in_marks or (whole and not read.is_beside(table)):
            blocks.append((_stands_at(proofread, table), _table(proofread, index, marks)))
    return "".join(block for _, block in sorted(blocks, key=lambda pair: pair[0]))


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


def _shown(
    paragraphs: Sequence[Where], proofread: ProofreadDocument, marks: Texts
) -> Iterable[Where]:
    """All pieces of the text; where a model marks a table of Markdown in the text itself, all of
    its paragraph as it is written, instead of its pieces."""
    covered = {id(mark) for place in paragraphs for mark in _within(marks, place)}
    whole = {
        key[0]: len(proofread.document.paragraphs[key[0]].text)
        for key, some in marks.items()
        if key[0] is not None and any(id(mark) not in covered for mark in some)
    }
    for place in paragraphs:
        if place.paragraph not in whole:
            yield place
    for index, length in sorted(whole.items()):
        yield Where(0, length, paragraph=index)


def _length(place: Where) -> int:
    return place.end - place.start


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
            if mark is None and kind not in _HEADINGS:
                continue
            here = document.source.read_at(line.start(1)) - at
            if here > begin:
                yield kind, replace(place, start=begin, end=here - 1)
            kind, begin = "", here
            if mark is not None:
                kind = mark[1] if mark[1] in _HEADINGS else "item"
                if mark[1][0].isdigit():
                    kind = "numbered"
                else:  # what the mark says is shown otherwise
                    begin = document.source.read_at(mark.end(1) - 1) + 2 - at
        if begin < place.end:
            yield kind, replace(place, start=begin, end=place.end)


def _block(proofread: ProofreadDocument, kind: str, place: Where, marks: Texts) -> str:
    shown = _marked(proofread.read.text(place), place, marks)
    if kind in _HEADINGS:
        level = min(len(kind) + 2, 6)  # under the name of the file
        return f"<h{level}>{shown}</h{level}>\n"
    return f'<p class="{kind}">{shown}</p>\n' if kind else f"<p>{shown}</p>\n"


def _marked(text: str, place: Where, marks: Texts) -> str:
    """The text in segments, each with all that is said of it."""
    inside = _within(marks, place)
    ends = {min(at - place.start, len(text)) for mark in inside for at in (mark.start, mark.end)}
    starting: dict[int, list[_Mark]] = {}
    for mark in inside:
        starting.setdefault(mark.start - place.start, []).append(mark)
    shown: list[str] = []
    at, open_marks = 0, list[_Mark]()
    for border in [*sorted(ends), len(text)]:
        if border > at:
            shown.append(_segment(text[at:border], open_marks, at + place.start))
        at = border
        open_marks = [mark for mark in open_marks if mark.end - place.start > border]
        open_marks += starting.get(border, [])
    return "".join(shown)


def _segment(text: str, marks: Sequence[_Mark], at: int) -> str:
    text = for_people(text)
    if not marks:
        return escape(text)
    numeral = [mark for mark in marks if mark.numeral_of is not None]
    numbers = " ".join(str(mark.numeral_of) for mark in numeral)
    evidence = " ".join(
        dict.fromkeys(str(mark.evidence_of) for mark in marks if mark.evidence_of is not None)
    )
    data = f' data-numeral="{numbers}"' if numbers else ""
    data += f' data-evidence="{evidence}"' if evidence else ""
    if not numeral:
        return f'<span class="evidence"{data}>{escape(text)}</span>'
    beginning = [mark.numeral_of for mark in numeral if mark.start == at]
    # An element has one identifier: of findings at one place, the others lead to empty ones.
    anchors = "".join(f'<span id="place_{number}"></span>' for number in beginning[1:])
    own = f' id="place_{beginning[0]}"' if beginning else ""
    number = numeral[0].numeral_of
    return (
        f'{anchors}<mark{own}{data}><a href="#finding_{number}" '
        f'aria-describedby="reason_{number}">{escape(text)}</a></mark>'
    )


def _table(proofread: ProofreadDocument, index: int, marks: Texts) -> str:
    table = proofread.read.tables[index]
    name = escape(table.label or f"Table {index + 1}")

    def rows(texts: list[list[str]], top: int, cell: str) -> str:
        return "".join(
            "<tr>"
            + "".join(
                f"<{cell}>"
                + _marked(text, Where(0, len(text), None, index, row - top, column), marks)
                + f"</{cell}>"
                for column, text in enumerate(cells)
            )
            + "</tr>\n"
            for row, cells in enumerate(texts)
        )

    caption = _marked(table.caption, Where(0, len(table.caption), table=index), marks)
    below = Where(0, len(table.notes), table=index, in_notes=True)
    notes = f'<p class="note">{_marked(table.notes, below, marks)}</p>' if table.notes else ""
    return (
        f'<figure class="table"><figcaption><b>{name}</b> {caption}</figcaption>\n'
        f'<div class="scroll" role="region" aria-label="{name}" tabindex="0"><table>\n'
        f"<thead>{rows(table.header, len(table.header), 'th')}</thead>\n"
        f"<tbody>{rows(table.body, 0, 'td')}</tbody></table></div>{notes}</figure>\n"
    )


def _part(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")
