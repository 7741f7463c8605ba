"""The digits of a language model, adapted to a corpus without touching the model.

At every step of a spelling the model has a distribution over tokens. Its states there, which know
all of the text and the digits so far, and that distribution say how much more or less likely each
digit, point and comma shall be; the rest of the distribution moves up or down as a whole.
Untrained, the offsets are zero and the digits are the model's own.
"""

import math
import re
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from numerate.packing import move
from numerate.pretrained.dropout import ByteDropout
from numerate.pretrained.forest import Forest, on_device, spell_out
from numerate.pretrained.spelling import (
    COMMA_DIGIT,
    DIGIT,
    POINT_DIGIT,
    SPACE_DIGIT,
    NumeralTokens,
)
from numerate.pretrained.trees import Trees

OFFSETS = 12  # ten digits, the point, the comma
# Classes of tokens by how they begin: a digit, a space and a digit, a point, a comma.
POINTS, COMMAS, OTHERS = 20, 21, 22
MASSES = OTHERS + 2  # of each class but the others, then of point–digit and comma–digit tokens
_MOVE_OF = [*range(10), *range(10), 10, 11, OFFSETS]  # a class's offset; the others have none
_OF_KIND = {DIGIT: slice(0, 10), SPACE_DIGIT: slice(10, 20)}
_ONE_OF_KIND = {POINT_DIGIT: (22, 10), COMMA_DIGIT: (23, 11)}  # its mass, its offset
_BEGIN = re.compile(r"( ?)([0-9])|[.,]")
LEAST = -60.0  # the logarithm of no mass at all
UNLIKELY = -15.0  # a network is not told how much less likely than that


@dataclass(frozen=True, slots=True)
class NodeDetails:
    """What a model says at the nodes of spelling trees, one tree after another."""

    states: Tensor  # [M, S]
    masses: Tensor  # float64 [M, MASSES] log p of classes of tokens
    costs: Tensor  # float64 [M] log p of each node's token after its parent; 0 for roots
    closings: Tensor  # float64 [Q] log p of tokens that end a numeral with something else in them


@dataclass(frozen=True, slots=True)
class DigitBatch:
    """Numerals that the language model spells: which of a batch, their trees, what it says."""

    where: Tensor  # [A] places in the batch
    forest: Forest[Tensor]
    details: NodeDetails

    @classmethod
    def of(cls, trees: Trees, details: NodeDetails) -> "DigitBatch | None":
        """From the trees of a batch's numerals; those without one keep what the model says."""
        found = trees.found()
        if not len(found):
            return None
        device = details.costs.device
        return cls(move(found, device), on_device(trees.take(found).forest(), device), details)


class TokenClasses:
    """How each token of a vocabulary begins."""

    def __init__(self, tokens: NumeralTokens, size: int) -> None:
        self.of = np.full(size, OTHERS, dtype=np.int64)
        for index, text in tokens.texts.items():
            found = _BEGIN.match(text)
            if found and found[2]:
                self.of[index] = int(found[2]) + 10 * len(found[1])
            elif found:
                self.of[index] = POINTS if found[0] == "." else COMMAS
        self.ids = np.flatnonzero(self.of < OTHERS)
        self.kinds = [tokens.kinds[POINT_DIGIT], tokens.kinds[COMMA_DIGIT]]
        self._moves: dict[torch.device, Tensor] = {}

    def masses(self, log_p: Tensor, rows: Tensor) -> Tensor:
        """log p of each class, after the states of some rows: [·, V] → float64 [R, MASSES]."""

        def probs(ids: np.ndarray) -> Tensor:
            return log_p[rows[:, None], _to(ids, log_p)].double().exp()

        members = probs(self.ids)
        found = members.new_zeros(len(rows), OTHERS)
        found = found.index_add(1, _to(self.of[self.ids], log_p), members)
        pairs = [probs(kind).sum(1) for kind in self.kinds]
        return torch.cat([found, torch.stack(pairs, dim=1)], dim=1).log().clamp(min=LEAST)

    def moves(self, device: torch.device) -> Tensor:
        """Which offset moves each token, the last for those that none does: [V]."""
        if device not in self._moves:
            self._moves[device] = move(np.array(_MOVE_OF)[self.of], device)
        return self._moves[device]


class DigitAdapter(nn.Module):
    """States and masses to offsets. It begins with none: the language model's own digits.

    Several networks stand side by side. Each learns from every numeral, and errs in its own way;
    what counts is the mean of their distributions at every step, in which errors cancel out.
    """

    def __init__(self, state_size: int, hidden: int, dropout: float, networks: int = 1) -> None:
        super().__init__()
        self.networks = networks
        self.norm = nn.LayerNorm(state_size, elementwise_affine=False)  # `first` has scales
        self.dropout = ByteDropout(dropout)
        self.first = nn.Linear(state_size + MASSES, networks * hidden)
        bound = hidden**-0.5
        self.second = nn.Parameter(torch.empty(networks, hidden, hidden).uniform_(-bound, bound))
        self.second_bias = nn.Parameter(torch.zeros(networks, 1, hidden))
        self.last = nn.Parameter(torch.zeros(networks, hidden, OFFSETS))
        self.last_bias = nn.Parameter(torch.zeros(networks, 1, OFFSETS))
        self.move_of: Tensor
        self.register_buffer("move_of", torch.tensor(_MOVE_OF), persistent=False)

    def log_prob(self, own: Tensor, batch: DigitBatch, classes: TokenClasses) -> Tensor:
        """log p(numeral | a numeral), the model's `own` where there is no tree: [N]."""
        moves = self._moves(batch.details.states, batch.details.masses)
        return _log_prob(own, batch, _mean(moves), classes)

    def log_probs(
        self, own: Tensor, batch: DigitBatch, classes: TokenClasses
    ) -> tuple[Tensor, Tensor]:
        """The same, and of each network by itself: [N], [N, K]."""
        moves = self._moves(batch.details.states, batch.details.masses)
        together = _log_prob(own, batch, _mean(moves), classes)
        if self.networks == 1:
            return together, together[:, None]
        each = own[:, None].expand(-1, self.networks)
        return together, _log_prob(each, batch, moves, classes)

    def spell_out(
        self, forest: Forest[Tensor], details: NodeDetails, classes: TokenClasses
    ) -> tuple[Tensor, Tensor]:
        """log p of a forest's numerals, and of a numeral at its places: [N], [places]."""
        moves = _mean(self._moves(details.states, details.masses))
        return _spell_out(forest, details, moves, classes)

    def adapt(self, states: Tensor, logits: Tensor, classes: TokenClasses) -> Tensor:
        """log p of all tokens at once: [M, S], [M, V] → [M, V]."""
        log_p = logits.log_softmax(1)
        masses = classes.masses(log_p, torch.arange(len(log_p), device=log_p.device))
        moves = _mean(self._moves(states, masses)).to(log_p.dtype)
        return log_p + moves[:, classes.moves(log_p.device)]

    def _moves(self, states: Tensor, masses: Tensor) -> Tensor:
        """log of what each network multiplies probabilities with: [M, OFFSETS + 1, K].

        The last is for tokens that have no offset. All are divided by the sum of what comes out, so
        that tokens have probability one again.
        """
        offsets = self._offsets(states.float(), masses).double()
        moves = torch.cat([offsets, torch.zeros_like(offsets[:, :1])], dim=1)
        others = torch.log1p(-masses[:, :OTHERS].exp().sum(1, keepdim=True).clamp(max=1 - 1e-9))
        everything = torch.cat([masses[:, :OTHERS], others], dim=1)  # [M, OTHERS + 1]
        moved = everything[..., None] + moves.index_select(1, self.move_of)
        return moves - moved.logsumexp(1, keepdim=True)

    def _offsets(self, states: Tensor, masses: Tensor) -> Tensor:  # [M, OFFSETS, K]
        known = masses.clamp(min=UNLIKELY).to(states.dtype) / -UNLIKELY
        read = torch.cat([self.dropout(self.norm(states)), known], dim=1)
        hidden = self.dropout(F.gelu(self.first(read))).unflatten(1, (self.networks, -1))
        hidden = torch.baddbmm(self.second_bias, hidden.transpose(0, 1), self.second)  # [K, M, H]
        hidden = self.dropout(F.gelu(hidden))
        return torch.baddbmm(self.last_bias, hidden, self.last).permute(1, 2, 0)


def _mean(moves: Tensor) -> Tensor:
    """What the networks say together: the mean of their distributions, [·, ·, K] → [·, ·]."""
    return moves.logsumexp(2) - math.log(moves.shape[2])


def _log_prob(own: Tensor, batch: DigitBatch, moves: Tensor, classes: TokenClasses) -> Tensor:
    numerals, gates = _spell_out(batch.forest, batch.details, moves, classes)
    return own.index_copy(0, batch.where, (numerals - gates).clamp(max=0))


def _spell_out(
    forest: Forest[Tensor], details: NodeDetails, moves: Tensor, classes: TokenClasses
) -> tuple[Tensor, Tensor]:
    """With every token's probability moved as its class is: [M, OFFSETS + 1], or [·, ·, K]."""

    def add(masses: Tensor, moved: Tensor) -> Tensor:
        """The same masses for every network."""
        return moved + masses.view(*masses.shape, *[1] * (moved.dim() - masses.dim()))

    above, tokens = forest.edges
    values = torch.cat([details.costs[forest.below], details.closings])
    values = add(values, moves[above, classes.moves(moves.device)[tokens]])
    sums = []
    for kind, rows in forest.requests():
        if kind in _OF_KIND:
            digits = add(details.masses[rows, _OF_KIND[kind]], moves[rows, :10])
            sums.append(digits.logsumexp(1))
        else:
            mass, offset = _ONE_OF_KIND.get(kind, (0, 0))  # of the text's end none are asked
            sums.append(add(details.masses[rows, mass], moves[rows, offset]))
    spelled = spell_out(forest, values, sums, None)
    return spelled.numerals, spelled.gates


def _to(values: np.ndarray, like: Tensor) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.int64)).to(like.device)
