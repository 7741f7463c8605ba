"""Attention from states to the numbers in view, which `copy` and `compute` share."""

from typing import Self

import numpy as np
import torch
from torch import Tensor, nn

from numerate.errors import NumerateError
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.data.sight.features import FEATURES
from numerate.lm.data.sight.view import View
from numerate.lm.heads.base import Context, HeadOptions, NumeralHead, TrainingNumerals

KEY_SIZE = 64  # at most
REACH = 12.0
"""Scores are within so much of zero, so that e to their power is no large number and no zero, and
numbers differ by at most a factor of e²⁴."""


class NumberAttention(nn.Module):
    """H scores of every number in view: what its vector has to do with the state, and how it
    stands to what was just written; `by_state`, that weighs more or less in different states."""

    def __init__(self, size: int, heads: int, *, by_state: bool) -> None:
        super().__init__()
        self.heads, self.key_size = heads, min(KEY_SIZE, size)
        self.queries = nn.Linear(size, heads * self.key_size)
        self.keys = nn.Linear(size, self.key_size)
        self.weigh = nn.Linear(FEATURES, heads, bias=False)
        self.weigh_by_state = nn.Linear(size, heads * FEATURES) if by_state else None
        nn.init.zeros_(self.weigh.weight)
        if self.weigh_by_state is not None:
            nn.init.zeros_(self.weigh_by_state.weight)
            nn.init.zeros_(self.weigh_by_state.bias)

    def forward(self, hidden: Tensor, view: View) -> Tensor:  # [P, H]
        queries = self.queries(hidden).view(-1, self.heads, self.key_size)
        keys = self.keys(view.vectors.to(hidden.dtype))
        scores = view.scorer.products(view, queries, keys) / self.key_size**0.5
        scores = scores + self.weigh(view.features)
        if self.weigh_by_state is not None:
            weights = self.weigh_by_state(hidden).view(-1, self.heads, FEATURES)
            scores = scores + (view.for_pairs(weights) * view.features[:, None]).sum(2)
        return REACH * torch.tanh(scores / REACH)


class SightHead(NumeralHead):
    """A head that knows nothing but what is in view, so that it can only be a member."""

    open_vocabulary = False
    drawn = False
    needs_sight = True

    @classmethod
    def fit(cls, data: TrainingNumerals, size: int, options: HeadOptions) -> Self:
        name = cls.__name__.removesuffix("Head").lower()
        raise NumerateError(
            f"head {name!r}: it knows no numeral but those in view and what follows from them; "
            "expected it among the members of a combination (--model grounded)"
        )

    @classmethod
    def fit_member(cls, data: TrainingNumerals, size: int, options: HeadOptions) -> Self:
        return cls(size)

    def knows(self, numerals: NumeralTable) -> np.ndarray:
        """By itself, none: what it knows depends on the place."""
        return np.zeros(len(numerals), dtype=np.bool_)


def seen(context: Context) -> View:
    """The numbers in view; there may be none, but who asks must be given a sight."""
    if context.sight is None:
        raise ValueError("context: got no numbers in view, which this head knows alone")
    return context.sight.laid_out()


def safe_log(numbers: Tensor) -> Tensor:
    """The logarithm, −inf of zero, without a gradient there."""
    there = numbers > 0
    return torch.where(there, torch.where(there, numbers, 1.0).log(), -torch.inf)
