"""A document proofread: rules, detectors and language models, joined into one list of findings."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from numerate.detector.scored import Told
from numerate.documents.document import Document, Table
from numerate.errors import counted
from numerate.proofread.heard import Heard, Key, precision_of
from numerate.proofread.joining import UNFITTED, Joining, probability
from numerate.proofread.selection import chosen_codes
from numerate.proofread.tested_numbers import NumberCoverage, tested_numbers
from numerate.proofread.witnesses import ALARMS, Model, Suspicion, Testimony, hear
from numerate.reports.data_frames import arrow_table, pandas_table
from numerate.rules.finding import Finding
from numerate.rules.reading import ReadDocument
from numerate.rules.recompute import Coverage, Failure, Recomputed, recompute
from numerate.rules.where import Where

if TYPE_CHECKING:
    from numerate.lm.model.domain import Fit


Said = Finding | Suspicion


@dataclass(frozen=True, slots=True)
class Parts:
    """What rules and models say of single numerals, before it is joined."""

    findings: Sequence[Finding]
    suspicions: Sequence[Suspicion]
    joining: Joining

    def without(self, unwanted: Callable[[Said], bool]) -> "Parts":
        findings = [one for one in self.findings if not unwanted(one)]
        suspicions = [one for one in self.suspicions if not unwanted(one)]
        return replace(self, findings=findings, suspicions=suspicions)


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
    hidden: int = 0  # findings that the reader does not want to hear of again
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
        """Without those that are not wanted, which are counted."""
        left = tuple(filter(wanted, self.found))
        hidden = self.hidden + len(self) - len(left)
        return replace(self, found=left, hidden=hidden, parts=None)

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
    joining: Joining = UNFITTED,
    force_domain: bool = False,
    told: Told | None = None,
    beside: bool = True,
) -> ProofreadDocument:
    """Everything that is wrong with the numbers of a document, as far as it can be told.

    The `tables` are read beside the document's own; without `beside`, what is wrong with them by
    themselves is not told. `select` and `ignore` are codes of rules or
    their beginnings. `alarms` is the share of right numerals that each of the `models` may
    flag by itself; what a rule has found is told at any rate.
    """
    codes = chosen_codes(select, ignore)
    read = ReadDocument(document, tables)
    heard = []
    for index, model in enumerate(models):
        before = index * len(document.paragraphs)  # that earlier models have read
        telling = None if told is None else lambda done, before=before: told(before + done)
        heard.append(hear(model, read, alarms, force_domain=force_domain, told=telling))
    return joined(read, heard, codes, joining, beside=beside)


def joined(
    read: ReadDocument,
    heard: Sequence[Testimony],
    codes: Collection[str],
    joining: Joining = UNFITTED,
    *,
    beside: bool = True,
    recomputed: Recomputed | None = None,
) -> ProofreadDocument:
    """What is recomputed, now unless it has been before, and what models have said."""
    if recomputed is None:
        recomputed = recompute(read, codes=codes, beside=beside)

    def wanted(one: Suspicion) -> bool:
        is_own = beside or not read.is_beside(one.where)
        if one.code not in codes or not is_own:
            return False
        return read.is_text(one.where) and read.is_quantity(one.where)

    suspicions = [one for some in heard for one in some.suspicions if wanted(one)]
    unusual = [one for some in heard for one in some.unusual if wanted(one)]
    fits = tuple(some.fit for some in heard if some.fit is not None)
    parts = Parts(recomputed.findings, suspicions, joining)
    failures = tuple(recomputed.failures)
    result = ProofreadDocument(
        read,
        (),
        recomputed.coverage,
        fits=fits,
        failures=failures,
        recomputed=recomputed,
        judged=tuple(one.where for one in suspicions if one.counts),
        parts=parts,
    )
    result = result.without(lambda _: False)
    told_of = {finding.where for finding in result}
    odd = sorted((one for one in unusual if one.where not in told_of), key=lambda one: one.strength)
    return replace(result, unusual=tuple(odd))


def _grouped(read: ReadDocument, parts: Parts) -> list[Finding]:
    """One finding for each numeral of which anything is said; what models say of a numeral that a
    rule takes for one of several joins the finding of its statement."""
    heard = Heard(read, parts.findings, parts.suspicions)
    groups: list[_Group] = []
    pointed: dict[Key, _Group] = {}
    for finding in sorted(parts.findings, key=_by_precision):
        keys = heard.keys(finding.where)
        group = next((pointed[key] for key in keys if key in pointed), None)
        if group is None:
            group = _Group(finding)
            groups.append(group)
        else:
            group.add(finding)
        pointed |= dict.fromkeys(keys, group)
    involved: dict[Key, _Group] = {}
    for group in groups:
        for where in group.finding.involved:
            for key in heard.keys(where):
                involved.setdefault(key, group)
    for suspicion in parts.suspicions:
        if not suspicion.flagged:
            continue
        keys = heard.keys(suspicion.where)
        if group := next((pointed[key] for key in keys if key in pointed), None):
            group.hear(suspicion, is_it=True)
        elif group := next((involved[key] for key in keys if key in involved), None):
            group.hear(suspicion, is_it=False)
        else:
            group = _Group.of(suspicion)
            groups.append(group)
            pointed |= dict.fromkeys(keys, group)
    return [group.finished(heard, parts.joining) for group in groups]


def _by_precision(finding: Finding) -> tuple[float, str]:
    return -precision_of(finding), finding.code


class _Group:
    """All that is said of one numeral, or of one statement that does not hold."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        self._suspects = [finding.where]  # numerals to which anybody points

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
            )
        )

    def add(self, other: Finding) -> None:
        """Another rule that points to the same numeral."""
        mine = self.finding
        also = () if other.code in mine.codes else (other.code,)
        self.finding = replace(
            mine,
            also=(*mine.also, *also),
            evidence=tuple(dict.fromkeys((*mine.evidence, *other.evidence))),
            involved=tuple(dict.fromkeys((*mine.involved, *other.involved))),
            suggestion=mine.suggestion or other.suggestion,
        )

    def hear(self, suspicion: Suspicion, *, is_it: bool) -> None:
        """`is_it`: the model speaks of the very numeral, and not of one that is involved."""
        mine = self.finding
        evidence = suspicion.evidence
        if not is_it:
            self._suspects.append(suspicion.where)
            evidence = tuple(
                replace(one, said=f"{suspicion.written}: {one.said}") for one in evidence
            )
        new = suspicion.code if suspicion.code not in mine.codes else None
        self.finding = replace(
            mine,
            also=(*mine.also, new) if new else mine.also,
            evidence=tuple(dict.fromkeys((*mine.evidence, *evidence))),
            suggestion=mine.suggestion or (suspicion.suggestion if is_it else None),
        )

    def finished(self, heard: Heard, joining: Joining) -> Finding:
        """A statement is as probably wrong as the numeral in it that most probably is."""
        chances = [probability(heard.features(where), joining) for where in self._suspects]
        return replace(self.finding, probability=max(chances))
