"""A numeral that follows from numbers in view: a percentage, a difference, a sum."""

from collections.abc import Iterator
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
from numerate.heads.copy import NAMED, columns_of
from numerate.heads.known_numerals import KnownNumerals
from numerate.numeral_table import NumeralBatch, NumeralTable
from numerate.sight.derivations import BACK, NO_GROUP, Results
from numerate.sight.operations import OPERATIONS, PRECISIONS, is_computable, written
from numerate.sight.view import FoundDerivations, Source, View

_BINARY = [n for n, operation in enumerate(OPERATIONS) if operation.operands == 2]
_UNARY = [n for n, operation in enumerate(OPERATIONS) if operation.operands == 1]
_ORDER = np.argsort(_BINARY + _UNARY).tolist()


class _Sums(NamedTuple):
    view: View
    first: Tensor  # [N, O, M] score of a number as the first operand, normalised
    second: Tensor  # [N, O, M] as the second; 0 where there is one operand
    precision: Tensor  # [N, P] log p of the result's decimals
    speaks: Tensor  # bool [N] whether anything can be computed


class ComputeHead(NumeralHead):
    """Which operation, of which numbers, to which precision: log p is the sum over all ways.

    Operands are chosen together from the pairs that share a row, a column, or the text, with odds
    that are a product of both. So the sum over all pairs is one over groups, and nothing is ever
    enumerated in training but the ways that lead to the numeral that stands there.
    """

    open_vocabulary = False
    summary = "What follows from numbers in view: percentages, ratios, differences, sums."
    style = ("orange", "--")
    drawn = False
    needs_sight = True

    def __init__(self, size: int) -> None:
        super().__init__()
        count = len(OPERATIONS)
        self.attention = NumberAttention(size, 2 * count)
        self.operations = nn.Linear(size, count)
        self.precisions = nn.Linear(size, len(PRECISIONS))

    @classmethod
    def fit(cls, data: TrainingNumerals, size: int, options: HeadOptions) -> Self:
        raise NumerateError(
            "head 'compute': it knows no numeral but what follows from numbers in view; "
            "expected it among the members of a combination (--model grounded)"
        )

    @classmethod
    def fit_member(cls, data: TrainingNumerals, size: int, options: HeadOptions) -> Self:
        return cls(size)

    def knows(self, numerals: NumeralTable) -> np.ndarray:
        """By itself, none: what it knows depends on the place."""
        return np.zeros(len(numerals), dtype=np.bool_)

    def _sums(self, context: Context) -> _Sums:
        view = seen(context)
        return view.once(self, context.hidden, lambda: self._attend(context.hidden, view))

    def _attend(self, hidden: Tensor, view: View) -> _Sums:
        with torch.autocast(hidden.device.type, enabled=False):
            hidden = hidden.float()
            scores = self.attention(hidden, view)  # [N, 2 * O, M]
            firsts, seconds = scores.chunk(2, dim=1)
            order = view.of_text(view.order)
            near = view.visible & ((order < 0) | (order >= view.before[:, None] - BACK))
            groups = view.of_text(view.groups)  # [N, 2, M]
            takes = view.of_text(_operands(view))  # [N, 2, O, M]
            first = firsts.masked_fill(~(near[:, None] & takes[:, 0]), -torch.inf)
            second = seconds.masked_fill(~(near[:, None] & takes[:, 1]), -torch.inf)
            bags = view.overlap.shape[2]
            pairs = _log_pairs(first[:, _BINARY], second[:, _BINARY], groups, bags)
            alone = _log_sum(first[:, _UNARY])
            masses = torch.cat([pairs, alone], dim=1)[:, _ORDER]  # [N, O]
            there = masses.isfinite()
            chosen = self.operations(hidden).masked_fill(~there, -torch.inf)
            speaks = there.any(1)
            chosen = torch.where(speaks[:, None], chosen, 0.0).log_softmax(1)
            shift = torch.where(there, chosen - torch.where(there, masses, 0.0), -torch.inf)
            return _Sums(
                view,
                first + shift[:, :, None],
                torch.where(_is_binary(second), second, 0.0),
                self.precisions(hidden).log_softmax(1),
                speaks,
            )

    def log_prob(self, context: Context, numerals: NumeralBatch) -> Tensor:
        sums = self._sums(context)
        ways = sums.view.standing
        if ways is None:
            ways = _find(sums.view, numerals)
        precisions = numerals.precisions.clamp(max=PRECISIONS[-1])
        log_probs = (
            sums.first[ways.places, ways.operations, ways.a]
            + sums.second[ways.places, ways.operations, ways.b]
            + sums.precision[ways.places, precisions[ways.places]]
        )
        # Who did not fit a language model's window is not seen: −inf.
        counts = ways.counts & log_probs.isfinite()
        parts = torch.where(counts, log_probs, 0.0).double().exp() * counts
        total = parts.new_zeros(len(numerals)).index_add(0, ways.places, parts)
        there = total > 0
        return torch.where(there, torch.where(there, total, 1.0).log(), -torch.inf)

    def log_prob_table(self, context: Context, candidates: NumeralTable) -> Tensor:
        sums = self._sums(context)
        keys, which = candidates.on_device("keys").sort()
        found = sums.first.new_zeros(len(sums.view), len(candidates) + 1, dtype=torch.float64)
        for results, places in _results(sums.view):
            device = found.device
            columns = columns_of(torch.from_numpy(results.keys()).to(device), keys, which)  # [R, P]
            probabilities = self._of_results(sums, results, places)  # [n, R, P]
            rows = torch.from_numpy(places).to(device)
            part = found[rows].scatter_add(
                1,
                columns.flatten().expand(len(places), -1),
                probabilities.flatten(1),
            )
            found = found.index_copy(0, rows, part)
        return found[:, :-1].log()

    def _of_results(self, sums: _Sums, results: Results, places: np.ndarray) -> Tensor:
        """p of all that can be computed of one text, at each precision: float64 [n, R, P]."""
        device = sums.first.device
        rows = torch.from_numpy(places).to(device)[:, None]
        operations, a, b = (
            torch.from_numpy(column.astype(np.int64)).to(device)
            for column in (results.operations, results.a, results.b)
        )
        log_probs = sums.first[rows, operations, a] + sums.second[rows, operations, b]  # [n, R]
        before = sums.view.before[rows[:, 0]].cpu().numpy()
        visible = torch.from_numpy(results.visible(before[:, None])).to(device)
        ways = torch.where(visible, log_probs, -torch.inf).double().exp()
        return ways[:, :, None] * sums.precision[rows[:, 0]].double().exp()[:, None]

    def log_evidence(self, context: Context) -> Tensor:
        return torch.where(self._sums(context).speaks, 0.0, -torch.inf)

    def next_numeral(self, context: Context) -> NextNumeral:
        sums = self._sums(context)
        ((results, places),) = _results(sums.view)
        keys, inverse = np.unique(results.keys(), return_inverse=True)
        found = self._of_results(sums, results, places)[0].detach().cpu().numpy()
        total = np.zeros(len(keys))
        np.add.at(total, inverse.ravel(), found.ravel())
        there = total > 0
        return KnownNumerals([written(key) for key in keys[there].tolist()], np.log(total[there]))

    def sources(self, context: Context) -> list[Source]:
        sums = self._sums(context)
        host = sums.view.host
        ((results, places),) = _results(sums.view)
        found = self._of_results(sums, results, places)[0].detach().cpu().numpy()  # [R, P]
        keys = results.keys()
        sources = []
        for way, precision in zip(*np.unravel_index(_best(found), found.shape), strict=True):
            if found[way, precision] <= 0:
                continue
            operation = OPERATIONS[results.operations[way]]
            a, b = host.number(0, int(results.a[way])), host.number(0, int(results.b[way]))
            sources.append(
                Source(
                    written(int(keys[way, precision])),
                    float(found[way, precision]),
                    (a, b)[: operation.operands],
                    operation.shown.format(a=a.text, b=b.text),
                )
            )
        return sources


def _best(found: np.ndarray) -> np.ndarray:
    return np.argsort(-found, axis=None, kind="stable")[:NAMED]


def _operands(view: View) -> Tensor:
    """Which numbers each operation takes, as its first operand and second: bool [B, 2, O, M]."""
    usable = view.exists & is_computable(view.values, view.precisions)
    paired = (view.groups != NO_GROUP).any(1) & usable
    first = [operation.takes_a(view.values) for operation in OPERATIONS]
    second = [operation.takes_b(view.values) for operation in OPERATIONS]
    able = torch.stack([paired if o.operands == 2 else usable for o in OPERATIONS], dim=1)
    return torch.stack([torch.stack(takes, dim=1) & able for takes in (first, second)], dim=1)


def _is_binary(scores: Tensor) -> Tensor:
    binary = [operation.operands == 2 for operation in OPERATIONS]
    return torch.tensor(binary, device=scores.device)[:, None]


def _log_sum(scores: Tensor) -> Tensor:
    """[N, O, M] → [N, O]; −inf where nothing is left."""
    return masked_logsumexp(scores.flatten(0, 1), scores.flatten(0, 1).isfinite()).view(
        scores.shape[:2]
    )


def _log_pairs(first: Tensor, second: Tensor, groups: Tensor, bags: int) -> Tensor:
    """log of the sum of e^(first + second) over all pairs that share a group: [N, O, M] → [N, O].

    Of each group: the product of two sums, less the numbers with themselves. The addends are
    float32 and the sums float64, so that a group of one gives exactly nothing.
    """
    tops = [scores.amax(2, keepdim=True) for scores in (first, second)]
    tops = [torch.where(top.isfinite(), top, 0.0).detach() for top in tops]
    a, b = ((s - top).exp().double() for s, top in zip((first, second), tops, strict=True))
    total = a.new_zeros(a.shape[:2])
    nowhere = bags + 1
    for group in groups.unbind(1):  # [N, M] rows, then columns
        index = torch.where(group == NO_GROUP, nowhere, group)[:, None].expand_as(a)

        def gather(numbers: Tensor, index: Tensor = index) -> Tensor:
            sums = numbers.new_zeros(*numbers.shape[:2], nowhere + 1)
            return sums.scatter_add(2, index, numbers)[:, :, :nowhere]

        total = total + (gather(a) * gather(b) - gather(a * b)).sum(2)
    there = total > 0
    found = torch.where(there, total, 1.0).log().float() + sum(tops)[:, :, 0]  # type: ignore[index]
    return torch.where(there, found, -torch.inf)


def _find(view: View, numerals: NumeralBatch) -> FoundDerivations:
    """How any numerals at the places follow from what is in view."""
    values, precisions = numerals.values.cpu().numpy(), numerals.precisions.cpu().numpy()
    before = view.before.cpu().numpy()
    parts = [np.zeros((4, 0), dtype=np.int64)]
    for results, places in _results(view):
        which, ways = results.matching(values[places], precisions[places])
        seen_there = results.visible(before[places][which], ways)
        which, ways = which[seen_there], ways[seen_there]
        columns = places[which], results.operations[ways], results.a[ways], results.b[ways]
        parts.append(np.stack([column.astype(np.int64) for column in columns]))
    found = torch.from_numpy(np.concatenate(parts, axis=1)).to(view.texts.device)
    places_of, operations, a, b = found
    counts = torch.ones_like(places_of, dtype=torch.bool)
    return FoundDerivations(places_of, operations, a, b, counts)


def _results(view: View) -> Iterator[tuple[Results, np.ndarray]]:
    """All that can be computed of each text, and the places in it."""
    texts = view.texts.cpu().numpy()
    for text in np.unique(texts).tolist():
        yield view.host.results(text), np.flatnonzero(texts == text)
