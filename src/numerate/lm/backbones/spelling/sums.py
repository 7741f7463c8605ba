"""The sum over spellings: from what a model says at nodes to probabilities of numerals.

A numeral's probability is Σ over its ends of p(path to the end) · p(it does not go on there).
It goes on with a digit, with a point and a digit, or with a comma and a digit where a thousands
group is possible. That a numeral begins at all is a sum of the same form over tokens that begin
with a digit, with or without the space before it.

It is walked in three ways: over all spellings at once (`spell_out`), from the likeliest on until
one numeral is known to be the best (`best_first.py`), and symbol by symbol (`symbol_by_symbol.py`).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from numerate.lm.backbones.spelling.forest import Forest
from numerate.lm.backbones.spelling.numeral_tokens import KINDS

LEAST_STOP = 1e-12  # no numeral goes on for certain


@dataclass(frozen=True, slots=True)
class Spelled:
    costs: Tensor  # float64 [M] log p of each node's token after its parent
    paths: Tensor  # float64 [M] log p of all tokens from the beginning to the node
    log_stop: Tensor  # float64 [ends] log p(the numeral does not go on)
    numerals: Tensor  # float64 [N] log p(the numeral, ended)
    gates: Tensor  # float64 [places] log p(a numeral begins)


def spell_out(
    forest: Forest[Tensor], values: Tensor, sums: list[Tensor], chains: tuple[int, int] | None
) -> Spelled:
    """From log p of the forest's edges and requests to those of its numerals.

    With `chains` [B, L], the first nodes of each row of L follow one another. Without them, values
    may have a second dimension: several models' at once.
    """
    steps = len(forest.below)
    costs = values.new_zeros(forest.nodes, *values.shape[1:])
    costs = costs.index_copy(0, forest.below, values[:steps])
    paths = costs.view(chains).cumsum(1).flatten() if chains else torch.zeros_like(costs)
    for nodes, parents in forest.by_level():
        paths = paths.index_copy(0, nodes, paths[parents] + costs[nodes])

    def from_base(terms: Tensor) -> Tensor:
        return paths[terms[2]] - paths[terms[1]]

    ended = _log_stop(forest, costs, sums[len(KINDS) :])
    gates = segment_logsumexp(
        from_base(forest.starts) + torch.cat(sums[: len(KINDS)]), forest.starts[0], forest.places
    )
    numerals = segment_logsumexp(
        torch.cat([from_base(forest.ends) + ended, from_base(forest.closings) + values[steps:]]),
        torch.cat([forest.ends[0], forest.closings[0]]),
        forest.numerals,
    )
    return Spelled(costs, paths, ended, numerals, gates)


def log_stop(goes_on: Tensor) -> Tensor:
    """log p(a numeral does not go on), from p(it does)."""
    return torch.log1p(-goes_on.clamp(max=1 - LEAST_STOP))


def _log_stop(forest: Forest[Tensor], costs: Tensor, sums: list[Tensor]) -> Tensor:
    digit, after_point, after_comma, glued_point, glued_comma = sums
    goes_on = digit.exp()
    for (ends, nodes), after, glued in (
        (forest.points, after_point, glued_point),
        (forest.commas, after_comma, glued_comma),
    ):
        mark = costs[nodes] + after
        goes_on = goes_on.index_add(0, ends, mark.exp() + glued.exp())
    return log_stop(goes_on)


def segment_logsumexp(values: Tensor, segments: Tensor, count: int) -> Tensor:
    """log Σ exp of the values of each segment: [·, …] → [count, …]."""
    shape = (count, *values.shape[1:])
    rows = segments.view(-1, *[1] * (values.dim() - 1)).expand_as(values)
    most = values.new_full(shape, -torch.inf)
    most = most.scatter_reduce(0, rows, values.detach(), "amax").clamp(min=-1e300)
    total = values.new_zeros(shape).index_add(0, segments, (values - most[segments]).exp())
    return total.log() + most
