"""Filters of findings: numerals and patterns that the project ignores, and the probability."""

from dataclasses import replace

from numerate.config import Configuration
from numerate.numeral import normalise
from numerate.proofread.model_rules import UNLIKELY_CODE
from numerate.proofread.proofread import ProofreadDocument
from numerate.proofread.report import is_calibrated
from numerate.rules.finding import Finding


def without_ignored(proof: ProofreadDocument, project: Configuration) -> ProofreadDocument:
    """Leave out the numerals that the project ignores, and those within ignored patterns."""
    if not project.numerals and not project.patterns:
        return proof
    text = proof.document.source.text
    spans = [found.span() for pattern in project.patterns for found in pattern.finditer(text)]

    def is_wanted(finding: Finding) -> bool:
        where = finding.where
        span = proof.read.span(where)
        inside = spans
        if span is None:  # a cell beside the text is a text of its own
            span = where.start, where.end
            cell = proof.read.whole(where)
            inside = [one.span() for pattern in project.patterns for one in pattern.finditer(cell)]
        first, last = span
        written = {finding.written, normalise(finding.written)}
        return project.numerals.isdisjoint(written) and not any(
            start <= first and last <= end for start, end in inside
        )

    return proof.only(is_wanted)


def likely(
    proof: ProofreadDocument, min_probability: float, *, is_implied: bool = False
) -> ProofreadDocument:
    """Set aside findings that are less probable; uncalibrated ones stay.

    A language model that nobody named (`is_implied`) adds evidence to findings of others, and has
    none of its own: alone, it is wrong too often.
    """

    def is_likely(finding: Finding) -> bool:
        if is_implied and set(finding.codes) == {UNLIKELY_CODE}:
            return False
        return finding.probability >= min_probability or not is_calibrated(proof, finding)

    found = tuple(filter(is_likely, proof.found))
    less_likely = tuple(one for one in proof.found if not is_likely(one))
    return replace(proof, found=found, less_likely=less_likely, parts=None)
