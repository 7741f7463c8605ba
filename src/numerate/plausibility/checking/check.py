"""Whole documents checked: what is flagged, where, of how many numerals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numerate.configuration import Configuration
from numerate.documents.document import Document, Table
from numerate.documents.source_map import Place
from numerate.model.numeral_lm import NumeralLM
from numerate.plausibility.assessments import Assessment, Assessments, Glance
from numerate.plausibility.domain import Fit
from numerate.plausibility.wording import explain, level_of, misfit
from numerate.pretrained.store import Progress
from numerate.sight.view import Source


@dataclass(frozen=True, slots=True)
class Checked:
    """A document with every numeral in it, or with those that are flagged."""

    document: Document
    numerals: Assessments[Assessment]

    @property
    def domain(self) -> Fit:
        """How the document fits the model."""
        return self.numerals.domain

    @property
    def total(self) -> int:
        return self.numerals.numerals

    @property
    def flagged(self) -> list[Assessment]:
        return [finding for finding in self.numerals if finding.flagged]

    def shown(self, *, everything: bool) -> list[Assessment]:
        return list(self.numerals) if everything else self.flagged

    def place(self, finding: Assessment | Glance) -> Place:
        return self.document.source.place(finding.start, finding.end)

    def record(self, finding: Assessment) -> dict[str, Any]:
        """One numeral as plain values; offsets are those of its place. What is plausible has no
        reason to be odd."""
        place = self.place(finding)
        level = level_of(finding)
        return {
            "file": self.document.name,
            "paragraph": place.paragraph,
            "line": place.line,
            "column": place.column,
            **finding.record(),
            "start": place.start,
            "end": place.end,
            "sources": [self._source(source) for source in finding.sources],
            "reason": None if level == "plausible" else finding.reason,
            "level": level,
            "calibrated": self.domain.calibrated,
            "explanation": explain(finding, self.domain),
        }

    def _source(self, source: Source) -> dict[str, Any]:
        """With the places of numbers in the text as findings have theirs."""
        record = source.record()
        for number in record["numbers"]:
            if number["start"] is not None:
                place = self.document.source.place(number["start"], number["end"])
                number |= {"paragraph": place.paragraph, "start": place.start, "end": place.end}
        return record


@dataclass(frozen=True, slots=True)
class Report:
    """What `numerate check` found."""

    model: str
    alarms: float
    documents: list[Checked]

    @property
    def numerals(self) -> int:
        return sum(checked.total for checked in self.documents)

    @property
    def without_numerals(self) -> list[Document]:
        """Documents that have text but nothing to check: perhaps of another kind than was read."""
        documents = [checked.document for checked in self.documents if not checked.total]
        return [document for document in documents if document.has_text]

    def findings(self, *, everything: bool = False) -> Iterator[tuple[Checked, Assessment]]:
        """In the order of the files; with `everything`, also what is not flagged."""
        for checked in self.documents:
            for finding in checked.shown(everything=everything):
                yield checked, finding

    @property
    def flagged(self) -> int:
        return sum(len(checked.flagged) for checked in self.documents)

    @property
    def unusual(self) -> list[tuple[Checked, Assessment | Glance]]:
        """What is odd but not flagged, the oddest first."""
        found = [(checked, odd) for checked in self.documents for odd in checked.numerals.unusual]
        return sorted(found, key=lambda pair: pair[1].plausibility)

    @property
    def misfits(self) -> list[str]:
        """One line for each document that the model does not fit."""
        return [
            misfit(checked.document.name, checked.domain)
            for checked in self.documents
            if not checked.domain.calibrated
        ]


def check_documents(
    model: NumeralLM,
    documents: list[Document],
    alarms: float,
    *,
    tables: Sequence[Table] = (),
    everything: bool = False,
    force_domain: bool = False,
    progress: Progress | None = None,
) -> Report:
    """The `tables` are in view of every paragraph. With `everything`, what is not flagged is
    looked at too, and takes most of the time.

    `force_domain`: the reader says that the documents are of the kind that the model knows.
    """
    total = sum(len(document.paragraphs) for document in documents)
    checked: list[Checked] = []
    before = 0  # paragraphs of the documents that have been checked

    def report(done: int) -> None:
        if progress and total:
            progress("checking", before + done, total)

    for document in documents:
        if everything:
            found = model.checker.assess(document, alarms, tables, search=True, report=report)
        else:
            found = model.checker.sift(document, alarms, tables, report)
        checked.append(Checked(document, found.forced() if force_domain else found))
        before += len(document.paragraphs)
    return Report(model.name, alarms, checked)


def without_ignored(report: Report, chosen: list[Configuration]) -> Report:
    """The report as each document's configuration wants it; all numerals are still counted."""
    pairs = zip(report.documents, chosen, strict=True)
    return replace(report, documents=[_heard_of(checked, project) for checked, project in pairs])


def _heard_of(checked: Checked, project: Configuration) -> Checked:
    """Certain numerals, and those within certain patterns, are not to be heard of."""
    text = checked.document.source.text
    spans = [found.span() for pattern in project.patterns for found in pattern.finditer(text)]

    def is_ignored(finding: Assessment | Glance) -> bool:
        return not project.numerals.isdisjoint({finding.written, finding.numeral}) or any(
            start <= finding.start and finding.end <= end for start, end in spans
        )

    left = [finding for finding in checked.numerals if not is_ignored(finding)]
    unusual = [glance for glance in checked.numerals.unusual if not is_ignored(glance)]
    return replace(checked, numerals=Assessments(left, checked.total, checked.domain, unusual))
