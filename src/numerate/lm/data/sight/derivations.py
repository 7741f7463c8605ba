"""Which numbers in view a numeral follows from, by one of the operations.

Numbers of a table are computed with each other where they stand in the same row or column, those
of the text where they stand near each other. A group is a row, a column, or the text.
"""

from dataclasses import dataclass

import numpy as np

from numerate.text.operations import (
    OPERATIONS,
    PRECISIONS,
    is_computable,
    key_of,
    units,
)
from numerate.text.ragged import ranges

GROUP = 64  # numbers of a row or column that are computed with: the first ones
BACK = 32  # numerals of the text that are computed with: the last ones before a place
TEXT_GROUP, NO_GROUP = 0, -1


@dataclass(frozen=True, slots=True)
class Derivations:
    """K ways in which numerals at places follow from numbers in view of them."""

    places: np.ndarray  # [K] ascending
    operations: np.ndarray  # [K] of `OPERATIONS`
    a: np.ndarray  # [K] which numbers of the place's text
    b: np.ndarray  # [K] the same as a, where there is one operand

    def take(self, rows: np.ndarray) -> "Derivations":
        return Derivations(self.places[rows], self.operations[rows], self.a[rows], self.b[rows])


@dataclass(frozen=True, slots=True)
class Results:
    """All that can be computed from the M numbers of one text: R ways."""

    operations: np.ndarray  # int8 [R]
    a: np.ndarray  # int32 [R]
    b: np.ndarray  # int32 [R]
    values: np.ndarray  # float64 [R]
    first: np.ndarray  # int32 [R] of the text's own numerals among them, the first; large: none
    last: np.ndarray  # int32 [R] and the last; −1: none

    def __len__(self) -> int:
        return len(self.values)

    def visible(
        self, before: np.ndarray | int, ways: np.ndarray | slice = slice(None)
    ) -> np.ndarray:
        """Whether places with so many numerals before them have the numbers of ways in view."""
        seen: np.ndarray = (self.last[ways] < before) & (self.first[ways] >= before - BACK)
        return seen

    def keys(self) -> np.ndarray:
        """The numeral of each result at each of the `PRECISIONS`: int64 [R, precisions]."""
        precisions = np.array(PRECISIONS)
        return key_of(units(self.values[:, None], precisions), precisions)

    def matching(self, values: np.ndarray, precisions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which numerals [N] are which results, rounded: indices of both, by numeral."""
        none = np.zeros(0, dtype=np.int64)
        numerals, results = [none], [none]
        possible = values <= self.values.max(initial=0.0) + 1  # others may have too many units
        for precision in np.intersect1d(precisions, PRECISIONS).tolist():
            mine = np.flatnonzero(possible & (precisions == precision))
            written = units(values[mine], precision)
            mine = mine[np.argsort(written, kind="stable")]
            written.sort()
            computed = units(self.values, precision)  # [R]
            first, end = (np.searchsorted(written, computed, side) for side in ("left", "right"))
            hits = np.flatnonzero(end > first)
            numerals.append(mine[ranges(first[hits], end[hits])])
            results.append(np.repeat(hits, (end - first)[hits]))
        which, ways = np.concatenate(numerals), np.concatenate(results)
        order = np.lexsort((ways, which))
        return which[order], ways[order]


def groups_of(
    rows: np.ndarray, columns: np.ndarray, order: np.ndarray, computable: np.ndarray
) -> np.ndarray:
    """The two groups of each number of a text, its row and its column: int64 [2, M].

    Rows and columns are known by numbers from 0 on, different ones for both; `order` says which
    of the text's own numerals a number is, −1 for those of tables. Own numerals have one group.
    """
    groups = np.stack([rows, columns]) + 1
    groups[0, order >= 0], groups[1, order >= 0] = TEXT_GROUP, NO_GROUP
    groups[:, ~computable] = NO_GROUP
    for group in groups:
        in_table = (group > TEXT_GROUP).nonzero()[0]
        sorted_by = in_table[np.argsort(group[in_table], kind="stable")]
        _, starts, counts = np.unique(group[sorted_by], return_index=True, return_counts=True)
        rank = np.arange(len(sorted_by)) - np.repeat(starts, counts)
        group[sorted_by[rank >= GROUP]] = NO_GROUP
    return groups


def results_of(
    values: np.ndarray, precisions: np.ndarray, groups: np.ndarray, order: np.ndarray
) -> Results:
    """All that can be computed from the numbers of a text."""
    a, b = _pairs(groups, order)
    alone = np.flatnonzero(is_computable(values, precisions))
    parts: list[tuple[int, np.ndarray, np.ndarray]] = []
    for number, operation in enumerate(OPERATIONS):
        left, right = (a, b) if operation.operands == 2 else (alone, alone)
        taken = operation.takes_a(values[left]) & operation.takes_b(values[right])
        if operation.is_symmetric:  # a pair is one way, whatever its order
            taken &= left < right
        parts.append((number, left[taken], right[taken]))
    left = np.concatenate([part[1] for part in parts])
    right = np.concatenate([part[2] for part in parts])
    found = [OPERATIONS[n].compute(values[i], values[j]) for n, i, j in parts]
    own = np.stack([order[left], order[right]])
    return Results(
        np.repeat(np.arange(len(parts), dtype=np.int8), [len(part[1]) for part in parts]),
        left.astype(np.int32),
        right.astype(np.int32),
        np.concatenate(found),
        np.where(own >= 0, own, np.iinfo(np.int32).max).min(0),
        own.max(0),
    )


def _pairs(groups: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers that share a group, in both orders; twice those that share two."""
    left, right = [], []
    for group in groups:
        members = np.flatnonzero(group != NO_GROUP)
        members = members[np.argsort(group[members], kind="stable")]
        _, starts, counts = np.unique(group[members], return_index=True, return_counts=True)
        begin = np.repeat(starts, counts)  # of each member's group
        end = begin + np.repeat(counts, counts)
        # Of the text, those that are near: a long one has too many others.
        own, place = order[members] >= 0, np.arange(len(members))
        begin = np.where(own, np.maximum(begin, place - BACK + 1), begin)
        end = np.where(own, np.minimum(end, place + BACK), end)
        left.append(np.repeat(members, end - begin))
        right.append(members[ranges(begin, end)])
    a, b = np.concatenate(left), np.concatenate(right)
    return a[a != b], b[a != b]
