"""A numeral that stands in view already: in a table, or earlier in the text."""

from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn

from numerate.errors import NumerateError
from numerate.heads.attention import NumberAttention, masked_logsumexp, seen
from numerate.heads.base import (
    Context,
    HeadOptions,
    NextNumeral,
    NumeralHead,
    TrainingNumerals,
)
from numerate.heads.known_numerals import KnownNumerals
from numerate.numeral_table import NumeralBatch, NumeralTable
from numerate.sight.view import DROPPED, Source, View

NAMED = 32  # sources that are told


class _Copies(NamedTuple):
    view: View
    log_probs: Tensor  # [N, M, DROPPED] of every number with so many decimals dropped
    mass: Tensor  # [N] log of the sum before it was made one; −inf: nothing is in view


class CopyHead(NumeralHead):
    """Attention over the numbers in view, whole or rounded to fewer decimals.

    The probability of a numeral is the sum over the places where it stands.
    """

    open_vocabulary = False
    summary = "Numbers in view, in tables and earlier in the text, as they are or rounded."
    style = ("green", "--")
    drawn = False
    needs_sight = True

    def __init__(self, size: int) -> None:
        super().__init__()
        self.attention = NumberAttention(size, 1)
        self.dropped = nn.Linear(size, DROPPED)
        self.trust = nn.Parameter(torch.zeros(()))  # how much its scores speak for it

    @classmethod
    def fit(cls, data: TrainingNumerals, size: int, options: HeadOptions) -> Self:
        raise NumerateError(
            "head 'copy': it knows no numeral but those in view; "
            "expected it among the members of a combination (--model grounded)"
        )

    @classmethod
    def fit_member(cls, data: TrainingNumerals, size: int, options: HeadOptions) -> Self:
        return cls(size)

    def knows(self, numerals: NumeralTable) -> np.ndarray:
        """By itself, none: what it knows depends on the place."""
        return np.zeros(len(numerals), dtype=np.bool_)

    def _copies(self, context: Context) -> _Copies:
        view = seen(context)
        return view.once(self, context.hidden, lambda: self._attend(context.hidden, view))

    def _attend(self, hidden: Tensor, view: View) -> _Copies:
        with torch.autocast(hidden.device.type, enabled=False):
            hidden = hidden.float()
            scores = self.attention(hidden, view)[:, 0]  # [N, M]
            drops = self.dropped(hidden)  # [N, DROPPED]
            allowed = view.visible[:, :, None] & view.of_text(view.droppable)
            joint = scores[:, :, None] + drops[:, None]
            mass = masked_logsumexp(joint, allowed)
            whole = torch.where(mass.isfinite(), mass, 0.0)
            log_probs = (joint - whole[:, None, None]).masked_fill(~allowed, -torch.inf)
        return _Copies(view, log_probs, mass)

    def log_prob(self, context: Context, numerals: NumeralBatch) -> Tensor:
        view, log_probs, _ = self._copies(context)
        same = view.of_text(view.rounded_keys) == numerals.keys[:, None, None]
        return masked_logsumexp(log_probs, same & log_probs.isfinite())

    def log_prob_table(self, context: Context, candidates: NumeralTable) -> Tensor:
        view, log_probs, _ = self._copies(context)
        ordered, which = candidates.on_device("keys").sort()
        columns = columns_of(view.rounded_keys, ordered, which)  # [B, M, DROPPED]
        found = log_probs.new_zeros(len(view), len(candidates) + 1, dtype=torch.float64)
        where = view.of_text(columns).flatten(1)
        return found.scatter_add(1, where, log_probs.double().exp().flatten(1))[:, :-1].log()

    def log_evidence(self, context: Context) -> Tensor:
        mass = self._copies(context).mass
        whole = torch.where(mass.isfinite(), mass, 0.0)
        return torch.where(mass.isfinite(), self.trust * whole, -torch.inf)

    def next_numeral(self, context: Context) -> NextNumeral:
        view, log_probs, _ = self._copies(context)
        probabilities = log_probs[0].detach().double().exp().cpu().numpy()  # [M, DROPPED]
        found: dict[str, float] = {}
        for number, dropped in np.argwhere(probabilities > 0).tolist():
            text = view.host.rounded(0, number, dropped)
            found[text] = found.get(text, 0.0) + probabilities[number, dropped]
        return KnownNumerals(list(found), np.log(np.array(list(found.values()), dtype=np.float64)))

    def sources(self, context: Context) -> list[Source]:
        view, log_probs, _ = self._copies(context)
        probabilities = log_probs[0].detach().double().exp().cpu().numpy()
        host = view.host
        order = np.argsort(-probabilities, axis=None, kind="stable")[:NAMED]
        return [
            Source(
                host.rounded(0, number, dropped),
                float(probabilities[number, dropped]),
                (host.number(0, number),),
            )
            for number, dropped in (divmod(place, DROPPED) for place in order.tolist())
            if probabilities[number, dropped] > 0
        ]


def columns_of(keys: Tensor, ordered: Tensor, which: Tensor) -> Tensor:
    """Which of some candidates each key is of; as many as there are: of none."""
    if not len(ordered):
        return torch.zeros_like(keys)
    places = torch.searchsorted(ordered, keys).clamp(max=len(ordered) - 1)
    return torch.where(ordered[places] == keys, which[places], len(ordered))
