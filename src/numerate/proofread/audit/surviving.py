"""Work that goes on when a document kills the process that reads it: that document is left out."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from numerate.engines import Engine
from numerate.errors import WorkerDiedError
from numerate.proofread.audit.audited import FAILED, Audited
from numerate.proofread.audit.auditor import Audit, not_checked
from numerate.proofread.audit.packets import Packet, Piece

MOST_DEATHS = 10  # one after the other: then it is not the documents
_DIED = "its worker process died, perhaps for want of memory"


class Surviving:
    def __init__(self, engine: Engine, make: Callable[[], Audit]) -> None:
        self._engine = engine
        self._make = make
        self._deaths = 0  # of pieces, since the last that was checked

    def map(self, packets: Iterable[Packet]) -> Iterator[tuple[Packet, list[Audited]]]:
        """Yield each packet with what was found in its pieces, in order."""
        waiting: deque[Packet] = deque()
        source = iter(packets)

        def drawn() -> Iterator[list[Piece]]:
            for packet in source:
                waiting.append(packet)
                yield packet.pieces

        while True:
            try:
                for results in self._engine.map(self._make, drawn()):
                    yield waiting.popleft(), results
                return
            except WorkerDiedError:
                lost = list(waiting)
                waiting.clear()
                found = iter(self._one_by_one([one for some in lost for one in some.pieces]))
                for packet in lost:
                    yield packet, [next(found) for _ in packet.pieces]

    def _one_by_one(self, some: Sequence[Piece]) -> list[Audited]:
        """Halve the pieces until the one that kills its worker is alone."""
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
