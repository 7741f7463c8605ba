"""One number predicted from the state, and how far off it may be."""

import math
from dataclasses import dataclass
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor

from numerate.lm.heads.base import HeadOptions, TrainingNumerals
from numerate.lm.heads.log_line import LogLine, log_moments
from numerate.lm.heads.number_line_head import LinearLawHead

LEAST_SCALE = 1e-3


@dataclass(frozen=True, eq=False)
class LogLaplace(LogLine):
    """With `z = |m - μ|/b` and `w = h/b`, the mass of `m ± h` is

    z ≥ w    exp(-z) · sinh(w)
    z < w    1 - exp(-w) · cosh(z)
    """

    location: Tensor  # [...]
    scale: Tensor  # [...]

    def log_between(self, middle: Tensor, half: Tensor) -> Tensor:
        z, w = (middle - self.location).abs() / self.scale, half / self.scale
        beside = w - z + (-torch.expm1(-2 * w)).log() - math.log(2.0)
        inner = torch.minimum(z, w)  # as other values are not used
        around = -torch.expm1(-w) - 2 * torch.exp(-w) * torch.sinh(inner / 2).square()
        is_beside = z >= w
        return torch.where(is_beside, beside, torch.where(is_beside, 1.0, around).log())

    def log_below(self, edge: Tensor) -> Tensor:
        t = (edge - self.location) / self.scale
        upper = torch.log1p(-0.5 * torch.exp(-t.clamp(min=0.0)))
        return torch.where(t < 0, t - math.log(2.0), upper)


class RegressionHead(LinearLawHead):
    """regression. The logarithm of a number is Laplace, with a place and a scale of the context."""

    summary = (
        "First word or numeral, then a number of decimals and one number with an error around it, "
        "both from the context: any numeral can be written."
    )
    style = ("amber", "-")

    def __init__(self, size: int) -> None:
        super().__init__(size, 2)

    @classmethod
    def fit(cls, data: TrainingNumerals, size: int, options: HeadOptions) -> Self:
        head = cls(size)
        mean, deviation = log_moments(data)
        scale = deviation / math.sqrt(2.0)
        with torch.no_grad():
            head.linear.bias.copy_(torch.tensor([mean, math.log(math.expm1(scale))]))
        return head

    def law(self, hidden: Tensor) -> LogLaplace:
        found = self.scores(hidden)
        return LogLaplace(found[..., 0], F.softplus(found[..., 1]) + LEAST_SCALE)
