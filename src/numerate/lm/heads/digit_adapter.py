"""The digits of a language model, adapted to a corpus without touching the model.

At every step of a spelling the model has a distribution over tokens. Its states there, which know
all of the text and the digits so far, and that distribution say how much more or less likely each
digit, point and comma shall be; the rest of the distribution moves up or down as a whole.
Untrained, the offsets are zero and the digits are the model's own.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from numerate.lm.backbones.spelling.forest import Forest, Trees, on_device
from numerate.lm.backbones.spelling.numeral_tokens import (
    COMMA_DIGIT,
    DIGIT,
    POINT_DIGIT,
    SPACE_DIGIT,
)
from numerate.lm.backbones.spelling.sums import spell_out
from numerate.lm.backbones.spelling.token_classes import (
    MASSES,
    MOVE_OF,
    OFFSETS,
    OTHERS,
    TokenClasses,
)
from numerate.lm.data.packing import move
from numerate.lm.heads.dropout import ByteDropout

_OF_KIND = {DIGIT: slice(0, 10), SPACE_DIGIT: slice(10, 20)}
_ONE_OF_KIND = {POINT_DIGIT: (22, 10), COMMA_DIGIT: (23, 11)}  # its mass, its offset
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


class DigitAdapter(nn.Module):
    """Turns states and masses into offsets. They begin as none: the digits are the model's own."""

    def __init__(self, state_size: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.sizes = (state_size, hidden)
        self.norm = nn.LayerNorm(state_size, elementwise_affine=False)  # `first` has scales
        self.dropout = ByteDropout(dropout)
        self.first = nn.Linear(state_size + MASSES, hidden)
        bound = hidden**-0.5
        # As runs have stored them since there could be several networks, side by side.
        self.second = nn.Parameter(torch.empty(1, hidden, hidden).uniform_(-bound, bound))
        self.second_bias = nn.Parameter(torch.zeros(1, 1, hidden))
        self.last = nn.Parameter(torch.zeros(1, hidden, OFFSETS))
        self.last_bias = nn.Parameter(torch.zeros(1, 1, OFFSETS))
        self.move_of: Tensor
        self.register_buffer("move_of", torch.tensor(MOVE_OF), persistent=False)

    def log_prob(self, own: Tensor, batch: DigitBatch, classes: TokenClasses) -> Tensor:
        """log p(numeral | a numeral), the model's `own` where there is no tree: [N]."""
        moves = self._moves(batch.details.states, batch.details.masses)
        numerals, gates = _spell_out(batch.forest, batch.details, moves, classes)
        return own.index_copy(0, batch.where, (numerals - gates).clamp(max=0))

    def spell_out(
        self, forest: Forest[Tensor], details: NodeDetails, classes: TokenClasses
    ) -> tuple[Tensor, Tensor]:
        """log p of a forest's numerals, and of a numeral at its places: [N], [places]."""
        moves = self._moves(details.states, details.masses)
        return _spell_out(forest, details, moves, classes)

    def adapt(self, states: Tensor, logits: Tensor, classes: TokenClasses) -> Tensor:
        """log p of all tokens at once: [M, S], [M, V] → [M, V]."""
        log_p = logits.log_softmax(1)
        masses = classes.masses(log_p, torch.arange(len(log_p), device=log_p.device))
        moves = self._moves(states, masses).to(log_p.dtype)
        return log_p + moves[:, classes.moves(log_p.device)]

    def _moves(self, states: Tensor, masses: Tensor) -> Tensor:
        """Return the log of what probabilities are multiplied with: [M, OFFSETS + 1].

        The last is for tokens that have no offset. All are divided by the sum of what comes out, so
        that tokens have probability one again.
        """
        offsets = self._offsets(states.float(), masses).double()
        moves = torch.cat([offsets, torch.zeros_like(offsets[:, :1])], dim=1)
        others = torch.log1p(-masses[:, :OTHERS].exp().sum(1, keepdim=True).clamp(max=1 - 1e-9))
        everything = torch.cat([masses[:, :OTHERS], others], dim=1)  # [M, OTHERS + 1]
        moved = everything + moves.index_select(1, self.move_of)
        return moves - moved.logsumexp(1, keepdim=True)

    def _offsets(self, states: Tensor, masses: Tensor) -> Tensor:  # [M, OFFSETS]
        known = masses.clamp(min=UNLIKELY).to(states.dtype) / -UNLIKELY
        read = torch.cat([self.dropout(self.norm(states)), known], dim=1)
        hidden = self.dropout(F.gelu(self.first(read)))
        hidden = torch.addmm(self.second_bias[0], hidden, self.second[0])  # [M, H]
        hidden = self.dropout(F.gelu(hidden))
        return torch.addmm(self.last_bias[0], hidden, self.last[0])


def _spell_out(
    forest: Forest[Tensor], details: NodeDetails, moves: Tensor, classes: TokenClasses
) -> tuple[Tensor, Tensor]:
    """Sum over spellings, with every token's probability moved as its class is."""
    above, tokens = forest.edges
    values = torch.cat([details.costs[forest.below], details.closings])
    values = values + moves[above, classes.moves(moves.device)[tokens]]
    sums = []
    for kind, rows in forest.requests():
        if kind in _OF_KIND:
            digits = details.masses[rows, _OF_KIND[kind]] + moves[rows, :10]
            sums.append(digits.logsumexp(1))
        else:
            mass, offset = _ONE_OF_KIND.get(kind, (0, 0))  # of the text's end none are asked
            sums.append(details.masses[rows, mass] + moves[rows, offset])
    spelled = spell_out(forest, values, sums, None)
    return spelled.numerals, spelled.gates
