"""Arrays of a split's store that not every head needs: of numbers in view, of spelling trees."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from numerate.lm.backbones.pretrained.language_model import ParagraphScores
from numerate.lm.backbones.pretrained.layout import NOTHING
from numerate.lm.backbones.pretrained.mapped import put
from numerate.lm.backbones.spelling.forest import Trees
from numerate.lm.backbones.spelling.numeral_tokens import SpellingTree
from numerate.lm.backbones.spelling.token_classes import MASSES
from numerate.lm.data.packing import move
from numerate.lm.heads.digit_adapter import DigitBatch, NodeDetails
from numerate.text.ragged import ranges

if TYPE_CHECKING:
    from numerate.lm.backbones.pretrained.store import SplitStore

LAID_OUT = 256  # paragraphs at a time, where only trees are asked for


class NumberStore:
    """States after the numbers in view of a split's paragraphs: those of tables once a prefix."""

    def __init__(self, split: "SplitStore") -> None:
        distinct = [None] if split.prefixes is None else split.prefixes.distinct
        count = len(split.paragraphs)
        self._which = np.zeros(count, np.int64) if split.prefixes is None else split.prefixes.which
        seen = [NOTHING if prefix is None else prefix.seen for prefix in distinct]
        self._starts = np.cumsum([0, *map(len, seen)])
        self._seen = np.concatenate(seen).astype(np.bool_)
        self._numeral_starts = split.numeral_starts
        size = split.store.model.scorer.number_size
        # An empty file cannot be mapped.
        tables, own = max(1, int(self._starts[-1])), max(1, len(split.numerals))
        self.of_tables = split.array("table-states", np.float16, (tables, size))
        self.own = split.array("after-states", np.float16, (own, size))
        self.arrays = [self.of_tables, self.own]

    def put(self, paragraph: int, numerals: slice, score: ParagraphScores) -> None:
        which = self._which[paragraph]
        tables = slice(*self._starts[which : which + 2])
        states = score.number_states
        put(self.of_tables, tables, states[: tables.stop - tables.start])
        put(self.own, numerals, states[tables.stop - tables.start :])

    def gather(self, paragraphs: np.ndarray, tables: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of the numbers in view of some paragraphs, the states after each, [E, R], and which were
        read, [E]: of each paragraph so many of its `tables`, then its own."""
        which = self._which[paragraphs]
        own = np.diff(self._numeral_starts)[paragraphs]
        counts = np.stack([tables, own], axis=1).reshape(-1)
        ends = np.cumsum(counts)
        begins = np.stack([self._starts[which], self._numeral_starts[paragraphs]], axis=1)
        in_table = np.repeat(np.tile([True, False], len(paragraphs)), counts)
        rows = np.repeat(begins.reshape(-1) - (ends - counts), counts) + np.arange(len(in_table))
        states = np.empty((len(rows), self.own.shape[1]), dtype=np.float16)
        states[in_table] = self.of_tables[rows[in_table]]
        states[~in_table] = self.own[rows[~in_table]]
        seen = np.ones(len(rows), dtype=np.bool_)
        seen[in_table] = self._seen[rows[in_table]]
        return states, seen


class DetailStore:
    """What adapting digits needs of a split beside its scores: what is said at spelling trees.

    The nodes of every numeral's tree are stored, one tree after another: states, masses, costs.
    The trees themselves are not stored: planning the text gives the same ones again.
    """

    def __init__(self, split: "SplitStore") -> None:
        self.trees = Trees.of(self._planned(split))
        self.starts = np.cumsum([0, *self.trees.nodes.counts(self.trees.which)])
        self.closing_starts = np.cumsum([0, *self.trees.closings.counts(self.trees.which)])
        count, size = int(self.starts[-1]), split.states.shape[1]
        self.states = split.array("node-states", np.float16, (count, size))
        self.masses = split.array("node-masses", np.float32, (count, MASSES))
        self.costs = split.array("node-costs", np.float32, (count,))
        closings = max(1, int(self.closing_starts[-1]))  # an empty file cannot be mapped
        self.closings = split.array("node-closings", np.float32, (closings,))
        self.done = split.array("node-done", np.bool_, (len(split.paragraphs),))
        self.arrays = [self.states, self.masses, self.costs, self.closings]

    @staticmethod
    def _planned(split: "SplitStore") -> Iterator[SpellingTree | None]:
        count = len(split.paragraphs)
        for begin in range(0, count, LAID_OUT):
            for laid_out in split.layouts.of(range(begin, min(begin + LAID_OUT, count))):
                yield from laid_out.trees

    def put(self, numerals: slice, score: ParagraphScores) -> None:
        nodes = slice(self.starts[numerals.start], self.starts[numerals.stop])
        closings = slice(self.closing_starts[numerals.start], self.closing_starts[numerals.stop])
        if nodes.start < nodes.stop:
            put(self.states, nodes, score.node_states)
            put(self.masses, nodes, score.node_masses)
            put(self.costs, nodes, score.node_costs)
            put(self.closings, closings, score.node_closings)

    def gather(self, numerals: np.ndarray, device: torch.device) -> DigitBatch | None:
        """The trees of some numerals, and what the model says at their nodes."""
        nodes = ranges(self.starts[numerals], self.starts[numerals + 1])
        closings = ranges(self.closing_starts[numerals], self.closing_starts[numerals + 1])

        def tensor(array: np.ndarray, rows: np.ndarray, dtype: torch.dtype) -> Tensor:
            return move(array[rows], device).to(dtype)

        details = NodeDetails(
            tensor(self.states, nodes, torch.float32),
            tensor(self.masses, nodes, torch.float64),
            tensor(self.costs, nodes, torch.float64),
            tensor(self.closings, closings, torch.float64),
        )
        return DigitBatch.of(self.trees.take(numerals), details)
