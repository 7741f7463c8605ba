"""Proofread documents as one HTML file: text, tables and findings side by side.

A finding and its numeral lead to each other; choosing one also shows the places of its evidence.
"""

from html import escape as escaped
from importlib.resources import files

from numerate.errors import counted
from numerate.proofread.formats.shown_text import HEADINGS, Block, Segment, ShownDocument
from numerate.proofread.proofread import ProofreadDocument
from numerate.proofread.report import (
    Report,
    further,
    location,
    name_some,
    suggestion_in_words,
    sureness,
)
from numerate.reports.page import Section, escape, page
from numerate.rules.finding import Finding
from numerate.rules.where import Where


def as_html(report: Report) -> str:
    lead = escape(report.summary)
    lead += "".join(
        f'</p>\n<p class="misfit">{escape(line)}'
        for line in (*report.unread, *report.failures, *report.misfits)
    )
    lead += f"</p>\n<p>{escape(str(report.tested))}."
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
    caption = counted(len(proofread), "finding")
    head = "".join(f"<th>{name}</th>" for name in ("where", "code", "number", "why", "probability"))
    return (
        f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )


def _said(finding: Finding) -> str:
    suggestion = suggestion_in_words(finding)
    said = [finding.message, *further(finding), suggestion]
    return " · ".join(filter(None, said))


def _side_by_side(proofread: ProofreadDocument, first: int) -> str:
    shown = ShownDocument(proofread, first)
    texts = "".join(_block(proofread, shown, block) for block in shown.blocks())
    cards = "".join(
        _card(proofread, finding, number) for number, finding in enumerate(proofread, first)
    )
    return (
        f'<div class="proof"><div class="read">{texts}</div>\n'
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


def _block(proofread: ProofreadDocument, shown: ShownDocument, block: Block) -> str:
    if block.place.table is not None:
        return _table(proofread, shown, block.place.table)
    text = _marked(shown, block.place)
    if block.kind in HEADINGS:
        level = min(len(block.kind) + 2, 6)  # under the name of the file
        return f"<h{level}>{text}</h{level}>\n"
    return f'<p class="{block.kind}">{text}</p>\n' if block.kind else f"<p>{text}</p>\n"


def _marked(shown: ShownDocument, place: Where) -> str:
    return "".join(map(_segment, shown.segments(place)))


def _segment(segment: Segment) -> str:
    text = escape(segment.text)
    if not segment.numeral_of and not segment.evidence_of:
        return text
    numbers = " ".join(map(str, segment.numeral_of))
    evidence = " ".join(map(str, segment.evidence_of))
    data = f' data-numeral="{numbers}"' if numbers else ""
    data += f' data-evidence="{evidence}"' if evidence else ""
    if not numbers:
        return f'<span class="evidence"{data}>{text}</span>'
    # An element has one identifier: of findings at one place, the others lead to empty ones.
    anchors = "".join(f'<span id="place_{number}"></span>' for number in segment.begins[1:])
    own = f' id="place_{segment.begins[0]}"' if segment.begins else ""
    number = segment.numeral_of[0]
    return (
        f'{anchors}<mark{own}{data}><a href="#finding_{number}" '
        f'aria-describedby="reason_{number}">{text}</a></mark>'
    )


def _table(proofread: ProofreadDocument, shown: ShownDocument, index: int) -> str:
    table = proofread.read.tables[index]
    name = escape(table.label or f"Table {index + 1}")

    def rows(texts: list[list[str]], top: int, cell: str) -> str:
        return "".join(
            "<tr>"
            + "".join(
                f"<{cell}>"
                + _marked(shown, Where(0, len(text), None, index, row - top, column))
                + f"</{cell}>"
                for column, text in enumerate(cells)
            )
            + "</tr>\n"
            for row, cells in enumerate(texts)
        )

    caption = _marked(shown, Where(0, len(table.caption), table=index))
    below = Where(0, len(table.notes), table=index, in_notes=True)
    notes = f'<p class="note">{_marked(shown, below)}</p>' if table.notes else ""
    return (
        f'<figure class="table"><figcaption><b>{name}</b> {caption}</figcaption>\n'
        f'<div class="scroll" role="region" aria-label="{name}" tabindex="0"><table>\n'
        f"<thead>{rows(table.header, len(table.header), 'th')}</thead>\n"
        f"<tbody>{rows(table.body, 0, 'td')}</tbody></table></div>{notes}</figure>\n"
    )


def _part(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")
