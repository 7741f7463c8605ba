"""Numerals as Fourier features: where a number stands in every period of a power of ten."""

import numpy as np
import torch
from torch import Tensor, nn

from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.digit_places import NOTHING, ONES, PLACES, digits_by_place

PERIODS = range(-5, 13)
"""Powers of ten: the last tells the sixth decimal apart, the first a number of twelve digits."""


def fourier_features(table: NumeralTable) -> Tensor:
    """cos and sin of 2πx/T for every period T, from the digits alone: float32 [T, 2 · PERIODS].

    `x mod T` is what the digits below T say, so that long numerals lose nothing.
    """
    digits = digits_by_place(table)
    written = np.where(digits == NOTHING, 0, digits).astype(np.float64)
    powers = ONES - np.arange(PLACES)  # of ten, of each place
    parts = []
    for period in PERIODS:
        below = np.where(powers < period, 10.0 ** np.minimum(powers - period, 0.0), 0.0)
        angle = 2 * np.pi * (written @ below)
        parts += [np.cos(angle), np.sin(angle)]
    features = np.stack(parts, axis=1).astype(np.float32)
    return torch.from_numpy(features).to(table.device)


class Fourier(nn.Module):
    """An embedding of numerals: one vector for all of them, and their Fourier features."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.project = nn.Linear(2 * len(PERIODS), size)

    def forward(self, table: NumeralTable, rows: Tensor) -> Tensor:  # [N, D]
        known = table.constant(self, None, fourier_features)
        projected: Tensor = self.project(known.index_select(0, rows))
        return projected
