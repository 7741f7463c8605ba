"""Several documents proofread: what all reports say of them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from numerate.documents.document import Document
from numerate.documents.flow import CITE, MATH, REF
from numerate.documents.source_map import name_in
from numerate.errors import counted, printable
from numerate.proofread.baseline import fingerprint
from numerate.proofread.model_evidence import Suspicion
from numerate.proofread.proofread import ProofreadDocument, by_plausibility
from numerate.proofread.tested_numbers import NumberCoverage
from numerate.rules.finding import UNLIKELY, Evidence, Finding
from numerate.rules.reading import ReadDocument
from numerate.rules.recompute import Coverage
from numerate.rules.where import Where

SHOWN = 5  # numerals that are named in a line
AS_SHOWN = {CITE: "[…]", REF: "…", MATH: "…"}  # to people
_MARK = re.compile("|".join(AS_SHOWN))
AROUND = 160  # characters shown on either side of a numeral, if its sentence is that long
_BORDER = re.compile(r"[.!?]\s+(?=[A-Z0-9(])|\n\s*\n")
FEW = 3  # kinds of statements that are told one by one


@dataclass(frozen=True, slots=True)
class Report:
    documents: list[ProofreadDocument]
    models: tuple[str, ...] = ()
    numbers_read: int = 0  # by the models
    alarms: float | None = None  # of the models
    known: int = 0  # findings that a baseline hides
    min_probability: float = 0.0
    unread: tuple[str, ...] = ()  # files that cannot be read, one line each

    def __iter__(self) -> Iterator[tuple[ProofreadDocument, Finding]]:
        """The most probable first, whatever file they are of."""
        found = [(proofread, found) for proofread in self.documents for found in proofread]
        return iter(sorted(found, key=lambda pair: -pair[1].probability))

    def __len__(self) -> int:
        return sum(map(len, self.documents))

    @property
    def coverage(self) -> dict[str, Coverage]:
        together: dict[str, Coverage] = {}
        for proofread in self.documents:
            for statements, covered in proofread.coverage.items():
                together[statements] = together.get(statements, Coverage()) + covered
        return together

    @property
    def less_likely(self) -> int:
        """How many findings are less probable than `min_probability`."""
        return sum(len(proofread.less_likely) for proofread in self.documents)

    @property
    def unneeded(self) -> list[str]:
        """One line for each suppression that is not needed."""
        return [line for proofread in self.documents for line in proofread.unneeded]

    @property
    def tested(self) -> NumberCoverage:
        return sum((proofread.tested for proofread in self.documents), NumberCoverage())

    @property
    def unusual(self) -> list[tuple[ProofreadDocument, Suspicion]]:
        """What is odd to a model but not flagged, the oddest first."""
        found = [(proofread, odd) for proofread in self.documents for odd in proofread.unusual]
        return sorted(found, key=lambda pair: by_plausibility(pair[1]))

    @property
    def misfits(self) -> list[str]:
        """One line for each document that a language model does not fit."""
        return [line for proofread in self.documents for line in misfits_of(proofread)]

    @property
    def failures(self) -> list[str]:
        """One line for each rule that broke on a document."""
        return [line for proofread in self.documents for line in failures_of(proofread)]

    @property
    def without_numerals(self) -> list[Document]:
        """Documents that have text but nothing to check: perhaps of another kind than was read."""
        return [
            proofread.document
            for proofread in self.documents
            if proofread.document.has_text and not proofread.numerals
        ]

    @property
    def summary(self) -> str:
        """One line: how much was found, and what it was found in."""
        found = "Nothing found" if not len(self) else counted(len(self), "finding")
        if self.misfits and not len(self):
            found += ", but no all-clear"
        if broken := self.failures:
            found += f", {counted(len(broken), 'rule')} failed"
        if self.unread:
            found += f", {counted(len(self.unread), 'file')} not read"
        if self.known:
            found += f", {self.known} known from the baseline"
        if self.less_likely:
            found += f", {self.less_likely:,} less likely not shown"
        said = coverage_in_words(self.coverage)
        if self.models:
            read = counted(self.numbers_read, "number")
            said = f"{', '.join(self.models)} read {read}; {said}"
        return f"{found}; {said}."


def misfits_of(proofread: ProofreadDocument) -> list[str]:
    if all(fit.calibrated for fit in proofread.fits):
        return []
    from numerate.lm.model.wording import misfit

    name = proofread.document.name
    return [misfit(name, fit) for fit in proofread.fits if not fit.calibrated]


def failures_of(proofread: ProofreadDocument) -> list[str]:
    name = proofread.document.name
    return [
        f"{name}: rule {failure.code} failed, and what it would find is missing; this is a mistake "
        f"of numerate, please report it: {failure.reason}"
        for failure in proofread.failures
    ]


def is_calibrated(proofread: ProofreadDocument, finding: Finding) -> bool:
    """What only a language model says of a text that it does not fit is not."""
    alone = finding.kinds == (UNLIKELY,)
    return not alone or all(fit.calibrated for fit in proofread.fits)


def coverage_in_words(coverage: dict[str, Coverage], *, whole: bool = False) -> str:
    """`recomputed 14 of 17 tests; 3 have no degrees of freedom`.

    Of many kinds of statements the sum, and what most of them lack, unless the `whole` is wanted.
    """
    if not coverage:
        return "no statement to recompute"
    several = len(coverage) > 1
    counts = ", ".join(
        f"{covered.recomputed:,} of {covered.total:,} {statements}"
        for statements, covered in coverage.items()
    )
    missing = [
        (number, f"{f'of the {statements} ' if several else ''}{_lack(number, lacking)}")
        for statements, covered in coverage.items()
        for lacking, number in covered.missing.most_common()
    ]
    if len(coverage) > FEW and not whole:
        total = sum((covered for covered in coverage.values()), Coverage())
        counts = f"{total.recomputed:,} of {total.total:,} statements of {len(coverage)} kinds"
        missing = sorted(missing, key=lambda lack: -lack[0])[:FEW]
    said = "".join(f"; {number:,} {lack}" for number, lack in missing)
    return f"recomputed {counts}{said}"


def _lack(number: int, what: str) -> str:
    if what.startswith(("a ", "an ", "the ", "what ")):
        return f"{'lacks' if number == 1 else 'lack'} {what}"
    return f"{'has' if number == 1 else 'have'} no {what}"


def location(proofread: ProofreadDocument, where: Where) -> str:
    """`notes.txt:3:14`, or in words where there are no lines."""
    place = proofread.read.place(where)
    name = printable(name_in(proofread.read.home(where).name, place))
    if place.column is not None:
        return f"{name}:{place.line}:{place.column}"
    name = name if place.line is None else f"{name}:{place.line}"
    words = printable(proofread.read.describe(where))
    if where.paragraph is None:
        return f"{name}: {words}"
    return f"{name}: {words}, character {place.start + 1}"


def sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the sentence of a numeral begins and ends, or as much of it as is shown: a paragraph
    may have as many findings as sentences."""
    first, last = max(start - AROUND, 0), min(end + AROUND, len(text))
    for border in _BORDER.finditer(text, first, last):
        if border.end() > start:
            return first, border.end()
        first = border.end()
    return first, last


def signs_in(read: ReadDocument, where: Where) -> Iterator[tuple[int, int, str]]:
    """Yield what a reader sees in the place of citations, references and formulas in a part of a
    text, between two offsets into that part: a reference as it was written, if that is known."""
    whole = read.whole(where)
    before = whole.count(REF, 0, where.start + len(REF) - 1) if where.start else 0
    references = iter(read.references(where)[before:])
    for mark in _MARK.finditer(whole, where.start, where.end):
        sign = (next(references, "") if mark[0] == REF else "") or AS_SHOWN[mark[0]]
        yield mark.start() - where.start, mark.end() - where.start, sign


def for_people(read: ReadDocument, where: Where) -> str:
    """A part of a text as a reader sees it, without marks."""
    text, parts, done = read.text(where), list[str](), 0
    for start, end, sign in signs_in(read, where):
        parts += [text[done:start], sign]
        done = end
    return "".join([*parts, text[done:]])


def name_some(written: Sequence[str]) -> str:
    return ", ".join([*written[:SHOWN], *["…"][: len(written) > SHOWN]])


def suggestion_in_words(finding: Finding) -> str | None:
    suggestion = finding.suggestion
    if suggestion is None:
        return None
    sure = ""
    if suggestion.probability is not None:
        sure = f" ({100 * suggestion.probability:.0f} %)"
    return f"suggestion: {suggestion.text} instead of {finding.written}{sure}"


def sureness(proofread: ProofreadDocument, finding: Finding) -> str:
    """The probability for people."""
    if not is_calibrated(proofread, finding):
        return "uncalibrated"
    return "> 99 %" if finding.probability > 0.99 else f"{100 * finding.probability:.0f} %"


def further(finding: Finding) -> list[str]:
    """What the evidence says beyond the message."""
    return [one.said for one in finding.evidence if one.said not in finding.message]


def place_record(proofread: ProofreadDocument, where: Where) -> dict[str, Any]:
    """Offsets are into the file, or where it has no text, into the paragraph or cell; the file
    is named where it is another than the document."""
    place, file = proofread.read.place(where), proofread.read.file(where)
    return {
        **({} if file == proofread.document.name else {"file": file}),
        "words": proofread.read.describe(where),
        "text": for_people(proofread.read, where),
        "page": place.page,
        "line": place.line,
        "column": place.column,
        "start": place.start,
        "end": place.end,
        "paragraph": place.paragraph,
        "table": where.table,
        "table_row": where.row,
        "table_column": where.column,
    }


def _known(proofread: ProofreadDocument, where: Where) -> dict[str, Any]:
    """The same, without what there is nothing to say of: there are many."""
    record = place_record(proofread, where)
    return {name: value for name, value in record.items() if value is not None}


def evidence_record(proofread: ProofreadDocument, evidence: Evidence) -> dict[str, Any]:
    places = [_known(proofread, where) for where in evidence.places]
    return {"kind": evidence.kind, "said": evidence.said, "places": places}


def finding_record(proofread: ProofreadDocument, finding: Finding) -> dict[str, Any]:
    suggestion = finding.suggestion
    return {
        "file": proofread.read.file(finding.where),
        "code": finding.code,
        "also": list(finding.also),
        "message": finding.message,
        "written": finding.written,
        "probability": finding.probability,
        "calibrated": is_calibrated(proofread, finding),
        "kinds": list(finding.kinds),
        **place_record(proofread, finding.where),
        "evidence": [evidence_record(proofread, one) for one in finding.evidence],
        "involved": [_known(proofread, where) for where in finding.involved],
        "suggestion": suggestion
        and {"text": suggestion.text, "probability": suggestion.probability},
        "fingerprint": fingerprint(proofread, finding),
    }


def coverage_record(coverage: dict[str, Coverage]) -> dict[str, Any]:
    return {
        statements: {
            "total": covered.total,
            "recomputed": covered.recomputed,
            "missing": dict(covered.missing),
        }
        for statements, covered in coverage.items()
    }
