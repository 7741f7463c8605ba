"""What adapting a language model's digits needs of a split, on disk beside its scores."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from numerate.heads.digit_adapter import DigitBatch, NodeDetails
from numerate.packing import move, ranges
from numerate.pretrained.language_model import ParagraphScores
from numerate.pretrained.mapped import put
from numerate.spelling.forest import Trees
from numerate.spelling.numeral_tokens import SpellingTree
from numerate.spelling.token_classes import MASSES

if TYPE_CHECKING:
    from numerate.pretrained.store import SplitStore

PARAGRAPHS = 256  # laid out at a time


def as_half(states: np.ndarray) -> np.ndarray:
    """Fit for float16: what is beyond its range is as large as it can be, not infinite."""
    largest = float(np.finfo(np.float16).max)
    return states.clip(-largest, largest)


class DetailStore:
    """The nodes of every numeral's tree, one tree after another: states, masses, costs.

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
        for begin in range(0, count, PARAGRAPHS):
            for laid_out in split.layouts.of(range(begin, min(begin + PARAGRAPHS, count))):
                yield from laid_out.trees

    def put(self, numerals: slice, score: ParagraphScores) -> None:
        nodes = slice(self.starts[numerals.start], self.starts[numerals.stop])
        closings = slice(self.closing_starts[numerals.start], self.closing_starts[numerals.stop])
        if nodes.start < nodes.stop:
            put(self.states, nodes, as_half(score.node_states))
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
