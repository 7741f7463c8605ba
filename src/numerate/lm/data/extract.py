"""A unit of work to columns: read, keep what is wanted, tokenise. Runs in worker processes."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from numerate.documents import documents, reader_of
from numerate.documents.document import Document, Paragraph, Table
from numerate.documents.reader import Unit
from numerate.errors import DocumentError
from numerate.lm.data.document_sight import KeptParagraph, sight_of_document
from numerate.lm.data.keep import Keep
from numerate.lm.data.schema import TABLES, paragraph_schema
from numerate.lm.data.sight_file import STAGED, staged_row
from numerate.lm.data.table_rows import rows_of_document
from numerate.text.reading_rules import ReadingRules
from numerate.text.tokenizer import DEFAULT_RULES, tokenize

CARDIAC = "cardiac"  # units of the built-in corpus: no reader knows them


@dataclass(frozen=True, slots=True)
class Rules:
    """What to keep and how to cut it into tokens."""

    keep: Keep | None  # None: the usual one of each format
    reading: ReadingRules = DEFAULT_RULES
    oracle: bool = False
    cardiac_tables: bool = False  # the reports of the built-in corpus have them

    @property
    def schema(self) -> pa.Schema:
        return paragraph_schema(self.oracle, self.cardiac_tables)


@dataclass(slots=True)
class Extracted:
    """What a unit gave. Batches are columns because they cross process borders cheaply."""

    paragraphs: pa.RecordBatch
    tables: pa.RecordBatch
    sight: pa.RecordBatch  # one row a kept document
    documents: list[tuple[str, bytes, str | None]] = field(default_factory=list)
    # ^ of each kept document: id, digest of its text, prescribed split
    rows: list[int] = field(default_factory=list)  # paragraphs of each kept document
    table_rows: list[int] = field(default_factory=list)
    files: list[list[str]] = field(default_factory=list)  # that each kept document takes in
    errors: list[DocumentError] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def extract(unit: Unit, rules: Rules) -> Extracted:
    articles = unit.format != CARDIAC and reader_of(unit.format).articles
    keep = rules.keep or Keep.usual(articles=articles)
    rows: list[dict[str, Any]] = []
    tables: list[dict[str, Any]] = []
    sights: list[dict[str, Any]] = []
    nothing = pa.RecordBatch.from_pylist([])
    result = Extracted(nothing, nothing, nothing)
    for document in _documents(unit, keep, rules.cardiac_tables):
        if isinstance(document, DocumentError):
            result.errors.append(document)
            continue
        result.counts["documents_read"] += 1
        if keep is Keep.ROWS:
            document = rows_of_document(document, rules.reading)
        document.id = _readable(document.id)
        kept, paragraphs = [], []
        for paragraph in document.paragraphs:
            if row := _row(paragraph, document.id, keep, rules):
                kept.append(row)
                paragraphs.append(
                    KeptParagraph(row["tokens"], row["numerals"], row["tables"], paragraph.holds)
                )
        result.counts["paragraphs_read"] += len(document.paragraphs)
        if keep.expects_numerals(document) and not any(row["numerals"] for row in kept):
            result.counts["documents_without_numerals"] += 1
        if not kept:
            continue
        rows.extend(kept)
        tables.extend(_table_row(table, document) for table in document.tables)
        sight = sight_of_document(document.tables, paragraphs, rules.reading)
        sights.append(staged_row(document.id, sight))
        digest = hashlib.sha256("\0".join(row["text"] for row in kept).encode()).digest()
        result.documents.append((document.id, digest, unit.split))
        result.rows.append(len(kept))
        result.table_rows.append(len(document.tables))
        result.files.append(list(map(_readable, document.files)))
    result.paragraphs = pa.RecordBatch.from_pylist(rows, schema=rules.schema)
    result.tables = pa.RecordBatch.from_pylist(tables, schema=TABLES)
    result.sight = pa.RecordBatch.from_pylist(sights, schema=STAGED)
    return result


def _readable(name: str) -> str:
    """Two names that are no UTF-8 are still two names."""
    return name.encode("utf-8", "backslashreplace").decode()


def _documents(unit: Unit, keep: Keep, cardiac_tables: bool) -> Iterator[Document | DocumentError]:
    if unit.format == CARDIAC:
        from numerate.lm.data import cardiac

        seed, start, count = map(int, unit.data.split())
        for report in cardiac.generate(count, seed, start=start, tables=cardiac_tables):
            report.read(keep.wants)
            yield report
    else:
        yield from documents(unit, keep.wants)


def _row(paragraph: Paragraph, document: str, keep: Keep, rules: Rules) -> dict[str, Any] | None:
    text = paragraph.text
    tokens = tokenize(text, rules.reading)
    numerals = [position for position, token in enumerate(tokens) if token.is_numeral]
    if not keep.keeps(paragraph, tokens, numerals):
        return None
    row: dict[str, Any] = {
        "document": document,
        "text": text,
        "tokens": [token.text for token in tokens],
        "starts": [token.start for token in tokens],
        "ends": [token.end for token in tokens],
        "numerals": numerals,
        "tables": list(paragraph.tables),
    }
    if rules.oracle:
        row["log_probs"] = paragraph.log_probs
        row["log_probs_with_tables"] = paragraph.log_probs_with_tables
    return row


def _table_row(table: Table, document: Document) -> dict[str, Any]:
    return {
        "document": document.id,
        "id": table.id,
        "label": table.label,
        "caption": table.caption,
        "header": table.header,
        "body": table.body,
        "repeated": sorted(table.repeated),
    }
