"""What `numerate check` prints: for a terminal, a program, a spreadsheet, a browser."""

import csv
import io
import json

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

import numerate
from numerate.errors import printable
from numerate.plausibility.checking.check import Checked, Report
from numerate.plausibility.checking.wording import explain, sentence_around
from numerate.plausibility.finding import Finding

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
)


def as_json(report: Report, *, everything: bool = False) -> str:
    record = {
        "numerate": numerate.__version__,
        "model": report.model,
        "alarms": report.alarms,
        "numerals": report.numerals,
        "flagged": report.flagged,
        "findings": [c.record(finding) for c, finding in report.findings(everything=everything)],
    }
    return json.dumps(record, indent=2, ensure_ascii=False)


def as_csv(report: Report, *, everything: bool = False) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for checked, finding in report.findings(everything=everything):
        low, high = finding.interval
        writer.writerow(checked.record(finding) | {"low": low, "high": high})
    return stream.getvalue().rstrip("\n")


def print_report(report: Report, console: Console, *, everything: bool = False) -> None:
    for checked, finding in report.findings(everything=everything):
        # One line however long, for whoever clicks on it or cuts it out.
        console.print(Text(_where(checked, finding), style="bold"), soft_wrap=True)
        for text in (_sentence(checked, finding), Text(explain(finding), style="dim")):
            console.print(Padding.indent(text, 2))
        console.print()
    numerals = "numeral" if report.numerals == 1 else "numerals"
    console.print(f"{report.flagged} of {report.numerals:,} {numerals} flagged.", highlight=False)


def _where(checked: Checked, finding: Finding) -> str:
    place, name = checked.place(finding), printable(checked.document.name)
    if place.line is None:
        return f"{name}: paragraph {place.paragraph}, character {place.start + 1}"
    return f"{name}:{place.line}:{place.column}"


def _sentence(checked: Checked, finding: Finding) -> Text:
    index = checked.document.paragraph_at(finding.start)
    offset = checked.document.start_of(index)
    paragraph = checked.document.paragraphs[index]
    start, end = finding.start - offset, finding.end - offset
    first, last = sentence_around(paragraph, start, end)
    style = "bold red" if finding.flagged else "green"
    return Text.assemble(
        _one_line(paragraph[first:start]),
        (finding.written, style),
        _one_line(paragraph[end:last]).rstrip(),
    )


def _one_line(text: str) -> str:
    """Line breaks of the file become spaces; other control characters are not for terminals."""
    return "".join(character if character.isprintable() else " " for character in text)
