"""Packed trees: a forest of any of them, in any order, adds up as each tree does by hand."""

import math

import numpy as np
import pytest
import torch

from numerate.lm.backbones.spelling.forest import Trees, on_device
from numerate.lm.backbones.spelling.numeral_tokens import (
    COMMA_DIGIT,
    DIGIT,
    KINDS,
    POINT_DIGIT,
    End,
    SpellingTree,
)
from numerate.lm.backbones.spelling.sums import spell_out
from numerate.lm.backbones.spelling.token_classes import MASSES
from numerate.lm.heads.digit_adapter import DigitBatch, NodeDetails

CPU = torch.device("cpu")
NUMERALS = 2  # of each tree


def random_tree(generator: np.random.Generator) -> SpellingTree:
    """One in which anything may follow anything; a tree without closings is among them."""
    size = int(generator.integers(1, 9))
    parents = [-1, *(int(generator.integers(0, node)) for node in range(1, size))]
    depths = [0]
    for parent in parents[1:]:
        depths.append(depths[parent] + 1)

    def node() -> int:
        return int(generator.integers(size))

    def mark() -> int:  # never the root
        return node() or -1

    starts = tuple((node(), int(generator.integers(len(KINDS)))) for _ in range(2))
    ends = tuple(
        End(numeral, node(), mark(), mark())
        for numeral in (*range(NUMERALS), *generator.integers(0, NUMERALS, size=2).tolist())
    )
    closings = tuple(
        (int(generator.integers(NUMERALS)), node(), int(generator.integers(99)))
        for _ in range(int(generator.integers(0, 3)))
    )
    return SpellingTree(
        np.array(parents),
        np.array([-1, *generator.integers(0, 99, size=size - 1).tolist()]),
        np.array(depths),
        starts,
        ends,
        closings,
        np.array([(0, 0, node, kind) for node, kind in starts]).reshape(-1, 4),
        np.array([(e.numeral, 0, e.node, e.point, e.comma) for e in ends]).reshape(-1, 5),
        np.array([(n, 0, node, token) for n, node, token in closings], dtype=int).reshape(-1, 4),
    )


def by_hand(
    tree: SpellingTree, costs: np.ndarray, closings: np.ndarray, kinds: np.ndarray
) -> tuple[list[float], float]:
    """log p of the tree's numerals, and of any: from log p of its nodes [K], closings and kinds."""

    def path(node: int) -> float:
        above = int(tree.parents[node])
        return 0.0 if above < 0 else path(above) + costs[node]

    totals = [0.0] * NUMERALS
    for end in tree.ends:
        goes_on = math.exp(kinds[DIGIT, end.node])
        for mark, kind in ((end.point, POINT_DIGIT), (end.comma, COMMA_DIGIT)):
            if mark >= 0:
                goes_on += math.exp(costs[mark] + kinds[DIGIT, mark])
                goes_on += math.exp(kinds[kind, end.node])
        totals[end.numeral] += math.exp(path(end.node)) * (1 - goes_on)
    for (numeral, node, _), value in zip(tree.closings, closings, strict=True):
        totals[numeral] += math.exp(path(node) + value)
    begins = sum(math.exp(path(node) + kinds[kind, node]) for node, kind in tree.starts)
    return [math.log(total) for total in totals], math.log(begins)


@pytest.mark.parametrize("seed", range(20))
def test_a_forest_adds_up_as_its_trees_do(seed: int) -> None:
    generator = np.random.default_rng(seed)
    trees = [random_tree(generator) for _ in range(6)]
    listed = [trees[index] for index in generator.integers(0, 6, size=40)]
    chosen = generator.integers(0, 40, size=15)  # in any order, some twice
    forest = Trees.of(listed).take(chosen).forest(NUMERALS)

    taken = [listed[index] for index in chosen]
    sizes = [len(tree.parents) for tree in taken]
    assert forest.nodes == sum(sizes)
    costs = generator.uniform(-6, -3, size=forest.nodes)
    closings = generator.uniform(-6, -3, size=sum(len(tree.closings) for tree in taken))
    kinds = generator.uniform(-6, -3, size=(len(KINDS), forest.nodes))
    values = torch.from_numpy(np.concatenate([costs[forest.below], closings]))
    placed = on_device(forest, CPU)
    sums = [torch.from_numpy(kinds[kind])[nodes] for kind, nodes in placed.requests()]
    found = spell_out(placed, values, sums, None)

    numerals, gates, node, closing = [], [], 0, 0
    for tree, size in zip(taken, sizes, strict=True):
        mine = slice(node, node + size)
        ended = closings[closing : closing + len(tree.closings)]
        own, begins = by_hand(tree, costs[mine], ended, kinds[:, mine])
        numerals += own
        gates.append(begins)
        node, closing = node + size, closing + len(tree.closings)
    np.testing.assert_allclose(found.numerals, numerals, rtol=1e-12)
    np.testing.assert_allclose(found.gates, gates, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_edges_are_the_steps_of_each_tree(seed: int) -> None:
    generator = np.random.default_rng(seed)
    trees = [random_tree(generator) for _ in range(8)]
    forest = Trees.of(trees).forest(NUMERALS)
    steps, closings, below, first = [], [], [], 0
    for tree in trees:
        for node in range(1, len(tree.parents)):
            below.append(first + node)
            steps.append((first + tree.parents[node], tree.tokens[node]))
        closings += [(first + node, token) for _, node, token in tree.closings]
        first += len(tree.parents)
    np.testing.assert_array_equal(forest.below, below)
    np.testing.assert_array_equal(forest.edges.T, [*steps, *closings])


def test_each_tree_is_packed_once() -> None:
    tree, other = (random_tree(np.random.default_rng(seed)) for seed in (1, 2))
    trees = Trees.of([tree, None, other, tree, None, tree])
    assert len(trees.nodes.rows) == len(tree.parents) + len(other.parents)
    expected = [len(each.parents) if each else 0 for each in (tree, None, other, tree, None, tree)]
    assert trees.nodes.counts(trees.which).tolist() == expected


def test_numerals_without_a_tree_have_no_place_in_the_forest() -> None:
    generator = np.random.default_rng(3)
    trees = [random_tree(generator) if index % 3 else None for index in range(12)]
    packed = Trees.of(trees)

    def batch(chosen: np.ndarray) -> DigitBatch | None:
        taken = [trees[index] for index in chosen]
        nodes = sum(len(tree.parents) for tree in taken if tree)
        closings = sum(len(tree.closings) for tree in taken if tree)
        details = NodeDetails(
            torch.zeros(nodes, 4),
            torch.zeros(nodes, MASSES),
            torch.zeros(nodes),
            torch.zeros(closings),
        )
        return DigitBatch.of(packed.take(chosen), details)

    found = batch(np.array([6, 7, 9, 2, 0, 7]))
    assert found is not None
    assert found.where.tolist() == [1, 3, 5]
    assert found.forest.places == 3
    assert found.forest.nodes == len(found.details.costs)
    assert batch(np.array([0, 3, 9])) is None
    assert batch(np.array([], dtype=np.int64)) is None
