"""Findings for a terminal, for a program and for a spreadsheet."""

import json
from dataclasses import replace

from rich.console import Console
from rich.text import Text

import numerate
from numerate.errors import printable
from numerate.proofread.findings_table import COLUMNS, finding_row
from numerate.proofread.proofread import ProofreadDocument
from numerate.proofread.report import (
    FEW,
    Report,
    coverage_in_words,
    coverage_record,
    finding_record,
    further,
    location,
    name_some,
    place_record,
    sentence_around,
    signs_in,
    suggestion_in_words,
)
from numerate.reports.notices import is_quiet
from numerate.reports.tables import csv_text
from numerate.rules.finding import Finding


def as_json(report: Report) -> str:
    record = {
        "numerate": numerate.__version__,
        "models": list(report.models),
        "alarms": report.alarms,
        "summary": report.summary,
        "known": report.known,
        "min_probability": report.min_probability,
        "less_likely": report.less_likely,
        "numbers": report.tested.record(),
        "coverage": coverage_record(report.coverage),
        "documents": [
            {
                "file": proofread.document.name,
                "numerals": proofread.numerals,
                "numbers": proofread.tested.record(),
                "findings": len(proofread),
                "hidden": proofread.hidden,
                "coverage": coverage_record(proofread.coverage),
                "coverage_in_words": coverage_in_words(proofread.coverage, whole=True),
                "domain": [fit.record() for fit in proofread.fits],
            }
            for proofread in report.documents
        ],
        "unusual": [
            {
                "file": proofread.document.name,
                **place_record(proofread, odd.where),
                "written": odd.written,
                "plausibility": odd.plausibility,
            }
            for proofread, odd in report.unusual
        ],
        "failures": report.failures,
        "unread": list(report.unread),
        "unneeded_suppressions": list(report.unneeded),
        "findings": [finding_record(proofread, finding) for proofread, finding in report],
    }
    return json.dumps(record, indent=1, ensure_ascii=False)


def as_csv(report: Report) -> str:
    rows = [list(finding_row(*pair).values()) for pair in report]
    return csv_text([list(COLUMNS), *rows]).rstrip("\n")


def print_report(report: Report, console: Console, *, verbose: bool = False) -> None:
    """Each finding with its place, its sentence, its evidence and what is suggested.

    Rules that failed, and documents that a model does not fit, come first; how many numbers were
    tested comes last. Where nothing is found, nothing is printed for those who want it quiet.
    """
    for line in (*report.failures, *report.misfits):
        console.print(Text(printable(line), style="bold yellow"), soft_wrap=True)
        console.print()
    for proofread, finding in report:
        # One line however long, for whoever clicks on it or cuts it out.
        head = Text.assemble(
            (f"{location(proofread, finding.where)} ", "bold"),
            (f"{finding.code} ", "bold red"),
            printable(finding.message),
        )
        console.print(head, soft_wrap=True)
        _print_indented(console, _marked(proofread, finding))
        for said in further(finding):
            _print_indented(console, Text(f"- {printable(said)}"))
        if suggestion := suggestion_in_words(finding):
            _print_indented(console, Text(printable(suggestion), style="green"))
        if verbose:
            kinds = ", ".join(finding.kinds)
            said = f"an error with a probability of {finding.probability:.2f}: {kinds}"
            _print_indented(console, Text(said, style="dim"))
        console.print()
    if len(report) or not is_quiet():
        hint = (
            " --min-probability 0 shows those that are less likely." if report.less_likely else ""
        )
        console.print(report.summary + hint, highlight=False, soft_wrap=True)
    if verbose and len(report.coverage) > FEW:
        whole = coverage_in_words(report.coverage, whole=True)
        console.print(f"In full: {whole}.", highlight=False, soft_wrap=True)
    if odd := report.unusual:
        places = [f"{printable(one.written)} ({location(of, one.where)})" for of, one in odd]
        said = f"Unusual, but not flagged: {name_some(places)}. --alarms 0.1 says why."
        console.print(Text(said), soft_wrap=True)
    if len(report) or not is_quiet():
        console.print(f"{report.tested}.", highlight=False, soft_wrap=True)


def _print_indented(console: Console, text: Text) -> None:
    """Without spaces at the ends of lines, for whoever puts it into a file."""
    for line in text.wrap(console, max(console.width - 2, 1)):
        line.rstrip()
        console.print(Text("  ") + line, soft_wrap=True)


def _marked(proofread: ProofreadDocument, finding: Finding) -> Text:
    """The sentence around it, in which the numeral stands out, and those that are involved."""
    where = finding.where
    text = proofread.read.whole(where)
    begin, last = sentence_around(text, where.start, where.end)
    first = begin
    shown = Text(_one_line(text[first:last]).rstrip())
    if where.row is not None:  # a cell says little by itself
        head = f"{_one_line(proofread.read.describe(where))}: "
        shown, first = Text(head) + shown, first - len(head)
    for other in finding.involved:
        if other.text_of == where.text_of:
            shown.stylize("yellow", max(other.start - first, 0), max(other.end - first, 0))
    shown.stylize("bold red", where.start - first, where.end - first)
    parts, done = list[Text](), 0
    for start, end, sign in signs_in(proofread.read, replace(where, start=begin, end=last)):
        parts += [shown[done : begin + start - first], Text(_one_line(sign))]
        done = begin + end - first
    return Text().join([*parts, shown[done:]])


def _one_line(text: str) -> str:
    """Line breaks of the file become spaces; other control characters are not for terminals."""
    return "".join(character if character.isprintable() else " " for character in text)
