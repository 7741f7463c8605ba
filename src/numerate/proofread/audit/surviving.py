"""Work that goes on when a document kills the process that reads it: it is found, and left out."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from numerate.engines import Engine
from numerate.errors import WorkerDiedError
from numerate.proofread.audit.audited import FAILED, Audited
from numerate.proofread.audit.auditor import Audit, not_checked
from numerate.proofread.audit.ledger import Packet
from numerate.proofread.audit.pieces import Piece

MOST_DEATHS = 10  # one after the other: then it is not the documents
_DIED = "its worker process died, perhaps for want of memory"


class Surviving:
    def __init__(self, engine: Engine, make: Callable[[], Audit]) -> None:
        self._engine = engine
        self._make = make
        self._deaths = 0  # of pieces, since the last that was checked

    def map(self, packets: Iterable[Packet]) -> Iterator[tuple[Packet, list[Audited]]]:
        """Each with what was found in its pieces, in their order."""
        waiting: deque[Packet] = deque()
        source = iter(packets)

        def drawn() -> Iterator[list[Piece]]:
            for packet in source:
                waiting.append(packet)
                if packet.pieces:
                    yield packet.pieces

        while True:
            try:
                for results in self._engine.map(self._make, drawn()):
                    yield from _without_work(waiting)
                    yield waiting.popleft(), results
                yield from _without_work(waiting)
                return
            except WorkerDiedError:
                lost = list(waiting)
                waiting.clear()
                found = iter(self._one_by_one([one for some in lost for one in some.pieces]))
                for packet in lost:
                    yield packet, [next(found) for _ in packet.pieces]

    def _one_by_one(self, some: Sequence[Piece]) -> list[Audited]:
        """By halves, until those are alone of which workers die."""
        found: list[Audited] = []
        try:
            for (one,) in self._engine.map(self._make, [[piece] for piece in some]):
                found.append(one)
                self._deaths = 0
        except WorkerDiedError:
            rest = some[len(found) :]
            if len(rest) == 1:
                self._deaths += 1
                if self._deaths == MOST_DEATHS:
                    raise
                found.append(not_checked(rest[0], FAILED, _DIED))
            else:
                half = len(rest) // 2
                found += self._one_by_one(rest[:half]) + self._one_by_one(rest[half:])
        return found


def _without_work(waiting: deque[Packet]) -> Iterator[tuple[Packet, list[Audited]]]:
    """Those that nobody has to work on, and that come before one that somebody had to."""
    while waiting and not waiting[0].pieces:
        yield waiting.popleft(), []
