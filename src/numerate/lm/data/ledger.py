"""Which documents are in, and in which split each is.

A corpus may have millions: of each no more is held than two hashes of 16 bytes, of its text and of
its identifier, which also says in which order documents are drawn for the splits.
"""

import hashlib
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from numerate.documents.taken_in import taken_in
from numerate.errors import DocumentError, SourceError
from numerate.lm.data.extract import Rules
from numerate.lm.data.keep import what_is_kept
from numerate.lm.data.schema import SPLITS
from numerate.lm.data.staging import SHORT, Staged

MAX_LISTED = 1000  # skipped documents named in the manifest; all are counted
OUT = -1  # the split of what is in none
_AT_ONCE = 10_000
_CODES = {split: code for code, split in enumerate(SPLITS)}


class Assignment(NamedTuple):
    codes: np.ndarray  # of each document as it came: the place of its split in SPLITS, or OUT
    documents: dict[str, int]  # in each split; what came in pieces is counted once


class Ledger:
    """Errors and documents as they come, in the order of the source; at the end the splits."""

    def __init__(
        self, seed: int, strict: bool, on_error: Callable[[DocumentError], None] | None
    ) -> None:
        self.strict = strict
        self.on_error = on_error
        self.counts: Counter[str] = Counter(
            documents_skipped=0, documents_duplicate=0, documents_without_numerals=0
        )
        self.skipped: list[DocumentError] = []
        self._seed = seed
        self._digests = bytearray()
        self._keys = bytearray()
        self._prescribed = bytearray()  # code of the split, where the source says it
        self._files: list[tuple[int, str, list[str]]] = []  # place, document, what it takes in

    def enter(self, staged: Staged) -> None:
        for error in staged.errors:
            self._skip(error)
        self.counts.update(staged.counts)
        for batch in staged.documents:
            columns = (batch[name].to_pylist() for name in ("document", "digest", "split", "files"))
            for document, digest, split, files in zip(*columns, strict=True):
                if split is not None:
                    self._prescribed.append(_CODES[split])
                elif files:
                    self._files.append((len(self._digests) // SHORT, document, files))
                self._digests += digest
                self._keys += self._key(document)

    def _key(self, document: str) -> bytes:
        """Who sorts documents by it draws them at random; no two of them have the same."""
        return hashlib.sha256(f"{self._seed}\0{document}".encode()).digest()[:SHORT]

    def _skip(self, error: DocumentError) -> None:
        if self.strict:
            raise error
        self.counts["documents_skipped"] += 1
        if len(self.skipped) < MAX_LISTED:
            self.skipped.append(error)
        if self.on_error:
            self.on_error(error)

    def assign(self, source: str, rules: Rules, name_of: Callable[[int], str]) -> Assignment:
        """The splits; who was the n-th document is asked of `name_of`. Ends the ledger: what it
        held is given up."""
        digests, keys = _hashes(self._digests), _hashes(self._keys)
        self._digests, self._keys = bytearray(), bytearray()
        if self._prescribed:
            return self._as_prescribed(keys, source, name_of)
        order, first = _runs(digests)
        admitted = np.zeros(len(keys), dtype=bool)
        admitted[order[first]] = True  # a copy under another name could land in another split
        del digests, order, first
        self.counts["documents_duplicate"] = int(np.sum(~admitted))
        self._leave_out(keys, admitted)
        kept = np.flatnonzero(admitted)
        if not len(kept):
            raise SourceError(self._nothing_kept(source, rules))
        return _drawn(keys, kept, source)

    def _leave_out(self, keys: np.ndarray, admitted: np.ndarray) -> None:
        """What others take in is part of them."""
        files = {document: some for place, document, some in self._files if admitted[place]}
        inside = np.zeros(len(keys), dtype=bool)
        parts = np.sort(_hashes(b"".join(map(self._key, taken_in(files)))))
        if len(parts):
            nearest = np.minimum(np.searchsorted(parts, keys), len(parts) - 1)
            inside = (parts[nearest] == keys) & admitted
        self.counts["documents_taken_in"] = len(np.unique(keys[inside]))
        admitted &= ~inside

    def _as_prescribed(
        self, keys: np.ndarray, source: str, name_of: Callable[[int], str]
    ) -> Assignment:
        """70/10/20 is for who has no splits; here only what contradicts itself is refused."""
        codes = np.frombuffer(bytes(self._prescribed), dtype=np.int8)
        order, first = _runs(keys)
        known = np.empty_like(codes)
        known[order] = codes[order[first]][np.cumsum(first) - 1]
        for place in np.flatnonzero(known != codes)[:1]:
            both = f"{SPLITS[known[place]]} and {SPLITS[codes[place]]}"
            raise SourceError(f"document {name_of(place)}: in both {both}")
        self.counts["documents_taken_in"] = 0
        counts = np.bincount(codes[order[first]], minlength=len(SPLITS)).tolist()
        documents = dict(zip(SPLITS, counts, strict=True))
        if missing := sorted(name for name, count in documents.items() if not count):
            raise SourceError(f"{source}: nothing kept in {', '.join(missing)}")
        return Assignment(codes, documents)

    def _nothing_kept(self, source: str, rules: Rules) -> str:
        read = self.counts["documents_read"]
        reason = f"could not read {_count(self.counts['documents_skipped'], 'document')}" + (
            f", the first because {self.skipped[0]}" if self.skipped else ""
        )
        if read:
            wanted = what_is_kept(rules.keep)
            reason = f"{_count(read, 'document')} read, none with a paragraph that {wanted}"
        elif not self.skipped:
            known = " of a known format" if self.counts["files_ignored"] else ""
            reason = f"no document{known} in it"
        return f"{source}: nothing kept: {reason}"


def _drawn(keys: np.ndarray, kept: np.ndarray, source: str) -> Assignment:
    """70/10/20 in the order of a seeded hash of their ids."""
    order, first = _runs(keys[kept])
    count = int(first.sum())
    if count < len(SPLITS):
        raise SourceError(
            f"{source}: {_count(count, 'document')} kept, expected at least 3, one for each split"
        )
    dev = max(1, round(0.1 * count))
    test = max(1, round(0.2 * count))
    documents = {"train": count - dev - test, "dev": dev, "test": test}
    ends = np.cumsum([documents[name] for name in SPLITS])
    places = np.searchsorted(np.cumsum(first, dtype=np.int32), ends, side="right")
    codes = np.full(len(keys), OUT, dtype=np.int8)
    for code, of_split in enumerate(np.split(order, places[:-1])):
        codes[kept[of_split]] = code
    return Assignment(codes, documents)


def _hashes(data: bytes | bytearray) -> np.ndarray:
    return np.frombuffer(data, dtype=f"S{SHORT}")


def _runs(hashes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Their order, equal ones in the order in which they came, and which begin another one."""
    order = np.argsort(hashes, kind="stable")
    first = np.ones(len(hashes), dtype=bool)
    for start in range(1, len(hashes), _AT_ONCE):  # without another copy of all of them
        ordered = hashes[order[start - 1 : start + _AT_ONCE]]
        first[start : start + _AT_ONCE] = ordered[1:] != ordered[:-1]
    return order, first


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
