"""Rich Text Format cut into control words, text and braces, without a tree."""

import re
from collections.abc import Iterator
from typing import NamedTuple

OPEN, CLOSE, WORD, SIGN, BYTES, HEX = "{", "}", "word", "sign", "bytes", "hex"

_TOKEN = re.compile(
    rb"\\(?P<word>[A-Za-z]{1,32})(?P<number>-?[0-9]{1,10})? ?"
    rb"|\\'(?P<hex>[0-9A-Fa-f]{2})"
    rb"|\\(?P<sign>[^A-Za-z])"
    rb"|(?P<brace>[{}])"
    rb"|[\r\n\0]+"
    rb"|(?P<bytes>[^\\{}\r\n\0]+)",
    re.DOTALL,
)


class Token(NamedTuple):
    kind: str
    text: bytes
    number: int | None = None  # of a control word, where it has one


def tokens(data: bytes) -> Iterator[Token]:
    """Cut a file. What `\\bin` says are raw bytes is left out."""
    at = 0
    while found := _TOKEN.search(data, at):
        at = found.end()
        if found["word"] is not None:
            number = None if found["number"] is None else int(found["number"])
            if found["word"] == b"bin":
                at += max(number or 0, 0)
            else:
                yield Token(WORD, found["word"], number)
        elif found["hex"] is not None:
            yield Token(HEX, bytes([int(found["hex"], 16)]))
        elif found["sign"] is not None:
            yield Token(SIGN, found["sign"])
        elif found["brace"] is not None:
            yield Token(found["brace"].decode(), b"")
        elif found["bytes"] is not None:
            yield Token(BYTES, found["bytes"])
