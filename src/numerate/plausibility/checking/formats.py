"""What `numerate check` prints: for a terminal, a program, a spreadsheet, a browser."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

import numerate
from numerate.errors import printable
from numerate.plausibility.checking.check import Checked, Report
from numerate.plausibility.checking.sentences import Sentence, sentences
from numerate.plausibility.finding import Finding, Glance
from numerate.plausibility.findings import name_some
from numerate.plausibility.wording import explain, figures, level_of
from numerate.tables import csv_text

COLUMNS = (
    "file",
    "paragraph",
    "line",
    "column",
    "start",
    "end",
    "written",
    "numeral",
    "surprisal",
    "percentile",
    "low",
    "high",
    "likely",
    "reason",
    "plausibility",
    "flagged",
    "level",
    "calibrated",
    "explanation",
)
STYLES = {"implausible": "bold red", "unusual": "yellow", "plausible": "green"}


def as_json(report: Report, *, everything: bool = False) -> str:
    record = {
        "numerate": numerate.__version__,
        "model": report.model,
        "alarms": report.alarms,
        "numerals": report.numerals,
        "flagged": report.flagged,
        "unusual": [
            {
                "file": checked.document.name,
                **asdict(checked.place(odd)),
                "written": odd.written,
                "plausibility": odd.plausibility,
            }
            for checked, odd in report.unusual
        ],
        "documents": [
            {"file": checked.document.name, "domain": checked.domain.record()}
            for checked in report.documents
        ],
        "findings": [c.record(finding) for c, finding in report.findings(everything=everything)],
    }
    return json.dumps(record, indent=2, ensure_ascii=False)


def as_csv(report: Report, *, everything: bool = False) -> str:
    rows: list[Sequence[object]] = [COLUMNS]
    for checked, finding in report.findings(everything=everything):
        low, high = finding.interval
        record = checked.record(finding) | {"low": low, "high": high}
        rows.append([record[column] for column in COLUMNS])
    return csv_text(rows).rstrip("\n")


def print_report(
    report: Report, console: Console, *, everything: bool = False, verbose: bool = False
) -> None:
    """Each sentence once, with all that is said of the numerals in it.

    A document that the model does not fit is told first.
    """
    for line in report.misfits:
        console.print(Text(printable(line), style="bold yellow"), soft_wrap=True)
        console.print()
    for checked in report.documents:
        for sentence in sentences(checked, checked.shown(everything=everything)):
            for place, finding in enumerate(sentence.findings):
                # One line however long, for whoever clicks on it or cuts it out.
                console.print(Text(_where(checked, finding), style="bold"), soft_wrap=True)
                if not place:
                    console.print(Padding.indent(_marked(checked, sentence), 2))
                console.print(Padding.indent(Text(explain(finding, checked.domain)), 2))
                if verbose:
                    console.print(Padding.indent(Text(figures(finding), style="dim"), 2))
            console.print()
    numerals = "numeral" if report.numerals == 1 else "numerals"
    counts = f"{report.flagged} of {report.numerals:,} {numerals} flagged"
    if report.misfits:
        unsure = sum(len(c.flagged) for c in report.documents if not c.domain.calibrated)
        counts += f", {unsure} of them uncalibrated" if report.flagged else ", but no all-clear"
    console.print(f"{counts}.", highlight=False)
    odd = report.unusual
    if odd and not everything:
        named = name_some([f"{printable(f.written)} ({_where(c, f)})" for c, f in odd])
        console.print(Text(f"Unusual, but not flagged: {named}. --all says why."), soft_wrap=True)


def _where(checked: Checked, finding: Finding | Glance) -> str:
    place, name = checked.place(finding), printable(checked.document.name)
    if place.line is None:
        return f"{name}: paragraph {place.paragraph}, character {place.start + 1}"
    return f"{name}:{place.line}:{place.column}"


def _marked(checked: Checked, sentence: Sentence) -> Text:
    text = checked.document.source.text
    shown, at = Text(), sentence.start
    for finding in sentence.findings:
        shown.append(_one_line(text[at : finding.start]))
        shown.append(finding.written, STYLES[level_of(finding)])
        at = finding.end
    shown.append(_one_line(text[at : sentence.end]).rstrip())
    return shown


def _one_line(text: str) -> str:
    """Line breaks of the file become spaces; other control characters are not for terminals."""
    return "".join(character if character.isprintable() else " " for character in text)
