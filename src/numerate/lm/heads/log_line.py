"""The logarithm of the number line, where laws of magnitudes live.

A number x lies at `y = log(x + s)`; s = 0 unless told. The cell `v ± ε` of a numeral becomes
`m ± h`, with `u = ε / (v + s)`

    m = log(v + s) + ½ log(1 - u²)        h = ½ [log(1 + u) - log(1 - u)]

in which nothing cancels. The cell of zero is all that lies below `log(ε + s)`: so the cells of a
precision share all of the probability, and none is on negative numbers.
"""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from numerate.lm.heads.base import TrainingNumerals
from numerate.lm.heads.interval_mass import log_interval_mass, log_upper_mass
from numerate.lm.heads.mixture_fit import Floats
from numerate.lm.heads.number_line_head import Law

FARTHEST_DRAWN = 100.0  # no numeral is so large
LEAST_DEVIATION = 0.1  # of all logarithms, where a head starts


class LogLine(Law):
    """A law of the logarithm."""

    shift: float = 0.0

    @abstractmethod
    def log_between(self, middle: Tensor, half: Tensor) -> Tensor:
        """log mass of `middle ± half` on the logarithm of the line."""

    @abstractmethod
    def log_below(self, edge: Tensor) -> Tensor:
        """log mass of all below an edge there."""

    def log_mass(self, centre: Tensor, half_width: Tensor) -> Tensor:
        is_zero = centre == 0
        shifted = torch.where(is_zero, 2 * half_width, centre) + self.shift
        u = half_width / shifted  # at most 1/2, so all is finite
        middle = shifted.log() + 0.5 * torch.log1p(-u.square())
        half = 0.5 * (torch.log1p(u) - torch.log1p(-u))
        zero = self.log_below((half_width + self.shift).log())
        return torch.where(is_zero, zero, self.log_between(middle, half))

    def above(self, edge: Tensor) -> Tensor:
        is_positive = edge > 0
        place = (torch.where(is_positive, edge, 1.0) + self.shift).log()
        return torch.where(is_positive, -torch.expm1(self.log_below(place)), 1.0)


@dataclass(frozen=True, eq=False)
class LogGaussians(LogLine):
    """A mixture of Gaussians there, of components that may depend on the place."""

    log_weights: Tensor  # [..., K]
    means: Tensor  # [..., K], or [K] at all places
    sds: Tensor
    shift: float = 0.0

    def log_between(self, middle: Tensor, half: Tensor) -> Tensor:
        masses = log_interval_mass(middle[..., None], half[..., None], self.means, self.sds)
        return torch.logsumexp(self.log_weights + masses, -1)

    def log_below(self, edge: Tensor) -> Tensor:
        masses = log_upper_mass(-edge[..., None], -self.means, self.sds)
        return torch.logsumexp(self.log_weights + masses, -1)

    def draw(self, count: int, generator: np.random.Generator) -> np.ndarray:
        weights, means, sds = (
            part.flatten().numpy() for part in (self.log_weights.exp(), self.means, self.sds)
        )
        chosen = generator.choice(len(weights), count, p=weights / weights.sum())
        places = generator.normal(means[chosen], sds[chosen])
        return np.maximum(np.exp(np.minimum(places, FARTHEST_DRAWN)) - self.shift, 0.0)


def logarithms(data: TrainingNumerals, shift: float = 0.0) -> tuple[Floats, NDArray[np.int64]]:
    """Where the training numbers lie, ascending, and how often; zero only if there is a shift."""
    values, counts = data.numbers()
    finite = values + shift > 0
    logs, places = np.unique(np.log(values[finite] + shift), return_inverse=True)
    return logs, np.bincount(places, counts[finite], minlength=len(logs)).astype(np.int64)


def log_moments(data: TrainingNumerals) -> tuple[float, float]:
    """Mean and deviation of the logarithms of the positive training numbers."""
    logs, counts = logarithms(data)
    if not len(logs):
        return 0.0, 1.0
    mean = float(np.average(logs, weights=counts))
    return mean, max(float(np.average((logs - mean) ** 2, weights=counts)) ** 0.5, LEAST_DEVIATION)
