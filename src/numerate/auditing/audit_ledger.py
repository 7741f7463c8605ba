"""What of a source has been seen, now or in an earlier part of the audit, by its content."""

import hashlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from numerate.auditing.audited import DUPLICATE, FAILED, REPLACED, UNREAD, Row, document_row
from numerate.auditing.findings_folder import FindingsFolder
from numerate.auditing.pieces import Piece
from numerate.corpus.trees import File
from numerate.errors import DocumentError

PACKET = 64 << 10  # bytes: an article is worked on alone, short texts together
MOST_PIECES = 256  # of a packet
MOST_ROWS = 1024  # that wait for the next packet


@dataclass(slots=True)
class Packet:
    """Pieces that one worker checks in one go, and what is known before of those between them."""

    pieces: list[Piece] = field(default_factory=list)
    places: list[int] = field(default_factory=list)  # of the pieces among all rows
    marks: list[str] = field(default_factory=list)  # of the files that the pieces are
    rows: list[Row] = field(default_factory=list)
    size: int = 0

    def add(self, piece: Piece, mark: str = "") -> None:
        self.marks.append(mark)
        self.places.append(len(self.rows))
        self.pieces.append(piece)
        self.size += piece.size

    @property
    def is_full(self) -> bool:
        many = len(self.pieces) >= MOST_PIECES or len(self.rows) >= MOST_ROWS
        return many or self.size >= PACKET


class Ledger:
    """In memory, a hundred bytes a document: hashes, and no names."""

    def __init__(self, folder: FindingsFolder, source: str) -> None:
        self._source = source
        self._digests: set[bytes] = set()
        self._earlier = np.empty(0, np.uint64)  # pieces, and files, of earlier parts
        self._marks: dict[str, str] = {}  # of files that are about to be read
        self.seen = 0  # pieces that an earlier part of the audit has checked
        self._load(folder)

    def _load(self, folder: FindingsFolder) -> None:
        earlier = array("Q")
        columns = ["source", "file", "first", "digest", "mark", "reason", "status"]
        for number in range(folder.blocks):
            for row in folder.documents(number, columns).to_pylist():
                if row["status"] in (FAILED, REPLACED):  # tried again; and it may come back
                    continue
                earlier.append(_key(row))
                if row["mark"]:
                    earlier.append(_hashed(row["source"], row["file"], row["mark"]))
                if row["digest"]:
                    self._digests.add(bytes.fromhex(row["digest"]))
        self._earlier = np.unique(np.frombuffer(earlier, np.uint64))

    def is_seen(self, file: File) -> bool:
        """Whether a file is as it was when an earlier part of the audit read it."""
        name, mark = file.name.removesuffix(".gz"), f"{file.size} {file.mark}"
        if self._has(_hashed(self._source, name, mark)):
            self.seen += 1
            return True
        self._marks[name] = mark
        return False

    def packets(self, found: Iterator[Piece | DocumentError]) -> Iterator[Packet]:
        """What has not been seen, in order; a copy is only counted."""
        packet = Packet()
        for piece in found:
            if isinstance(piece, DocumentError):
                self._marks.pop(piece.where, None)
                self._enter(packet, document_row(piece.where, UNREAD, piece.reason))
            else:
                mark = self._marks.pop(piece.unit.name, "")
                mark = mark if piece.is_whole else ""
                if bytes.fromhex(piece.digest) in self._digests:
                    self._enter(packet, _copy(piece) | {"mark": mark})
                else:
                    self._digests.add(bytes.fromhex(piece.digest))
                    packet.add(piece, mark)
            if packet.is_full:
                yield packet
                packet = Packet()
        if packet.pieces or packet.rows:
            yield packet

    def _enter(self, packet: Packet, row: Row) -> None:
        row["source"] = self._source
        if self._has(_key(row)):
            self.seen += 1
        else:
            packet.rows.append(row)

    def _has(self, key: int) -> bool:
        at = np.searchsorted(self._earlier, np.uint64(key))
        return bool(at < len(self._earlier) and self._earlier[at] == np.uint64(key))


def _copy(piece: Piece) -> Row:
    unit = piece.unit
    return document_row(
        unit.name, DUPLICATE, digest=piece.digest, format=unit.format, first=unit.first
    )


def _key(row: Row) -> int:
    """Of a piece under its name; of what cannot be opened, with the reason."""
    reason = "" if row["digest"] else row["reason"]
    return _hashed(row["source"], row["file"], row["first"], row["digest"], reason)


def _hashed(*parts: object) -> int:
    text = "\0".join(map(str, parts)).encode("utf-8", "backslashreplace")
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big")
