"""Numbers are log-logistic: their logarithm is logistic, with a place and a spread of the context.

A numeral of precision r stands for the interval `v ± ε`, `ε = 0.5·10^-r`, cut off at 0, so that the
numerals of a precision share all of its probability. With `σ` the logistic function,
`a = β (log(v - ε) - log α)` and `b = β (log(v + ε) - log α)`, the mass of an interval is

    σ(b) - σ(a) = σ(b) · σ(-a) · (1 - exp(a - b))

whose right side is a sum of logarithms in which nothing cancels and nothing underflows.
"""

import math
from typing import Self

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from numerate.lm.data.numeral_table import NumeralBatch, NumeralTable
from numerate.lm.heads.base import Context, HeadOptions, NumeralHead, TrainingNumerals

PRECISIONS = 6  # decimals with a probability of their own: 0 to 5; each one more halves the rest
LEAST_SHAPE = 0.01


def log_interval_mass(
    value: Tensor, half_width: Tensor, log_scale: Tensor, shape: Tensor
) -> Tensor:
    """log p(value ± half_width) under a log-logistic distribution, in float64; broadcasts."""
    is_zero = value == 0
    u = half_width / torch.where(is_zero, 2 * half_width, value)  # at most 1/2, so all is finite
    centre = torch.where(is_zero, half_width, value).log() - log_scale
    below, above = centre + torch.log1p(-u), centre + torch.log1p(u)
    width = shape * (torch.log1p(u) - torch.log1p(-u))  # b - a
    inside = (
        F.logsigmoid(shape * above) + F.logsigmoid(-shape * below) + (-torch.expm1(-width)).log()
    )
    return torch.where(is_zero, F.logsigmoid(shape * centre), inside)


class LogLogisticHead(NumeralHead):
    """First a number of decimals, then a place on the positive number line."""

    summary = (
        "First word or numeral, then a number of decimals and a log-logistic place on the number "
        "line: any numeral can be written."
    )

    def __init__(self, size: int) -> None:
        super().__init__()
        self.project = nn.Linear(size, 2 + PRECISIONS + 1)

    @classmethod
    def fit(cls, data: TrainingNumerals, size: int, options: HeadOptions) -> Self:
        """Start from the distribution of all training numbers, whatever the context."""
        head = cls(size)
        values, counts = data.numbers()
        positive = values > 0
        logs, counts = np.log(values[positive]), counts[positive]
        if len(logs):
            mean = np.average(logs, weights=counts)
            spread = (
                math.sqrt(np.average((logs - mean) ** 2, weights=counts)) * math.sqrt(3) / math.pi
            )
            shape = 1 / max(spread, 0.05)
            places = np.minimum(data.table.precisions, PRECISIONS)
            often = np.bincount(places, data.counts, minlength=PRECISIONS + 1) + 1
            start = [mean, math.log(math.expm1(shape)), *np.log(often / often.sum())]
            with torch.no_grad():
                head.project.bias.copy_(torch.tensor(start))
        return head

    def log_prob(self, context: Context, numerals: NumeralBatch) -> Tensor:
        log_scale, shape, precisions = self._laws(context)
        values, half_widths = numerals.table.intervals()
        mass = log_interval_mass(
            values[numerals.rows], half_widths[numerals.rows], log_scale, shape
        )
        chosen = numerals.precisions.clamp(max=PRECISIONS)[:, None]
        return mass + precisions.gather(1, chosen)[:, 0] + _beyond(numerals.precisions)

    def log_prob_table(self, context: Context, candidates: NumeralTable) -> Tensor:
        log_scale, shape, precisions = self._laws(context)
        values, half_widths = candidates.to(context.hidden.device).intervals()
        mass = log_interval_mass(values, half_widths, log_scale[:, None], shape[:, None])  # [N, C]
        decimals = candidates.on_device("precisions")
        return mass + precisions[:, decimals.clamp(max=PRECISIONS)] + _beyond(decimals)

    def _laws(self, context: Context) -> tuple[Tensor, Tensor, Tensor]:
        """log α [N], β [N] and log p of each precision [N, PRECISIONS + 1], in float64."""
        with torch.autocast(context.hidden.device.type, enabled=False):
            found = self.project(context.hidden.to(self.project.weight.dtype)).double()
        return (
            found[:, 0],
            F.softplus(found[:, 1]) + LEAST_SHAPE,
            F.log_softmax(found[:, 2:], dim=1),
        )


def _beyond(precisions: Tensor) -> Tensor:
    """Of the probability of many decimals the fewest have a half, one more a quarter, and so on."""
    return -math.log(2) * (precisions - PRECISIONS + 1).clamp(min=0)
