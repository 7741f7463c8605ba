"""From hidden states to log-probabilities of tokens: flat, or words and numerals apart."""

from abc import ABC, abstractmethod

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from numerate.batching import Batch
from numerate.heads.base import NumeralHead
from numerate.heads.categorical import linear_log_prob
from numerate.heads.softmax import NumeralEmbedding
from numerate.numeral_table import NumeralTable
from numerate.vocabulary import Vocabulary


class OutputLayer(nn.Module, ABC):
    open_vocabulary: bool  # for numerals; words always have an unknown
    words: nn.Parameter  # [words, D] output embeddings

    @abstractmethod
    def log_prob(self, hidden: Tensor, batch: Batch) -> Tensor:
        """log p(token | hidden) of the batch's targets, words first: [L * B, D] → [W + N]."""

    @abstractmethod
    def numeral_table(self, hidden: Tensor, candidates: NumeralTable) -> Tensor:
        """log p(candidate | a numeral, hidden): [N, D] → [N, C]."""

    @abstractmethod
    def numeral_gate(self, hidden: Tensor) -> Tensor:
        """log p(the next token is a numeral | hidden): [N, D] → [N]."""


class FlatOutput(OutputLayer):
    """One softmax over words and numerals alike."""

    def __init__(self, size: int, vocabulary: Vocabulary, *, digits: bool) -> None:
        super().__init__()
        self.open_vocabulary = False
        self.words = nn.Parameter(torch.randn(len(vocabulary.words), size) / size**0.5)
        self.numerals = NumeralEmbedding(size, vocabulary.numerals, digits=digits)

    def log_prob(self, hidden: Tensor, batch: Batch) -> Tensor:
        targets = batch.words
        if batch.numerals is not None:
            targets = torch.cat([targets, batch.numerals.known + self.words.shape[0]])
        before = hidden.index_select(0, batch.positions)
        return linear_log_prob(before, self._weight(), targets)

    def _weight(self) -> Tensor:
        return torch.cat([self.words, self.numerals()])

    def _scores(self, hidden: Tensor) -> Tensor:
        return hidden @ self._weight().T

    def numeral_table(self, hidden: Tensor, candidates: NumeralTable) -> Tensor:
        log_probs = F.log_softmax(hidden @ self.numerals().T, dim=1)
        return log_probs[:, torch.from_numpy(candidates.known).to(hidden.device)]

    def numeral_gate(self, hidden: Tensor) -> Tensor:
        scores = self._scores(hidden)
        return scores[:, self.words.shape[0] :].logsumexp(1) - scores.logsumexp(1)


class HierarchicalOutput(OutputLayer):
    """First the class, then the token within it; the branches share no parameters."""

    def __init__(self, size: int, vocabulary: Vocabulary, head: NumeralHead) -> None:
        super().__init__()
        self.open_vocabulary = head.open_vocabulary
        self.words = nn.Parameter(torch.randn(len(vocabulary.words), size) / size**0.5)
        self.gate = nn.Parameter(torch.zeros(size))
        self.head = head

    def log_prob(self, hidden: Tensor, batch: Batch) -> Tensor:
        before = hidden.index_select(0, batch.positions)  # [W + N, D]
        log_class = F.logsigmoid(batch.signs * (before @ self.gate))
        before_words, before_numerals = batch.by_class(before)
        log_token = linear_log_prob(before_words, self.words, batch.words)
        if batch.numerals is not None:
            numerals = self.head.log_prob(before_numerals, batch.numerals)
            log_token = torch.cat([log_token.to(numerals.dtype), numerals])
        return log_class + log_token

    def numeral_table(self, hidden: Tensor, candidates: NumeralTable) -> Tensor:
        return self.head.log_prob_table(hidden, candidates)

    def numeral_gate(self, hidden: Tensor) -> Tensor:
        return F.logsigmoid(hidden @ self.gate)
