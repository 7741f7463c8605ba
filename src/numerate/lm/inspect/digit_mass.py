"""The distribution of significant digits under a digit RNN, without sampling.

Only a string that ends as a numeral counts: `1..2`, `1.` and `007` are none, however they begin.
The RNN therefore writes every string symbol by symbol, until it ends or breaks the rules. Strings
without end are infinitely many, so beginnings too improbable to follow are left undecided; their
probability is given, and no figure can be wrong by more.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from numerate.lm.data.numeral_table import END, POINT, START
from numerate.lm.heads.digit_rnn import DigitRNNHead
from numerate.numeral import MAX_DIGITS

PLACES = 3
NEGLIGIBLE = 1e-5  # probability of beginnings that are not followed
MOST_FOLLOWED = 1000  # of one length in each context: more an untrained network has
CONTEXTS_AT_ONCE = 32
_NONE = 10  # in the place of a digit
# How far a numeral is written, and what may come next: digits, the point, the end.
_NOTHING, _LONE_ZERO, _WHOLE, _BARE_POINT, _DECIMALS = range(5)
_MAY = torch.zeros(5, 12, dtype=torch.bool)
_MAY[[_NOTHING, _WHOLE, _BARE_POINT, _DECIMALS], :10] = True
_MAY[[_LONE_ZERO, _WHOLE], POINT] = True
_MAY[[_LONE_ZERO, _WHOLE, _DECIMALS], END] = True


@dataclass(frozen=True, slots=True)
class DigitMass:
    """Mean probabilities over contexts; numerals, malformed and undecided make one."""

    digits: np.ndarray  # [3, 10] of numerals with this digit at this significant place
    ended: np.ndarray  # [3] of numerals of exactly 0, 1, 2 significant digits; with 0 it is zero
    malformed: float  # of strings that are no numerals
    undecided: float  # of beginnings that were not followed
    contexts: int


def digit_mass(head: DigitRNNHead, hidden: Tensor) -> DigitMass:
    """Means over the contexts `hidden` [N, D]."""
    found = np.zeros((PLACES, _NONE + 1))  # the last column: no digit there
    malformed = undecided = 0.0
    with torch.no_grad():
        for part in torch.split(hidden, CONTEXTS_AT_ONCE):
            beginnings: _Beginnings | None = _Beginnings.of(part)
            while beginnings is not None:
                following = beginnings.written(head)
                probability = following.log_prob.exp()  # [M, 12]
                allowed = following.allowed()
                ends = (probability * allowed)[:, END]
                for place in range(PLACES):
                    digit = following.significant[:, place]
                    mass = torch.bincount(digit, ends, _NONE + 1)
                    found[place] += mass.cpu().numpy()
                malformed += float(probability[~allowed].sum())
                goes_on = allowed & (torch.arange(12, device=hidden.device) != END)
                followed = goes_on & (probability >= _least(probability[goes_on], len(part)))
                undecided += float(probability[goes_on & ~followed].sum())
                beginnings = following.continued(followed)
    contexts = len(hidden)
    without = found[:, _NONE]  # of numerals with at most 0, 1, 2 significant digits
    return DigitMass(
        found[:, :_NONE] / contexts,
        np.diff(without, prepend=0.0) / contexts,
        malformed / contexts,
        undecided / contexts,
        contexts,
    )


def _least(probabilities: Tensor, contexts: int) -> float:
    """What the probability of a beginning must be for it to be followed."""
    surplus = len(probabilities) - MOST_FOLLOWED * contexts
    rarest = float(probabilities.kthvalue(surplus + 1).values) if surplus > 0 else 0.0
    return max(NEGLIGIBLE, rarest)


@dataclass(frozen=True, slots=True)
class _Beginnings:
    """M beginnings of numerals, of one length, in any contexts, and the symbol to write next."""

    length: int  # characters so far, the next symbol included
    kind: Tensor  # [M] how far it is written
    significant: Tensor  # [M, 3] the first significant digits
    hidden: Tensor  # [M, D] before the symbol is written
    cell: Tensor  # [M, D]
    symbol: Tensor  # [M]
    log_prob: Tensor  # [M, 1] with the symbol; once it is written [M, 12] with the one after it

    @classmethod
    def of(cls, contexts: Tensor) -> "_Beginnings":
        """Nothing written yet."""
        count = len(contexts)
        kind = torch.full((count,), _NOTHING, device=contexts.device)
        return cls(
            0,
            kind,
            kind.new_full((count, PLACES), _NONE),
            contexts,
            torch.zeros_like(contexts),
            torch.full_like(kind, START),
            contexts.new_zeros((count, 1), dtype=torch.float64),
        )

    def written(self, head: DigitRNNHead) -> "_Beginnings":
        hidden, cell, following = head.write(self.hidden, self.cell, self.symbol)
        log_prob = self.log_prob + following.double()
        return replace(self, hidden=hidden, cell=cell, log_prob=log_prob)

    def allowed(self) -> Tensor:
        """Which symbols may come next: [M, 12]. After the last digit that fits, only the end."""
        may = _MAY.to(self.kind.device)[self.kind]
        digits = self.length - (self.kind >= _BARE_POINT).long()
        may[:, :END] &= (digits < MAX_DIGITS)[:, None]
        return may

    def continued(self, followed: Tensor) -> "_Beginnings | None":
        """With each of the symbols that are followed [M, 12], if there are any."""
        rows, symbol = followed.nonzero(as_tuple=True)
        if not len(rows):
            return None
        before = self.kind[rows]
        kind = torch.where(before >= _BARE_POINT, _DECIMALS, _WHOLE)
        kind = torch.where((before == _NOTHING) & (symbol == 0), _LONE_ZERO, kind)
        kind = torch.where(symbol == POINT, _BARE_POINT, kind)
        significant = self.significant[rows]
        place = (significant != _NONE).sum(dim=1)  # of the next significant digit
        counts = (symbol != POINT) & (place < PLACES) & ((place > 0) | (symbol > 0))
        significant[counts, place[counts]] = symbol[counts]
        return _Beginnings(
            self.length + 1,
            kind,
            significant,
            self.hidden[rows],
            self.cell[rows],
            symbol,
            self.log_prob[rows, symbol][:, None],
        )
