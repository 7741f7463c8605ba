"""Files that people open: read from their bytes, and checked as `numerate check` does."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numerate.documents.document import Document, Table
from numerate.documents.opened_file import opened_file
from numerate.errors import DocumentError
from numerate.proofread.fixing import encoding_of, replacements
from numerate.proofread.formats.shown_text import Block, Segment, ShownDocument
from numerate.proofread.inputs import read_document
from numerate.proofread.model_evidence import Model
from numerate.proofread.models import Models
from numerate.proofread.proofread import ProofreadDocument
from numerate.proofread.report import Report, coverage_record
from numerate.proofread.session import Session
from numerate.reports.notices import kept
from numerate.rules.where import Where
from numerate.serve.answers import found_record
from numerate.serve.file_messages import FileAnswer
from numerate.serve.limits import Limits

PART = 1 << 20  # bytes that are unpacked at a time
Number = tuple[int, int]  # of a document, and of a finding in it


@dataclass(frozen=True)
class OpenedFiles:
    """Whom it asks of them, and which tables stand beside them."""

    models: Sequence[Model]
    tables: Sequence[Table]
    limits: Limits

    def answer(self, name: str, data: bytes) -> FileAnswer:
        """The file as a document, with what is wrong."""
        report, said = self._read(name, data)
        without = [f"{one.name}: no number in it" for one in report.without_numerals]
        return _answer(name, data, report, [*said, *report.failures, *report.misfits, *without])

    def report(self, name: str, data: bytes) -> Report:
        """What is wrong, as the command would report it."""
        return self._read(name, data)[0]

    def _read(self, name: str, data: bytes) -> tuple[Report, list[str]]:
        """Also what readers say, which may quote the file: it is for its owner, not for the log."""
        with kept() as said:
            return self._checked(name, data), said

    def _checked(self, name: str, data: bytes) -> Report:
        self.limits.check_bytes(_unpacked(name, data, self.limits.file_bytes + 1))
        documents = read_document(name, data=data)
        if not any(document.paragraphs or document.tables for document in documents):
            raise DocumentError(name, "nothing in it that could be checked")
        self.limits.check_file(sum(map(_characters, documents)))
        session = Session(models=Models.opened(self.models))
        found = [session.check(document, self.tables, beside=False) for document in documents]
        names = session.models.names
        numbers = sum(proof.numerals for proof in found) if names else 0
        least = session.options.min_probability
        alarms = session.alarms if names else None
        return Report(found, names, numbers, alarms, min_probability=least)


def _unpacked(name: str, data: bytes, most: int) -> int:
    """How many bytes are in a file, if it is packed, up to so many."""
    size = 0
    with opened_file(name, binary=True, data=data) as stream:
        while size < most and (part := stream.read(min(PART, most - size))):
            size += len(part)
    return size


def _characters(document: Document) -> int:
    cells = (
        len(text)
        for table in document.tables
        for row in (*table.header, *table.body)
        for text in row
    )
    return len(document.text) + sum(cells)


def _answer(name: str, data: bytes, report: Report, notices: list[str]) -> FileAnswer:
    proofs = report.documents
    numbered = [(at, number) for at, proof in enumerate(proofs) for number in range(len(proof))]
    numbered.sort(key=lambda pair: -proofs[pair[0]][pair[1]].probability)
    places = {pair: place for place, pair in enumerate(numbered)}
    changes = _changes(proofs[0], data) if len(proofs) == 1 else {}
    return FileAnswer.model_validate(
        {
            "name": name,
            "blocks": [
                block for at, proof in enumerate(proofs) for block in _blocks(proof, at, places)
            ],
            "findings": [
                found_record(proofs[at], proofs[at][number]) | {"change": changes.get(number)}
                for at, number in numbered
            ],
            "coverage": coverage_record(report.coverage),
            "summary": report.summary,
            "notices": notices,
        }
    )


def _changes(proof: ProofreadDocument, data: bytes) -> dict[int, dict[str, Any]]:
    """How suggestions are written into the file, by finding."""
    text = proof.document.own_text
    encoding = encoding_of(data, text)
    if text is None or encoding is None:
        return {}
    mark, codec = encoding
    fixes = {fix.finding.where: fix for fix in replacements(proof)}
    found: dict[int, dict[str, Any]] = {}
    for number, finding in enumerate(proof):
        if fix := fixes.get(finding.where):
            start = len(mark) + len(text[: fix.start].encode(codec))
            end = start + len(text[fix.start : fix.end].encode(codec))
            try:
                instead = fix.text.encode(codec)
            except UnicodeEncodeError:
                continue  # the file's encoding lacks a character of it
            found[number] = {"start": start, "end": end, "base64": b64encode(instead).decode()}
    return found


def _blocks(
    proof: ProofreadDocument, at: int, places: dict[Number, int]
) -> Sequence[dict[str, Any]]:
    shown = ShownDocument(proof)

    def segments(where: Where) -> list[Any]:
        return [_marked(segment, at, places) for segment in shown.segments(where)]

    def told(block: Block) -> dict[str, Any]:
        if block.place.table is None:
            return {"kind": block.kind, "text": segments(block.place)}
        index = block.place.table
        table = proof.read.tables[index]

        def rows(texts: list[list[str]], first: int) -> list[list[list[Any]]]:
            return [
                [
                    segments(Where(0, len(text), None, index, row, column))
                    for column, text in enumerate(cells)
                ]
                for row, cells in enumerate(texts, first)
            ]

        return {
            "kind": "table",
            "label": table.label or f"Table {index + 1}",
            "caption": segments(block.place),
            "header": rows(table.header, -len(table.header)),
            "body": rows(table.body, 0),
            "notes": segments(Where(0, len(table.notes), table=index, in_notes=True)),
        }

    return list(map(told, shown.blocks()))


def _marked(segment: Segment, at: int, places: dict[Number, int]) -> Any:
    if not segment.numeral_of and not segment.evidence_of:
        return segment.text
    return {
        "text": segment.text,
        "numeral_of": [places[at, number] for number in segment.numeral_of],
        "evidence_of": [places[at, number] for number in segment.evidence_of],
    }
