"""Sums over spellings: from the states of nodes to probabilities of numerals.

A numeral's probability is Σ over its ends of p(path to the end) · p(it does not go on there).
It goes on with a digit, with a point and a digit, or with a comma and a digit where a thousands
group is possible. That a numeral begins at all is a sum of the same form over tokens that begin
with a digit, with or without the space before it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from numerate.pretrained.spelling import COMMA_DIGIT, DIGIT, KINDS, POINT_DIGIT, SpellingTree

SURELY = 1 - 1e-12  # no numeral goes on for certain
Request = tuple[int, np.ndarray]  # a kind of token, and the nodes after which it is asked for


@dataclass(frozen=True, slots=True)
class Forest:
    """Nodes and what is asked of them, numbered through a batch; parents before children."""

    parents: np.ndarray  # int64 [M], −1 for roots and padding
    tokens: np.ndarray  # int64 [M]
    levels: list[np.ndarray]  # branch nodes, those nearer to a chain first
    starts: np.ndarray  # [·, 4] place, base, node, kind
    ends: np.ndarray  # [·, 5] numeral, base, node, node after a point, after a comma; or −1
    closings: np.ndarray  # [·, 4] numeral, base, node, token
    numerals: int
    places: int  # where numerals begin: of several candidates for one place, they are numerals

    @classmethod
    def of(cls, trees: Sequence[SpellingTree], numerals: int = 1) -> "Forest":
        """Trees side by side, each with so many numerals for one place."""
        sizes = np.array([len(tree.parents) for tree in trees])
        firsts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        places = np.arange(len(trees))

        def join(name: str, *shifts: np.ndarray | None) -> np.ndarray:
            tables = [getattr(tree, name) for tree in trees]
            owners = np.repeat(places, [len(table) for table in tables])
            joined = np.concatenate(tables)
            for column, shift in enumerate(shifts):
                if shift is not None:
                    joined[:, column] += np.where(joined[:, column] >= 0, shift[owners], 0)
            return joined

        parents = np.concatenate([tree.parents for tree in trees])
        depths = np.concatenate([tree.depths for tree in trees])
        return cls(
            np.where(parents >= 0, parents + np.repeat(firsts, sizes), -1),
            np.concatenate([tree.tokens for tree in trees]),
            [np.flatnonzero(depths == depth) for depth in range(1, depths.max(initial=0) + 1)],
            join("start_terms", places, firsts, firsts, None),
            join("end_terms", places * numerals, firsts, firsts, firsts, firsts),
            join("closing_terms", places * numerals, firsts, firsts, None),
            len(trees) * numerals,
            len(trees),
        )

    def edges(self) -> np.ndarray:
        """State and token of every step, then of every closing: [·, 2]."""
        below = self.below()
        steps = np.stack([self.parents[below], self.tokens[below]], axis=1)
        return np.concatenate([steps, self.closings[:, 2:]])

    def below(self) -> np.ndarray:
        return np.flatnonzero(self.parents >= 0)

    def requests(self) -> list[Request]:
        node, point, comma = self.ends[:, 2:].T
        begins = [(kind, self.starts[self.starts[:, 3] == kind, 2]) for kind in range(len(KINDS))]
        return [
            *begins,
            (DIGIT, node),
            (DIGIT, point[point >= 0]),
            (DIGIT, comma[comma >= 0]),
            (POINT_DIGIT, node[point >= 0]),
            (COMMA_DIGIT, node[comma >= 0]),
        ]


@dataclass(frozen=True, slots=True)
class Spelled:
    costs: Tensor  # float64 [M] log p of each node's token after its parent
    log_stop: Tensor  # float64 [ends] log p(the numeral does not go on)
    numerals: Tensor  # float64 [N] log p(the numeral, ended)
    gates: Tensor  # float64 [places] log p(a numeral begins)


def spell_out(
    forest: Forest, values: Tensor, sums: list[Tensor], chains: tuple[int, int] | None
) -> Spelled:
    """From log p of the forest's edges and requests to those of its numerals.

    With `chains` [B, L], the first nodes of each row of L follow one another.
    """
    below = forest.below()
    costs = values.new_zeros(len(forest.parents))
    costs = costs.index_copy(0, _index(below, values), values[: len(below)])
    paths = costs.view(chains).cumsum(1).flatten() if chains else torch.zeros_like(costs)
    for level in forest.levels:
        mine = _index(level, values)
        above = paths[_index(forest.parents[level], values)]
        paths = paths.index_copy(0, mine, above + costs[mine])

    def from_base(terms: np.ndarray) -> Tensor:
        return paths[_index(terms[:, 2], values)] - paths[_index(terms[:, 1], values)]

    log_stop = _log_stop(forest.ends, costs, sums[len(KINDS) :])
    order = np.argsort(forest.starts[:, 3], kind="stable")
    starts = forest.starts[order]
    gates = segment_logsumexp(
        from_base(starts) + torch.cat(sums[: len(KINDS)]), starts[:, 0], forest.places
    )
    numerals = segment_logsumexp(
        torch.cat(
            [
                from_base(forest.ends) + log_stop,
                from_base(forest.closings) + values[len(below) :],
            ]
        ),
        np.concatenate([forest.ends[:, 0], forest.closings[:, 0]]),
        forest.numerals,
    )
    return Spelled(costs, log_stop, numerals, gates)


def _log_stop(ends: np.ndarray, costs: Tensor, sums: list[Tensor]) -> Tensor:
    digit, after_point, after_comma, glued_point, glued_comma = sums
    goes_on = digit.exp()
    for nodes, after, glued in (
        (ends[:, 3], after_point, glued_point),
        (ends[:, 4], after_comma, glued_comma),
    ):
        here = np.flatnonzero(nodes >= 0)
        mark = costs[_index(nodes[here], costs)] + after
        goes_on = goes_on.index_add(0, _index(here, costs), mark.exp() + glued.exp())
    return torch.log1p(-goes_on.clamp(max=SURELY))


def segment_logsumexp(values: Tensor, segments: np.ndarray, count: int) -> Tensor:
    """log Σ exp of the values of each segment: [·] → [count]."""
    index = _index(segments, values)
    most = values.new_full((count,), -torch.inf)
    most = most.scatter_reduce(0, index, values.detach(), "amax").clamp(min=-1e300)
    total = values.new_zeros(count).index_add(0, index, (values - most[index]).exp())
    return total.log() + most


def _index(values: np.ndarray, like: Tensor) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.int64)).to(like.device)
