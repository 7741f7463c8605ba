"""Powers of ten, and a histogram of the mantissas in each."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from numerate.lm.heads.base import HeadOptions, TrainingNumerals
from numerate.lm.heads.decades import DECADES, DecadeHead, DecadeLaw, decade_counts


@dataclass(frozen=True, eq=False)
class Histograms(DecadeLaw):
    """Mantissas of a decade are drawn from parts of equal width, in each of which all are alike."""

    log_chances: Tensor  # [..., 1 + DECADES]
    powers: Tensor  # [DECADES]
    log_shares: Tensor  # [DECADES, parts] of the mantissas of a decade

    def log_mantissa(self, decade: Tensor, middle: Tensor, half: Tensor) -> Tensor:
        parts = self.log_shares.shape[-1]
        inner = torch.linspace(1, 10, parts + 1, dtype=torch.float64, device=middle.device)[1:-1]
        length = 2 * half[..., None]
        below = ((inner - middle[..., None]) + half[..., None]).clamp(min=0)  # to each border
        below = torch.minimum(below, length)
        ends = torch.cat([torch.zeros_like(length), below, length], dim=-1)
        lengths = ends.diff(dim=-1)  # of the cell, in each part
        within = torch.where(lengths > 0, lengths, 1.0).log() - np.log(9 / parts)
        shares = self.log_shares.index_select(0, decade.flatten()).view(*decade.shape, parts)
        found = shares + within
        return torch.logsumexp(torch.where(lengths > 0, found, -torch.inf), -1)


class BinsHead(DecadeHead):
    """bins. All numbers of a power of ten are alike."""

    summary = (
        "First word or numeral, then a number of decimals and a power of ten, all of whose numbers "
        "are alike: any numeral can be written."
    )
    style = ("sky", ":")
    histogram: ClassVar[int] = 1  # parts of a decade

    @classmethod
    def fit(cls, data: TrainingNumerals, size: int, options: HeadOptions) -> Self:
        """Starts as often as each power of ten occurs."""
        head = cls(size)
        often, _ = decade_counts(data)
        with torch.no_grad():
            head.linear.bias.copy_(torch.from_numpy(np.log(often / often.sum())))
        return head

    def law(self, hidden: Tensor) -> Histograms:
        log_chances = F.log_softmax(self.scores(hidden), -1)
        return Histograms(log_chances, self.powers, F.log_softmax(self.shares(), -1))

    def shares(self) -> Tensor:
        """Scores of the parts of each decade: [DECADES, parts] float64."""
        return self.powers.new_zeros(DECADES, self.histogram)


class LearnedBinsHead(BinsHead):
    """learned-bins. Which of its numbers are usual is learnt of each power of ten."""

    summary = (
        "First word or numeral, then a number of decimals, a power of ten, and a part of it that "
        "is usual in the training data: any numeral can be written."
    )
    style = ("sky", "--")
    histogram = 90  # the first two digits

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.usual = nn.Parameter(torch.zeros(DECADES, self.histogram))

    def shares(self) -> Tensor:
        return self.usual.double()
