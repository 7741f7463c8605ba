"""What an audit has found: counts by kind, what was not read, the most certain first."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pyarrow.compute as pc

from numerate.proofread.audit.audited import (
    BOTH,
    CHECKED,
    FAILED,
    LEARNED,
    RECOMPUTED_ALONE,
    TAKEN_IN,
    UNREAD,
    Row,
)
from numerate.proofread.audit.findings_folder import FindingsFolder
from numerate.proofread.selection import all_rules
from numerate.rules.rule import Rule

SHOWN = 5_000  # findings on the page
MOST_LISTED = 1_000  # documents that are named in the summary; all are in Parquet
MOST_CERTAIN = 20  # findings in the summary
LIKELY = 0.9
STATUSES = (CHECKED, UNREAD, FAILED, TAKEN_IN)
_SUMS = ("numbers", "statements", "recomputed", "findings", "less_likely", "hidden")
_BRIEF = ("file", "document", "place", "code", "written", "suggestion", "message", "probability")


@dataclass(slots=True)
class Summary:
    documents: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(STATUSES, 0)))
    sums: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(_SUMS, 0)))
    with_findings: int = 0  # documents
    unfit: int = 0  # documents that are unlike what the model knows
    models: Counter[str] = field(default_factory=Counter)  # documents that each has read
    skipped: list[Row] = field(default_factory=list)  # what was not read, as far as it is named
    reasons: Counter[str] = field(default_factory=Counter)  # why
    failures: Counter[str] = field(default_factory=Counter)  # rules that broke, by code
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)  # by code and basis
    likely: Counter[str] = field(default_factory=Counter)  # by code
    first: list[Row] = field(default_factory=list)  # the most certain
    files_ignored: int = 0
    blocks: int = 0

    def record(self) -> dict[str, Any]:
        return {
            "documents": {name.replace(" ", "_"): self.documents[name] for name in STATUSES},
            "documents_with_findings": self.with_findings,
            "documents_by_model": dict(sorted(self.models.items())),
            "documents_unlike_the_model": self.unfit,
            "files_ignored": self.files_ignored,
            **self.sums,
            "kinds": self.kind_rows(),
            "most_certain": [
                {name: row[name] for name in _BRIEF} for row in self.first[:MOST_CERTAIN]
            ],
            "failures": dict(sorted(self.failures.items())),
            "reasons": dict(self.reasons.most_common()),
            "skipped": self.skipped,
            "blocks": self.blocks,
        }

    def kind_rows(self) -> list[dict[str, Any]]:
        """The most frequent first."""
        totals: Counter[str] = Counter()
        for (code, _), count in self.kinds.items():
            totals[code] += count
        rules: dict[str, Rule] = all_rules()
        return [
            {
                "code": code,
                "kind": rules[code].name if code in rules else code,
                "summary": rules[code].summary if code in rules else "",
                "findings": total,
                "likely": self.likely[code],
                **{basis: self.kinds[code, basis] for basis in (RECOMPUTED_ALONE, LEARNED, BOTH)},
            }
            for code, total in sorted(totals.items(), key=lambda pair: (-pair[1], pair[0]))
        ]


def summarise(folder: FindingsFolder, files_ignored: int = 0) -> Summary:
    """Block by block: of the findings, no more are held than are shown."""
    summary = Summary(files_ignored=files_ignored, blocks=folder.blocks)
    for number in range(summary.blocks):
        _count_documents(summary, folder.documents(number).to_pylist())
        _count_findings(summary, folder, number)
    summary.first = sorted(summary.first, key=_certainty)[:SHOWN]
    return summary


def _count_documents(summary: Summary, rows: list[Row]) -> None:
    for row in rows:
        summary.documents[row["status"]] += 1
        if row["status"] in (UNREAD, FAILED):
            summary.reasons[row["reason"]] += 1
            if len(summary.skipped) < MOST_LISTED:
                names = ("file", "document", "status", "reason")
                summary.skipped.append({name: row[name] for name in names})
        if row["status"] != CHECKED:
            continue
        summary.sums.update({name: row[name] for name in _SUMS})
        summary.with_findings += row["findings"] > 0
        summary.models[row["model"] or "none"] += 1
        summary.unfit += row["fits"] is False
        summary.failures.update(line.partition(":")[0] for line in row["failures"])


def _count_findings(summary: Summary, folder: FindingsFolder, number: int) -> None:
    table = folder.findings(number)
    for code, basis, probability in zip(
        *(table[name].to_pylist() for name in ("code", "basis", "probability")), strict=True
    ):
        summary.kinds[code, basis] += 1
        summary.likely[code] += probability >= LIKELY
    if len(summary.first) >= SHOWN:
        least = summary.first[SHOWN - 1]
        floor = least["probability"] if least["calibrated"] else -1.0
        table = table.filter(pc.greater(table["probability"], floor))
    if len(table):
        # Sorting is stable, so that of equally certain ones the earlier come first.
        summary.first = sorted([*summary.first, *table.to_pylist()], key=_certainty)[:SHOWN]


def _certainty(row: Row) -> tuple[bool, float]:
    """What is uncalibrated is told last."""
    return not row["calibrated"], -row["probability"]
