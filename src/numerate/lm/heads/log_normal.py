"""A mixture of log-normals, all of whose parameters follow the context."""

from typing import ClassVar, Self

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from numerate.lm.heads.base import HeadOptions, TrainingNumerals
from numerate.lm.heads.log_line import LogGaussians, logarithms
from numerate.lm.heads.mixture_fit import fit_mixture
from numerate.lm.heads.number_line_head import LinearLawHead

LEAST_SD = 1e-3  # a thousandth of a number
LEAST_START = 0.05  # before anything is learnt


class LogNormalHead(LinearLawHead):
    """log-normal. Weights, means and spreads are linear in the state."""

    summary = (
        "First word or numeral, then a number of decimals and a place on the number line, from a "
        "mixture of log-normals that moves with the context: any numeral can be written."
    )
    style = ("orange", "--")
    parts: ClassVar[int] = 16

    def __init__(self, size: int) -> None:
        super().__init__(size, 3 * self.parts)

    @classmethod
    def fit(cls, data: TrainingNumerals, size: int, options: HeadOptions) -> Self:
        """Starts, in every context, as the mixture that all training numbers are fitted by."""
        head = cls(size)
        logs, counts = logarithms(data)
        if len(logs):
            found = fit_mixture(logs, counts, cls.parts)
            spreads = np.log(np.expm1(np.maximum(found.sds, LEAST_START)))
            start = np.concatenate([np.log(found.weights), found.means, spreads])
            with torch.no_grad():
                head.linear.bias.copy_(torch.from_numpy(start))
        return head

    def law(self, hidden: Tensor) -> LogGaussians:
        scores, means, spreads = self.scores(hidden).chunk(3, dim=-1)
        return LogGaussians(F.log_softmax(scores, -1), means, F.softplus(spreads) + LEAST_SD)
