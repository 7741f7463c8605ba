"""A document that kills the process that reads it costs itself, and nobody else."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import pytest

from numerate.documents.reader import Unit
from numerate.errors import WorkerDiedError
from numerate.proofread.audit.audited import CHECKED, FAILED, Audited, document_row
from numerate.proofread.audit.packets import Packet, Piece
from numerate.proofread.audit.surviving import MOST_DEATHS, Surviving


def check(pieces: Sequence[Piece]) -> list[Audited]:
    if any(getattr(piece, "data", None) == b"deadly" for piece in pieces):
        raise WorkerDiedError("a worker process died")
    return [Audited([document_row(getattr(piece, "name", ""), CHECKED)]) for piece in pieces]


def checking() -> Callable[[Sequence[Piece]], list[Audited]]:
    return check


class Workers:
    """An engine that has six units under way, all of which are lost when a worker dies."""

    def map(
        self, make: Callable[[], Callable[[Any], Any]], units: Iterable[Any]
    ) -> Iterator[list[Audited]]:
        work, drawn = make(), iter(units)
        while under_way := list(islice(drawn, 6)):
            yield from list(map(work, under_way))


def packets(deadly: set[int], count: int) -> list[Packet]:
    """Packets of two pieces each, and empty ones."""
    found = []
    for first in range(0, count, 2):
        packet = Packet(0, 0)
        for number in (first, first + 1):
            data = b"deadly" if number in deadly else b"text"
            packet.add(Unit(str(number), "text", data))
        found += [packet, Packet(0, 0)]
    return found


def test_it_is_found_and_left_out() -> None:
    given = packets({5, 14}, 20)
    results = list(Surviving(Workers(), checking).map(iter(given)))
    assert [packet for packet, _ in results] == given
    rows = [row for _, some in results for one in some for row in one.documents]
    assert [row["file"] for row in rows] == [str(number) for number in range(20)]
    failed = [row for row in rows if row["status"] == FAILED]
    assert [row["file"] for row in failed] == ["5", "14"]
    assert "worker process died" in failed[0]["reason"]


def test_where_all_die_it_ends() -> None:
    given = packets(set(range(MOST_DEATHS + 2)), MOST_DEATHS + 2)
    with pytest.raises(WorkerDiedError, match="a worker process died"):
        list(Surviving(Workers(), checking).map(given))
