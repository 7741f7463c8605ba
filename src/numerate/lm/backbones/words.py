"""From hidden states to words, and to whether a numeral comes."""

from abc import ABC, abstractmethod
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from numerate.lm.data.batching import Batch
from numerate.lm.data.sight.view import Sight
from numerate.lm.heads.base import Context, NumeralHead
from numerate.lm.heads.categorical import linear_log_prob
from numerate.lm.heads.softmax import SoftmaxHead


class Words(nn.Module, ABC):
    """Output embeddings of the words, and how numerals stand beside them."""

    def __init__(self, size: int, count: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(count, size).div_(size**0.5))  # [words, D]

    @abstractmethod
    def log_prob(
        self, hidden: Tensor, batch: Batch, head: NumeralHead, sight: Sight | None = None
    ) -> Tensor:
        """log p(token | hidden) of the batch's targets, words first: [L * B, D] → [W + N].

        `sight` is what the numerals among them have in view.
        """

    @abstractmethod
    def log_prob_but_numerals(self, hidden: Tensor, batch: Batch, head: NumeralHead) -> Tensor:
        """The same, but of a numeral only that one comes: [W + N]."""


class FlatWords(Words):
    """One softmax over words and numerals alike: those of a flat head, which is a `SoftmaxHead`."""

    def log_prob(
        self, hidden: Tensor, batch: Batch, head: NumeralHead, sight: Sight | None = None
    ) -> Tensor:
        softmax, targets = cast(SoftmaxHead, head), batch.words
        weight = torch.cat([self.weight, softmax.weight()])
        if batch.numerals is not None:
            ids = softmax.ids(batch.numerals.table).index_select(0, batch.numerals.rows)
            targets = torch.cat([targets, ids + len(self.weight)])
        return linear_log_prob(hidden.index_select(0, batch.positions), weight, targets)

    def log_prob_but_numerals(self, hidden: Tensor, batch: Batch, head: NumeralHead) -> Tensor:
        before_words, before_numerals = batch.by_class(hidden.index_select(0, batch.positions))
        weight = torch.cat([self.weight, cast(SoftmaxHead, head).weight()])
        words = linear_log_prob(before_words, weight, batch.words)
        scores = before_numerals @ weight.T
        gates = scores[:, len(self.weight) :].logsumexp(1) - scores.logsumexp(1)
        return torch.cat([words, gates])


class GatedWords(Words):
    """First the class, then the token within it; the branches share no parameters."""

    def __init__(self, size: int, count: int) -> None:
        super().__init__(size, count)
        self.gate = nn.Parameter(torch.zeros(size))

    def log_prob(
        self, hidden: Tensor, batch: Batch, head: NumeralHead, sight: Sight | None = None
    ) -> Tensor:
        before = hidden.index_select(0, batch.positions)  # [W + N, D]
        log_probs = self._log_prob_but_numerals(before, batch)
        if batch.numerals is None:
            return log_probs
        _, before_numerals = batch.by_class(before)
        numerals = head.log_prob(Context(before_numerals, sight), batch.numerals)
        words, gates = batch.by_class(log_probs)
        return torch.cat([words.to(numerals.dtype), gates + numerals])

    def log_prob_but_numerals(self, hidden: Tensor, batch: Batch, head: NumeralHead) -> Tensor:
        return self._log_prob_but_numerals(hidden.index_select(0, batch.positions), batch)

    def _log_prob_but_numerals(self, before: Tensor, batch: Batch) -> Tensor:
        log_class = F.logsigmoid(batch.signs * (before @ self.gate))
        before_words, _ = batch.by_class(before)
        of_words, of_numerals = batch.by_class(log_class)
        words = linear_log_prob(before_words, self.weight, batch.words)
        return torch.cat([of_words + words, of_numerals])
