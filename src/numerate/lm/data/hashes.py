"""What was there before? Told by hashes of 8 bytes, of which a corpus may have millions."""

import hashlib
from collections.abc import Sequence

import numpy as np

RECENT = 1 << 16  # that are not sorted yet


def hash_of(*parts: object) -> int:
    """Of 64 bits. That two of ten million things have the same has a probability of 3e-6."""
    text = "\0".join(map(str, parts)).encode("utf-8", "backslashreplace")
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big")


class Hashes:
    """Numbered as they come, at 12 bytes each: sorted, but for those that came last."""

    def __init__(self) -> None:
        self._sorted = np.empty(0, np.uint64)
        self._numbers = np.empty(0, np.uint32)  # of those
        self._recent: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._sorted) + len(self._recent)

    def __contains__(self, one: int) -> bool:
        return one in self._recent or bool(self._found([one])[0] >= 0)

    def add(self, one: int) -> int:
        """Its number, which it may have had before."""
        return int(self.add_all([one])[0])

    def add_all(self, some: Sequence[int]) -> np.ndarray:
        """Their numbers [N]; those that are new come after all that there were."""
        numbers = self._found(some)
        for place in np.flatnonzero(numbers < 0).tolist():
            numbers[place] = self._recent.setdefault(some[place], len(self))
        if len(self._recent) >= RECENT:
            self._sort()
        return numbers

    def _found(self, some: Sequence[int]) -> np.ndarray:
        """The numbers of those that are sorted, -1 of others: int64 [N]."""
        hashes = np.array(some, np.uint64)
        if not len(self._sorted):
            return np.full(len(hashes), -1)
        at = np.minimum(np.searchsorted(self._sorted, hashes), len(self._sorted) - 1)
        return np.where(self._sorted[at] == hashes, self._numbers[at].astype(np.int64), -1)

    def _sort(self) -> None:
        recent = np.fromiter(self._recent.keys(), np.uint64, len(self._recent))
        order = np.argsort(recent)
        numbers = np.fromiter(self._recent.values(), np.uint32, len(self._recent))[order]
        at = np.searchsorted(self._sorted, recent[order])
        self._sorted = np.insert(self._sorted, at, recent[order])
        self._numbers = np.insert(self._numbers, at, numbers)
        self._recent.clear()
