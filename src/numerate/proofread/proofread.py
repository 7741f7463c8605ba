"""A document proofread: one list of findings from rules, detectors and language models.

A rule's finding is as probable as the rule is precise, a model's as probable as the model says.
Where several speak of one numeral, the highest probability counts, and all evidence is shown.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from numerate.detector.scored import Told
from numerate.documents.document import Document, Table
from numerate.errors import counted
from numerate.proofread.model_evidence import (
    ALARMS,
    MOST_CERTAIN,
    Model,
    ModelEvidence,
    Suspicion,
    ask_all,
)
from numerate.proofread.selection import chosen_codes
from numerate.proofread.tested_numbers import NumberCoverage, tested_numbers
from numerate.reports.data_frames import arrow_table, pandas_table
from numerate.rules.finding import Finding
from numerate.rules.reading import ReadDocument
from numerate.rules.recompute import Coverage, Failure, Recomputed, recompute
from numerate.rules.rule import RULES
from numerate.rules.where import Where

if TYPE_CHECKING:
    from numerate.lm.model.domain import Fit


Said = Finding | Suspicion
Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """What rules and models say of single numerals, before it is grouped."""

    findings: Sequence[Finding]
    suspicions: Sequence[Suspicion]

    def without(self, unwanted: Callable[[Said], bool]) -> "Parts":
        findings = [one for one in self.findings if not unwanted(one)]
        suspicions = [one for one in self.suspicions if not unwanted(one)]
        return Parts(findings, suspicions)


@dataclass(frozen=True)
class ProofreadDocument(Sequence[Finding]):
    """The findings, the most probable first, and what they were found in.

    Examples:
        >>> import numerate
        >>> found = numerate.check("Of the patients, 42 of 120 (53%) were women.")
        >>> found.document.name
        'text'
    """

    read: ReadDocument
    found: tuple[Finding, ...]
    coverage: dict[str, Coverage] = field(default_factory=dict)  # by kind of statement
    unusual: tuple[Suspicion, ...] = ()  # odd to a language model, but not flagged
    fits: "tuple[Fit, ...]" = ()  # whether it is of the kind that each language model knows
    less_likely: tuple[Finding, ...] = ()  # less probable than you asked for
    models: tuple[str, ...] = ()  # that have read it
    looked_for: frozenset[str] = frozenset()  # codes
    unneeded: tuple[str, ...] = ()  # suppressions, one line each
    ignored: int = 0  # findings that the project's configuration leaves out
    hidden: int = 0  # findings that the writer, the project or a baseline leaves out
    failures: tuple[Failure, ...] = ()  # rules that broke
    recomputed: Recomputed | None = field(default=None, repr=False, compare=False)
    judged: tuple[Where, ...] = field(default=(), repr=False, compare=False)  # numerals, by models
    parts: Parts | None = field(default=None, repr=False, compare=False)  # none: not known any more

    @property
    def document(self) -> Document:
        """What was read."""
        return self.read.document

    def __len__(self) -> int:
        return len(self.found)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Finding, ...]: ...
    def __getitem__(self, index: int | slice) -> Finding | tuple[Finding, ...]:
        return self.found[index]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.found)

    def __repr__(self) -> str:
        codes = ", ".join(f"{finding.code} {finding.written}" for finding in self.found[:5])
        more = ", …" if len(self) > 5 else ""
        codes = f": {codes}{more}" if codes else ""
        return f"ProofreadDocument({counted(len(self), 'finding')}{codes})"

    def _repr_html_(self) -> str:
        from numerate.proofread.formats.html_report import as_fragment

        return as_fragment(self)

    def to_arrow(self) -> Any:
        """The findings as a table of pyarrow, with the columns of `check --format csv`."""
        from numerate.proofread.findings_table import COLUMNS, finding_row

        return arrow_table((finding_row(self, finding) for finding in self), COLUMNS)

    def to_pandas(self) -> Any:
        """The same as a table of pandas, which has to be installed."""
        return pandas_table(self.to_arrow())

    def only(self, wanted: Callable[[Finding], bool]) -> "ProofreadDocument":
        """Leave out the findings that are not wanted, and count them."""
        left, less_likely = (tuple(filter(wanted, some)) for some in (self.found, self.less_likely))
        gone = len(self.found) + len(self.less_likely) - len(left) - len(less_likely)
        hidden = self.hidden + gone
        return replace(self, found=left, less_likely=less_likely, hidden=hidden, parts=None)

    def without(self, unwanted: Callable[[Said], bool]) -> "ProofreadDocument":
        """Without some of what is said; of a numeral of which more is said, the rest stays."""
        if self.parts is None:
            return self.only(
                lambda finding: not all(unwanted(replace(finding, code=c)) for c in finding.codes)
            )
        parts = self.parts.without(unwanted)
        found = self._in_order(_grouped(self.read, parts))
        left = {finding.where for finding in found}
        hidden = self.hidden + sum(finding.where not in left for finding in self)
        return replace(self, found=found, hidden=hidden, parts=parts)

    def _in_order(self, found: Iterable[Finding]) -> tuple[Finding, ...]:
        """The most probable first; each knows its place."""
        ordered = sorted(found, key=lambda one: (-one.probability, self.order(one.where)))
        places = [self.read.place(one.where) for one in ordered]
        return tuple(
            replace(one, line=place.line, column=place.column)
            for one, place in zip(ordered, places, strict=True)
        )

    @cached_property
    def in_text_order(self) -> list[Finding]:
        return sorted(self.found, key=lambda finding: self.order(finding.where))

    @property
    def all_in_text_order(self) -> list[Finding]:
        """Also those that are less likely."""
        everything = (*self.found, *self.less_likely)
        return sorted(everything, key=lambda finding: self.order(finding.where))

    @cached_property
    def numerals(self) -> int:
        """How many numbers its text and tables have."""
        own = (one for one in self.read.pieces() if not self.read.is_beside(one.place))
        return sum(len(piece.numbers) for piece in own)

    @cached_property
    def tested(self) -> NumberCoverage:
        """How many numbers rules and models have tested, and why not the others."""
        recomputed = self.recomputed or Recomputed([], {}, [])
        return tested_numbers(self.read, recomputed, self.judged)

    def order(self, where: Where) -> tuple[int, ...]:
        """Text first, as it is read; then tables, cell by cell."""
        if where.paragraph is not None:
            return 0, where.paragraph, where.start
        row = -(10**6) if where.row is None else where.row
        return 1, where.table or 0, int(where.in_notes), row, where.column or 0, where.start


def proofread(
    document: Document,
    tables: Sequence[Table] = (),
    models: Sequence[Model] = (),
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    alarms: float = ALARMS,
    progress: Told | None = None,
    beside: bool = True,
) -> ProofreadDocument:
    """Find everything that is wrong with the numbers of a document, however probable.

    The `tables` are read beside the document's own; without `beside`, errors within them are not
    reported. `select` and `ignore` are codes of rules or their beginnings. `alarms` is the share
    of right numerals that each of the `models` may flag.
    """
    codes = chosen_codes(select, ignore)
    read = ReadDocument(document, tables)
    return grouped(read, ask_all(models, read, alarms, progress), codes, beside=beside)


def grouped(
    read: ReadDocument,
    evidence: Sequence[ModelEvidence],
    codes: Collection[str],
    *,
    beside: bool = True,
    recomputed: Recomputed | None = None,
) -> ProofreadDocument:
    """Group what rules and models say by numeral; recompute now unless that was done before."""
    if recomputed is None:
        recomputed = recompute(read, codes=codes, beside=beside)

    def counts(where: Where) -> bool:
        is_own = beside or not read.is_beside(where)
        return is_own and read.is_text(where) and read.is_quantity(where)

    def wanted(one: Suspicion) -> bool:
        return one.code in codes and counts(one.where)

    suspicions = [one for some in evidence for one in some.suspicions if wanted(one)]
    unusual = [one for some in evidence for one in some.unusual if wanted(one)]
    fits = tuple(some.fit for some in evidence if some.fit is not None)
    parts = Parts(recomputed.findings, suspicions)
    failures = tuple(recomputed.failures)
    result = ProofreadDocument(
        read,
        (),
        recomputed.coverage,
        fits=fits,
        failures=failures,
        recomputed=recomputed,
        judged=tuple(where for some in evidence for where in filter(counts, some.judged)),
        parts=parts,
    )
    result = result.without(lambda _: False)
    known = {finding.where for finding in result}
    odd = sorted((one for one in unusual if one.where not in known), key=by_plausibility)
    return replace(result, unusual=tuple(odd))


def by_plausibility(odd: Suspicion) -> float:
    return 1.0 if odd.plausibility is None else odd.plausibility


def keys_of(read: ReadDocument, where: Where) -> list[Key]:
    """One for each character: of the source, where a cell and a line may be the same place."""
    span = read.span(where)
    if span is not None:
        return [(at,) for at in range(*span)]
    return [(*where.text_of, at) for at in range(where.start, where.end)]


def _grouped(read: ReadDocument, parts: Parts) -> list[Finding]:
    """Make one finding for each numeral. What models say of a numeral that a rule takes for one of
    several becomes evidence for the finding of its statement."""
    groups: list[_Group] = []
    pointed: dict[Key, _Group] = {}
    for finding in sorted(parts.findings, key=_by_precision):
        keys = keys_of(read, finding.where)
        group = next((pointed[key] for key in keys if key in pointed), None)
        if group is None:
            group = _Group(replace(finding, probability=precision_of(finding)))
            groups.append(group)
        else:
            group.add(finding)
        pointed |= dict.fromkeys(keys, group)
    involved: dict[Key, _Group] = {}
    for group in groups:
        for where in group.finding.involved:
            for key in keys_of(read, where):
                involved.setdefault(key, group)
    for suspicion in parts.suspicions:
        keys = keys_of(read, suspicion.where)
        if group := next((pointed[key] for key in keys if key in pointed), None):
            group.doubt(suspicion, is_it=True)
        elif group := next((involved[key] for key in keys if key in involved), None):
            group.doubt(suspicion, is_it=False)
        else:
            group = _Group.of(suspicion)
            groups.append(group)
            pointed |= dict.fromkeys(keys, group)
    return [group.finding for group in groups]


def precision_of(finding: Finding) -> float:
    """The measured precision of its rule, as a probability."""
    return min(RULES[finding.code].precision, MOST_CERTAIN)


def _by_precision(finding: Finding) -> tuple[float, str]:
    return -RULES[finding.code].precision, finding.code


class _Group:
    """All that is said of one numeral, or of one statement that does not hold."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding

    @classmethod
    def of(cls, suspicion: Suspicion) -> "_Group":
        return cls(
            Finding(
                suspicion.code,
                suspicion.where,
                suspicion.written,
                suspicion.message,
                suspicion.evidence,
                (suspicion.where,),
                suspicion.suggestion,
                suspicion.probability,
            )
        )

    def add(self, other: Finding) -> None:
        """Add another rule, less precise, that points to the same numeral."""
        mine = self.finding
        also = () if other.code in mine.codes else (other.code,)
        self.finding = replace(
            mine,
            also=(*mine.also, *also),
            evidence=tuple(dict.fromkeys((*mine.evidence, *other.evidence))),
            involved=tuple(dict.fromkeys((*mine.involved, *other.involved))),
            suggestion=mine.suggestion or other.suggestion,
        )

    def doubt(self, suspicion: Suspicion, *, is_it: bool) -> None:
        """Add a model's doubt; `is_it`: about this very numeral, not one that is involved."""
        mine = self.finding
        evidence = suspicion.evidence
        if not is_it:
            evidence = tuple(
                replace(one, said=f"{suspicion.written}: {one.said}") for one in evidence
            )
        new = suspicion.code if suspicion.code not in mine.codes else None
        self.finding = replace(
            mine,
            also=(*mine.also, new) if new else mine.also,
            evidence=tuple(dict.fromkeys((*mine.evidence, *evidence))),
            suggestion=mine.suggestion or (suspicion.suggestion if is_it else None),
            probability=max(mine.probability, suspicion.probability),
        )
