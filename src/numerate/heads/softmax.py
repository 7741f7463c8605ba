"""Memorisation: a softmax over the numerals of the vocabulary."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from numerate.heads.base import NumeralHead
from numerate.heads.categorical import linear_log_prob
from numerate.heads.recurrent import DigitEncoder
from numerate.numeral_table import NumeralBatch, NumeralTable


class NumeralEmbedding(nn.Module):
    """Output embeddings of the vocabulary's numerals; row 0 is the unknown numeral's.

    With `digits`, the embedding of every numeral but the unknown also has a part that is
    composed from its digits.
    """

    def __init__(self, size: int, numerals: tuple[str, ...], *, digits: bool) -> None:
        super().__init__()
        self.tokens = nn.Parameter(torch.randn(len(numerals), size) / size**0.5)
        self.encoder = DigitEncoder(size) if digits and len(numerals) > 1 else None
        self._table = NumeralTable(numerals[1:])
        self._batch: NumeralBatch | None = None

    def forward(self) -> Tensor:  # [numerals, D]
        if self.encoder is None:
            return self.tokens
        if self._batch is None or self._batch.rows.device != self.tokens.device:
            self._batch = self._table.to(self.tokens.device).all()
        return self.tokens + F.pad(self.encoder(self._batch), (0, 0, 1, 0))


class SoftmaxHead(NumeralHead):
    """h-softmax and h-softmax+rnn; without `unknown`, the member of the combination."""

    def __init__(
        self, size: int, numerals: tuple[str, ...], *, digits: bool = False, unknown: bool = True
    ) -> None:
        super().__init__()
        if not unknown and len(numerals) < 2:
            raise ValueError("a softmax without the unknown needs a numeral: got none")
        self.open_vocabulary = False
        self.unknown = unknown
        self.embedding = NumeralEmbedding(size, numerals, digits=digits)

    def _weight(self) -> Tensor:
        weight: Tensor = self.embedding()
        return weight if self.unknown else weight[1:]

    def log_prob(self, hidden: Tensor, numerals: NumeralBatch) -> Tensor:
        if self.unknown:
            return linear_log_prob(hidden, self._weight(), numerals.known)
        known = numerals.known > 0
        log_probs = linear_log_prob(hidden, self._weight(), (numerals.known - 1).clamp_min(0))
        return log_probs.masked_fill(~known, -torch.inf)

    def log_prob_table(self, hidden: Tensor, candidates: NumeralTable) -> Tensor:
        log_probs = F.log_softmax(hidden @ self._weight().T, dim=1)
        known = torch.from_numpy(candidates.known).to(hidden.device)
        if self.unknown:
            return log_probs[:, known]
        return log_probs[:, (known - 1).clamp_min(0)].masked_fill(known == 0, -torch.inf)
