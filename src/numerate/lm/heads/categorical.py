"""Log-probabilities of a softmax over a linear map, block by block.

A full matrix of scores for every position of a batch is the largest thing a language
model makes. Only the probability of the target is wanted, so scores are made for a block
of rows at a time, used, and forgotten; the backward pass makes them again. That is faster
than memory traffic for the whole matrix, and bounds memory whatever the batch.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

BLOCK_SCORES = {"cpu": 1 << 19}  # scores held at once
DEFAULT_BLOCK_SCORES = 1 << 26  # on other devices, where a launch costs more than a block


def linear_log_prob(hidden: Tensor, weight: Tensor, targets: Tensor) -> Tensor:
    """log softmax(hidden · weightᵀ)[target]: [N, D], [V, D], [N] → [N].

    In the dtype of the weights, also where the network runs in mixed precision.
    """
    with torch.autocast(hidden.device.type, enabled=False):
        hidden = hidden.to(weight.dtype)
        if hidden.shape[0] * weight.shape[0] <= _block_scores(hidden):
            return -F.cross_entropy(hidden @ weight.T, targets, reduction="none")
        result: Tensor = _LinearLogProb.apply(hidden, weight, targets)  # type: ignore[no-untyped-call]
        return result


def _block_scores(hidden: Tensor) -> int:
    return BLOCK_SCORES.get(hidden.device.type, DEFAULT_BLOCK_SCORES)


class _LinearLogProb(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, targets: Tensor) -> Tensor:
        normaliser = hidden.new_empty(hidden.shape[0])  # [N]
        chosen = hidden.new_empty(hidden.shape[0])  # [N]
        for rows in _blocks(hidden, weight):
            scores = hidden[rows] @ weight.T  # [n, V]
            torch.logsumexp(scores, 1, out=normaliser[rows])
            chosen[rows] = scores.gather(1, targets[rows, None])[:, 0]
        ctx.save_for_backward(hidden, weight, targets, normaliser)
        return chosen - normaliser

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        (gradient,) = gradients
        hidden, weight, targets, normaliser = ctx.saved_tensors
        hidden_gradient = torch.empty_like(hidden)
        weight_gradient = torch.zeros_like(weight)
        for rows in _blocks(hidden, weight):
            scores = hidden[rows] @ weight.T  # [n, V]
            # d log p / d score = [target] - softmax
            scores.sub_(normaliser[rows, None]).exp_().mul_(-gradient[rows, None])
            scores.scatter_add_(1, targets[rows, None], gradient[rows, None])
            torch.mm(scores, weight, out=hidden_gradient[rows])
            weight_gradient.addmm_(scores.T, hidden[rows])
        return hidden_gradient, weight_gradient, None


def _blocks(hidden: Tensor, weight: Tensor) -> list[slice]:
    size = max(1, _block_scores(hidden) // weight.shape[0])
    count = hidden.shape[0]
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]
