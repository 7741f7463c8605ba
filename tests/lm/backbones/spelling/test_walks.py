"""The sum over spellings is the same however it is walked: all, best first, symbol by symbol."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from numerate.lm.backbones.spelling.best_first import Beside, CandidateTree, best_first
from numerate.lm.backbones.spelling.forest import Trees, on_device
from numerate.lm.backbones.spelling.numeral_tokens import KINDS, NumeralTokens
from numerate.lm.backbones.spelling.sums import spell_out
from numerate.lm.backbones.spelling.symbol_by_symbol import NumeralPieces, NumeralWriter
from numerate.lm.backbones.spelling.written import written_forms
from numerate.lm.data.numeral_table import END, SYMBOLS

TEXTS = [
    *"0123456789",
    *".,Ġx\n",
    "Ġ1",
    "Ġ7",
    "12",
    "00",
    "234",
    ".5",
    ",0",
    "5m",
    "2.",
    "Ġ12",
    "5,",
]
CANDIDATES = ["1", "7", "12", "5", "1.5", "2.5", "0.05", "120", "2000", "1234", "12345", "1200.5"]
ROOTS = np.array([0, 3, 7])  # places of a text


def numeral_tokens() -> NumeralTokens:
    vocabulary = {text: index for index, text in enumerate(TEXTS)}
    tokenizer: Any = SimpleNamespace(get_vocab=lambda: vocabulary, all_special_ids=[])
    return NumeralTokens(tokenizer, [])


class RandomModel:
    """A `Reader` that has a distribution of its own after every sequence of tokens."""

    def __init__(self, asked: np.ndarray) -> None:
        self.asked = asked
        self.paths: list[tuple[int, ...]] = []

    @property
    def count(self) -> int:
        return len(self.paths)

    def at(self, roots: np.ndarray) -> Tensor:
        return self._log_p([(root,) for root in roots.tolist()])

    def read(self, parents: Sequence[int], tokens: Sequence[int], roots: Sequence[int]) -> Tensor:
        first = len(self.paths)
        for parent, token, root in zip(parents, tokens, roots, strict=True):
            self.paths.append((*(self.paths[parent] if parent >= 0 else (root,)), token))
        return self._log_p(self.paths[first:])

    def _log_p(self, paths: list[tuple[int, ...]]) -> Tensor:
        rows = [np.random.default_rng(path).normal(0, 2, len(TEXTS)) for path in paths]
        return torch.tensor(np.array(rows)).log_softmax(1)[:, self.asked]


def summed(tokens: NumeralTokens, space: str) -> np.ndarray:
    """log p of every candidate given a numeral, all spellings at once: [n, C]."""
    tree = tokens.tree(space, tuple(map(written_forms, CANDIDATES)))
    forest = Trees.of([tree]).forest(len(CANDIDATES))
    size = len(tree.parents)
    log_p = []  # [n, K, V]
    for root in ROOTS:
        model = RandomModel(np.arange(len(TEXTS)))
        below = model.read((tree.parents[1:] - 1).tolist(), tree.tokens[1:], [root] * (size - 1))
        log_p.append(torch.cat([model.at(np.array([root])), below]))
    everywhere = torch.stack(log_p, dim=2)  # [K, V, n]
    placed = on_device(forest, torch.device("cpu"))
    values = everywhere[placed.edges[0], placed.edges[1]]
    sums = [
        everywhere[nodes][:, tokens.kinds[kind]].logsumexp(1) for kind, nodes in placed.requests()
    ]
    found = spell_out(placed, values, sums, None)
    return (found.numerals - found.gates).T.numpy()


@pytest.mark.parametrize("space", ["", " "])
@pytest.mark.parametrize("at_once", [1, 3, 1000])
def test_the_best_is_the_best_of_all(space: str, at_once: int) -> None:
    tokens = numeral_tokens()
    tree = CandidateTree(tokens, space, [written_forms(text) for text in CANDIDATES])
    table = summed(tokens, space)
    model = RandomModel(tree.asked)
    found = best_first(model, tree, ROOTS, at_once, None)
    np.testing.assert_array_equal(found, table.argmax(1))
    if at_once == 1:
        assert model.count < len(tree.parents) * len(ROOTS) / 2
    generator = np.random.default_rng(5)
    beside = Beside(generator.random(len(ROOTS)), generator.random(table.shape) / 3)
    together = beside.weight[:, None] * np.exp(table) + beside.others
    assert (together.argmax(1) != table.argmax(1)).any()
    found = best_first(RandomModel(tree.asked), tree, ROOTS, at_once, beside)
    np.testing.assert_array_equal(found, together.argmax(1))


@pytest.mark.parametrize("space", ["", " "])
def test_symbols_are_those_of_whole_numerals(space: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numerate.lm.backbones.spelling.symbol_by_symbol.NEGLIGIBLE", 0.0)
    tokens = numeral_tokens()
    pieces = NumeralPieces(tokens)
    table = summed(tokens, space)
    for root, expected in zip(ROOTS.tolist(), table, strict=True):
        writer = NumeralWriter(RandomModel(pieces.ids), pieces, root, space)
        for numeral, log_prob in zip(CANDIDATES, expected, strict=True):
            state, following = writer.start()
            total = 0.0
            for symbol in [SYMBOLS.index(mark) for mark in numeral]:
                total += following[symbol]
                (state,), (following,) = writer.write([state], [symbol])
            assert total + following[END] == pytest.approx(log_prob, abs=1e-9), (root, numeral)


def test_there_is_something_to_add_up() -> None:
    """Spellings of every kind: several tokens, marks that may go on, tokens that end with more."""
    tokens = numeral_tokens()
    tree = tokens.tree(" ", (("12",), ("2.5",), ("5",), ("1,234",)))
    assert len(tree.ends) > 8
    assert (
        {end.point >= 0 for end in tree.ends}
        == {end.comma >= 0 for end in tree.ends}
        == {True, False}
    )
    assert {TEXTS[token] for _, _, token in tree.closings} == {"5m", "5,"}
    assert all(len(tokens.kinds[kind]) for kind in range(len(KINDS)))
