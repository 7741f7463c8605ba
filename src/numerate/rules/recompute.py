"""All rules over a document: what does not hold, what was recomputed, what could not be."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numerate.rules.families  # noqa: F401 — registers them
from numerate.documents.document import Document, Table
from numerate.errors import one_line
from numerate.rules.finding import Finding
from numerate.rules.reading import ReadDocument
from numerate.rules.rule import RULES, Outcome, Rule
from numerate.rules.where import Where


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
class Failure:
    """A rule broke on a document, which is a mistake of ours: what it would have found is missing,
    what the others find is not."""

    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Recomputed:
    findings: list[Finding]
    coverage: dict[str, Coverage]  # by kind of statement: `tests`, `percentages`
    failures: list[Failure]
    tested: list[Where] = field(default_factory=list)  # statements that were recomputed
    lacking: list[tuple[Where, str]] = field(default_factory=list)  # others, and what they lack


def recompute(
    document: Document | ReadDocument,
    tables: Sequence[Table] = (),
    codes: Collection[str] | None = None,
    *,
    beside: bool = True,
) -> Recomputed:
    """By these rules, or by all; the `tables` are read beside the document's own. Without `beside`,
    what they state by themselves is not told: that is for who reads them as a document."""
    read = document if isinstance(document, ReadDocument) else ReadDocument(document, tables)
    findings: list[Finding] = []
    coverage: dict[str, Coverage] = {}
    failures: list[Failure] = []
    tested: list[Where] = []
    lacking: list[tuple[Where, str]] = []
    for code in sorted(RULES):
        rule = RULES[code]
        if codes is not None and code not in codes:
            continue
        for outcome in _isolated(rule, read, failures):
            if not beside and _is_beside(outcome, read):
                continue
            of_kind = coverage.setdefault(rule.statements, Coverage())
            if outcome.missing is None:
                of_kind.recomputed += 1
                tested += outcome.places
            else:
                of_kind.missing[outcome.missing] += 1
                lacking += [(place, outcome.missing) for place in outcome.places]
            if outcome.finding is not None:
                findings.append(outcome.finding)
    return Recomputed(findings, coverage, failures, tested, lacking)


def _is_beside(outcome: Outcome, read: ReadDocument) -> bool:
    places = [outcome.where]
    if (finding := outcome.finding) is not None:
        places += [*finding.involved, *(at for one in finding.evidence for at in one.places)]
    return all(map(read.is_beside, places))


def _isolated(rule: Rule, read: ReadDocument, failures: list[Failure]) -> Iterator[Outcome]:
    try:
        yield from rule.recompute(read)
    except Exception as error:
        reason = f"{type(error).__name__}: {one_line(error)}"
        failures.append(Failure(rule.code, reason))
