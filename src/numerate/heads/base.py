"""The contract of every numeral head."""

from abc import ABC, abstractmethod

from torch import Tensor, nn

from numerate.numeral_table import NumeralBatch, NumeralTable


class NumeralHead(nn.Module, ABC):
    """A distribution over numerals given a hidden state, and given that a numeral comes next.

    A head knows nothing of where hidden states come from. Closed heads give every numeral
    outside their vocabulary the probability of the one unknown symbol; open heads have none.
    """

    open_vocabulary: bool

    @abstractmethod
    def log_prob(self, hidden: Tensor, numerals: NumeralBatch) -> Tensor:
        """log p(numeral | a numeral, hidden) of each numeral in its own state: [N, D] → [N]."""

    @abstractmethod
    def log_prob_table(self, hidden: Tensor, candidates: NumeralTable) -> Tensor:
        """log p of every candidate in every state: [N, D] → [N, C]."""
