"""What a language model reads before a paragraph."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class Prefix:
    """Tables, written out. Paragraphs that have the same before them share the very object."""

    tokens: np.ndarray  # int64 [P] the start symbol, then the tables without their last token
    last: int  # that token: the first node of whatever is laid out after it
    ends: np.ndarray  # int64 [E] the token each number of the tables ends with; −1: left out
    rows_left_out: int

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def seen(self) -> np.ndarray:
        """Which numbers of the tables were written: bool [E]."""
        return self.ends >= 0
