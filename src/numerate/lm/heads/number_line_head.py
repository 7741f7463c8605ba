"""Heads on the number line: a number of decimals, then a place, rounded to them.

A numeral of precision r stands for the cell `v ± ε`, `ε = 0.5·10^-r`, and has the probability of
r times the mass of its cell. What a head says of the line is a `Law`; the rest is the same for all.
"""

from abc import ABC, abstractmethod
from dataclasses import fields, replace
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn

from numerate.lm.data.numeral_table import NumeralBatch, NumeralTable
from numerate.lm.heads.base import Context, NextNumeral, NumeralHead
from numerate.lm.heads.number_line_search import FINEST, NumberLine
from numerate.lm.heads.precision import PrecisionLSTM
from numerate.numeral import MAX_DIGITS

MASSES_AT_ONCE = 2**20  # that a table makes: cells, times parts of the law
_ROUNDING = 1e-14  # of a difference of two probabilities
_HALVINGS = 64  # of the line, on which a draw is looked for


class Law(ABC):
    """A distribution over numbers at one place or at many: a dataclass of float64 tensors.

    Their shapes begin with that of the places; what is asked has a shape that broadcasts to it.
    """

    @abstractmethod
    def log_mass(self, centre: Tensor, half_width: Tensor) -> Tensor:
        """log probability of the cell `centre ± half_width` of a numeral, finite wherever it is.

        If no number is negative, the cell of zero is all that lies below half a unit.
        """

    @abstractmethod
    def above(self, edge: Tensor) -> Tensor:
        """Probability of all numbers above an edge, which is not zero."""

    def log_most(self, low: Tensor, high: Tensor, half_width: Tensor) -> Tensor:
        """log of a mass that no cell from `low` to `high` exceeds; of one cell, its own."""
        together = self.above(low - half_width) - self.above(high + half_width)
        bound = (together + _ROUNDING).log().clamp(max=0.0)
        return torch.where(low == high, self.log_mass(low, half_width), bound)

    def draw(self, count: int, generator: np.random.Generator) -> np.ndarray:
        """So many numbers, by halving the line until each is found."""
        beyond = torch.from_numpy(generator.random(count))
        low = torch.full((count,), -(MAX_DIGITS + 1.0), dtype=torch.float64)  # powers of ten
        high = -low
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            is_above = self.above(10.0**middle) > beyond
            low, high = torch.where(is_above, middle, low), torch.where(is_above, high, middle)
        found: np.ndarray = (10.0**low).numpy()
        return found

    def cpu(self) -> Self:
        """The same on the CPU, of which nothing is learnt."""
        parts: dict[str, Any] = {part.name: getattr(self, part.name) for part in fields(self)}  # type: ignore[arg-type]
        moved = {name: x.detach().cpu() for name, x in parts.items() if isinstance(x, Tensor)}
        return replace(self, **moved)  # type: ignore[type-var]


class NumberLineHead(NumeralHead):
    """p(r) times the mass of a numeral's cell under a law that depends on the state.

    Everything on the number line is float64, whatever the precision of the network.
    """

    precision: PrecisionLSTM
    truncate: bool = False  # renormalised over non-negative numerals
    parts: ClassVar[int] = 1  # of the law, for each of which a cell has a mass

    @abstractmethod
    def law(self, hidden: Tensor) -> Law:
        """Of the states of any number of places: [..., D]."""

    def log_prob(self, context: Context, numerals: NumeralBatch) -> Tensor:
        hidden = context.hidden
        with torch.autocast(hidden.device.type, enabled=False):
            value = self.law(hidden).log_mass(numerals.values, numerals.half_widths)
        precision = self.precision.log_prob(hidden, numerals.decimals)
        return value + precision  # float64: float32 would overflow far out on the line

    def log_prob_table(self, context: Context, candidates: NumeralTable) -> Tensor:
        hidden = context.hidden
        values, half_widths = candidates.to(hidden.device).intervals()
        places = max(1, MASSES_AT_ONCE // (len(candidates) * self.parts))
        with torch.autocast(hidden.device.type, enabled=False):
            found = [
                self.law(some[:, None]).log_mass(values, half_widths)
                for some in torch.split(hidden, places)
            ]
        factors = self.log_factors(hidden, int(candidates.precisions.max()))
        return torch.cat(found) + factors[:, candidates.on_device("precisions")]

    def next_numeral(self, context: Context) -> NextNumeral:
        with torch.no_grad():
            law = self.law(context.hidden).cpu()
            factors = self.log_factors(context.hidden, FINEST)[0].cpu()
        return NumberLine(law, factors)

    def log_factors(self, hidden: Tensor, largest: int) -> Tensor:
        """What the mass of a numeral's cell is multiplied by, for each precision up to `largest`:
        its probability, over the mass of all non-negative numerals if truncated.
        """
        return self.precision.log_prob_table(hidden, largest)  # [N, largest + 1]


class LinearLawHead(NumberLineHead):
    """A law of so many `scores`, linear in the state; all are zero at first."""

    def __init__(self, size: int, scores: int) -> None:
        super().__init__()
        self.linear = nn.Linear(size, scores)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)
        self.precision = PrecisionLSTM(size)

    def scores(self, hidden: Tensor) -> Tensor:  # [..., scores] float64
        found: Tensor = self.linear(hidden.to(self.linear.weight.dtype))
        return found.double()
