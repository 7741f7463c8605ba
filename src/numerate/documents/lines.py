"""Lines of a stream: handed on in blocks, never held whole in memory."""

from collections.abc import Iterator
from typing import BinaryIO

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
