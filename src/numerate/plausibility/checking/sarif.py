"""Findings as SARIF 2.1.0, which code review and continuous integration tools show."""

import json
import os
from typing import Any
from urllib.parse import quote

import numerate
from numerate.documents.source_map import Place
from numerate.plausibility.assessments import REASONS, Assessment
from numerate.plausibility.checking.check import Checked, Report
from numerate.plausibility.wording import explain

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES = {
    "magnitude": "The number is far from what is expected here.",
    "precision": "The number of decimals is unusual here.",
    "digits": "The digits are unusual here, though magnitude and precision are not.",
}


def as_sarif(report: Report, *, everything: bool = False) -> str:
    rules = [{"id": reason, "shortDescription": {"text": _RULES[reason]}} for reason in REASONS]
    driver = {"name": "numerate", "version": numerate.__version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(checked, finding) for checked, finding in report.findings(everything=everything)
        ],
        "properties": {
            "model": report.model,
            "alarms": report.alarms,
            "numerals": report.numerals,
            "misfits": report.misfits,
        },
    }
    record = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(record, indent=2, ensure_ascii=False)


def _result(checked: Checked, finding: Assessment) -> dict[str, Any]:
    is_calibrated = checked.domain.calibrated
    return {
        "ruleId": finding.reason,
        "ruleIndex": REASONS.index(finding.reason),
        "level": ("warning" if is_calibrated else "note") if finding.flagged else "none",
        "kind": "fail" if finding.flagged else "pass",
        "message": {"text": explain(finding, checked.domain)},
        "locations": [_location(checked, finding)],
        "properties": {**finding.record(), "calibrated": is_calibrated},
    }


def _location(checked: Checked, finding: Assessment) -> dict[str, Any]:
    """A region of a text file; of an article only the file, and which paragraph in words."""
    place = checked.place(finding)
    physical: dict[str, Any] = {
        "artifactLocation": {"uri": quote(os.fsencode(checked.document.name))}
    }
    if place.line is not None and place.column is not None:
        physical["region"] = {
            "startLine": place.line,
            "startColumn": place.column,
            **_end(checked, place),
            "charOffset": place.start,
            "charLength": place.end - place.start,
        }
    return {
        "physicalLocation": physical,
        "logicalLocations": [{"name": f"paragraph {place.paragraph}", "kind": "element"}],
    }


def _end(checked: Checked, place: Place) -> dict[str, int]:
    """A numeral may go on in the next line, where a space would be between its thousands."""
    line, column = checked.document.source.line_and_column(place.end - 1)
    return {"endColumn": column + 1} | ({} if line == place.line else {"endLine": line})
