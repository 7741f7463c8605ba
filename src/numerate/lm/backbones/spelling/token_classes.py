"""Tokens by how they begin: the classes whose probabilities digits are adapted by."""

import re

import numpy as np
import torch
from torch import Tensor

from numerate.lm.backbones.spelling.numeral_tokens import COMMA_DIGIT, POINT_DIGIT, NumeralTokens
from numerate.lm.data.packing import move

OFFSETS = 12  # ten digits, the point, the comma
# Classes of tokens by how they begin: a digit, a space and a digit, a point, a comma.
POINTS, COMMAS, OTHERS = 20, 21, 22
MASSES = OTHERS + 2  # of each class but the others, then of point–digit and comma–digit tokens
MOVE_OF = [*range(10), *range(10), 10, 11, OFFSETS]  # a class's offset; the others have none
_BEGIN = re.compile(r"( ?)([0-9])|[.,]")
LEAST = -60.0  # the logarithm of no mass at all


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
            self._moves[device] = move(np.array(MOVE_OF)[self.of], device)
        return self._moves[device]


def _to(values: np.ndarray, like: Tensor) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.int64)).to(like.device)
