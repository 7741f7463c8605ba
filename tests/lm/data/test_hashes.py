"""What hashes remember, and in how much memory."""

import random
import tracemalloc

import pytest

from numerate.lm.data.hashes import Hashes, hash_of


def test_hashes_are_those_that_were_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numerate.lm.data.hashes.RECENT", 10)
    chance = random.Random(1)
    numbers, hashes = dict[int, int](), Hashes()
    for _ in range(200):
        one = chance.choice((0, 1, 2**64 - 1, chance.getrandbits(64), chance.randrange(50)))
        assert (one in hashes) == (one in numbers)
        numbers.setdefault(one, len(numbers))
        assert hashes.add(one) == numbers[one]
        assert len(hashes) == len(numbers)
        assert all(other in hashes for other in numbers)


def test_hashes_are_numbered_as_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numerate.lm.data.hashes.RECENT", 10)
    chance = random.Random(1)
    numbers, hashes = dict[int, int](), Hashes()
    for _ in range(50):
        some = [chance.randrange(200) << 56 for _ in range(chance.randrange(12))]
        expected = [numbers.setdefault(one, len(numbers)) for one in some]
        assert hashes.add_all(some).tolist() == expected


def test_many_hashes_take_little_memory() -> None:
    chance, count = random.Random(1), 300_000
    tracemalloc.start()
    hashes = Hashes()
    for _ in range(count // 100):
        hashes.add_all([chance.getrandbits(64) for _ in range(100)])
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(hashes) == count
    assert held < 32 * count


def test_parts_are_told_apart() -> None:
    assert hash_of("a", "b") != hash_of("ab") != hash_of("a", "b", "")
    assert hash_of("\udcff") != hash_of("?")  # of names that are no UTF-8
