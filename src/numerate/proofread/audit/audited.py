"""The rows of an audit's tables: one for each document, and one for each finding."""

from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from numerate.errors import printable
from numerate.proofread.proofread import ProofreadDocument
from numerate.proofread.report import (
    finding_record,
    for_people,
    location,
    sentence_around,
)
from numerate.proofread.selection import all_rules
from numerate.rules.finding import RECOMPUTED, Finding

CHECKED = "checked"
UNREAD = "unread"  # no reader can read it
FAILED = "failed"  # too slow, an internal error, a package that is missing
TAKEN_IN = "taken in"  # a part of another document, and checked there

RECOMPUTED_ALONE, LEARNED, BOTH = "recomputed", "learned", "both"
DIGITS = 6  # of probabilities: what lies beyond differs from one processor to the next

Row = dict[str, Any]

DOCUMENTS = pa.schema(
    [
        ("block", pa.int64()),  # of the source
        ("file", pa.string()),  # in the source
        ("format", pa.string()),
        ("first", pa.int64()),  # line of the file with which it begins
        ("document", pa.string()),  # what it calls itself
        ("status", pa.string()),
        ("reason", pa.string()),  # why it was not checked
        ("numbers", pa.int64()),
        ("findings", pa.int64()),
        ("less_likely", pa.int64()),  # findings below the least probability
        ("hidden", pa.int64()),  # what the writer or the project does not want to hear of
        ("statements", pa.int64()),
        ("recomputed", pa.int64()),  # of the statements
        ("model", pa.string()),  # that has read it
        ("fits", pa.bool_()),  # whether it is of the kind that the model knows
        ("takes_in", pa.list_(pa.string())),  # files
        ("failures", pa.list_(pa.string())),  # rules that broke
    ]
)
FINDINGS = pa.schema(
    [
        ("file", pa.string()),
        ("document", pa.string()),
        ("place", pa.string()),  # as `check` shows it
        ("page", pa.int64()),
        ("line", pa.int64()),
        ("column", pa.int64()),
        ("paragraph", pa.int64()),
        ("table", pa.int64()),
        ("table_row", pa.int64()),
        ("table_column", pa.int64()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("code", pa.string()),
        ("also", pa.list_(pa.string())),  # codes that point to the same number
        ("kind", pa.string()),  # the name of the rule
        ("basis", pa.string()),  # recomputed, learned or both
        ("written", pa.string()),
        ("suggestion", pa.string()),
        ("suggestion_probability", pa.float64()),
        ("message", pa.string()),
        ("evidence", pa.list_(pa.string())),
        ("probability", pa.float64()),
        ("calibrated", pa.bool_()),
        ("sentence", pa.string()),
        ("sentence_start", pa.int64()),  # where the number stands in the sentence
        ("sentence_end", pa.int64()),
        ("fingerprint", pa.string()),
    ]
)


@dataclass(slots=True)
class Audited:
    """Rows of one document or several."""

    documents: list[Row] = field(default_factory=list)
    findings: list[Row] = field(default_factory=list)

    def add(self, other: "Audited") -> None:
        self.documents += other.documents
        self.findings += other.findings


def document_row(file: str, status: str, reason: str | None = None, **known: Any) -> Row:
    """Make a row of the documents; columns that are not given are empty."""
    row = dict.fromkeys(DOCUMENTS.names) | {"takes_in": [], "failures": [], "first": 1}
    row |= {"document": file, "status": status, "reason": reason} | known
    return row | {"file": _plain(file), "document": _plain(str(row["document"]))}


def finding_row(proof: ProofreadDocument, finding: Finding) -> Row:
    """Make a row of the findings."""
    record = finding_record(proof, finding)
    basis = {RECOMPUTED_ALONE if kind == RECOMPUTED else LEARNED for kind in finding.kinds}
    sentence, start, end = _sentence(proof, finding)
    suggestion = finding.suggestion
    sure = None if suggestion is None else suggestion.probability
    row = {name: record.get(name) for name in FINDINGS.names}
    return row | {
        "file": _plain(record["file"]),
        "document": _plain(proof.document.id),
        "place": location(proof, finding.where),
        "kind": all_rules()[finding.code].name,
        "basis": BOTH if len(basis) > 1 else next(iter(basis), RECOMPUTED_ALONE),
        "written": _plain(finding.written),
        "suggestion": suggestion and suggestion.text,
        "suggestion_probability": None if sure is None else round(sure, DIGITS),
        "message": printable(finding.message),
        "evidence": [printable(one.said) for one in finding.evidence],
        "probability": round(finding.probability, DIGITS),
        "sentence": sentence,
        "sentence_start": start,
        "sentence_end": end,
    }


def _sentence(proof: ProofreadDocument, finding: Finding) -> tuple[str, int, int]:
    """As people like to see it; a cell, which says little by itself, after where it stands."""
    where = finding.where
    text = proof.read.whole(where)
    first, last = sentence_around(text, where.start, where.end)
    head = "" if where.row is None else f"{proof.read.describe(where)}: "
    before = printable(head + for_people(proof.read, replace(where, start=first, end=where.start)))
    number = printable(text[where.start : where.end])
    after = printable(for_people(proof.read, replace(where, start=where.end, end=last))).rstrip()
    return before + number + after, len(before), len(before) + len(number)


def _plain(text: str) -> str:
    """Two names that are no UTF-8 are still two names."""
    return text.encode("utf-8", "backslashreplace").decode()
