"""What `numerate check` prints: for a terminal, a program, a spreadsheet, a browser."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

import numerate
from numerate.errors import printable
from numerate.plausibility.assessments import Assessment, Glance, name_some
from numerate.plausibility.checking.check import Checked, Report
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
    "sources",
)
AROUND = 160  # characters shown on either side of a numeral, if its sentence is that long
_BORDER = re.compile(r"[.!?]\s+(?=[A-Z0-9(])")
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
        record["sources"] = "; ".join(map(str, finding.sources))
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
                    for source in finding.sources:
                        console.print(Padding.indent(Text(printable(str(source)), style="dim"), 2))
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


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with its findings; offsets are those of what was given."""

    start: int
    end: int
    findings: list[Assessment]


def sentences(checked: Checked, findings: list[Assessment]) -> Iterator[Sentence]:
    """In the order of the text; a very long sentence is cut around its findings."""
    source = checked.document.source
    for paragraph, those in groupby(findings, lambda found: source.paragraph_at(found.start)):
        start, end = source.spans[paragraph]
        borders = [start + border for border in sentence_borders(source.text[start:end])]
        for index, some in groupby(those, lambda found: bisect_right(borders, found.start)):  # noqa: B023
            together = list(some)
            yield Sentence(
                max(borders[index - 1], together[0].start - AROUND),
                min(borders[index], together[-1].end + AROUND),
                together,
            )


def sentence_borders(text: str) -> list[int]:
    """Where each sentence begins, and the end of the text."""
    return [0, *(match.end() for match in _BORDER.finditer(text)), len(text)]


def _where(checked: Checked, finding: Assessment | Glance) -> str:
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
