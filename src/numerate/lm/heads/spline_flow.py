"""A normalising flow: a rising curve takes the logarithm of a number to a logistic variable.

The curve is a spline of rational quadratics (Durkan et al., 2019) with straight ends. A piece of
slope `s` on the whole, `δ` and `δ'` at its ends, rises between ξ₁ and ξ₂, parts of its width, by

    length · s² · [δ' ξ₁ξ₂ + δ (1-ξ₁)(1-ξ₂) + s (ξ₁(1-ξ₂) + ξ₂(1-ξ₁))] / (D(ξ₁) D(ξ₂))
    D(ξ) = s + (δ + δ' - 2s) ξ(1-ξ)

in which no term is negative: the rise over a cell is exact however narrow the cell is. With z the
curve at the ends of the cell and σ the logistic function, its mass is

    σ(z₂) · σ(-z₁) · (1 - exp(z₁ - z₂))
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import torch
import torch.nn.functional as F
from torch import Tensor

from numerate.lm.heads.base import Config, HeadOptions, TrainingNumerals
from numerate.lm.heads.log_line import LogLine, log_moments
from numerate.lm.heads.number_line_head import LinearLawHead

PIECES = 8
BOUND = 8.0  # the ends are straight beyond it
LEAST_PART = 0.01  # of the bound, for each piece
LEAST_SLOPE = 1e-3


@dataclass(frozen=True, eq=False)
class SplineFlow(LogLine):
    """An affine map, the spline, and the logistic distribution."""

    location: Tensor  # [...]
    scale: Tensor  # [...]
    knots: Tensor  # [..., PIECES + 1] from -BOUND to BOUND
    heights: Tensor  # [..., PIECES + 1] likewise: what the spline makes of the knots
    slopes: Tensor  # [..., PIECES + 1] there

    def log_between(self, middle: Tensor, half: Tensor) -> Tensor:
        centre, half = (middle - self.location) / self.scale, half / self.scale
        low, high = self.curve(centre - half), self.curve(centre + half)
        apart = (-torch.expm1(-self._rise(centre, half))).log()
        return F.logsigmoid(high) + F.logsigmoid(-low) + apart

    def log_below(self, edge: Tensor) -> Tensor:
        return F.logsigmoid(self.curve((edge - self.location) / self.scale))

    def curve(self, x: Tensor) -> Tensor:
        """What the spline makes of numbers that the affine map has moved."""
        part, steep, start, end = self._parts(x), *self._slopes()
        q = part * (1 - part)
        rise = (steep * part.square() + start * q) / (steep + (start + end - 2 * steep) * q)
        pieces = (rise * self.heights.diff(dim=-1)).sum(-1)
        before = (self.knots[..., 0] - x).clamp(min=0) * self.slopes[..., 0]
        after = (x - self.knots[..., -1]).clamp(min=0) * self.slopes[..., -1]
        return self.heights[..., 0] - before + pieces + after

    def _rise(self, centre: Tensor, half: Tensor) -> Tensor:
        """Of the curve over `centre ± half`."""
        length = 2 * half
        apart = (self.knots - centre[..., None]) + half[..., None]
        below = torch.minimum(apart.clamp(min=0), length[..., None])  # of the cell, to each knot
        steep, start, end = self._slopes()
        a, b = self._parts(centre - half), self._parts(centre + half)
        bends = start + end - 2 * steep
        under = (steep + bends * a * (1 - a)) * (steep + bends * b * (1 - b))
        mixed = end * a * b + start * (1 - a) * (1 - b) + steep * (a * (1 - b) + b * (1 - a))
        pieces = (below.diff(dim=-1) * steep.square() * mixed / under).sum(-1)
        before = below[..., 0] * self.slopes[..., 0]
        return before + pieces + (length - below[..., -1]) * self.slopes[..., -1]

    def _parts(self, x: Tensor) -> Tensor:
        """How much of each piece lies before x, 0 to 1: [..., PIECES]."""
        return ((x[..., None] - self.knots[..., :-1]) / self.knots.diff(dim=-1)).clamp(0.0, 1.0)

    def _slopes(self) -> tuple[Tensor, Tensor, Tensor]:
        """Of each piece on the whole, where it starts, where it ends."""
        whole = self.heights.diff(dim=-1) / self.knots.diff(dim=-1)
        return whole, self.slopes[..., :-1], self.slopes[..., 1:]


class FlowHead(LinearLawHead):
    """flow. All of the curve is linear in the state, but for what keeps it rising."""

    summary = (
        "First word or numeral, then a number of decimals and a place on the number line, from a "
        "curve that the context bends: any numeral can be written."
    )
    style = ("amber", "--")
    parts: ClassVar[int] = 2 * PIECES

    def __init__(self, size: int, mean: float = 0.0, deviation: float = 1.0) -> None:
        super().__init__(size, 2 + 3 * PIECES + 1)
        self.mean, self.deviation = mean, deviation  # of logarithms: the scale of all parameters

    @classmethod
    def fit(cls, data: TrainingNumerals, size: int, options: HeadOptions) -> Self:
        """Starts as the log-logistic distribution with the moments of all training numbers."""
        return cls(size, *log_moments(data))

    def config(self) -> Config:
        return {"mean": self.mean, "deviation": self.deviation}

    def law(self, hidden: Tensor) -> SplineFlow:
        sizes = [1, 1, PIECES, PIECES, PIECES + 1]
        place, spread, widths, heights, slopes = torch.split(self.scores(hidden), sizes, -1)
        logistic = self.deviation * math.sqrt(3.0) / math.pi
        return SplineFlow(
            self.mean + self.deviation * place[..., 0],
            logistic * (_rising(spread[..., 0]) + LEAST_SLOPE),
            _borders(widths),
            _borders(heights),
            _rising(slopes) + LEAST_SLOPE,
        )


def _rising(scores: Tensor) -> Tensor:
    """Positive, and 1 at 0."""
    return F.softplus(scores + math.log(math.expm1(1.0)))


def _borders(scores: Tensor) -> Tensor:
    """From -BOUND to BOUND, apart by shares of a softmax: [..., PIECES] → [..., PIECES + 1]."""
    shares = LEAST_PART + (1 - LEAST_PART * PIECES) * torch.softmax(scores, -1)
    inner = 2 * BOUND * shares.cumsum(-1)[..., :-1] - BOUND
    return F.pad(F.pad(inner, (1, 0), value=-BOUND), (0, 1), value=BOUND)
