"""Checked documents as one HTML file: the text, with flagged numerals marked, and a table."""

from itertools import count, groupby

from numerate.plausibility.assessments import Assessment, name_some
from numerate.plausibility.checking.check import Checked, Report
from numerate.plausibility.wording import explain, for_people, share, what_is_odd
from numerate.report.page import Link, Section, escape, page, table
from numerate.tables import ResultTable

Numbered = list[tuple[int, Assessment]]
"""Findings with their numbers in the report. Anchors have an underscore, those of sections none."""


def as_html(report: Report, *, verbose: bool = False) -> str:
    """Every paragraph that has a finding, and all findings in a table that sorts.

    A row of the table and its place in the text lead to each other; the reasons stand under the
    paragraph.
    """
    rate = f"at a false-alarm rate of {report.alarms:g}"
    if len(report.misfits) == len(report.documents):
        rate = "uncalibrated"
    elif report.misfits:
        rate += " in documents that fit the model"
    lead = (
        f"{report.flagged} of {report.numerals:,} numerals flagged by "
        f"<strong>{escape(report.model)}</strong>, {rate}."
    ) + "".join(f'</p>\n<p class="misfit">{escape(line)}' for line in report.misfits)
    if report.unusual:
        odd = name_some([odd.written for _, odd in report.unusual])
        lead += f"</p>\n<p>Unusual, but not flagged: {escape(odd)}."
    numbers = count(1)
    found = [
        (checked, [(next(numbers), finding) for finding in checked.flagged])
        for checked in report.documents
    ]
    sections = [Section("Findings", _table(found, verbose))] if report.flagged else []
    sections += [
        Section(checked.document.name, _text(checked, numbered))
        for checked, numbered in found
        if numbered
    ]
    return page("numerate check", lead, sections)


def _table(found: list[tuple[Checked, Numbered]], verbose: bool) -> str:
    columns = ["where", "written", "what is odd", "usual from", "to", "most likely"]
    if verbose:
        columns += ["as odd as", "percentile", "nats"]
    rows, links = [], []
    for checked, numbered in found:
        for number, finding in numbered:
            links.append(Link(f"finding_{number}", f"place_{number}"))
            rows.append(
                [
                    _where(checked, finding, alone=len(found) == 1),
                    finding.written,
                    what_is_odd(finding.numeral, finding.reason, finding.interval),
                    *map(for_people, finding.interval),
                    finding.likely,
                ]
            )
            if verbose:
                percentile = f"{100 * finding.percentile:.1f}"
                rows[-1] += [share(finding.plausibility), percentile, f"{finding.surprisal:.1f}"]
    return table(ResultTable("Flagged numerals", columns, rows), links)


def _where(checked: Checked, finding: Assessment, *, alone: bool) -> str:
    place = checked.place(finding)
    at = f"{place.line}:{place.column}" if place.line else f"¶ {place.paragraph}"
    return at if alone else f"{checked.document.name}:{at}"


def _text(checked: Checked, numbered: Numbered) -> str:
    source = checked.document.source
    pieces: list[str] = []
    by_paragraph = groupby(numbered, lambda found: source.paragraph_at(found[1].start))
    for index, findings in by_paragraph:
        at, last = source.spans[index]
        marked = reasons = ""
        for number, finding in findings:
            marked += escape(source.text[at : finding.start])
            written = escape(source.text[finding.start : finding.end])
            marked += (
                f'<mark id="place_{number}"><a href="#finding_{number}" '
                f'aria-describedby="reason_{number}">{written}</a></mark>'
            )
            reasons += f'<li id="reason_{number}">{escape(explain(finding, checked.domain))}</li>\n'
            at = finding.end
        pieces.append(
            f'<div class="checked"><p>{marked}{escape(source.text[at:last])}</p>\n'
            f'<ul class="reasons">\n{reasons}</ul></div>\n'
        )
    return "".join(pieces)
