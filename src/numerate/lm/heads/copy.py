"""A numeral that stands in view already: in a table, or earlier in the text."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from numerate.lm.data.numeral_table import NumeralBatch, NumeralTable
from numerate.lm.data.sight.view import COPY, DROPPED, View, Ways
from numerate.lm.heads.attention import NumberAttention, SightHead, safe_log, seen
from numerate.lm.heads.base import (
    Context,
    NextNumeral,
)
from numerate.lm.heads.known_numerals import KnownNumerals
from numerate.text.operations import KEY_BASE, drop_decimals
from numerate.text.seen_numbers import Source

NAMED = 32  # sources that are told


class Copies(NamedTuple):
    """What is copied at N places, whatever numeral that makes."""

    view: View
    probabilities: Tensor  # float64 [P] of every number that a place sees
    dropped: Tensor  # [N, DROPPED] odds of dropping so many decimals, if the number has them
    mass: Tensor  # [N] log of the sum before it was made one; −inf: nothing is in view


class CopyHead(SightHead):
    """Attention over the numbers in view, whole or rounded to fewer decimals.

    The probability of a numeral is the sum over the places where it stands.
    """

    summary = "Numbers in view, in tables and earlier in the text, as they are or rounded."
    style = ("green", "--")

    def __init__(self, size: int) -> None:
        super().__init__()
        self.attention = NumberAttention(size, 1, by_state=True)
        self.dropped = nn.Linear(size, DROPPED)
        self.trust = nn.Parameter(torch.zeros(()))  # how much its scores speak for it

    def copies(self, context: Context) -> Copies:
        view = seen(context)
        return view.once(self, context.hidden, lambda: self._attend(context.hidden, view))

    def _attend(self, hidden: Tensor, view: View) -> Copies:
        with torch.autocast(hidden.device.type, enabled=False):
            hidden = hidden.float()
            weights = self.attention(hidden, view)[:, 0].exp() * view.visible
            total = view.add_up(weights)
            whole = torch.where(total > 0, total, 1.0)
            probabilities = (weights / view.for_pairs(whole)).double()
            return Copies(view, probabilities, self.dropped(hidden).softmax(1), safe_log(total))

    def log_prob(self, context: Context, numerals: NumeralBatch) -> Tensor:
        view, _, parts = self._leading_to(context, numerals)
        return safe_log(view.add_up(parts))

    def _leading_to(self, context: Context, numerals: NumeralBatch) -> tuple[View, Tensor, Tensor]:
        """Decimals that each pair's number drops to be the numeral, and p of that, 0 if it
        cannot be: [P]."""
        copies = self.copies(context)
        view = copies.view
        same, dropped = is_copy(view.of_pairs(view.keys), view.for_pairs(numerals.keys))
        return view, dropped, copies.probabilities * self._dropping(copies, dropped) * same

    def ways(self, context: Context, numerals: NumeralBatch) -> Ways:
        view, dropped, parts = self._leading_to(context, numerals)
        (found,) = (parts > 0).nonzero(as_tuple=True)
        places = view.pair_places[found]
        slots = found - view.starts[places]
        return Ways(
            places, torch.full_like(places, COPY), slots, slots, dropped[found], parts[found]
        )

    def _dropping(self, copies: Copies, decimals: Tensor) -> Tensor:
        """p of dropping so many decimals of each pair's number, of those that it has: [P]."""
        view = copies.view
        has = torch.where(view.keys < 0, 0, view.precisions.clamp(max=DROPPED - 1))
        odds = view.for_pairs(copies.dropped)
        possible = view.for_pairs(copies.dropped.cumsum(1)).gather(1, view.of_pairs(has)[:, None])
        return (odds.gather(1, decimals[:, None]) / possible)[:, 0]

    def _each(self, context: Context) -> tuple[View, Tensor, Tensor]:
        """All that can be copied: keys and probabilities of each pair, by decimals dropped.

        int64 and float64 [P, DROPPED]; 0 where a number has not so many decimals.
        """
        copies = self.copies(context)
        view = copies.view
        keys = view.of_pairs(view.keys)
        units, precisions = keys // KEY_BASE, keys % KEY_BASE
        all_keys, probabilities = [keys], []
        for dropped in range(DROPPED):
            scale = 10**dropped
            if dropped:
                fewer = drop_decimals(units, scale) * KEY_BASE + precisions - dropped
                all_keys.append(torch.where((keys >= 0) & (precisions >= dropped), fewer, -1))
            share = self._dropping(copies, torch.full_like(keys, dropped))
            has = (precisions >= dropped) & (keys >= 0) if dropped else torch.ones_like(keys) > 0
            probabilities.append(copies.probabilities * share * has)
        return view, torch.stack(all_keys, dim=1), torch.stack(probabilities, dim=1)

    def log_prob_table(self, context: Context, candidates: NumeralTable) -> Tensor:
        view, keys, probabilities = self._each(context)
        ordered, which = candidates.on_device("keys").sort()
        count = len(candidates) + 1  # the last is for what is no candidate
        places = view.pair_places[:, None] * count + columns_of(keys, ordered, which)
        found = probabilities.new_zeros(len(view) * count)
        found = found.index_add(0, places.flatten(), probabilities.flatten())
        return safe_log(found.view(len(view), count)[:, :-1])

    def log_evidence(self, context: Context) -> Tensor:
        mass = self.copies(context).mass
        whole = torch.where(mass.isfinite(), mass, 0.0)
        return torch.where(mass.isfinite(), self.trust * whole, -torch.inf)

    def next_numeral(self, context: Context) -> NextNumeral:
        view, _, each = self._each(context)
        probabilities = each.detach().cpu().numpy()
        found: dict[str, float] = {}
        for number, dropped in np.argwhere(probabilities > 0).tolist():
            text = view.host.rounded(0, number, dropped)
            found[text] = found.get(text, 0.0) + probabilities[number, dropped]
        return KnownNumerals(list(found), np.log(np.array(list(found.values()), dtype=np.float64)))

    def sources(self, context: Context) -> list[Source]:
        view, _, each = self._each(context)
        probabilities, host = each.detach().cpu().numpy(), view.host
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


def is_copy(numbers: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """Whether numbers are wanted numerals, whole or rounded, and the decimals that this drops.

    Both are given by their keys: [P] each.
    """
    decimals = numbers % KEY_BASE - wanted % KEY_BASE  # that would be dropped
    scale = 10 ** decimals.clamp(0, DROPPED - 1)
    rounded = drop_decimals(numbers // KEY_BASE, scale)
    same = (decimals >= 0) & (decimals < DROPPED) & (rounded == wanted // KEY_BASE)
    # A numeral with too many digits to be rounded is only copied whole.
    same = torch.where((numbers < 0) | (wanted < 0), numbers == wanted, same)
    return same, torch.where(numbers < 0, 0, decimals).clamp(0, DROPPED - 1)


def columns_of(keys: Tensor, ordered: Tensor, which: Tensor) -> Tensor:
    """Which of some candidates each key is of; as many as there are: of none."""
    if not len(ordered):
        return torch.zeros_like(keys)
    places = torch.searchsorted(ordered, keys).clamp(max=len(ordered) - 1)
    return torch.where(ordered[places] == keys, which[places], len(ordered))
