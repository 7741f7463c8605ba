"""Findings as rows of a table: for spreadsheets, Arrow and pandas."""

from typing import Any

from numerate.proofread.proofread import ProofreadDocument
from numerate.proofread.report import finding_record
from numerate.rules.finding import Finding

COLUMNS: dict[str, type] = {
    "file": str,
    "page": int,
    "line": int,
    "column": int,
    "words": str,
    "code": str,
    "written": str,
    "message": str,
    "evidence": str,
    "suggestion": str,
    "probability": float,
    "calibrated": bool,
    "kinds": str,
    "paragraph": int,
    "table": int,
    "table_row": int,
    "table_column": int,
    "start": int,
    "end": int,
    "fingerprint": str,
}


def finding_row(proofread: ProofreadDocument, finding: Finding) -> dict[str, Any]:
    record = finding_record(proofread, finding)
    record["evidence"] = "; ".join(one.said for one in finding.evidence)
    record["suggestion"] = finding.suggestion and finding.suggestion.text
    record["kinds"] = ", ".join(finding.kinds)
    return {column: record[column] for column in COLUMNS}
