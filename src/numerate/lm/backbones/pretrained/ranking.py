"""Candidates before every numeral of a text: all of them, or the likeliest.

The text is read once and its keys and values are cached. For all candidates, the tree of their
spellings is then read after each numeral's context, all nodes at once, with a mask that hides what
comes later in the text. For the likeliest, as few nodes as will do (`spelling/best_first.py`).
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from numerate.lm.backbones.pretrained.branches import Branches, Following
from numerate.lm.backbones.pretrained.layout import Plan
from numerate.lm.backbones.pretrained.nodes import Nodes
from numerate.lm.backbones.pretrained.scorer import NEVER, Scorer
from numerate.lm.backbones.spelling.best_first import Beside, CandidateTree, best_first
from numerate.lm.backbones.spelling.forest import Trees, on_device
from numerate.lm.backbones.spelling.numeral_tokens import NumeralTokens, SpellingTree
from numerate.lm.backbones.spelling.sums import spell_out
from numerate.lm.backbones.spelling.written import written_forms
from numerate.lm.heads.digit_adapter import DigitAdapter

STATES = {"cpu": 4096, "cuda": 32768}  # nodes read at a time
# Candidates in a tree. Who sees whom grows with the square of its nodes; a GPU has some room for
# that, and waits for Python less the fewer passes there are.
BLOCK = {"cpu": 128, "cuda": 2048}
TREE = 4096  # nodes, above which there are several trees
AT_ONCE = {"cpu": 16, "cuda": 64}  # nodes of a place that the search reads in one pass


@dataclass(frozen=True, slots=True)
class _Tree:
    candidates: list[int]
    spelling: SpellingTree
    seen: np.ndarray  # bool [K − 1, K − 1] which nodes a node sees, without the root


class Ranking:
    """Of some candidates, whose trees are made once."""

    def __init__(self, scorer: Scorer, tokens: NumeralTokens, candidates: Sequence[str]) -> None:
        self.scorer = scorer
        self.tokens = tokens
        self.forms = tuple(written_forms(text) for text in candidates)
        self._trees: dict[str, list[_Tree]] = {}
        self._whole: dict[str, CandidateTree] = {}

    @torch.no_grad()
    def best(
        self, plan: Plan, beside: Beside | None = None, adapter: DigitAdapter | None = None
    ) -> np.ndarray:
        """The likeliest before each numeral of a plan: int64 [N]."""
        result = np.zeros(len(plan.roots), dtype=np.int64)
        if not plan.roots:
            return result
        branches = Branches(self.scorer, plan, plan.length)
        at_once = AT_ONCE.get(self.scorer.device.type, AT_ONCE["cpu"])
        for space, places in _by_space(plan).items():
            if space not in self._whole:
                self._whole[space] = CandidateTree(self.tokens, space, self.forms)
            tree = self._whole[space]
            reader = Following(branches, tree.asked, adapter)
            roots = np.array([plan.roots[place][0] for place in places])
            some = beside and beside.at(places)
            result[places] = best_first(reader, tree, roots, at_once, some)
        return result

    @torch.no_grad()
    def table(self, plan: Plan, adapter: DigitAdapter | None = None) -> np.ndarray:
        """log p(candidate | a numeral comes) before each numeral of a plan: float64 [N, C]."""
        device = self.scorer.device
        result = torch.empty(len(plan.roots), len(self.forms), dtype=torch.float64, device=device)
        if not plan.roots:
            return result.cpu().numpy()
        past = states = None
        if self.scorer.takes_masks:
            states, past = self.scorer.read_chain(plan, plan.length)
        for space, places in _by_space(plan).items():
            for tree in self._trees_after(space):
                count = max(1, STATES.get(device.type, 4096) // len(tree.spelling.parents))
                for begin in range(0, len(places), count):
                    mine = places[begin : begin + count]
                    roots = np.array([plan.roots[place][0] for place in mine])
                    if past is None or states is None:
                        read = self._read_by_path(plan, tree, roots)
                    else:
                        read = self._read(past, states, tree, roots, len(plan.before))
                    rows = self.scorer.index(np.array(mine))
                    columns = self.scorer.index(np.array(tree.candidates))
                    result[rows[:, None], columns] = self._table(read, tree, len(mine), adapter)
        return result.cpu().numpy()

    def _trees_after(self, space: str) -> list[_Tree]:
        """Candidates that are written alike share a tree."""
        if space not in self._trees:
            order = sorted(range(len(self.forms)), key=lambda index: self.forms[index])
            size = BLOCK.get(self.scorer.device.type, BLOCK["cpu"])
            blocks = [order[begin : begin + size] for begin in range(0, len(order), size)]
            self._trees[space] = [
                tree for block in blocks for tree in self._small_trees(space, block)
            ]
        return self._trees[space]

    def _small_trees(self, space: str, candidates: list[int]) -> list[_Tree]:
        """One, or several where it would be too large: a tokenizer may know many spellings."""
        spelling = self.tokens.tree(space, tuple(self.forms[index] for index in candidates))
        if len(spelling.parents) <= TREE or len(candidates) == 1:
            return [self._tree(candidates, spelling)]
        half = len(candidates) // 2
        parts = candidates[:half], candidates[half:]
        return [tree for part in parts for tree in self._small_trees(space, part)]

    def _tree(self, candidates: list[int], spelling: SpellingTree) -> _Tree:
        count = len(spelling.parents)
        seen = np.eye(count, dtype=bool)
        for node in range(1, count):
            seen[node] |= seen[spelling.parents[node]]
        return _Tree(candidates, spelling, seen[1:, 1:])

    def _read(
        self, past: object, states: Tensor, tree: _Tree, roots: np.ndarray, before: int
    ) -> Tensor:
        """The states of the tree after each root, with a prefix `before`: [n, K, S]."""
        scorer, count, length = self.scorer, len(roots), before + len(states)
        shared = copy.deepcopy(past)
        shared.batch_repeat_interleave(count)  # type: ignore[attr-defined]
        root = scorer.index(roots)
        text = torch.arange(length, device=scorer.device) <= before + root[:, None]  # [n, T]
        size = len(tree.seen)
        mask = torch.cat(
            [
                text[:, None].expand(count, size, length),
                torch.from_numpy(tree.seen).to(scorer.device).expand(count, size, size),
            ],
            dim=2,
        )
        below, _ = scorer.hidden(
            scorer.index(tree.spelling.tokens[1:]).expand(count, size),
            attention_mask=mask[:, None],
            position_ids=before + root[:, None] + scorer.index(tree.spelling.depths[1:]),
            past_key_values=shared,
            use_cache=True,
        )
        return torch.cat([states[root][:, None], below], dim=1)

    def _read_by_path(self, plan: Plan, tree: _Tree, roots: np.ndarray) -> Tensor:
        parts = []
        for root in roots.tolist():
            chain = list(range(root + 1))
            tokens = plan.tokens[: root + 1]
            alone = Plan(
                root + 1, tokens, [-1, *chain[:-1]], chain, list(chain), prefix=plan.prefix
            )
            nodes = [root]
            for parent, token in zip(
                tree.spelling.parents[1:].tolist(), tree.spelling.tokens[1:].tolist(), strict=True
            ):
                nodes.append(alone.branch(nodes[parent], token))
            parts.append(self.scorer.states(Nodes([alone]))[self.scorer.index(np.array(nodes))])
        return torch.stack(parts)

    def _table(
        self, states: Tensor, tree: _Tree, count: int, adapter: DigitAdapter | None
    ) -> Tensor:
        """From the states of `count` copies of the tree to the candidates: [n, C]."""
        forest = Trees.of([tree.spelling] * count).forest(len(tree.candidates))
        placed = on_device(forest, self.scorer.device)
        flat = states.flatten(0, 1)
        if adapter is not None:
            details = self.scorer.details(flat, forest)
            numerals, gates = adapter.spell_out(placed, details, self.scorer.classes)
        else:
            values, sums = self.scorer.log_probs(flat, forest.edges, forest.requests())
            spelled = spell_out(placed, values, sums, None)
            numerals, gates = spelled.numerals, spelled.gates
        return (numerals.view(count, -1) - gates[:, None]).clamp(NEVER, 0)


def _by_space(plan: Plan) -> dict[str, list[int]]:
    """Numerals of a plan by the space before them: each kind has its own trees."""
    spaces = sorted({space for _, space in plan.roots})
    return {s: [i for i, (_, other) in enumerate(plan.roots) if other == s] for s in spaces}
