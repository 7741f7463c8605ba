"""Spelling trees side by side, numbered through: what is asked of a model at their nodes.

Trees are packed one after another, so that a forest of any of them is a gather.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from numerate.lm.backbones.spelling.numeral_tokens import (
    COMMA_DIGIT,
    DIGIT,
    KINDS,
    POINT_DIGIT,
    SpellingTree,
)
from numerate.lm.data.packing import move_together
from numerate.text.ragged import ranges

Array = TypeVar("Array", np.ndarray, Tensor)  # while it is laid out, and on the device
Request = tuple[int, Array]  # a kind of token, and the nodes after which it is asked for


@dataclass(frozen=True, slots=True)
class Forest(Generic[Array]):
    """Nodes and what is asked of them, numbered through a batch: all of them int64."""

    nodes: int
    numerals: int
    places: int  # where numerals begin: of several candidates for one place, they are numerals
    level_sizes: tuple[int, ...]
    start_sizes: tuple[int, ...]
    below: Array  # [E] nodes with a parent
    edges: Array  # [2, E + Q] state and token of every step, then of every closing
    levels: Array  # [2, ·] branch nodes, those nearer to a chain first, and their parents
    starts: Array  # [3, ·] place, base, node; by kind
    ends: Array  # [3, ·] numeral, base, node
    points: Array  # [2, ·] which end may go on with a point, and the node after it
    commas: Array  # [2, ·] the same for a comma
    closings: Array  # [3, Q] numeral, base, node

    def by_level(self) -> list[Array]:
        """Branch nodes and their parents, parents before children: [2, ·] each."""
        return _cut(self.levels, self.level_sizes)

    def requests(self) -> list[Request[Array]]:
        nodes = self.ends[2]
        return [
            *enumerate(_cut(self.starts[2], self.start_sizes)),
            (DIGIT, nodes),
            (DIGIT, self.points[1]),
            (DIGIT, self.commas[1]),
            (POINT_DIGIT, nodes[self.points[0]]),
            (COMMA_DIGIT, nodes[self.commas[0]]),
        ]


_TABLES = ("below", "edges", "levels", "starts", "ends", "points", "commas", "closings")


def on_device(forest: Forest[np.ndarray], device: torch.device) -> Forest[Tensor]:
    """The same as tensors. They travel together, so that the device is not waited for."""
    tables: dict[str, np.ndarray] = {name: getattr(forest, name) for name in _TABLES}
    return Forest(
        forest.nodes,
        forest.numerals,
        forest.places,
        forest.level_sizes,
        forest.start_sizes,
        **move_together(tables, device),
    )


def plant(
    parents: np.ndarray,
    tokens: np.ndarray,
    depths: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    closings: np.ndarray,
    *,
    numerals: int,
    places: int,
) -> Forest[np.ndarray]:
    """A forest of nodes, and of rows as `SpellingTree` has them, numbered through a batch.

    Nodes [M] have parents before them, −1 for roots and padding; depths count from the chain.
    """
    below = np.flatnonzero(parents >= 0)
    steps = np.stack([parents[below], tokens[below]])
    order = np.argsort(depths, kind="stable")
    level_sizes = np.bincount(depths, minlength=1)
    levels = order[level_sizes[0] :]
    begins = starts[np.argsort(starts[:, 3], kind="stable")]
    marks = []
    for nodes in ends[:, 3:].T:
        rows = np.flatnonzero(nodes >= 0)
        marks.append(np.stack([rows, nodes[rows]]))
    return Forest(
        nodes=len(parents),
        numerals=numerals,
        places=places,
        level_sizes=tuple(level_sizes[1:].tolist()),
        start_sizes=tuple(np.bincount(begins[:, 3], minlength=len(KINDS)).tolist()),
        below=below,
        edges=np.concatenate([steps, closings[:, 2:].T], axis=1),
        levels=np.stack([levels, parents[levels]]),
        starts=begins[:, :3].T,
        ends=ends[:, :3].T,
        points=marks[0],
        commas=marks[1],
        closings=closings[:, :3].T,
    )


def renumber(rows: np.ndarray, owners: np.ndarray, *firsts: np.ndarray | None) -> np.ndarray:
    """Rows that count within their owner, counting through all owners instead.

    A column without `firsts` is left alone; −1 means none and stays.
    """
    for column, first in zip(rows.T, firsts, strict=True):
        if first is not None:
            column += np.where(column >= 0, first[owners], 0)
    return rows


def _cut(array: Array, sizes: tuple[int, ...]) -> list[Array]:
    return [array[..., begin:end] for begin, end in pairwise(accumulate(sizes, initial=0))]


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
