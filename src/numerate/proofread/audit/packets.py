"""The work of an audit in packets that workers check: an article alone, short texts together."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from numerate.documents.reader import Unit
from numerate.documents.sources import Block
from numerate.errors import DocumentError

PACKET = 64 << 10  # bytes: an article is worked on alone, short texts together
MOST_PIECES = 256  # in a packet
LINES = "jsonl"  # each line is a document and can be checked alone

Piece = Unit | DocumentError  # an error where a file could not be opened


@dataclass(slots=True)
class Packet:
    """Pieces that one worker checks in one go."""

    block: int  # the number of their block of the source
    done: int  # bytes of the source that are checked with it
    pieces: list[Piece] = field(default_factory=list)
    size: int = 0
    is_last: bool = False  # in its block

    def add(self, piece: Piece) -> None:
        self.pieces.append(piece)
        self.size += len(piece.data) if isinstance(piece, Unit) else 0

    @property
    def is_full(self) -> bool:
        return len(self.pieces) >= MOST_PIECES or self.size >= PACKET


def packets(blocks: Iterable[Block], done: int) -> Iterator[Packet]:
    """Cut blocks of a source, of which `done` bytes are checked, into packets."""
    for block in blocks:
        packet = Packet(block.number, done)
        for piece in _pieces(block):
            if packet.is_full:
                yield packet
                packet = Packet(block.number, done)
            packet.add(piece)
        done = packet.done = block.done
        packet.is_last = True
        yield packet


def _pieces(block: Block) -> Iterator[Piece]:
    for unit in block.units():
        if isinstance(unit, Unit) and unit.format == LINES:
            yield from _lines(unit)
        else:
            yield unit


def _lines(unit: Unit) -> Iterator[Unit]:
    for number, line in enumerate(unit.data.split(b"\n"), unit.first):
        if line.strip():
            yield replace(unit, data=line, first=number)
