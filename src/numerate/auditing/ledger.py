"""What of a source has been seen, now or in an earlier part of the audit, by its content."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from numerate.auditing.audited import DUPLICATE, FAILED, REPLACED, UNREAD, Row, document_row
from numerate.auditing.findings_folder import FindingsFolder
from numerate.auditing.pieces import Piece
from numerate.errors import DocumentError

PACKET = 64 << 10  # bytes: an article is worked on alone, short texts together
MOST_PIECES = 256  # of a packet
MOST_ROWS = 1024  # that wait for the next packet


@dataclass(slots=True)
class Packet:
    """Pieces that one worker checks in one go, and what is known before of those between them."""

    pieces: list[Piece] = field(default_factory=list)
    places: list[int] = field(default_factory=list)  # of the pieces among all rows
    rows: list[Row] = field(default_factory=list)
    size: int = 0

    def add(self, piece: Piece) -> None:
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
        self._earlier = np.empty(0, np.uint64)
        self.seen = 0  # pieces that an earlier part of the audit has checked
        self._load(folder)

    def _load(self, folder: FindingsFolder) -> None:
        earlier = []
        columns = ["source", "file", "first", "digest", "reason", "status"]
        for number in range(folder.blocks):
            for row in folder.documents(number, columns).to_pylist():
                if row["status"] in (FAILED, REPLACED):  # tried again; and it may come back
                    continue
                earlier.append(_key(row))
                if row["digest"]:
                    self._digests.add(bytes.fromhex(row["digest"]))
        self._earlier = np.unique(np.array(earlier, np.uint64))

    def packets(self, found: Iterator[Piece | DocumentError]) -> Iterator[Packet]:
        """What has not been seen, in order; a copy is only counted."""
        packet = Packet()
        for piece in found:
            if isinstance(piece, DocumentError):
                self._enter(packet, document_row(piece.where, UNREAD, piece.reason))
            elif bytes.fromhex(piece.digest) in self._digests:
                self._enter(packet, _copy(piece))
            else:
                self._digests.add(bytes.fromhex(piece.digest))
                packet.add(piece)
            if packet.is_full:
                yield packet
                packet = Packet()
        if packet.pieces or packet.rows:
            yield packet

    def _enter(self, packet: Packet, row: Row) -> None:
        row["source"] = self._source
        key = np.uint64(_key(row))
        at = np.searchsorted(self._earlier, key)
        if at < len(self._earlier) and self._earlier[at] == key:
            self.seen += 1
        else:
            packet.rows.append(row)


def _copy(piece: Piece) -> Row:
    unit = piece.unit
    return document_row(
        unit.name, DUPLICATE, digest=piece.digest, format=unit.format, first=unit.first
    )


def _key(row: Row) -> int:
    """Of a piece under its name; of what cannot be opened, with the reason."""
    reason = "" if row["digest"] else row["reason"]
    named = (row["source"], row["file"], row["first"], row["digest"], reason)
    text = "\0".join(map(str, named)).encode("utf-8", "replace")
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big")
