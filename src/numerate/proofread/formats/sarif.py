"""Findings as SARIF 2.1.0, which code review and continuous integration tools show."""

import json
import os
import re
from typing import Any
from urllib.parse import quote

import numerate
from numerate.documents.document import Document
from numerate.proofread.baseline import fingerprint
from numerate.proofread.proofread import ProofreadDocument
from numerate.proofread.report import (
    Report,
    coverage_record,
    failures_of,
    further,
    is_calibrated,
    place_record,
)
from numerate.proofread.rule_page import as_markdown
from numerate.proofread.selection import all_rules
from numerate.rules.finding import RECOMPUTED, Finding
from numerate.rules.rule import Rule
from numerate.rules.where import Where

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
SURE = 0.9  # from here on a finding is an error, below it a warning
_LINE = re.compile(r"(.*):([0-9]{1,9})", re.DOTALL)
FINGERPRINT = "numerate/v1"


def as_sarif(report: Report) -> str:
    rules = all_rules()
    codes = list(rules)
    driver = {
        "name": "numerate",
        "version": numerate.__version__,
        "rules": [_descriptor(rule) for rule in rules.values()],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [_invocation(report)],
        "columnKind": "unicodeCodePoints",
        "results": [_result(proofread, finding, codes) for proofread, finding in report],
        "properties": {
            "models": list(report.models),
            "alarms": report.alarms,
            "summary": report.summary,
            "numbers": report.tested.record(),
            "coverage": coverage_record(report.coverage),
            "misfits": report.misfits,
        },
    }
    record = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(record, indent=2, ensure_ascii=False)


def _invocation(report: Report) -> dict[str, Any]:
    """Whether it went well; rules that failed and files that cannot be read are notifications."""
    failed = [
        {"level": "error", "message": {"text": line}, "associatedRule": {"id": failure.code}}
        for proofread in report.documents
        for failure, line in zip(proofread.failures, failures_of(proofread), strict=True)
    ]
    failed += [{"level": "error", "message": {"text": line}} for line in report.unread]
    return {"executionSuccessful": not failed, "toolExecutionNotifications": failed}


def _descriptor(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.reason},
        "help": {"text": rule.fix, "markdown": as_markdown(rule)},
        "defaultConfiguration": {"level": "error" if rule.precision >= SURE else "warning"},
    }


def _result(proofread: ProofreadDocument, finding: Finding, codes: list[str]) -> dict[str, Any]:
    level = "note"
    if is_calibrated(proofread, finding):
        sure = RECOMPUTED in finding.kinds and finding.probability >= SURE
        level = "error" if sure else "warning"
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code) if finding.code in codes else -1,
        "kind": "fail",
        "level": level,
        "rank": round(100 * finding.probability, 2),
        "message": {"text": " ".join([finding.message, *further(finding)])},
        "locations": [_location(proofread, finding.where)],
        "partialFingerprints": {FINGERPRINT: fingerprint(proofread, finding)},
        "properties": {
            "probability": finding.probability,
            "kinds": list(finding.kinds),
            "also": list(finding.also),
            "written": finding.written,
        },
    }
    related = [
        _location(proofread, where) | {"message": {"text": one.said}}
        for one in finding.evidence
        for where in one.places
    ]
    if related:
        result["relatedLocations"] = [
            {"id": number, **place} for number, place in enumerate(related)
        ]
    region = _region(proofread, finding.where)
    written = region is not None and "startColumn" in region
    if finding.suggestion is not None and written and proofread.read.is_verbatim(finding.where):
        replacement = {
            "deletedRegion": region,
            "insertedContent": {"text": finding.suggestion.text},
        }
        artifact = _artifact(proofread, finding.where)
        change = {"artifactLocation": artifact, "replacements": [replacement]}
        described = {"text": f"{finding.suggestion.text} instead of {finding.written}"}
        result["fixes"] = [{"description": described, "artifactChanges": [change]}]
    return result


def _artifact(proofread: ProofreadDocument, where: Where) -> dict[str, str]:
    """Without a `./` before it, or code review would know the file by another name."""
    record = _record(proofread.read.home(where))
    name = record[1] if record else proofread.read.file(where)
    return {"uri": quote(os.fsencode(os.path.normpath(name)))}


def _record(file: Document) -> re.Match[str] | None:
    """The file and the line of a record, which is named by both."""
    return None if file.given is not None else _LINE.fullmatch(file.name)


def _location(proofread: ProofreadDocument, where: Where) -> dict[str, Any]:
    """A region where the file has lines; of an article the file, and in words where."""
    physical: dict[str, Any] = {"artifactLocation": _artifact(proofread, where)}
    region = _region(proofread, where)
    if region is not None:
        physical["region"] = region
    words = place_record(proofread, where)["words"]
    return {
        "physicalLocation": physical,
        "logicalLocations": [{"name": words, "kind": "element"}],
    }


def _region(proofread: ProofreadDocument, where: Where) -> dict[str, int] | None:
    """Of text, the numeral itself; of markup and records, the line.

    A numeral may go on in the next line, where a space would be between its thousands.
    """
    place, home = proofread.read.place(where), proofread.read.home(where)
    if place.line is None or place.column is None:
        record = _record(home)
        line = int(record[2]) if record else place.line
        return None if line is None else {"startLine": line}
    if place.part is not None and not place.part.is_file:
        return None
    at = place.part.start if place.part else 0
    line, column = home.source.line_and_column(at + place.end - 1)
    return {
        "startLine": place.line,
        "startColumn": place.column,
        "endColumn": column + 1,
        **({} if line == place.line else {"endLine": line}),
        "charOffset": place.start,
        "charLength": place.end - place.start,
    }
