"""A power of ten, and a Gaussian mantissa that knows it."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from numerate.lm.heads.base import HeadOptions, TrainingNumerals
from numerate.lm.heads.decades import DECADES, DecadeHead, DecadeLaw, decade_counts, pick
from numerate.lm.heads.interval_mass import log_interval_mass
from numerate.numeral import MAX_DIGITS

LEAST_SD = 1e-3
LEAST_START = 0.5  # before anything is learnt


@dataclass(frozen=True, eq=False)
class GaussianMantissas(DecadeLaw):
    """Gaussians cut to the mantissas that there are, 1 to 10."""

    log_chances: Tensor  # [..., 1 + DECADES]
    powers: Tensor  # [DECADES]
    means: Tensor  # [..., DECADES]
    sds: Tensor  # [DECADES]

    def log_mantissa(self, decade: Tensor, middle: Tensor, half: Tensor) -> Tensor:
        mean, sd = pick(self.means, decade), pick(self.sds, decade)
        whole = torch.full_like(mean, 5.5), torch.full_like(mean, 4.5)
        inside = log_interval_mass(middle, half, mean, sd)
        return inside - log_interval_mass(*whole, mean, sd)


class DExpHead(DecadeHead):
    """dexp. Powers of ten and the means of mantissas are linear in the state."""

    summary = (
        "First word or numeral, then a number of decimals, a power of ten and a mantissa: any "
        "numeral can be written."
    )
    style = ("sky", "-")

    def __init__(self, size: int) -> None:
        super().__init__(size, scores=1 + 2 * DECADES)
        self.spreads = nn.Parameter(torch.zeros(DECADES))

    @classmethod
    def fit(cls, data: TrainingNumerals, size: int, options: HeadOptions) -> Self:
        """Starts, in every context, as what all training numbers have in common."""
        head = cls(size)
        often, classes = decade_counts(data)
        values, counts = data.numbers()
        means, sds = np.full(DECADES, 5.5), np.full(DECADES, 2.5)
        for decade in set(classes[classes > 0] - 1):
            some = classes == decade + 1
            mantissas = values[some] / 10.0 ** float(decade - MAX_DIGITS)
            means[decade] = np.average(mantissas, weights=counts[some])
            sds[decade] = np.average((mantissas - means[decade]) ** 2, weights=counts[some]) ** 0.5
        start = np.concatenate([np.log(often / often.sum()), means])
        with torch.no_grad():
            head.linear.bias.copy_(torch.from_numpy(start))
            head.spreads.copy_(torch.from_numpy(np.log(np.expm1(np.maximum(sds, LEAST_START)))))
        return head

    def law(self, hidden: Tensor) -> GaussianMantissas:
        scores, means = torch.split(self.scores(hidden), [1 + DECADES, DECADES], -1)
        sds = F.softplus(self.spreads.double()) + LEAST_SD
        return GaussianMantissas(F.log_softmax(scores, -1), self.powers, means, sds)
