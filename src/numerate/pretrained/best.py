"""The likeliest candidate before every numeral of a text, found without reading most of them.

A beginning is at least as probable as whatever begins so. So the tree of candidates is read from
the likeliest beginnings on, a few nodes of every place in each pass, until one candidate is at
least as probable as any other could still be. The answer is exact; of thousands of nodes a few
dozen are read.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from numerate.heads.digit_adapter import DigitAdapter
from numerate.packing import ranges
from numerate.pretrained.branches import Branches
from numerate.pretrained.plan import Plan
from numerate.pretrained.scorer import ROWS, Scorer
from numerate.spelling.numeral_tokens import (
    COMMA_DIGIT,
    DIGIT,
    POINT_DIGIT,
    SPACE_DIGIT,
    NumeralTokens,
)
from numerate.spelling.sums import SURELY
from numerate.spelling.written import written_forms

AT_ONCE = {"cpu": 16, "cuda": 64}  # nodes of a place that are read in one pass
_SUMS = (DIGIT, SPACE_DIGIT, POINT_DIGIT, COMMA_DIGIT)


@dataclass(frozen=True, slots=True)
class Beside:
    """What others make of the candidates where the language model is one of several.

    The score of a candidate is then `share` · p(candidate | a numeral comes) + `others`.
    """

    share: np.ndarray  # [N]
    others: np.ndarray  # [N, C]


class BestCandidate:
    """Of one table of candidates."""

    def __init__(
        self,
        scorer: Scorer,
        tokens: NumeralTokens,
        candidates: Sequence[str],
    ) -> None:
        self.scorer = scorer
        self.tokens = tokens
        self.forms = tuple(written_forms(text) for text in candidates)
        self._trees: dict[str, _Tree] = {}

    def find(
        self, plan: Plan, beside: Beside | None = None, adapter: DigitAdapter | None = None
    ) -> np.ndarray:
        """Which candidate it is, before each numeral of a plan: int64 [N]."""
        result = np.zeros(len(plan.roots), dtype=np.int64)
        if not plan.roots:
            return result
        branches = Branches(self.scorer, plan.tokens[: plan.length])
        for space in sorted({space for _, space in plan.roots}):
            places = np.array([i for i, (_, other) in enumerate(plan.roots) if other == space])
            roots = np.array([plan.roots[place][0] for place in places])
            some = beside and Beside(beside.share[places], beside.others[places])
            result[places] = self._search(branches, self._tree_after(space), roots, some, adapter)
        return result

    def _search(
        self,
        branches: Branches,
        tree: "_Tree",
        roots: np.ndarray,
        beside: Beside | None,
        adapter: DigitAdapter | None,
    ) -> np.ndarray:
        known = _Known(tree, len(roots))
        count = AT_ONCE.get(self.scorer.device.type, AT_ONCE["cpu"])
        numbers = np.full(known.read.shape, -1)  # of nodes, as the branches count them
        places, nodes = np.arange(len(roots)), np.zeros(len(roots), dtype=np.int64)
        states = branches.states[self.scorer.index(roots)]
        while True:
            known.put(places, nodes, *self._following(states, tree, adapter))
            best, wanted = known.choose(count, beside)
            places, nodes = np.nonzero(wanted)
            if not len(places):
                return best
            numbers[wanted] = branches.count + np.arange(len(places))
            states = branches.read(
                numbers[places, tree.parents[nodes]].tolist(),
                tree.tokens[nodes].tolist(),
                roots[places].tolist(),
            )

    def _following(
        self, states: Tensor, tree: "_Tree", adapter: DigitAdapter | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """p of the tree's tokens, and of kinds of tokens, after states: [n, ·], [n, kinds]."""
        scorer = self.scorer
        asked = scorer.index(tree.asked)
        chosen, sums = [], []
        with torch.no_grad():
            for some in torch.split(states, ROWS.get(scorer.device.type, 128)):
                scores = scorer.logits(some)
                if adapter is not None:
                    log_p = adapter.adapt(some, scores, scorer.classes)
                else:
                    log_p = scores.log_softmax(1)
                chosen.append(log_p[:, asked].double().exp())
                kinds = [log_p[:, scorer.kinds[kind]].double().exp().sum(1) for kind in _SUMS]
                sums.append(torch.stack(kinds, dim=1))
        return torch.cat(chosen).cpu().numpy(), torch.cat(sums).cpu().numpy()

    def _tree_after(self, space: str) -> "_Tree":
        if space not in self._trees:
            self._trees[space] = _Tree(self.tokens, space, self.forms)
        return self._trees[space]


class _Tree:
    """All spellings of all candidates after one kind of space, with K nodes.

    A candidate's probability is a sum of terms: its ends, each with what could carry it on, and
    tokens that end it with something else in them (closings).
    """

    def __init__(self, tokens: NumeralTokens, space: str, forms: Sequence[tuple[str, ...]]) -> None:
        spelling = tokens.tree(space, tuple(forms))
        self.parents, self.tokens = spelling.parents, spelling.tokens
        depths = spelling.depths
        self.levels = [np.flatnonzero(depths == depth) for depth in range(1, depths.max() + 1)]
        self.starts = spelling.starts
        ends, closings = spelling.end_terms, spelling.closing_terms
        self.end_nodes, self.points, self.commas = ends[:, 2:].T
        self.closing_nodes = closings[:, 2]
        self.asked, places = np.unique(
            np.concatenate([self.tokens[1:], closings[:, 3]]), return_inverse=True
        )
        self.token_places = np.concatenate([[0], places[: len(self.tokens) - 1]])  # [K]
        self.closing_places = places[len(self.tokens) - 1 :]
        self.children = _Groups(self.parents[1:], len(self.parents), first=1)
        self.closings = _Groups(self.closing_nodes, len(self.parents))
        owners = np.concatenate([ends[:, 0], closings[:, 0]])
        self.terms = np.argsort(owners, kind="stable")  # those of one candidate side by side
        self.term_starts = np.searchsorted(owners[self.terms], np.arange(len(forms)))
        self.serves = self._serves(owners, len(forms))

    def _serves(self, owners: np.ndarray, count: int) -> np.ndarray:
        """For which candidates a node is read: [K, C]."""
        serves = np.zeros((len(self.parents), count), dtype=bool)
        ends = owners[: len(self.end_nodes)]
        for nodes in (self.end_nodes, self.points, self.commas):
            serves[nodes[nodes >= 0], ends[nodes >= 0]] = True
        serves[self.closing_nodes, owners[len(self.end_nodes) :]] = True
        for node in range(len(self.parents) - 1, 0, -1):  # parents come before their children
            serves[self.parents[node]] |= serves[node]
        return serves.astype(np.float32)


class _Groups:
    """Things by the node they belong to."""

    def __init__(self, nodes: np.ndarray, count: int, first: int = 0) -> None:
        order = np.argsort(nodes, kind="stable")
        self._things = order + first
        self._bounds = np.searchsorted(nodes[order], np.arange(count + 1))

    def of(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What belongs to some nodes, and to which of them."""
        begin, end = self._bounds[nodes], self._bounds[nodes + 1]
        return self._things[ranges(begin, end)], np.repeat(np.arange(len(nodes)), end - begin)


class _Known:
    """What has been found out so far about the tree at each of n places: probabilities [n, K]."""

    def __init__(self, tree: _Tree, count: int) -> None:
        self.tree = tree
        shape = (count, len(tree.parents))
        self.read = np.zeros(shape, dtype=bool)
        self.seen = np.zeros(shape, dtype=bool)  # whether the parent has been read
        self.seen[:, 0] = True
        self.costs = np.zeros(shape)  # of a node's token after its parent
        self.paths = np.zeros(shape)  # from the place to the node
        self.paths[:, 0] = 1.0
        self.sums = np.zeros((len(_SUMS), *shape))  # of kinds of tokens after the node
        self.closings = np.zeros((count, len(tree.closing_nodes)))

    def put(
        self, places: np.ndarray, nodes: np.ndarray, following: np.ndarray, sums: np.ndarray
    ) -> None:
        """What the model says after some nodes that have been read."""
        self.read[places, nodes] = True
        self.sums[:, places, nodes] = sums.T
        children, rows = self.tree.children.of(nodes)
        costs = following[rows, self.tree.token_places[children]]
        self.costs[places[rows], children] = costs
        self.paths[places[rows], children] = self.paths[places[rows], nodes[rows]] * costs
        self.seen[places[rows], children] = True
        closings, rows = self.tree.closings.of(nodes)
        costs = following[rows, self.tree.closing_places[closings]]
        self.closings[places[rows], closings] = self.paths[places[rows], nodes[rows]] * costs

    def choose(self, count: int, beside: Beside | None) -> tuple[np.ndarray, np.ndarray]:
        """The best candidates so far [n], and which nodes to read next [n, K]: none at the end."""
        frontier = ~self.read & self.read[:, self.tree.parents]
        starts = [node for node, _ in self.tree.starts]
        if beside and not self.read[:, starts].all():  # how probable a numeral is, first of all
            wanted = np.zeros_like(frontier)
            wanted[:, starts] = True
            return np.zeros(len(wanted), dtype=np.int64), wanted & frontier
        least, most = self._bounds()
        if beside:
            factor = (beside.share / self._gates())[:, None]
            least, most = least * factor + beside.others, most * factor + beside.others
        best = least.argmax(1)
        rows = np.arange(len(best))
        surely = least[rows, best]
        most[rows, best] = -np.inf
        rivals = most > surely[:, None]
        undecided = rivals.any(1)
        rivals[rows, best] = undecided
        useful = frontier & (rivals.astype(np.float32) @ self.tree.serves.T > 0)
        promise = np.where(useful, self.paths, -1.0)
        if count < promise.shape[1]:
            least_wanted = -np.partition(-promise, count - 1, axis=1)[:, count - 1]
            useful &= promise >= least_wanted[:, None]
        return best, useful

    def _gates(self) -> np.ndarray:
        """The probability that a numeral comes: [n]."""
        parts = [
            self.paths[:, n] * self.sums[_SUMS.index(kind), :, n] for n, kind in self.tree.starts
        ]
        total: np.ndarray = np.sum(parts, axis=0)
        return total

    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """What each candidate's probability is at least, and at most: [n, C] each."""
        tree, (digit, _, glued_point, glued_comma) = self.tree, self.sums
        reach = self.paths.copy()  # of what has not been seen, as much as its parent's
        for nodes in tree.levels:
            above = reach[:, tree.parents[nodes]]
            reach[:, nodes] = np.where(self.seen[:, nodes], self.paths[:, nodes], above)
        ends = tree.end_nodes
        surely, perhaps = digit[:, ends], np.zeros((len(reach), len(ends)))  # it goes on
        for marks, glued in ((tree.points, glued_point), (tree.commas, glued_comma)):
            may = marks >= 0
            costs = self.costs[:, marks] * may
            surely = surely + costs * digit[:, marks] + glued[:, ends] * may
            perhaps = perhaps + costs * ~self.read[:, marks]
        is_read = self.read[:, ends]
        least = reach[:, ends] * (1 - np.minimum(surely + perhaps, SURELY)) * is_read
        most = reach[:, ends] * (1 - np.minimum(surely, SURELY) * is_read)
        is_read = self.read[:, tree.closing_nodes]
        closed = np.where(is_read, self.closings, reach[:, tree.closing_nodes])
        return self._sum(least, self.closings), self._sum(most, closed)

    def _sum(self, ends: np.ndarray, closings: np.ndarray) -> np.ndarray:
        terms = np.concatenate([ends, closings], axis=1)[:, self.tree.terms]
        total: np.ndarray = np.add.reduceat(terms, self.tree.term_starts, axis=1)
        return total
