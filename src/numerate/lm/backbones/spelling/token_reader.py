"""What a walk over spellings asks of a language model."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from torch import Tensor


class Reader(Protocol):
    """A language model after a text, asked about A tokens wherever it has read."""

    @property
    def count(self) -> int:
        """Nodes read so far."""

    def at(self, roots: np.ndarray) -> Tensor:
        """log p of the tokens asked about after tokens of the text: float64 [n, A]."""

    def read(self, parents: Sequence[int], tokens: Sequence[int], roots: Sequence[int]) -> Tensor:
        """The same after new nodes, which are numbered as they are read: float64 [n, A].

        A parent has been read, or stands before the node in the list; −1 is the text, after the
        token that `roots` says.
        """
