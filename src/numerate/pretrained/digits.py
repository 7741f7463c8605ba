"""The digits of a language model, adapted to a corpus without touching the model.

At every step of a spelling the model has a distribution over tokens. Its states there, which know
all of the text and the digits so far, say how much more or less likely each digit, point and comma
shall be; the rest of the distribution moves up or down as a whole. Untrained, the offsets are zero
and the digits are the model's own.
"""

import re
from dataclasses import dataclass

import numpy as np
import torch
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
_OFFSET_OF = [*range(10), *range(10), 10, 11]  # a class's offset
_OF_KIND = {DIGIT: slice(0, 10), SPACE_DIGIT: slice(10, 20)}
_ONE_OF_KIND = {POINT_DIGIT: (22, 10), COMMA_DIGIT: (23, 11)}  # its mass, its offset
_BEGIN = re.compile(r"( ?)([0-9])|[.,]")
LEAST = -60.0  # the logarithm of no mass at all


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
            self._moves[device] = move(np.array([*_OFFSET_OF, OFFSETS])[self.of], device)
        return self._moves[device]


class DigitAdapter(nn.Module):
    """States to offsets. It begins with none: the language model's own digits."""

    def __init__(self, state_size: int, hidden: int, dropout: float) -> None:
        super().__init__()
        last = nn.Linear(hidden, OFFSETS)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
        self.offsets = nn.Sequential(
            nn.LayerNorm(state_size),
            ByteDropout(dropout),
            nn.Linear(state_size, hidden),
            nn.GELU(),
            ByteDropout(dropout),
            last,
        )

    def log_prob(self, own: Tensor, batch: DigitBatch, classes: TokenClasses) -> Tensor:
        """log p(numeral | a numeral), the model's `own` where there is no tree: [N]."""
        numerals, gates = self.spell_out(batch.forest, batch.details, classes)
        return own.index_copy(0, batch.where, (numerals - gates).clamp(max=0))

    def spell_out(
        self, forest: Forest[Tensor], details: NodeDetails, classes: TokenClasses
    ) -> tuple[Tensor, Tensor]:
        """log p of a forest's numerals, and of a numeral at its places: [N], [places]."""
        offsets = self.offsets(details.states.float()).double()  # [M, 12]
        masses = details.masses
        raised = masses[:, :OTHERS] + offsets[:, _OFFSET_OF]  # [M, 22]
        others = torch.log1p(-masses[:, :OTHERS].exp().sum(1).clamp(max=1 - 1e-9))
        norms = torch.cat([raised, others[:, None]], dim=1).logsumexp(1)  # [M]
        moves = torch.cat([offsets, torch.zeros_like(offsets[:, :1])], dim=1)  # others: none
        above, tokens = forest.edges
        values = torch.cat([details.costs[forest.below], details.closings])
        values = values + moves[above, classes.moves(norms.device)[tokens]] - norms[above]
        sums = []
        for kind, rows in forest.requests():
            if kind in _OF_KIND:
                found = raised[rows, _OF_KIND[kind]].logsumexp(1)
            else:
                mass, offset = _ONE_OF_KIND.get(kind, (0, 0))  # of the text's end none are asked
                found = masses[rows, mass] + offsets[rows, offset]
            sums.append(found - norms[rows])
        spelled = spell_out(forest, values, sums, None)
        return spelled.numerals, spelled.gates

    def adapt(self, states: Tensor, logits: Tensor, classes: TokenClasses) -> Tensor:
        """The same for all tokens at once: [M, S], [M, V] → [M, V]."""
        offsets = self.offsets(states.float())
        moves = torch.cat([offsets, torch.zeros_like(offsets[:, :1])], dim=1)
        return logits + moves[:, classes.moves(logits.device)]


def _to(values: np.ndarray, like: Tensor) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.int64)).to(like.device)
