"""What a ledger of an audit remembers."""

import random
import tracemalloc

import pytest

from numerate.auditing.audit_ledger import Hashes


def test_hashes_are_those_that_were_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numerate.auditing.audit_ledger.RECENT", 10)
    chance = random.Random(1)
    added, hashes = set[int](), Hashes()
    for _ in range(200):
        one = chance.choice((0, 1, 2**64 - 1, chance.getrandbits(64), chance.randrange(50)))
        assert (one in hashes) == (one in added)
        added.add(one)
        hashes.add(one)
        assert all(other in hashes for other in added)


def test_many_hashes_take_little_memory() -> None:
    chance, count = random.Random(1), 300_000
    tracemalloc.start()
    hashes = Hashes()
    for _ in range(count):
        hashes.add(chance.getrandbits(64))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 32 * count
