"""What the network reads: words by their own vectors, numerals also by their digits."""

import torch
from torch import Tensor, nn

from numerate.backbones.sight_encoder import Magnitude
from numerate.batching import Batch
from numerate.heads.recurrent import DigitEncoder
from numerate.vocabulary import Vocabulary


class InputEmbedding(nn.Module):
    """Token embeddings for words; gated token–digit embeddings for numerals.

    `with_magnitude`, numerals are also read by what they are on the number line.
    """

    def __init__(self, size: int, vocabulary: Vocabulary, *, with_magnitude: bool = False) -> None:
        super().__init__()
        self.words = nn.Parameter(torch.randn(len(vocabulary.words) + 1, size))  # and <sos>
        self.numerals = nn.Parameter(torch.randn(len(vocabulary.numerals), size))
        self.encoder = DigitEncoder(size)
        self.gate = nn.Linear(2 * size, size)
        self.magnitude = Magnitude(size) if with_magnitude else None

    def forward(self, batch: Batch) -> Tensor:  # [L, B, D]
        rows: Tensor = self.words
        if batch.numerals_read is not None:
            tokens = self.numerals.index_select(0, batch.numerals_read.known)  # [U, D]
            digits = self.encoder(batch.numerals_read)  # [U, D]
            gate = torch.sigmoid(self.gate(torch.cat([tokens, digits], dim=1)))
            numerals = (1 - gate) * tokens + gate * digits
            if self.magnitude is not None:
                read = batch.numerals_read
                numerals = numerals + self.magnitude(read.table, read.rows)
            rows = torch.cat([rows, numerals])
        return rows.index_select(0, batch.inputs).view(*batch.shape, -1)
