"""Which tokens have an identity of their own: the most frequent types, in two partitions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from numerate.errors import NumerateError
from numerate.numeral import is_numeral

UNKNOWN_WORD = "<unk-word>"
UNKNOWN_NUMERAL = "<unk-numeral>"
END = "<eos>"
START = "<sos>"


@dataclass(frozen=True, slots=True, repr=False)
class Vocabulary:
    """The most frequent types, words and numerals together, each partition in order of frequency.

    Word 0 is the unknown word, word 1 the end of a paragraph; numeral 0 is the unknown
    numeral. The special symbols are not counted in the size V.
    """

    words: tuple[str, ...]
    numerals: tuple[str, ...]

    def __repr__(self) -> str:
        """Unknowns and the end of a paragraph counted in."""
        return f"Vocabulary({len(self.words):,} words, {len(self.numerals):,} numerals)"

    @classmethod
    def build(cls, types: Sequence[str], counts: np.ndarray, size: int) -> "Vocabulary":
        """From the types of the training split and how often each occurs."""
        if size < 1:
            raise NumerateError(f"vocabulary size: got {size}, expected 1 or more")
        if size > len(types):
            raise NumerateError(
                f"vocabulary larger than the corpus: got {size}, "
                f"expected at most its {len(types)} token types"
            )
        # Ties by text, so that the order of the corpus does not matter.
        ranked = sorted(range(len(types)), key=lambda index: (-int(counts[index]), types[index]))
        kept = [types[index] for index in ranked[:size]]
        return cls(
            (UNKNOWN_WORD, END, *(type for type in kept if not is_numeral(type))),
            (UNKNOWN_NUMERAL, *(type for type in kept if is_numeral(type))),
        )

    @property
    def size(self) -> int:
        """V: without unknowns and the end of a paragraph."""
        return len(self.words) + len(self.numerals) - 3

    @classmethod
    def nothing(cls) -> "Vocabulary":
        """Of a model that has none."""
        return cls((UNKNOWN_WORD, END), (UNKNOWN_NUMERAL,))

    def word_ids(self) -> dict[str, int]:
        return {word: index for index, word in enumerate(self.words)}

    def numeral_ids(self) -> dict[str, int]:
        return {numeral: index for index, numeral in enumerate(self.numerals)}

    def unknown(self, types: Iterable[str]) -> tuple[set[str], set[str]]:
        """The OOV sets among `types`: unknown words, unknown numerals."""
        known = set(self.words) | set(self.numerals)
        words: set[str] = set()
        numerals: set[str] = set()
        for type in types:
            if type not in known:
                (numerals if is_numeral(type) else words).add(type)
        return words, numerals
