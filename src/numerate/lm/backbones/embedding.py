"""What the network reads: words by their own vectors, numerals also by their digits."""

from abc import ABC, abstractmethod

import numpy as np
import torch
from torch import Tensor, nn

from numerate.lm.backbones.fourier import Fourier
from numerate.lm.backbones.sight_encoder import Magnitude
from numerate.lm.data.batching import Batch
from numerate.lm.data.numeral_table import SYMBOLS, DigitStrings
from numerate.lm.heads.base import DigitTable
from numerate.lm.heads.recurrent import DigitEncoder
from numerate.text.vocabulary import Vocabulary


class InputEmbedding(nn.Module, ABC):
    """Token embeddings for words; how numerals are read is for subclasses to say.

    `with_magnitude`, numerals are also read by what they are on the number line.
    """

    def __init__(self, size: int, vocabulary: Vocabulary, *, with_magnitude: bool = False) -> None:
        super().__init__()
        self.words = nn.Parameter(torch.randn(len(vocabulary.words) + 1, size))  # and <sos>
        self._add_numerals(size, vocabulary)
        self.magnitude = Magnitude(size) if with_magnitude else None

    @abstractmethod
    def _add_numerals(self, size: int, vocabulary: Vocabulary) -> None:
        """Make the weights that numerals are read with, as attributes of this module."""

    @abstractmethod
    def _read(self, numerals: DigitStrings) -> Tensor:
        """Their embeddings: [U, D]."""

    def forward(self, batch: Batch) -> Tensor:  # [L, B, D]
        rows: Tensor = self.words
        if batch.numerals_read is not None:
            read = batch.numerals_read
            numerals = self._read(read)
            if self.magnitude is not None:
                numerals = numerals + self.magnitude(read.table, read.rows)
            rows = torch.cat([rows, numerals])
        return rows.index_select(0, batch.inputs).view(*batch.shape, -1)

    def start_from_vectors(self, words: np.ndarray, numerals: np.ndarray) -> None:
        """Start token embeddings from pretrained vectors."""
        with torch.no_grad():
            self.words[:-1] = torch.from_numpy(words)

    def digit_tables(self) -> dict[str, DigitTable]:
        """Embeddings of digits, by what they are for."""
        return {}


class DigitInputs(InputEmbedding):
    """The paper's: gated token–digit embeddings for numerals."""

    def _add_numerals(self, size: int, vocabulary: Vocabulary) -> None:
        self.numerals = nn.Parameter(torch.randn(len(vocabulary.numerals), size))
        self.encoder = DigitEncoder(size)
        self.gate = nn.Linear(2 * size, size)

    def _read(self, numerals: DigitStrings) -> Tensor:
        tokens = self.numerals.index_select(0, numerals.known)  # [U, D]
        digits: Tensor = self.encoder(numerals)  # [U, D]
        gate: Tensor = torch.sigmoid(self.gate(torch.cat([tokens, digits], dim=1)))
        return (1 - gate) * tokens + gate * digits

    def start_from_vectors(self, words: np.ndarray, numerals: np.ndarray) -> None:
        super().start_from_vectors(words, numerals)
        with torch.no_grad():
            self.numerals[:] = torch.from_numpy(numerals)

    def digit_tables(self) -> dict[str, DigitTable]:
        weight = self.encoder.symbols.weight
        return {"read at the input": DigitTable((*SYMBOLS, "end"), weight)}


class FourierInputs(InputEmbedding):
    """FoNE's: Fourier features instead, the same for a numeral that was never seen."""

    def _add_numerals(self, size: int, vocabulary: Vocabulary) -> None:
        self.fourier = Fourier(size)

    def _read(self, numerals: DigitStrings) -> Tensor:
        read: Tensor = self.fourier(numerals.table, numerals.rows)
        return read


INPUTS: dict[str, type[InputEmbedding]] = {"digits": DigitInputs, "fourier": FourierInputs}
