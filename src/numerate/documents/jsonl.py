"""JSON Lines: one object a line is one document, its paragraphs separated by blank lines."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

from numerate.documents.document import Document
from numerate.documents.lines import BLOCK, bounded_lines, too_long
from numerate.documents.reader import Reader, Unit, decode
from numerate.documents.text import text_paragraphs
from numerate.errors import DocumentError


class JsonLinesReader(Reader):
    suffixes = (".jsonl", ".ndjson")

    def units(self, stream: BinaryIO, unit: Unit) -> Iterator[Unit | DocumentError]:
        block: list[bytes] = []
        size = 0
        number = 0
        for number, line in enumerate(bounded_lines(stream), 1):
            if line is None:
                yield too_long(unit.name, "line", number)
                line = b"\n"  # keeps the numbering of what follows
            block.append(line)
            size += len(line)
            if size >= BLOCK:
                yield replace(unit, data=b"".join(block), first=number - len(block) + 1)
                block, size = [], 0
        if block:
            yield replace(unit, data=b"".join(block), first=number - len(block) + 1)

    def read(self, unit: Unit) -> Iterator[Document | DocumentError]:
        for number, line in enumerate(unit.data.split(b"\n"), unit.first):
            if line.strip():
                try:
                    yield _record(line, f"{unit.name}:{number}", unit.field)
                except DocumentError as error:
                    yield error


def _record(line: bytes, where: str, field: str) -> Document:
    try:
        record = json.loads(decode(line, where))
    except (ValueError, RecursionError) as error:
        raise DocumentError(where, f"not JSON: {error}") from None
    if not isinstance(record, dict) or not isinstance(record.get(field), str):
        got = f"keys {list(record)[:5]}" if isinstance(record, dict) else type(record).__name__
        raise DocumentError(where, f"no text: got {got}, expected an object with string {field!r}")
    id = record.get("id")
    return Document(where, text_paragraphs(record[field]), id=None if id is None else str(id))
