"""Attention from states to the numbers in view, which `copy` and `compute` share."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from numerate.heads.base import Context
from numerate.sight.view import FEATURES, View

KEY_SIZE = 64  # at most
REACH = 12.0
"""Scores are within so much of zero: a number's odds differ from another's by at most e²⁴."""


class NumberAttention(nn.Module):
    """H scores of every number in view: what its vector has to do with the state, and how it
    stands to what was just written, which weighs more or less in different states."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads, self.key_size = heads, min(KEY_SIZE, size)
        self.queries = nn.Linear(size, heads * self.key_size)
        self.keys = nn.Linear(size, self.key_size)
        self.weigh = nn.Linear(size, heads * FEATURES)
        nn.init.zeros_(self.weigh.weight)
        nn.init.zeros_(self.weigh.bias)

    def forward(self, hidden: Tensor, view: View) -> Tensor:  # [N, H, M]
        queries = self.queries(hidden).view(-1, self.heads, self.key_size)
        scores = view.attend(queries, self.keys(view.vectors)) / self.key_size**0.5
        weights = self.weigh(hidden).view(-1, self.heads, FEATURES)
        scores = scores + torch.bmm(weights, view.features.transpose(1, 2))
        return REACH * torch.tanh(scores / REACH)


def seen(context: Context) -> View:
    """The numbers in view; there may be none, but who asks must be given a sight."""
    if context.sight is None:
        raise ValueError("context: got no numbers in view, which this head knows alone")
    return context.sight.laid_out()


def masked_logsumexp(scores: Tensor, mask: Tensor) -> Tensor:
    """Over all but the first dimension, −inf where nothing is left, without a gradient there."""
    flat = scores.masked_fill(~mask, -torch.inf).flatten(1)
    there = mask.flatten(1).any(1)
    found = torch.where(there[:, None], flat, 0.0).logsumexp(1)
    return torch.where(there, found, -torch.inf)


def in_full(function: Callable[[], Tensor], device: torch.device) -> Tensor:
    """In whole floats, also where the network runs in mixed precision."""
    with torch.autocast(device.type, enabled=False):
        return function()
