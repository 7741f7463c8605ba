"""A numeral that follows from numbers in view: a percentage, a difference, a sum."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from numerate.errors import check_choice
from numerate.lm.data.numeral_table import NumeralBatch, NumeralTable
from numerate.lm.data.sight.derivations import BACK, NO_GROUP, Results
from numerate.lm.data.sight.view import FoundDerivations, View, Ways
from numerate.lm.heads.attention import NumberAttention, SightHead, safe_log, seen
from numerate.lm.heads.base import (
    Config,
    Context,
    NextNumeral,
)
from numerate.lm.heads.copy import NAMED, columns_of
from numerate.lm.heads.known_numerals import KnownNumerals
from numerate.text.operations import (
    OPERATIONS,
    PRECISIONS,
    Operation,
    is_computable,
    written,
)
from numerate.text.seen_numbers import Source


class _Sums(NamedTuple):
    view: View
    scores: Tensor  # [P, roles] of a number in each role; −inf: it cannot play it
    operation: Tensor  # [N, known] log p of each, less the log of the sum over its operands
    precision: Tensor  # [N, precisions] log p of the result's decimals
    speaks: Tensor  # bool [N] whether anything can be computed


class ComputeHead(SightHead):
    """Which operation, of which numbers, to which precision: log p is the sum over all ways.

    Operands are chosen together from the pairs that share a row, a column, or the text, with odds
    that are a product of both. So the sum over all pairs is one over groups, and nothing is ever
    enumerated in training but the ways that lead to the numeral that stands there.
    """

    summary = "What follows from numbers in view: percentages, ratios, differences, sums."
    style = ("orange", "--")

    def __init__(self, size: int, operations: Sequence[str] | None = None) -> None:
        """With the operations of these names, of all that there are: those it has learnt of."""
        super().__init__()
        names = [operation.name for operation in OPERATIONS]
        self.names = names if operations is None else list(operations)
        for name in self.names:
            check_choice("operation", name, names)
        self.known = [OPERATIONS[names.index(name)] for name in self.names]
        self.roles = list(dict.fromkeys(role for o in self.known for role in o.roles))
        self.attention = NumberAttention(size, len(self.roles), by_state=False)
        self.operations = nn.Linear(size, len(self.known))
        self.precisions = nn.Linear(size, len(PRECISIONS))
        # Of every operation: which of the known ones it is, and its operands' roles; −1: none.
        mine = [self.names.index(name) if name in self.names else -1 for name in names]
        roles = [[*(self.roles.index(r) for r in o.roles), -1][:2] for o in self.known]
        self.mine: Tensor
        self.of_operands: Tensor
        self.register_buffer("mine", torch.tensor(mine), persistent=False)
        self.register_buffer("of_operands", torch.tensor(roles), persistent=False)  # [known, 2]

    def config(self) -> Config:
        return {"operations": self.names}

    def _sums(self, context: Context) -> _Sums:
        view = seen(context)
        return view.once(self, context.hidden, lambda: self._attend(context.hidden, view))

    def _attend(self, hidden: Tensor, view: View) -> _Sums:
        with torch.autocast(hidden.device.type, enabled=False):
            hidden = hidden.float()
            order = view.of_pairs(view.order)
            near = (order < 0) | (order >= view.for_pairs(view.before) - BACK)
            usable = is_computable(view.values, view.precisions)
            able = view.visible & near & view.of_pairs(usable)
            scores = self.attention(hidden, view).masked_fill(~able[:, None], -torch.inf)
            weights = scores.exp()  # [P, roles]
            masses: dict[object, Tensor] = {}  # operations that choose alike share a sum
            found = []
            for operation in self.known:
                choice = operation.roles, operation.takes_a, operation.takes_b
                if choice not in masses:
                    operands = [
                        weights[:, self.roles.index(role)] * view.of_pairs(takes(view.values))
                        for role, takes in zip(operation.roles, choice[1:], strict=False)
                    ]
                    masses[choice] = self._mass(view, operands, operation)
                found.append(masses[choice])
            total = torch.stack(found, dim=1)  # [N, O]
            there = total > 0
            speaks = there.any(1)
            chosen = self.operations(hidden).masked_fill(~there, -torch.inf)
            chosen = torch.where(speaks[:, None], chosen, 0.0).log_softmax(1)
            logs = torch.where(there, total, 1.0).log().to(chosen.dtype)
            log_operation = torch.where(there, chosen - logs, -torch.inf)
            return _Sums(
                view, scores, log_operation, self.precisions(hidden).log_softmax(1), speaks
            )

    def _mass(self, view: View, operands: list[Tensor], operation: Operation) -> Tensor:
        """The sum of the weights of all ways to choose the operands: float64 [N].

        Of two, over each group: the product of two sums, less the numbers with themselves. The
        addends are float32 and the sums float64, so that a group of one gives exactly nothing.
        """
        weights = torch.stack(operands, dim=1).double()  # [P, 1 or 2]
        if operation.operands == 1:
            return view.add_up(weights[:, 0])
        # Not `prod`, whose gradient looks for zeros: a GPU would have to wait for the answer.
        addends = torch.cat([weights, weights[:, :1] * weights[:, 1:]], dim=1)
        groups = view.of_pairs(view.groups)  # [P, 2]
        size = view.bags + 2  # the last is no group
        found = weights.new_zeros(len(view))
        for group in groups.unbind(1):
            index = torch.where(group == NO_GROUP, size - 1, group)
            sums = addends.new_zeros(len(view) * size, 3)
            sums = sums.index_add(0, view.pair_places * size + index, addends)
            first, second, same = sums.view(len(view), size, 3)[:, :-1].unbind(2)
            found = found + (first * second - same).sum(1)
        return found / 2 if operation.is_symmetric else found

    def log_prob(self, context: Context, numerals: NumeralBatch) -> Tensor:
        ways, parts = self._leading_to(context, numerals)
        return safe_log(parts.new_zeros(len(numerals)).index_add(0, ways.places, parts))

    def _leading_to(
        self, context: Context, numerals: NumeralBatch
    ) -> tuple[FoundDerivations, Tensor]:
        """How the numerals follow from what is in view, and p of each way: float64 [K]."""
        sums = self._sums(context)
        view = sums.view
        ways = view.standing if view.standing is not None else _find(view, numerals)
        precisions = numerals.precisions.clamp(max=PRECISIONS[-1])
        log_probs = self._of_ways(sums, ways.places, ways.operations, ways.a, ways.b)
        log_probs = log_probs + _at(sums.precision, ways.places, precisions[ways.places])
        counts = ways.counts & log_probs.isfinite()
        return ways, torch.where(counts, log_probs, 0.0).double().exp() * counts

    def ways(self, context: Context, numerals: NumeralBatch) -> Ways:
        found, parts = self._leading_to(context, numerals)
        nothing = torch.zeros_like(found.places)
        return Ways(found.places, found.operations, found.a, found.b, nothing, parts)

    def _of_ways(
        self, sums: _Sums, places: Tensor, operations: Tensor, a: Tensor, b: Tensor
    ) -> Tensor:
        """log p of operations of numbers, before their results are rounded: [K] each → [K]."""
        if not len(sums.scores):  # nothing is in view of any place
            return torch.full_like(places, -torch.inf, dtype=sums.operation.dtype)
        mine = self.mine[operations]
        known = mine.clamp(min=0)
        first, second = self.of_operands[known].unbind(1)
        starts, last = sums.view.starts[places], len(sums.scores) - 1
        scores = _at(sums.scores, (starts + a).clamp(max=last), first)
        other = _at(sums.scores, (starts + b).clamp(max=last), second.clamp(min=0))
        log_operation = _at(sums.operation, places, known)
        found = log_operation + scores + torch.where(second < 0, 0.0, other)
        return torch.where(mine < 0, -torch.inf, found)

    def log_prob_table(self, context: Context, candidates: NumeralTable) -> Tensor:
        sums = self._sums(context)
        keys, which = candidates.on_device("keys").sort()
        shape = len(sums.view), len(candidates) + 1  # the last is for what is no candidate
        found = sums.scores.new_zeros(shape, dtype=torch.float64)
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
        return safe_log(found[:, :-1])

    def _of_results(self, sums: _Sums, results: Results, places: np.ndarray) -> Tensor:
        """p of all that can be computed of one text, at each precision: float64 [n, R, P]."""
        device = sums.scores.device
        rows = torch.from_numpy(places).to(device)
        columns = [
            torch.from_numpy(column.astype(np.int64)).to(device)
            for column in (results.operations, results.a, results.b)
        ]
        count = len(results)
        repeated = rows.repeat_interleave(count)
        log_probs = self._of_ways(sums, repeated, *(part.repeat(len(rows)) for part in columns))
        before = sums.view.before[rows].cpu().numpy()
        visible = torch.from_numpy(results.visible(before[:, None])).to(device)
        ways = log_probs.view(len(rows), count).double().exp() * visible
        return ways[:, :, None] * sums.precision[rows].double().exp()[:, None]

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
                    operation.name,
                    operation.shown.format(a=a.text, b=b.text),
                )
            )
        return sources


def _at(table: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Elements of a matrix; unlike indexing, with a gradient that is quick to add up."""
    return table.flatten().index_select(0, rows * table.shape[1] + columns)


def _best(found: np.ndarray) -> np.ndarray:
    return np.argsort(-found, axis=None, kind="stable")[:NAMED]


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
