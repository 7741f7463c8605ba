"""Spelling trees packed one after another, so that a forest of any of them is a gather."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from numerate.packing import ranges
from numerate.pretrained.forest import Forest, plant, renumber
from numerate.pretrained.spelling import SpellingTree


class _Rows:
    """The rows of several tables, and where each table begins."""

    def __init__(self, tables: Sequence[np.ndarray]) -> None:
        self.rows = np.concatenate(tables)
        self.bounds = np.cumsum([0, *map(len, tables)])

    def counts(self, which: np.ndarray) -> np.ndarray:
        found: np.ndarray = self.bounds[which + 1] - self.bounds[which]
        return found

    def of(self, which: np.ndarray, *firsts: np.ndarray | None) -> np.ndarray:
        """The rows of some tables, one table after another, numbered through."""
        owners = np.repeat(np.arange(len(which)), self.counts(which))
        rows = self.rows[ranges(self.bounds[which], self.bounds[which + 1])]
        return renumber(rows, owners, *firsts)


@dataclass(frozen=True, slots=True)
class Trees:
    """The trees of a list of numerals; none for those that cannot be adapted.

    Numerals come again and share their trees, so each tree is packed once.
    """

    which: np.ndarray  # [N] the tree of each numeral; the first one is empty, and means none
    nodes: _Rows  # parent, token, depth
    starts: _Rows
    ends: _Rows
    closings: _Rows

    @classmethod
    def of(cls, trees: Iterable[SpellingTree | None]) -> "Trees":
        distinct: dict[int, tuple[int, SpellingTree]] = {}
        which = []
        for tree in trees:
            found = tree and distinct.setdefault(id(tree), (len(distinct) + 1, tree))
            which.append(found[0] if found else 0)
        packed = [tree for _, tree in distinct.values()]
        none = np.empty((0, 5), dtype=np.int64)
        return cls(
            np.array(which, dtype=np.int64),
            _Rows([none[:, :3], *(np.stack([t.parents, t.tokens, t.depths], 1) for t in packed)]),
            _Rows([none[:, :4], *(tree.start_terms for tree in packed)]),
            _Rows([none, *(tree.end_terms for tree in packed)]),
            _Rows([none[:, :4], *(tree.closing_terms for tree in packed)]),
        )

    def take(self, numerals: np.ndarray) -> "Trees":
        return replace(self, which=self.which[numerals])

    def found(self) -> np.ndarray:
        """The numerals that have a tree."""
        return np.flatnonzero(self.which)

    def forest(self, numerals: int = 1) -> Forest[np.ndarray]:
        """The trees side by side, each with so many numerals for one place."""
        which, places = self.which, np.arange(len(self.which))
        sizes = self.nodes.counts(which)
        firsts = np.cumsum(sizes) - sizes
        parents, tokens, depths = self.nodes.of(which, firsts, None, None).T
        return plant(
            parents,
            tokens,
            depths,
            self.starts.of(which, places, firsts, firsts, None),
            self.ends.of(which, places * numerals, firsts, firsts, firsts, firsts),
            self.closings.of(which, places * numerals, firsts, firsts, None),
            numerals=len(which) * numerals,
            places=len(which),
        )
