"""Sums over spellings: from the states of nodes to probabilities of numerals.

A numeral's probability is Σ over its ends of p(path to the end) · p(it does not go on there).
It goes on with a digit, with a point and a digit, or with a comma and a digit where a thousands
group is possible. That a numeral begins at all is a sum of the same form over tokens that begin
with a digit, with or without the space before it.
"""

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from numerate.packing import flatten, move
from numerate.pretrained.spelling import COMMA_DIGIT, DIGIT, KINDS, POINT_DIGIT

SURELY = 1 - 1e-12  # no numeral goes on for certain
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
    flat = move(flatten({name: table.ravel() for name, table in tables.items()}), device)
    parts = torch.split(flat, [table.size for table in tables.values()])
    moved = zip(tables.items(), parts, strict=True)
    return Forest(
        forest.nodes,
        forest.numerals,
        forest.places,
        forest.level_sizes,
        forest.start_sizes,
        **{name: part.view(table.shape) for (name, table), part in moved},
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


@dataclass(frozen=True, slots=True)
class Spelled:
    costs: Tensor  # float64 [M] log p of each node's token after its parent
    log_stop: Tensor  # float64 [ends] log p(the numeral does not go on)
    numerals: Tensor  # float64 [N] log p(the numeral, ended)
    gates: Tensor  # float64 [places] log p(a numeral begins)


def spell_out(
    forest: Forest[Tensor], values: Tensor, sums: list[Tensor], chains: tuple[int, int] | None
) -> Spelled:
    """From log p of the forest's edges and requests to those of its numerals.

    With `chains` [B, L], the first nodes of each row of L follow one another. Without them, values
    may have a second dimension: several models' at once.
    """
    steps = len(forest.below)
    costs = values.new_zeros(forest.nodes, *values.shape[1:])
    costs = costs.index_copy(0, forest.below, values[:steps])
    paths = costs.view(chains).cumsum(1).flatten() if chains else torch.zeros_like(costs)
    for nodes, parents in forest.by_level():
        paths = paths.index_copy(0, nodes, paths[parents] + costs[nodes])

    def from_base(terms: Tensor) -> Tensor:
        return paths[terms[2]] - paths[terms[1]]

    log_stop = _log_stop(forest, costs, sums[len(KINDS) :])
    gates = segment_logsumexp(
        from_base(forest.starts) + torch.cat(sums[: len(KINDS)]), forest.starts[0], forest.places
    )
    numerals = segment_logsumexp(
        torch.cat([from_base(forest.ends) + log_stop, from_base(forest.closings) + values[steps:]]),
        torch.cat([forest.ends[0], forest.closings[0]]),
        forest.numerals,
    )
    return Spelled(costs, log_stop, numerals, gates)


def _log_stop(forest: Forest[Tensor], costs: Tensor, sums: list[Tensor]) -> Tensor:
    digit, after_point, after_comma, glued_point, glued_comma = sums
    goes_on = digit.exp()
    for (ends, nodes), after, glued in (
        (forest.points, after_point, glued_point),
        (forest.commas, after_comma, glued_comma),
    ):
        mark = costs[nodes] + after
        goes_on = goes_on.index_add(0, ends, mark.exp() + glued.exp())
    return torch.log1p(-goes_on.clamp(max=SURELY))


def segment_logsumexp(values: Tensor, segments: Tensor, count: int) -> Tensor:
    """log Σ exp of the values of each segment: [·, …] → [count, …]."""
    shape = (count, *values.shape[1:])
    rows = segments.view(-1, *[1] * (values.dim() - 1)).expand_as(values)
    most = values.new_full(shape, -torch.inf)
    most = most.scatter_reduce(0, rows, values.detach(), "amax").clamp(min=-1e300)
    total = values.new_zeros(shape).index_add(0, segments, (values - most[segments]).exp())
    return total.log() + most
