"""Proofread documents as one HTML file: text, tables and findings side by side.

A finding and its numeral lead to each other; choosing one also shows the places of its evidence.
"""

from collections.abc import Iterator
from typing import Any

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
from numerate.reports.notebook import as_table
from numerate.reports.page import Section, page
from numerate.reports.templates import render
from numerate.rules.finding import Finding
from numerate.rules.where import Where


def as_html(report: Report) -> str:
    sections = []
    number = 1
    for proofread in report.documents:
        if len(proofread):
            sections.append(_side_by_side(proofread, number))
        number += len(proofread)
    return page(
        "numerate check",
        sections,
        template="proofread/formats/report.html.jinja",
        assets="proofread/formats/report",
        summary=report.summary,
        warnings=[*report.unread, *report.failures, *report.misfits],
        tested=str(report.tested),
        unusual=name_some([odd.written for _, odd in report.unusual]),
    )


def as_fragment(proofread: ProofreadDocument) -> str:
    """For a notebook: a table, without script."""
    rows = (
        (
            location(proofread, finding.where),
            finding.code,
            finding.written,
            _said(finding),
            f"{finding.probability:.2f}",
        )
        for finding in proofread
    )
    columns = ("where", "code", "number", "why", "probability")
    return as_table(counted(len(proofread), "finding"), columns, rows)


def _said(finding: Finding) -> str:
    suggestion = suggestion_in_words(finding)
    said = [finding.message, *further(finding), suggestion]
    return " · ".join(filter(None, said))


def _side_by_side(proofread: ProofreadDocument, first: int) -> Section:
    shown = ShownDocument(proofread, first)
    body = render(
        "proofread/formats/document.html.jinja",
        blocks=[_block(proofread, shown, block) for block in shown.blocks()],
        cards=[
            _card(proofread, finding, number) for number, finding in enumerate(proofread, first)
        ],
        first=first,
    )
    return Section(proofread.document.name, body=body)


def _card(proofread: ProofreadDocument, finding: Finding, number: int) -> dict[str, Any]:
    return {
        "number": number,
        "code": finding.code,
        "place": _short(proofread, finding),
        "sure": sureness(proofread, finding),
        "message": finding.message,
        "evidence": further(finding),
        "suggestion": suggestion_in_words(finding),
    }


def _short(proofread: ProofreadDocument, finding: Finding) -> str:
    place = proofread.read.place(finding.where)
    if place.column is not None:
        return f"{place.line}:{place.column}"
    return proofread.read.describe(finding.where)


def _block(proofread: ProofreadDocument, shown: ShownDocument, block: Block) -> dict[str, Any]:
    if block.place.table is not None:
        return {"table": _table(proofread, shown, block.place.table)}
    is_heading = block.kind in HEADINGS
    return {
        "table": None,
        "level": min(len(block.kind) + 2, 6) if is_heading else None,  # under the name of the file
        "kind": block.kind,
        "text": shown.segments(block.place),
    }


def _table(proofread: ProofreadDocument, shown: ShownDocument, index: int) -> dict[str, Any]:
    table = proofread.read.tables[index]

    def rows(texts: list[list[str]], top: int) -> list[list[Iterator[Segment]]]:
        return [
            [
                shown.segments(Where(0, len(text), None, index, row, column))
                for column, text in enumerate(cells)
            ]
            for row, cells in enumerate(texts, top)
        ]

    return {
        "name": table.label or f"Table {index + 1}",
        "caption": shown.segments(Where(0, len(table.caption), table=index)),
        "header": rows(table.header, -len(table.header)),
        "body": rows(table.body, 0),
        "notes": table.notes
        and shown.segments(Where(0, len(table.notes), table=index, in_notes=True)),
    }
