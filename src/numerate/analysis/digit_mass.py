"""The distribution of significant digits under a digit RNN: exact, without sampling.

The RNN is run over every prefix that can lead to one of the first three significant digits of
a well-formed numeral: `0.0…` while anything is left there, then digits with the point at any
place. What is left over (strings such as `1..2` or `007`, and prefixes too improbable to follow)
is counted, not hidden.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from numerate.heads.digit_rnn import DigitRNNHead
from numerate.numeral_table import END, POINT, START

PLACES = 3
NEGLIGIBLE = 1e-7  # mean probability of prefixes that are not followed
CONTEXTS_AT_ONCE = 256  # with up to 90 prefixes each
_DIGITS = tuple(range(10))


@dataclass(frozen=True, slots=True)
class DigitMass:
    """Mean probabilities over contexts."""

    digits: np.ndarray  # [3, 10] that the numeral has this digit at this significant place
    ended: np.ndarray  # [3] that it has exactly 0, 1, 2 significant digits; with 0 it is zero
    contexts: int

    @property
    def other(self) -> float:
        """Of strings that are no numerals, and of prefixes that were not followed."""
        return float(1 - self.ended.sum() - self.digits[-1].sum())


def digit_mass(head: DigitRNNHead, hidden: Tensor) -> DigitMass:
    """Means over the contexts `hidden` [N, D]."""
    digits, ended = np.zeros((PLACES, 10)), np.zeros(PLACES)
    with torch.no_grad():
        for part in torch.split(hidden, CONTEXTS_AT_ONCE):
            waiting = [_start(head, part)]
            while waiting:
                prefixes = waiting.pop()
                mass = prefixes.following.exp().sum(dim=(0, 1)).cpu().numpy()  # [12]
                if not prefixes.bare:
                    ended[prefixes.place] += mass[END]
                if prefixes.may_have_digits:
                    first = int(prefixes.place == 0)  # a leading zero is not significant
                    digits[prefixes.place, first:] += mass[first:10]
                for symbols, place, point, bare in _continuations(prefixes):
                    if mass[list(symbols)].sum() > NEGLIGIBLE * len(part):
                        waiting.append(_follow(head, prefixes, symbols, place, point, bare))
    return DigitMass(digits / len(hidden), ended / len(hidden), len(hidden))


@dataclass(frozen=True, slots=True)
class _Prefixes:
    """P prefixes of one kind in each of N contexts."""

    place: int  # significant digits so far
    point: bool  # whether the point is written
    bare: bool  # nothing, or the point, was written last: the numeral cannot end here
    hidden: Tensor  # [P, N, D] after the prefix
    cell: Tensor  # [P, N, D]
    following: Tensor  # [P, N, 12] log p of the prefix and the next symbol, float64

    @property
    def may_have_digits(self) -> bool:
        """All but the lone zero before a point: `07` is no numeral."""
        return self.place > 0 or self.point or self.bare


def _continuations(
    prefixes: _Prefixes,
) -> Iterator[tuple[tuple[int, ...], int, bool, bool]]:
    """Symbols that lead on to significant digits, and the kind of prefix they make."""
    place, point = prefixes.place, prefixes.point
    if prefixes.may_have_digits:
        if place == 0:
            yield (0,), 0, point, False
            yield _DIGITS[1:], 1, point, False
        elif place + 1 < PLACES:
            yield _DIGITS, place + 1, point, False
    if not point and not prefixes.bare:
        yield (POINT,), place, True, True


def _start(head: DigitRNNHead, hidden: Tensor) -> _Prefixes:
    nothing = hidden.new_zeros((1, len(hidden), 1), dtype=torch.float64)  # log 1
    state = hidden[None]
    return _Prefixes(
        0, False, True, *_write(head, state, torch.zeros_like(state), [START], nothing)
    )


def _follow(
    head: DigitRNNHead,
    prefixes: _Prefixes,
    symbols: tuple[int, ...],
    place: int,
    point: bool,
    bare: bool,
) -> _Prefixes:
    chosen = list(symbols)
    log_prob = prefixes.following[:, :, chosen]  # [P, N, S]
    written = _write(head, prefixes.hidden, prefixes.cell, chosen, log_prob)
    return _Prefixes(place, point, bare, *written)


def _write(
    head: DigitRNNHead, hidden: Tensor, cell: Tensor, symbols: list[int], log_prob: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Every prefix with each of the symbols after it: P prefixes become S · P.

    From states [P, N, D] and log p of prefix and symbol [P, N, S].
    """
    prefixes, contexts, size = hidden.shape
    count = len(symbols)
    chosen = torch.tensor(symbols, device=hidden.device).repeat_interleave(prefixes * contexts)
    hidden, cell = (state.reshape(-1, size).repeat(count, 1) for state in (hidden, cell))
    hidden, cell, following = head.write(hidden, cell, chosen)
    shape = (count * prefixes, contexts, -1)
    before = log_prob.permute(2, 0, 1).reshape(*shape[:2], 1)
    return hidden.view(shape), cell.view(shape), before + following.double().view(shape)
