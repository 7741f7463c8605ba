"""All rules over a document: what does not hold, what was recomputed, what could not be."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numerate.checking.rules  # noqa: F401 — registers them
from numerate.checking.finding import Finding
from numerate.checking.reading import ReadDocument
from numerate.checking.rule import RULES
from numerate.documents.document import Document, Table


@dataclass(slots=True)
class Coverage:
    """Of the statements of one kind: how many were recomputed, and what the others lack."""

    recomputed: int = 0
    missing: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return self.recomputed + self.missing.total()

    def __add__(self, other: "Coverage") -> "Coverage":
        return Coverage(self.recomputed + other.recomputed, self.missing + other.missing)


@dataclass(frozen=True, slots=True)
class Recomputed:
    findings: list[Finding]
    coverage: dict[str, Coverage]  # by kind of statement: `tests`, `percentages`


def recompute(
    document: Document | ReadDocument,
    tables: Sequence[Table] = (),
    codes: Collection[str] | None = None,
) -> Recomputed:
    """By these rules, or by all; the `tables` are read beside the document's own."""
    read = document if isinstance(document, ReadDocument) else ReadDocument(document, tables)
    findings: list[Finding] = []
    coverage: dict[str, Coverage] = {}
    for code in sorted(RULES):
        rule = RULES[code]
        if codes is not None and code not in codes:
            continue
        for outcome in rule.recompute(read):
            of_kind = coverage.setdefault(rule.statements, Coverage())
            if outcome.missing is None:
                of_kind.recomputed += 1
            else:
                of_kind.missing[outcome.missing] += 1
            if outcome.finding is not None:
                findings.append(outcome.finding)
    return Recomputed(findings, coverage)
