"""The likeliest of many numerals, found without reading most of their spellings.

A beginning is at least as probable as whatever begins so. So the tree of all candidates is read
from the likeliest beginnings on, a few nodes of every place in each pass, until one candidate is at
least as probable as any other could still be. What each is at least and at most is the sum of
`sums.py`, with the worst and with the best for all that has not been read. The answer is exact; of
thousands of nodes a few dozen are read.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from numerate.lm.backbones.spelling.forest import Forest, Trees, on_device
from numerate.lm.backbones.spelling.numeral_tokens import KINDS, TEXT_END, NumeralTokens
from numerate.lm.backbones.spelling.sums import Spelled, spell_out
from numerate.lm.backbones.spelling.token_reader import Reader
from numerate.text.ragged import ranges

NEVER, SURE = -np.inf, 0.0  # log p of what is not known, at worst and at best


@dataclass(frozen=True, slots=True)
class Beside:
    """What others make of the candidates where the language model is one of several.

    The score of a candidate is then `weight` · p(candidate | a numeral comes) + `others`.
    """

    weight: np.ndarray  # [N] the language model's in the mixture
    others: np.ndarray  # [N, C]

    def at(self, places: "slice | list[int]") -> "Beside":
        return Beside(self.weight[places], self.others[places])


class CandidateTree:
    """All spellings of all candidates after one kind of space: K nodes, C candidates."""

    def __init__(self, tokens: NumeralTokens, space: str, forms: Sequence[tuple[str, ...]]) -> None:
        tree = tokens.tree(space, tuple(forms))
        self.parents, self.tokens = tree.parents, tree.tokens
        self.starts = np.array([node for node, _ in tree.starts])
        self.forest = Trees.of([tree]).forest(len(forms))
        kinds = tokens.kinds[:TEXT_END]
        self.asked, places = np.unique(
            np.concatenate([self.forest.edges[1], *kinds]), return_inverse=True
        )
        cuts = np.cumsum([self.forest.edges.shape[1], *map(len, kinds)])[:-1]
        self.token_places, *self.kind_places = np.split(places, cuts)
        self._order = np.argsort(self.forest.edges[0], kind="stable")  # edges by where they begin
        begins = self.forest.edges[0, self._order]
        self._bounds = np.searchsorted(begins, np.arange(len(self.parents) + 1))
        self.serves = self._serves()

    def edges_after(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Edges that begin at some nodes, and at which of these each does."""
        begin, end = self._bounds[nodes], self._bounds[nodes + 1]
        return self._order[ranges(begin, end)], np.repeat(np.arange(len(nodes)), end - begin)

    def _serves(self) -> np.ndarray:
        """For which candidates a node is read: [K, C]."""
        forest = self.forest
        serves = np.zeros((forest.nodes, forest.numerals), dtype=bool)
        owners = forest.ends[0]
        serves[forest.ends[2], owners] = True
        for ends, nodes in (forest.points, forest.commas):
            serves[nodes, owners[ends]] = True
        serves[forest.closings[2], forest.closings[0]] = True
        for node in range(forest.nodes - 1, 0, -1):  # parents come before their children
            serves[self.parents[node]] |= serves[node]
        return serves.astype(np.float32)


def best_first(
    reader: Reader, tree: CandidateTree, roots: np.ndarray, at_once: int, beside: Beside | None
) -> np.ndarray:
    """Which candidate it is, after each of some tokens of a text: int64 [n].

    The reader is asked for the tree's tokens; `at_once` nodes of a place are read in one pass.
    """
    log_p = reader.at(roots)
    known = _Known(tree, len(roots), log_p.device)
    numbers = np.full((len(tree.parents), len(roots)), -1)  # of nodes, as the reader counts them
    places, nodes = np.arange(len(roots)), np.zeros(len(roots), dtype=np.int64)
    while True:
        known.put(nodes, places, log_p)
        places, nodes = known.choose(at_once, beside)
        if not len(nodes):
            return known.best.cpu().numpy()
        numbers[nodes, places] = reader.count + np.arange(len(nodes))
        log_p = reader.read(
            numbers[tree.parents[nodes], places].tolist(),
            tree.tokens[nodes].tolist(),
            roots[places].tolist(),
        )


class _Known:
    """What has been found out so far of the tree at n places: log p."""

    def __init__(self, tree: CandidateTree, count: int, device: torch.device) -> None:
        self.tree = tree
        self.device = device
        self.forest: Forest[Tensor] = on_device(tree.forest, device)
        self.parents = self._tensor(tree.parents)
        self.serves = self._tensor(tree.serves)
        self.starts = self._tensor(tree.starts)
        nodes, edges = self.forest.nodes, self.forest.edges.shape[1]
        self.read = torch.zeros(nodes, count, dtype=torch.bool, device=device)
        self.edges = torch.zeros(edges, count, dtype=torch.float64, device=device)
        self.kinds = self.edges.new_zeros(len(KINDS), nodes, count)
        self.best = torch.zeros(count, dtype=torch.int64, device=device)
        self.open = torch.arange(count, device=device)  # places that are not decided

    def put(self, nodes: np.ndarray, places: np.ndarray, log_p: Tensor) -> None:
        """What the model says after some nodes that have been read: [m, A]."""
        edges, rows = self.tree.edges_after(nodes)
        tokens = self._tensor(self.tree.token_places[edges])
        found = log_p[self._tensor(rows), tokens]
        self.edges[self._tensor(edges), self._tensor(places[rows])] = found
        where = self._tensor(nodes), self._tensor(places)
        self.read[where] = True
        for kind, columns in enumerate(self.tree.kind_places):
            self.kinds[kind][where] = log_p[:, self._tensor(columns)].logsumexp(1)

    def choose(self, count: int, beside: Beside | None) -> tuple[np.ndarray, np.ndarray]:
        """Places, and nodes of these, to read next; none once all places are decided."""
        read = self.read[:, self.open]  # [K, n]
        frontier = ~read & read[self.parents]
        if beside and not read[self.starts].all():  # how probable a numeral is, first of all
            return self._chosen(self.starts, frontier[self.starts])
        low, high = self._sum(read, NEVER, SURE), self._sum(read, SURE, NEVER)
        least, most = low.numerals, high.numerals  # [C, n]
        if beside:
            here = self.open.cpu().numpy()
            factor = self._tensor(beside.weight[here]) / low.gates.exp()
            others = self._tensor(beside.others[here].T)
            least, most = least.exp() * factor + others, most.exp() * factor + others
        surely, best = least.max(0, keepdim=True)
        self.best[self.open] = best[0]
        rivals = (most > surely).scatter(0, best, False)
        open_still = rivals.any(0)
        rivals = rivals.scatter(0, best, open_still[None])[:, open_still]
        self.open = self.open[open_still]
        frontier = frontier[:, open_still]
        nodes = frontier.any(1).nonzero()[:, 0]  # [F]
        useful = frontier[nodes] & (self.serves[nodes] @ rivals.float() > 0)  # [F, n]
        promise = torch.where(useful, low.paths[nodes][:, open_still], NEVER)
        if count < len(nodes):
            useful &= promise >= promise.topk(count, dim=0).values[-1]
        return self._chosen(nodes, useful)

    def _chosen(self, nodes: Tensor, wanted: Tensor) -> tuple[np.ndarray, np.ndarray]:
        """From F nodes, and which of them are wanted at open places: [F, n]."""
        rows, places = wanted.nonzero(as_tuple=True)
        return self.open[places].cpu().numpy(), nodes[rows].cpu().numpy()

    def _sum(self, read: Tensor, edges: float, kinds: float) -> Spelled:
        """At open places, with log p of tokens and of kinds of tokens that are not known yet."""
        values = torch.where(read[self.forest.edges[0]], self.edges[:, self.open], edges)
        sums = [
            torch.where(read[nodes], self.kinds[kind, nodes][:, self.open], kinds)
            for kind, nodes in self.forest.requests()
        ]
        return spell_out(self.forest, values, sums, None)

    def _tensor(self, values: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.device)
