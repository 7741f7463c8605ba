"""Magnitude: a mixture of Gaussians on the number line, rounded to the precision written."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from numerate.lm.data.numeral_table import NumeralBatch, NumeralTable
from numerate.lm.heads.base import Config, Context, HeadOptions, TrainingNumerals
from numerate.lm.heads.interval_mass import log_interval_mass, log_upper_mass
from numerate.lm.heads.mixture_fit import Components, fit_granularities
from numerate.lm.heads.number_line_head import Law, NumberLineHead
from numerate.lm.heads.number_line_search import NEGLIGIBLE
from numerate.lm.heads.precision import PrecisionLSTM


@dataclass(frozen=True, eq=False)
class Gaussians(Law):
    """A mixture whose components are the same at all places."""

    log_weights: Tensor  # [..., K]
    means: Tensor  # [K]
    sds: Tensor  # [K]

    def log_mass(self, centre: Tensor, half_width: Tensor) -> Tensor:
        return self._log_sum(centre[..., None], half_width[..., None])

    def above(self, edge: Tensor) -> Tensor:
        weights = self.log_weights.exp()
        heavy = (weights > NEGLIGIBLE).flatten(0, -2).any(0)  # [K]
        masses = log_upper_mass(edge[..., None], self.means[heavy], self.sds[heavy]).exp()
        return torch.einsum("...k,...k->...", masses, weights[..., heavy])

    def log_most(self, low: Tensor, high: Tensor, half_width: Tensor) -> Tensor:
        """The sum, over components, of the mass of the best place between."""
        best = torch.maximum(torch.minimum(self.means, high[..., None]), low[..., None])
        return self._log_sum(best, half_width[..., None])

    def _log_sum(self, centre: Tensor, half_width: Tensor) -> Tensor:
        masses = log_interval_mass(centre, half_width, self.means, self.sds)
        return torch.logsumexp(self.log_weights + masses, -1)

    def draw(self, count: int, generator: np.random.Generator) -> np.ndarray:
        weights = self.log_weights[0].exp().numpy()
        means, sds = self.means.numpy(), self.sds.numpy()
        chosen = generator.choice(len(weights), count, p=weights / weights.sum())
        return generator.normal(means[chosen], sds[chosen])


class FixedMixtureHead(NumberLineHead):
    """Means and spreads are fitted beforehand and stay fixed; weights follow the context."""

    def __init__(self, size: int, components: Components) -> None:
        super().__init__()
        self.register_buffer("means", torch.as_tensor(components.means, dtype=torch.float64))
        self.register_buffer("sds", torch.as_tensor(components.sds, dtype=torch.float64))
        self.register_buffer("granularity", torch.as_tensor(components.size_of))
        self.means: Tensor
        self.sds: Tensor
        self.granularity: Tensor
        self.weights = nn.Parameter(torch.zeros(len(components), size))  # Bᵀ
        self.precision = PrecisionLSTM(size)

    @abstractmethod
    def masses_by_component(self, centre: Tensor, half_width: Tensor) -> Tensor:
        """log mass of each cell [T] under each component: [T, K] float64."""

    def config(self) -> Config:
        return {"components": len(self.means)}

    @classmethod
    def from_config(cls, size: int, config: Config) -> Self:
        """With room for components that are read from the weights."""
        others: dict[str, Any] = {k: v for k, v in config.items() if k != "components"}
        return cls(size, Components.empty(config["components"]), **others)

    def log_weights(self, hidden: Tensor) -> Tensor:  # [..., K] float64
        return F.log_softmax((hidden.to(self.weights.dtype) @ self.weights.T).double(), dim=-1)

    def log_masses(self, numerals: NumeralTable) -> Tensor:
        """log mass of each numeral's cell under each component: [T, K] float64."""
        version = (self.means._version, self.sds._version)
        return numerals.constant(
            self, version, lambda table: self.masses_by_component(*table.intervals())
        )

    def log_prob(self, context: Context, numerals: NumeralBatch) -> Tensor:
        hidden = context.hidden
        with torch.autocast(hidden.device.type, enabled=False):
            value = self._log_value(self.log_weights(hidden), numerals)
        return value + self.precision.log_prob(hidden, numerals.decimals)

    def _log_value(self, log_weights: Tensor, numerals: NumeralBatch) -> Tensor:
        masses = self.log_masses(numerals.table).index_select(0, numerals.rows)  # [N, K]
        return torch.logsumexp(log_weights + masses, dim=1)

    def log_prob_table(self, context: Context, candidates: NumeralTable) -> Tensor:
        hidden, device = context.hidden, context.hidden.device
        candidates.to(device)
        with torch.autocast(device.type, enabled=False):
            # One matrix product for all candidates; each is scaled by its own largest mass.
            value = _log_matmul(self.log_weights(hidden), self.log_masses(candidates))  # [N, C]
        factors = self.log_factors(hidden, int(candidates.precisions.max()))
        return value + factors[:, candidates.on_device("precisions")]


class MixtureHead(FixedMixtureHead):
    """mog. Truncated or not: numerals are not negative, Gaussians do not know."""

    summary = (
        "First word or numeral, then a number of decimals and a place on the number line, from a "
        "mixture of Gaussians: any numeral can be written."
    )
    paper_row = 6
    style = ("orange", "-")
    usual_member = True

    def __init__(self, size: int, components: Components, *, truncate: bool = False) -> None:
        super().__init__(size, components)
        self.truncate = truncate

    @classmethod
    def fit(cls, data: TrainingNumerals, size: int, options: HeadOptions) -> Self:
        return cls(size, fit_granularities(*data.numbers()), truncate=options.truncate)

    def config(self) -> Config:
        return {**super().config(), "truncate": self.truncate}

    def law(self, hidden: Tensor) -> Gaussians:
        return Gaussians(self.log_weights(hidden), self.means, self.sds)

    def masses_by_component(self, centre: Tensor, half_width: Tensor) -> Tensor:
        return log_interval_mass(centre[:, None], half_width[:, None], self.means, self.sds)

    def _log_value(self, log_weights: Tensor, numerals: NumeralBatch) -> Tensor:
        value = super()._log_value(log_weights, numerals)
        if self.truncate:
            upper = self._log_upper(numerals.precisions)
            value = value - torch.logsumexp(log_weights + upper, dim=1)
        return value

    def log_factors(self, hidden: Tensor, largest: int) -> Tensor:
        factors = super().log_factors(hidden, largest)
        if self.truncate:
            with torch.autocast(hidden.device.type, enabled=False):
                upper = self._log_upper(torch.arange(largest + 1, device=hidden.device))
                factors = factors - _log_matmul(self.log_weights(hidden), upper)
        return factors

    def _log_upper(self, precisions: Tensor) -> Tensor:
        """log mass of all non-negative numerals of each precision: [N, K]."""
        half_widths = 0.5 * 10.0 ** -precisions.double()
        return log_upper_mass(-half_widths[:, None], self.means, self.sds)


def _log_matmul(log_weights: Tensor, log_masses: Tensor) -> Tensor:
    """log Σ_k exp(weights[n, k] + masses[c, k]): [N, K], [C, K] → [N, C], never −inf."""
    largest = log_masses.amax(dim=1)
    product = log_weights.exp() @ (log_masses - largest[:, None]).exp().T
    result = product.log() + largest
    # Where the component that matters has next to no weight, the product underflows.
    rows, columns = torch.nonzero(product < torch.finfo(product.dtype).tiny, as_tuple=True)
    if len(rows):
        exact = torch.logsumexp(log_weights[rows] + log_masses[columns], dim=1)
        result = result.index_put((rows, columns), exact)
    return result
