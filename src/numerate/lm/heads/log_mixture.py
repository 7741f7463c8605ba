"""The mixture of Gaussians of the paper, on the logarithm of the number line."""

from typing import Self

import torch
from torch import Tensor

from numerate.lm.heads.base import HeadOptions, TrainingNumerals
from numerate.lm.heads.interval_mass import BLOCK
from numerate.lm.heads.log_line import LogGaussians, logarithms
from numerate.lm.heads.mixture import FixedMixtureHead
from numerate.lm.heads.mixture_fit import fit_granularities

SHIFT = 0.01
"""Numbers well below it are told apart by their difference, those above by their ratio."""

VARIANCE_FLOOR = 1e-9
"""Of logarithms: integers of four digits can have a component of their own."""


class LogMixtureHead(FixedMixtureHead):
    """log-mog. Components are fitted to log(x + 0.01); weights follow the context."""

    summary = (
        "First word or numeral, then a number of decimals and a place on the logarithm of the "
        "number line, from a mixture of Gaussians: any numeral can be written."
    )
    style = ("orange", ":")

    @classmethod
    def fit(cls, data: TrainingNumerals, size: int, options: HeadOptions) -> Self:
        components = fit_granularities(*logarithms(data, SHIFT), floor=VARIANCE_FLOOR)
        return cls(size, components)

    def law(self, hidden: Tensor) -> LogGaussians:
        return LogGaussians(self.log_weights(hidden), self.means, self.sds, SHIFT)

    def masses_by_component(self, centre: Tensor, half_width: Tensor) -> Tensor:
        apart = self.means.new_zeros(1)  # log 1, of each component by itself
        law = LogGaussians(apart, self.means[:, None], self.sds[:, None], SHIFT)
        rows = max(1, BLOCK // len(self.means))
        cells = (centre[:, None], half_width[:, None])
        blocks = zip(*(torch.split(part, rows) for part in cells), strict=True)
        return torch.cat([law.log_mass(*block) for block in blocks])
