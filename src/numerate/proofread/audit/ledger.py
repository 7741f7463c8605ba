"""What of a source has been seen, now or in an earlier part of the audit, by its content."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from numerate.errors import DocumentError
from numerate.proofread.audit.audited import DUPLICATE, FAILED, REPLACED, UNREAD, Row, document_row
from numerate.proofread.audit.findings_folder import FindingsFolder
from numerate.proofread.audit.pieces import LINES, Piece
from numerate.storage.hashes import Hashes, hash_of
from numerate.storage.trees import File

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
    """Of a document it remembers hashes, and no name: of its content, and of what was known of it
    before this part of the audit, itself and its file."""

    def __init__(self, folder: FindingsFolder, source: str) -> None:
        self._source = source
        self._known = Hashes()
        self._marks: dict[str, str] = {}  # of files that are about to be read
        self.seen = 0  # pieces that an earlier part of the audit has checked
        self._load(folder)

    def _load(self, folder: FindingsFolder) -> None:
        columns = ["source", "file", "format", "first", "digest", "mark", "reason", "status"]
        names, keys, marks, copied = (array("Q") for _ in range(4))  # 0 where there is none
        for number in range(folder.blocks):
            for row in folder.documents(number, columns).to_pylist():
                if row["status"] == REPLACED:  # and it may come back
                    continue
                is_copy, content = row["status"] == DUPLICATE, hash_of(row["digest"])
                key = 0 if row["status"] == FAILED else _key(row)  # it is tried again
                mark = hash_of(row["source"], row["file"], row["mark"]) if row["mark"] else 0
                if key and row["digest"] and not is_copy:
                    self._known.add(content)
                is_line = row["format"] == LINES  # which has a name by its content alone
                names.append(key if is_line else hash_of(row["source"], row["file"], row["first"]))
                keys.append(key)
                marks.append(mark if key else 0)
                copied.append(content if is_copy else 0)
        # What a file was before its last row it may be again, and is seen anew then.
        backwards = np.frombuffer(names, np.uint64)[::-1]
        for place in len(names) - 1 - np.unique(backwards, return_index=True)[1]:
            if keys[place]:
                self._known.add(keys[place])
            # Otherwise it is a copy of what is tried again.
            if marks[place] and (not copied[place] or copied[place] in self._known):
                self._known.add(marks[place])

    def is_seen(self, file: File) -> bool:
        """Whether a file is as it was when an earlier part of the audit read it."""
        name, mark = file.name.removesuffix(".gz"), f"{file.size} {file.mark}"
        if hash_of(self._source, name, mark) in self._known:
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
                content = hash_of(piece.digest)
                if content in self._known:
                    self._enter(packet, _copy(piece) | {"mark": mark})
                else:
                    self._known.add(content)
                    packet.add(piece, mark)
            if packet.is_full:
                yield packet
                packet = Packet()
        if packet.pieces or packet.rows:
            yield packet

    def _enter(self, packet: Packet, row: Row) -> None:
        row["source"] = self._source
        if _key(row) in self._known:
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
    return hash_of(row["source"], row["file"], row["first"], row["digest"], reason)
