"""Digits from phases: every digit is a place on a circle of ten, which the state points to.

Given how many digits stand before the point and after it, digits are independent. Each place has
an arrow in the plane, linear in the state; the score of a digit is the product of the arrow with
the digit's own, `(cos 2πj/10, sin 2πj/10)`. A first digit is not 0 unless it is the only one.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from numerate.lm.data.numeral_table import END, POINT, SYMBOL_COUNT, NumeralBatch, NumeralTable
from numerate.lm.heads.base import Context, NextNumeral, NumeralHead
from numerate.lm.heads.digit_places import NOTHING, ONES, PLACES, digits_by_place, whole_digits
from numerate.lm.heads.digit_tree import DigitTree
from numerate.lm.heads.precision import PrecisionLSTM
from numerate.numeral import MAX_DIGITS

_DIGITS = 10 * PLACES  # scores: digits of all places, first digits, lengths, nothing
_FIRST = _DIGITS + PLACES
_LENGTHS = _FIRST + MAX_DIGITS


class FoNEHead(NumeralHead):
    """fone. Lengths are a softmax; decimals are counted as those of other heads are."""

    summary = (
        "First word or numeral, then how many digits it has, and each digit by itself, as a phase: "
        "any numeral can be written."
    )
    style = ("green", "--")

    def __init__(self, size: int) -> None:
        super().__init__()
        angles = torch.arange(10) * (2 * math.pi / 10)
        circle = torch.stack([angles.cos(), angles.sin()])
        self.register_buffer("circle", circle, persistent=False)  # [2, 10]
        self.circle: Tensor
        self.arrows = nn.Linear(size, 2 * PLACES)
        self.lengths = nn.Linear(size, MAX_DIGITS)
        self.precision = PrecisionLSTM(size)

    def log_prob(self, context: Context, numerals: NumeralBatch) -> Tensor:
        chosen = self._choices(numerals.table).index_select(0, numerals.rows)
        log_probs = self._log_probs(context.hidden).gather(1, chosen).sum(1)
        return log_probs + self.precision.log_prob(context.hidden, numerals.decimals)

    def log_prob_table(self, context: Context, candidates: NumeralTable) -> Tensor:
        chosen = self._choices(candidates.to(context.hidden.device))
        log_probs = self._log_probs(context.hidden)
        counts = log_probs.new_zeros(len(candidates), log_probs.shape[1])
        counts.scatter_add_(1, chosen, torch.ones_like(chosen, dtype=counts.dtype))
        precisions = self.precision.log_prob_table(context.hidden, int(candidates.precisions.max()))
        return log_probs @ counts.T + precisions[:, candidates.on_device("precisions")]

    def next_numeral(self, context: Context) -> NextNumeral:
        with torch.no_grad():
            digits, _, lengths = self._laws(context.hidden)
            ends = self.precision.end_scores(context.hidden, MAX_DIGITS)
        found = (part[0].double().cpu().numpy() for part in (digits, lengths, ends))
        return DigitTree(_Writer(*found))

    def _laws(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """log p of digits [N, PLACES, 10], of not being 0 [N, PLACES], of lengths [N, 32]."""
        with torch.autocast(hidden.device.type, enabled=False):
            hidden = hidden.to(self.arrows.weight.dtype)
            arrows = self.arrows(hidden).unflatten(1, (PLACES, 2))
            digits = F.log_softmax(arrows @ self.circle.to(arrows.dtype), -1)
            return digits, digits[..., 1:].logsumexp(-1), F.log_softmax(self.lengths(hidden), -1)

    def _log_probs(self, hidden: Tensor) -> Tensor:
        """What a numeral can be made of, each with its log p, and last of all nothing."""
        digits, not_zero, lengths = self._laws(hidden)
        nothing = lengths.new_zeros(lengths.shape[0], 1)
        return torch.cat([digits.flatten(1), -not_zero, lengths, nothing], dim=1)

    def _choices(self, table: NumeralTable) -> Tensor:
        """What each numeral is made of, as columns of `_log_probs`: [T, PLACES + 2]."""
        return table.constant(self, None, _choices)


def _choices(table: NumeralTable) -> Tensor:
    digits, whole = digits_by_place(table), whole_digits(table)
    columns = np.where(digits == NOTHING, _LENGTHS, 10 * np.arange(PLACES) + digits)
    first = np.where(whole > 1, _DIGITS + ONES - (whole - 1), _LENGTHS)
    found = np.concatenate([columns, first[:, None], (_FIRST + whole - 1)[:, None]], axis=1)
    return torch.from_numpy(found).to(table.device)


class _Writer:
    """The same from left to right: what `DigitTree` asks of one that writes digits.

    A state is how many digits are written before the point, with log p of how many there will be;
    or, after it, how many decimals are.
    """

    def __init__(self, digits: np.ndarray, lengths: np.ndarray, ends: np.ndarray) -> None:
        self._digits, self._lengths = digits, lengths
        self._end = -np.logaddexp(0.0, -ends)  # [32] after so many decimals, if there are so many
        self._more = -np.logaddexp(0.0, ends)
        first = digits[ONES::-1].copy()  # [32, 10] with 1, 2, … digits before the point
        first[1:, 0] = -np.inf
        self._first = first - np.logaddexp.reduce(first, axis=1, keepdims=True)

    def start(self) -> tuple[Any, np.ndarray]:
        state = (0, self._lengths)
        return state, self._following(state)

    def write(self, states: Sequence[Any], symbols: Sequence[int]) -> tuple[list[Any], np.ndarray]:
        found = [self._after(*pair) for pair in zip(states, symbols, strict=True)]
        return found, np.stack([self._following(state) for state in found])

    def _after(self, state: Any, symbol: int) -> Any:
        written, lengths = state
        if lengths is None:
            return (written + 1, None)
        if symbol == POINT:
            return (0, None)
        joint = lengths[written:] + self._next_digits(written)[:, symbol]
        lengths = np.full(MAX_DIGITS, -np.inf)
        lengths[written:] = joint - np.logaddexp.reduce(joint)
        return (written + 1, lengths)

    def _next_digits(self, written: int) -> np.ndarray:
        """log p of the next digit, by how many there will be: [32 - written, 10]."""
        whole = self._digits[ONES::-1] if written else self._first  # ones, tens, hundreds, …
        return whole[: MAX_DIGITS - written]

    def _following(self, state: Any) -> np.ndarray:
        written, lengths = state
        found = np.full(SYMBOL_COUNT, -np.inf)
        if lengths is None:
            more = self._more[written] if written else 0.0  # a point is followed by a digit
            if written:
                found[END] = self._end[written]
            if written < MAX_DIGITS - 1:
                found[:10] = more + self._digits[ONES + 1 + written]
            return found
        if written:
            found[[POINT, END]] = lengths[written - 1] + np.array([self._more[0], self._end[0]])
        if written < MAX_DIGITS:
            joint = lengths[written:, None] + self._next_digits(written)
            found[:10] = np.logaddexp.reduce(joint, axis=0)
        return found
