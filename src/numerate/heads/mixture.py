"""Magnitude: a mixture of Gaussians on the number line, rounded to the precision written."""

from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from numerate.heads.base import (
    Config,
    Context,
    HeadOptions,
    NextNumeral,
    NumeralHead,
    TrainingNumerals,
)
from numerate.heads.interval_mass import log_interval_mass, log_upper_mass
from numerate.heads.mixture_fit import Components, fit_granularities
from numerate.heads.number_line_search import FINEST, NumberLine
from numerate.heads.recurrent import new_lstm, run_lstm
from numerate.numeral_table import NumeralBatch, NumeralTable
from numerate.packing import Packing


class PrecisionLSTM(nn.Module):
    """p(r): after each decimal, one more or the end."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.inputs = nn.Parameter(torch.randn(2, size).div_(size**0.5))  # start, decimal
        self.lstm = new_lstm(size)
        self.end = nn.Parameter(torch.zeros(size))

    def log_prob(self, hidden: Tensor, packing: Packing) -> Tensor:  # [N]
        count, total = packing.sizes[0], sum(packing.sizes)
        inputs = torch.cat(
            [self.inputs[:1].expand(count, -1), self.inputs[1:].expand(total - count, -1)]
        )
        scores = run_lstm(self.lstm, inputs, packing, hidden) @ self.end  # [S]
        # The last element of a numeral is its end; every other is one more decimal.
        signs = 2 * packing.last - 1
        return packing.sum(F.logsigmoid(signs * scores))

    def log_prob_table(self, hidden: Tensor, largest: int) -> Tensor:  # [N, largest + 1]
        count = hidden.shape[0]
        inputs = torch.cat([self.inputs[:1], self.inputs[1:].expand(largest, -1)])
        inputs = inputs[:, None].expand(-1, count, -1)  # [steps, N, D]
        start = hidden[None].contiguous()
        outputs, _ = self.lstm(inputs, (start, torch.zeros_like(start)))
        scores = (outputs @ self.end).T  # [N, steps]
        more = F.pad(F.logsigmoid(-scores).cumsum(1)[:, :-1], (1, 0))
        return more + F.logsigmoid(scores)


class MixtureHead(NumeralHead):
    """mog. Means and spreads are fitted beforehand and stay fixed; weights follow the context.

    Everything on the number line is float64, whatever the precision of the network.
    """

    summary = (
        "First word or numeral, then a number of decimals and a place on the number line, from a "
        "mixture of Gaussians: any numeral can be written."
    )
    paper_row = 6
    style = ("orange", "-")
    usual_member = True

    def __init__(self, size: int, components: Components, *, truncate: bool = False) -> None:
        super().__init__()
        self.truncate = truncate
        self.register_buffer("means", torch.as_tensor(components.means, dtype=torch.float64))
        self.register_buffer("sds", torch.as_tensor(components.sds, dtype=torch.float64))
        self.register_buffer("granularity", torch.as_tensor(components.size_of))
        self.means: Tensor
        self.sds: Tensor
        self.granularity: Tensor
        self.weights = nn.Parameter(torch.zeros(len(components), size))  # Bᵀ
        self.precision = PrecisionLSTM(size)

    @classmethod
    def fit(cls, data: TrainingNumerals, size: int, options: HeadOptions) -> Self:
        return cls(size, fit_granularities(*data.numbers()), truncate=options.truncate)

    def config(self) -> Config:
        return {"components": len(self.means), "truncate": self.truncate}

    @classmethod
    def from_config(cls, size: int, config: Config) -> Self:
        """With room for components that are read from the weights."""
        return cls(size, Components.empty(config["components"]), truncate=config["truncate"])

    def log_weights(self, hidden: Tensor) -> Tensor:  # [N, K] float64
        return F.log_softmax((hidden.to(self.weights.dtype) @ self.weights.T).double(), dim=1)

    def log_masses(self, numerals: NumeralTable) -> Tensor:
        """log mass of each numeral's interval under each component: [T, K] float64."""

        def compute(table: NumeralTable) -> Tensor:
            values, half_widths = table.intervals()
            return log_interval_mass(values[:, None], half_widths[:, None], self.means, self.sds)

        version = (self.means._version, self.sds._version)
        return numerals.constant(self, version, compute)

    def log_prob(self, context: Context, numerals: NumeralBatch) -> Tensor:
        hidden = context.hidden
        with torch.autocast(hidden.device.type, enabled=False):
            log_weights = self.log_weights(hidden)
            masses = self.log_masses(numerals.table).index_select(0, numerals.rows)  # [N, K]
            value = torch.logsumexp(log_weights + masses, dim=1)
            if self.truncate:
                upper = self._log_upper(numerals.precisions)
                value = value - torch.logsumexp(log_weights + upper, dim=1)
        precision = self.precision.log_prob(hidden, numerals.decimals)
        return value + precision  # float64: float32 would overflow far out on the line

    def _log_upper(self, precisions: Tensor) -> Tensor:
        """log mass of all non-negative numerals of each precision: [N, K]."""
        half_widths = 0.5 * 10.0 ** -precisions.double()
        return log_upper_mass(-half_widths[:, None], self.means, self.sds)

    def log_prob_table(self, context: Context, candidates: NumeralTable) -> Tensor:
        hidden, device = context.hidden, context.hidden.device
        candidates.to(device)
        precisions = torch.from_numpy(candidates.precisions).to(device)
        with torch.autocast(device.type, enabled=False):
            # One matrix product for all candidates; each is scaled by its own largest mass.
            value = _log_matmul(self.log_weights(hidden), self.log_masses(candidates))  # [N, C]
        return value + self.log_factors(hidden, int(candidates.precisions.max()))[:, precisions]

    def next_numeral(self, context: Context) -> NextNumeral:
        with torch.no_grad():
            weights = self.log_weights(context.hidden)[0].cpu()
            factors = self.log_factors(context.hidden, FINEST)[0].cpu()
        return NumberLine(weights, self.means.cpu(), self.sds.cpu(), factors)

    def log_factors(self, hidden: Tensor, largest: int) -> Tensor:
        """What the mass of a numeral's interval is multiplied by, for each precision up to
        `largest`: its probability, over the mass of all non-negative numerals if truncated.
        """
        factors = self.precision.log_prob_table(hidden, largest)  # [N, largest + 1]
        if self.truncate:
            with torch.autocast(hidden.device.type, enabled=False):
                upper = self._log_upper(torch.arange(largest + 1, device=hidden.device))
                factors = factors - _log_matmul(self.log_weights(hidden), upper)
        return factors


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
