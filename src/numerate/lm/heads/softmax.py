"""Memorisation: a softmax over the numerals of the vocabulary."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from numerate.lm.data.numeral_table import SYMBOLS, NumeralBatch, NumeralTable
from numerate.lm.heads.base import (
    Config,
    Context,
    DigitTable,
    HeadOptions,
    NextNumeral,
    NumeralHead,
    TrainingNumerals,
    log_prob_row,
)
from numerate.lm.heads.categorical import linear_log_prob
from numerate.lm.heads.known_numerals import KnownNumerals
from numerate.lm.heads.recurrent import DigitEncoder
from numerate.text.vocabulary import UNKNOWN_NUMERAL


class NumeralEmbedding(nn.Module):
    """Output embeddings of the unknown numeral, row 0, and of the vocabulary's numerals.

    With `digits`, the embedding of every numeral but the unknown also has a part that is
    composed from its digits.
    """

    def __init__(self, size: int, numerals: Sequence[str], *, digits: bool) -> None:
        super().__init__()
        self.tokens = nn.Parameter(torch.randn(len(numerals) + 1, size).div_(size**0.5))
        self.encoder = DigitEncoder(size) if digits and numerals else None
        self._table = NumeralTable(numerals)
        self._batch: NumeralBatch | None = None

    def forward(self) -> Tensor:  # [numerals, D]
        if self.encoder is None:
            return self.tokens
        if self._batch is None or self._batch.rows.device != self.tokens.device:
            self._batch = self._table.to(self.tokens.device).all()
        return self.tokens + F.pad(self.encoder(self._batch), (0, 0, 1, 0))


class SoftmaxHead(NumeralHead):
    """h-softmax; without `unknown`, the member of a combination."""

    summary = (
        "First word or numeral, then a softmax over the numerals of the vocabulary; all others "
        "share one symbol."
    )
    paper_row = 3
    style = ("blue", "-")
    usual_member = True
    open_vocabulary = False
    reads_digits: ClassVar[bool] = False  # whether embeddings are also composed from digits

    def __init__(self, size: int, numerals: Sequence[str], *, unknown: bool = True) -> None:
        super().__init__()
        if not unknown and not numerals:
            raise ValueError("a softmax without the unknown needs a numeral: got none")
        self.unknown = unknown
        self.numerals = tuple(numerals)
        self.embedding = NumeralEmbedding(size, self.numerals, digits=self.reads_digits)
        self._ids = {text: index for index, text in enumerate(self.numerals, 1)}

    @classmethod
    def fit(cls, data: TrainingNumerals, size: int, options: HeadOptions) -> Self:
        return cls(size, data.vocabulary)

    @classmethod
    def fit_member(cls, data: TrainingNumerals, size: int, options: HeadOptions) -> Self | None:
        """A vocabulary without numerals has nothing to memorise."""
        return cls(size, data.vocabulary, unknown=False) if data.vocabulary else None

    def config(self) -> Config:
        return {"numerals": list(self.numerals), "unknown": self.unknown}

    def weight(self) -> Tensor:
        """Of the scores: [numerals, D]."""
        weight: Tensor = self.embedding()
        return weight if self.unknown else weight[1:]

    def log_prob(self, context: Context, numerals: NumeralBatch) -> Tensor:
        known = self.ids(numerals.table).index_select(0, numerals.rows)
        if self.unknown:
            return linear_log_prob(context.hidden, self.weight(), known)
        log_probs = linear_log_prob(context.hidden, self.weight(), (known - 1).clamp_min(0))
        return log_probs.masked_fill(known == 0, -torch.inf)

    def log_prob_table(self, context: Context, candidates: NumeralTable) -> Tensor:
        log_probs = F.log_softmax(context.hidden @ self.weight().T, dim=1)
        known = self.ids(candidates.to(context.hidden.device))
        if self.unknown:
            return log_probs[:, known]
        return log_probs[:, (known - 1).clamp_min(0)].masked_fill(known == 0, -torch.inf)

    def next_numeral(self, context: Context) -> NextNumeral:
        return KnownNumerals(self.numerals, log_prob_row(self, context, self.numerals))

    def knows(self, numerals: NumeralTable) -> np.ndarray:
        return np.array([text in self._ids for text in numerals.texts], dtype=np.bool_)

    def ids(self, numerals: NumeralTable) -> Tensor:
        """Of a table's numerals among ours, 0 for the unknown: [T]."""

        def compute(table: NumeralTable) -> Tensor:
            ids = [self._ids.get(text, 0) for text in table.texts]
            return torch.tensor(ids, dtype=torch.int64, device=table.device)

        return numerals.constant(self, None, compute)

    def digit_tables(self) -> dict[str, DigitTable]:
        encoder = self.embedding.encoder
        if encoder is None:
            return {}
        return {"read at the output": DigitTable((*SYMBOLS, "end"), encoder.symbols.weight)}

    def start_from_vectors(self, numerals: Mapping[str, np.ndarray]) -> None:
        with torch.no_grad():
            for text, index in {UNKNOWN_NUMERAL: 0, **self._ids}.items():
                self.embedding.tokens[index] = torch.from_numpy(numerals[text])


class DigitSoftmaxHead(SoftmaxHead):
    """h-softmax+rnn"""

    summary = "The same, with the digits read as in softmax+rnn."
    paper_row = 4
    style = ("blue", "--")  # digits at the output
    usual_member = False
    drawn = False  # much like h-softmax
    reads_digits = True


class FlatSoftmaxHead(SoftmaxHead):
    """softmax: given that a numeral comes, a softmax over its part of the flat one."""

    summary = (
        "One softmax over the words and numerals of a vocabulary; all other numerals share one "
        "symbol."
    )
    paper_row = 1
    style = ("grey", "-")
    usual_member = False
    flat = True
    drawn = False


class FlatDigitSoftmaxHead(FlatSoftmaxHead):
    """softmax+rnn"""

    summary = (
        "The same, with what a small network reads off a numeral's digits added to its embedding."
    )
    paper_row = 2
    style = ("grey", "--")
    reads_digits = True
