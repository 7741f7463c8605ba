"""Who is in which split: against plain dictionaries and sets, which hold everything."""

import hashlib
import random
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

from numerate.documents.taken_in import taken_in
from numerate.lm.data.extract import Rules
from numerate.lm.data.ledger import OUT, Ledger
from numerate.lm.data.schema import SPLITS
from numerate.lm.data.staging import DOCUMENTS, Staged
from numerate.storage.trees import File, Listing

Documents = list[tuple[str, bytes, str | None, list[str]]]


def staged(number: int, documents: Documents) -> Staged:
    names, digests, splits, files = zip(*documents, strict=True)
    ones = [1] * len(documents)
    columns = [names, digests, splits, ones, ones, files]
    arrays = [pa.array(c, type=f.type) for c, f in zip(columns, DOCUMENTS, strict=True)]
    return Staged(number, 0, [pa.RecordBatch.from_arrays(arrays, schema=DOCUMENTS)])


def expected_splits(seed: int, documents: Documents) -> list[str | None]:
    """One after the other, as somebody with a pencil would."""
    seen: set[bytes] = set()
    admitted, files = [], {}
    for name, digest, _, some in documents:
        admitted.append(digest not in seen)
        seen.add(digest)
        if admitted[-1] and some:
            files[name] = some
    kept = {name for (name, *_), is_in in zip(documents, admitted, strict=True) if is_in}
    kept -= taken_in(files)
    drawn = sorted(kept, key=lambda id: hashlib.sha256(f"{seed}\0{id}".encode()).digest())
    dev, test = max(1, round(0.1 * len(drawn))), max(1, round(0.2 * len(drawn)))
    train = len(drawn) - dev - test
    split = dict(zip(drawn, ["train"] * train + ["dev"] * dev + ["test"] * test, strict=True))
    return [
        split.get(name) if is_in else None
        for (name, *_), is_in in zip(documents, admitted, strict=True)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_splits_are_those_of_dictionaries(seed: int) -> None:
    chance = random.Random(seed)
    documents: Documents = []
    for _ in range(chance.choice([3, 40, 500])):
        name = f"d{chance.randrange(400)}"
        files = [f"d{chance.randrange(400)}"] if chance.random() < 0.1 else []
        documents.append(
            (name, bytes([chance.randrange(2)]) + chance.randbytes(1) * 15, None, files)
        )
    documents += [(f"e{n}", chance.randbytes(16), None, []) for n in range(3)]
    ledger = Ledger(seed, strict=True, on_error=None)
    for number, start in enumerate(range(0, len(documents), 7)):
        ledger.enter(staged(number, documents[start : start + 7]))
    codes, counts = ledger.assign("source", Rules(None), str)
    assert [SPLITS[code] if code != OUT else None for code in codes] == expected_splits(
        seed, documents
    )
    found = {(SPLITS[c], d[0]) for d, c in zip(documents, codes, strict=True) if c != OUT}
    assert {split: sum(s == split for s, _ in found) for split in SPLITS} == counts


def test_a_driver_holds_at_most_100_bytes_a_document() -> None:
    """The listing of the source, the ledger and what it needs to draw the splits."""
    count, block = 100_000, 500
    chance = np.random.default_rng(1)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    listing, ledger = Listing(), Ledger(1, strict=False, on_error=None)
    for number in range(count):
        listing.add(File(f"PMC{number // 1000:05d}/PMC{number:07d}.nxml", 80_000, 10**18 + number))
    for number in range(0, count, block):
        digests = [chance.bytes(16) for _ in range(block)]
        documents: Documents = [
            (f"PMC{number + n:07d}", digest, None, []) for n, digest in enumerate(digests)
        ]
        ledger.enter(staged(number, documents))
    assert len(listing) == count
    del listing
    codes, documents_of = ledger.assign("source", Rules(None), str)
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    assert len(codes) == count
    assert sum(documents_of.values()) == count
    assert peak / count <= 100, f"{peak / count:.0f} bytes a document"
