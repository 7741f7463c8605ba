"""Plain text and JSON Lines: read as streams, cut into blocks, never held whole in memory."""

import json
from collections.abc import Iterator
from typing import BinaryIO

from numerate.corpus.document import Document, Paragraph
from numerate.errors import DocumentError

MAX_RECORD = 16 << 20  # bytes of one line, or of one paragraph
BLOCK = 1 << 20  # bytes handed to a worker at once


def bounded_lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """Lines with their ends; None for a line too long, which is passed over without storing it."""
    while line := stream.readline(MAX_RECORD):
        if len(line) < MAX_RECORD or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(MAX_RECORD)
        yield None


def too_long(name: str, what: str, number: int) -> DocumentError:
    return DocumentError(
        f"{name}:{number}", f"{what} too long: expected at most {MAX_RECORD >> 20} MiB"
    )


def decode(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = data[error.start]
        reason = f"not UTF-8: got byte 0x{byte:02x} at offset {error.start}"
        raise DocumentError(where, reason) from None


def split_paragraphs(text: str) -> list[Paragraph]:
    """Blank lines separate paragraphs; the text itself is left as it is but for white space."""
    paragraphs: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.strip():
            paragraphs[-1].append(line)
        elif paragraphs[-1]:
            paragraphs.append([])
    return [Paragraph(" ".join(" ".join(lines).split())) for lines in paragraphs if lines]


def parse_json_line(line: bytes, where: str, field: str) -> Document:
    """One object a line: its text in `field`, its paragraphs separated by blank lines."""
    try:
        record = json.loads(decode(line, where))
    except (ValueError, RecursionError) as error:
        raise DocumentError(where, f"not JSON: {error}") from None
    if not isinstance(record, dict) or not isinstance(record.get(field), str):
        got = f"keys {list(record)[:5]}" if isinstance(record, dict) else type(record).__name__
        raise DocumentError(where, f"no text: got {got}, expected an object with string {field!r}")
    name = record.get("id")
    return Document(where if name is None else str(name), split_paragraphs(record[field]))
