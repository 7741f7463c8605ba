"""Zero, or a power of ten and a mantissa from 1 to 10: laws that know each decade apart.

Decades reach from 10^-32 to 10^32, so that every numeral has its own. A cell lies in one decade,
but for that of a power of ten, which begins in the one before. Zero has a probability of its own,
and all that lies below half a unit is written 0 too.
"""

from abc import abstractmethod

import numpy as np
import torch
from torch import Tensor

from numerate.lm.heads.base import TrainingNumerals
from numerate.lm.heads.number_line_head import Law, LinearLawHead
from numerate.numeral import MAX_DIGITS

DECADES = 2 * MAX_DIGITS
POWERS = tuple(float(f"1e{power}") for power in range(-MAX_DIGITS, MAX_DIGITS))
_END = float(f"1e{MAX_DIGITS}")  # of the last decade: no numeral has more digits
_CLOSE = 1e-12  # relative: where a border may be, after rounding


def decades_of(numbers: Tensor, powers: Tensor) -> Tensor:
    """In which decade positive numbers lie, counted from 10^-32: [...]."""
    found = torch.searchsorted(powers * (1 - _CLOSE), numbers.contiguous(), right=True)
    return (found - 1).clamp(min=0)


def pick(of_each: Tensor, index: Tensor) -> Tensor:
    """One of the last dimension, by an index that broadcasts to the others: [..., K] → [...]."""
    shape = np.broadcast_shapes(of_each.shape[:-1], index.shape)
    whole = of_each.expand(*shape, of_each.shape[-1])
    return whole.gather(-1, index.expand(shape)[..., None])[..., 0]


def decade_counts(data: TrainingNumerals) -> tuple[np.ndarray, np.ndarray]:
    """How often zero and each decade occur [1 + DECADES], and which each distinct number is of.

    One more is counted of each, so that none is impossible.
    """
    values, counts = data.numbers()
    powers = torch.tensor(POWERS, dtype=torch.float64)
    found = decades_of(torch.from_numpy(values), powers).numpy() + 1
    classes = np.where(values > 0, found, 0)
    return np.bincount(classes, counts, minlength=1 + DECADES) + 1, classes


class DecadeLaw(Law):
    """Chances of zero and of the decades, and a law of the mantissa in each."""

    log_chances: Tensor  # [..., 1 + DECADES] zero comes first
    powers: Tensor  # [DECADES] where they begin

    @abstractmethod
    def log_mantissa(self, decade: Tensor, middle: Tensor, half: Tensor) -> Tensor:
        """log mass of mantissas `middle ± half`, given their decade."""

    def log_mass(self, centre: Tensor, half_width: Tensor) -> Tensor:
        is_zero = centre == 0
        value = torch.where(is_zero, 2 * half_width, centre)
        decade = decades_of(value, self.powers)
        border = self.powers[decade]
        # The part of the cell that lies in the decade before.
        before = torch.minimum(((border - value) + half_width).clamp(min=0), 2 * half_width)
        after = 2 * half_width - before
        start, end = value - half_width, value + half_width
        inside = torch.logaddexp(
            self._log_part((decade - 1).clamp(min=0), start + before / 2, before),
            self._log_part(decade, end - after / 2, after),
        )
        return torch.where(is_zero, self._log_below(half_width), inside)

    def above(self, edge: Tensor) -> Tensor:
        is_inside = (edge > 0) & (edge < _END)
        below = self._log_below(torch.where(is_inside, edge, 1.0)).clamp(max=0.0)
        return torch.where(is_inside, -torch.expm1(below), (edge <= 0).double())

    def _log_below(self, edge: Tensor) -> Tensor:
        """log mass of all below an edge among the decades, zero included."""
        decade = decades_of(edge, self.powers)
        whole = pick(torch.logcumsumexp(self.log_chances, -1), decade)  # zero, decades before
        length = edge - self.powers[decade]
        return torch.logaddexp(whole, self._log_part(decade, edge - length / 2, length))

    def _log_part(self, decade: Tensor, middle: Tensor, length: Tensor) -> Tensor:
        """log mass of what lies in one decade; −inf, without a gradient, of nothing."""
        is_there = length > 0
        border = self.powers[decade]
        half = torch.where(is_there, length / 2, border)
        found = self.log_mantissa(decade, middle / border, half / border)
        found = found + pick(self.log_chances, decade + 1)
        return torch.where(is_there, found, -torch.inf)


class DecadeHead(LinearLawHead):
    """Zero and the powers of ten have scores that are linear in the state."""

    def __init__(self, size: int, scores: int = 1 + DECADES) -> None:
        super().__init__(size, scores)
        self.register_buffer("powers", torch.tensor(POWERS, dtype=torch.float64), persistent=False)
        self.powers: Tensor
