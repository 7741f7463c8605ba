"""Checked documents as one HTML file: the text, with flagged numerals marked, and a table."""

from itertools import groupby

from numerate.plausibility.checking.check import Checked, Report
from numerate.plausibility.checking.wording import explain
from numerate.report.page import Section, escape, page, table
from numerate.tables import ResultTable


def as_html(report: Report) -> str:
    """Every paragraph that has a finding, and all findings in a table that sorts."""
    lead = (
        f"{report.flagged} of {report.numerals:,} numerals flagged by "
        f"<strong>{escape(report.model)}</strong>, at a false-alarm rate of {report.alarms:g}. "
        "Point at a mark to see why."
    )
    sections = [Section("Findings", table(_table(report)))] if report.flagged else []
    sections += [
        Section(checked.document.name, _text(checked))
        for checked in report.documents
        if checked.flagged
    ]
    return page("numerate check", lead, sections)


def _table(report: Report) -> ResultTable:
    columns = ["where", "written", "reason", "expected from", "to", "most likely", "plausibility"]
    rows = []
    for checked, finding in report.findings():
        place = checked.place(finding)
        at = f"{place.line}:{place.column}" if place.line else f"¶ {place.paragraph}"
        low, high = (f"{value:.6g}" for value in finding.interval)
        rows.append(
            [
                f"{checked.document.name}:{at}",
                finding.written,
                finding.reason,
                low,
                high,
                finding.likely,
                f"{finding.plausibility:.4f}",
            ]
        )
    return ResultTable("Implausible numerals", columns, rows)


def _text(checked: Checked) -> str:
    document = checked.document
    pieces: list[str] = []
    by_paragraph = groupby(checked.flagged, lambda finding: document.paragraph_at(finding.start))
    for index, findings in by_paragraph:
        paragraph, offset = document.paragraphs[index], document.start_of(index)
        at, marked = 0, ""
        for finding in findings:
            start, end = finding.start - offset, finding.end - offset
            title = escape(explain(finding))
            marked += escape(paragraph[at:start])
            marked += f'<mark title="{title}">{escape(paragraph[start:end])}</mark>'
            at = end
        pieces.append(f"<p>{marked}{escape(paragraph[at:])}</p>\n")
    return "".join(pieces)
