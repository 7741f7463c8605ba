"""What an audit checks, cut so small that each piece can be told by the hash of its content."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from numerate.documents import PLAIN, reader_of
from numerate.documents.reader import Reader, Unit
from numerate.documents.sources import Source
from numerate.errors import DocumentError
from numerate.storage.regular_files import read_named

LINES = "jsonl"  # a line is a document, and can be told from others before it is read
TAKES_IN, TEX = "latex", ".tex"  # its documents are more than one file
_TAKING = (b"\\input", b"\\include", b"\\subfile", b"\\import")


@dataclass(frozen=True, slots=True)
class Piece:
    """A document, as a rule, before anybody has read it."""

    unit: Unit
    digest: str  # of what it holds, whatever it is called
    is_whole: bool = False  # it is its file, and all of it

    @property
    def size(self) -> int:
        return len(self.unit.data)


def pieces(source: Source) -> Iterator[Piece | DocumentError]:
    """In the order of the source; what cannot be opened is among them, as an error."""
    beside = lru_cache(maxsize=4)(_files_of)  # no longer than this walk: files change
    for unit in source.units():
        if isinstance(unit, DocumentError):
            yield unit
            continue
        for one in _lines(unit) if unit.format == LINES else [unit]:
            digest = hashlib.sha256(f"{one.format}\0{one.field}\0".encode())
            digest.update(one.data)
            takes_in = may_take_in(one)
            if takes_in:
                digest.update(beside(one.folder))
            yield Piece(one, digest.hexdigest()[:32], not takes_in and _is_whole(one))


def _lines(unit: Unit) -> Iterator[Unit]:
    for number, line in enumerate(unit.data.split(b"\n"), unit.first):
        if line.strip():
            yield replace(unit, data=line, first=number)


def _is_whole(unit: Unit) -> bool:
    return unit.format == PLAIN or type(reader_of(unit.format)).units is Reader.units


def may_take_in(unit: Unit) -> bool:
    """Whether what is read of it may stand in other files."""
    known = unit.format == TAKES_IN and unit.folder is not None
    return known and any(sign in unit.data for sign in _TAKING)


def _files_of(folder: Path) -> bytes:
    """A hash of all that a document there may take in."""
    digest = hashlib.sha256()
    for file in sorted(folder.rglob(f"*{TEX}")):
        try:
            content = hashlib.sha256(read_named(file)).digest()
        except OSError:  # it is told when it is read
            content = b""
        digest.update(file.relative_to(folder).as_posix().encode("utf-8", "replace") + b"\0")
        digest.update(content)
    return digest.digest()
