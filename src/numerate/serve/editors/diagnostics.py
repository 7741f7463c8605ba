"""Findings as an editor shows them: marks in the text, with the evidence and what would mend it."""

from pathlib import Path
from typing import Any

from lsprotocol import types

from numerate.proofread.fixing import fixes
from numerate.proofread.report import further, is_calibrated, suggestion_in_words
from numerate.rules.finding import Finding
from numerate.rules.where import Where
from numerate.serve.editors.positions import Encoding, Lines
from numerate.serve.editors.proof import Proof

SOURCE = "numerate"
CERTAIN, LIKELY = 0.9, 0.5  # probabilities of an error, and of what may well be one


def range_of(lines: Lines, start: int, end: int) -> types.Range:
    return types.Range(types.Position(*lines.place(start)), types.Position(*lines.place(end)))


def diagnostics(proof: Proof, encoding: Encoding) -> list[types.Diagnostic]:
    """Those of the text itself, as they stand in it."""
    lines = Lines(proof.buffer.text, encoding)
    mended = {fix.finding.where: fix.text for fix in fixes(proof.found)}
    found = []
    for finding in proof.found.in_text_order:
        span = proof.span(finding.where)
        if span is None:
            continue
        data: dict[str, Any] = {"written": lines.text[slice(*span)]}
        if finding.where in mended:
            data["instead"] = mended[finding.where]
        found.append(
            types.Diagnostic(
                range_of(lines, *span),
                said(finding),
                _severity(proof, finding),
                finding.code,
                source=SOURCE,
                related_information=_evidence(proof, finding, lines) or None,
                data=data,
            )
        )
    return found


def said(finding: Finding) -> str:
    """The sentence, then what the evidence adds and what is suggested, a line each."""
    suggestion = suggestion_in_words(finding)
    return "\n".join([finding.message, *further(finding), *([suggestion] if suggestion else [])])


def _severity(proof: Proof, finding: Finding) -> types.DiagnosticSeverity:
    if not is_calibrated(proof.found, finding) or finding.probability < LIKELY:
        return types.DiagnosticSeverity.Information
    if finding.probability < CERTAIN:
        return types.DiagnosticSeverity.Warning
    return types.DiagnosticSeverity.Error


def _evidence(
    proof: Proof, finding: Finding, lines: Lines
) -> list[types.DiagnosticRelatedInformation]:
    """Other places that it rests on."""
    found = []
    for evidence in finding.evidence:
        for where in evidence.places:
            place = _location(proof, where, lines)
            if where != finding.where and place is not None:
                found.append(types.DiagnosticRelatedInformation(place, evidence.said))
    return found


def _location(proof: Proof, where: Where, lines: Lines) -> types.Location | None:
    read = proof.found.read
    span = proof.span(where)
    if span is not None:
        return types.Location(proof.buffer.uri, range_of(lines, *span))
    place = read.place(where)
    if place.line is None or place.column is None:
        return None
    start = types.Position(place.line - 1, place.column - 1)
    end = types.Position(place.line - 1, place.column - 1 + place.end - place.start)
    return types.Location(Path(read.file(where)).resolve().as_uri(), types.Range(start, end))
