"""What the functions of this package need of a language model, and nothing else of it.

Everything here is written over `NumberModel`: a run of our own implements it in `run_model.py`, and
any other language model that can score numerals may do the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from numerate.corpus.quantities import signs_and_powers
from numerate.corpus.tokenizer import Token
from numerate.evaluation.perplexity import proper
from numerate.numeral_table import NumeralTable

AFTER = 3  # tokens after a numeral that say whether it suits them: its unit, and a little more

States = Any
"""Contexts as the model keeps them, in whatever form: they have a length and can be sliced."""


@dataclass(frozen=True)
class Reading:
    """One text as a model reads it: T tokens and the end, N of the tokens numerals.

    Log-probabilities are adjusted: a token outside a closed vocabulary has its part of the
    unknown symbol's probability (see `evaluation/perplexity.py`).
    """

    text: str
    tokens: list[Token]  # with offsets into the text
    log_probs: np.ndarray  # [T + 1] log p of every token, and of the end
    positions: np.ndarray  # [N] which tokens are numerals
    numeral_log_probs: np.ndarray  # [N] log p(numeral | a numeral comes next)
    gates: np.ndarray  # [N] log p(a numeral comes next)
    states: States  # [N] the contexts before the numerals
    unknown: np.ndarray | None = None  # [T] which tokens the model has no symbol for, if it has one

    def __post_init__(self) -> None:
        proper(self.log_probs)
        proper(self.numeral_log_probs)

    @property
    def numerals(self) -> list[Token]:
        return [self.tokens[position] for position in self.positions]

    @cached_property
    def signs_and_powers(self) -> list[tuple[int, int]]:
        """Of each numeral, 1 or −1 and a power of ten: tokens beside it that a reader takes in."""
        return signs_and_powers(self.tokens)


class NextNumeral(Protocol):
    """The distribution over the next numeral in one context, given that a numeral comes.

    A model may put probability on what is no numeral that could be named: the unknown of a
    closed vocabulary, negative numbers, malformed strings of digits. `total` is the rest.
    """

    @property
    def total(self) -> float:
        """The probability of all numerals that can be named."""
        ...

    @property
    def unresolved(self) -> float:
        """The part of it whose place on the number line is only known from below."""
        ...

    def stream(self) -> Iterator[tuple[str, float]]:
        """Numerals with their log-probabilities, the most probable first.

        A search that has grown too large ends with what it has found, in the same order.
        """
        ...

    def mass_up_to(self, numbers: np.ndarray) -> np.ndarray:
        """Probability of all numerals whose value is at most each number: [X] → [X]."""
        ...

    def draw(self, count: int, generator: np.random.Generator) -> list[str]:
        """So many independent draws, less those that cannot be named."""
        ...


class NumberModel(Protocol):
    """A language model that knows numerals."""

    @property
    def name(self) -> str: ...

    @property
    def open_vocabulary(self) -> bool:
        """Whether every numeral has a probability of its own."""
        ...

    @property
    def members(self) -> tuple[str, ...]:
        """The strategies of a combination; empty for other models."""
        ...

    @property
    def candidates(self) -> NumeralTable:
        """A fixed grid of numerals over the number line, for percentiles and ranges."""
        ...

    @property
    def paragraphs_at_once(self) -> int:
        """How many it reads well together: more take more memory, and are no faster."""
        ...

    def join(self, states: Sequence[States]) -> States:
        """Contexts one after another: [N₁], [N₂], … → [N₁ + N₂ + …]."""
        ...

    def tokens(self, text: str) -> list[Token]:
        """How it cuts a text, which takes no time to speak of."""
        ...

    def read(self, texts: Sequence[str]) -> list[Reading]:
        """Score every token of every text; each text is one sequence from its start."""
        ...

    def contexts(self, texts: Sequence[str]) -> States:
        """The context after exactly each text, white space at its end included: [N]."""
        ...

    def log_probs(self, states: States, numerals: NumeralTable) -> np.ndarray:
        """log p(numeral | a numeral comes next) for every state and numeral: [N, C] float64."""
        ...

    @property
    def second_looks(self) -> float:
        """The share of numerals that `in_place` is asked about; less than all where it is slow."""
        ...

    def in_place(
        self, reading: Reading, rows: np.ndarray, numerals: Sequence[str]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Other numerals [E] written where the numerals `rows` [E] of a reading stand.

        log p(numeral | what stands before, a numeral comes), and log p(the next `AFTER` tokens |
        what stands before, the numeral), fewer at the end of the text: [E] each.
        """
        ...

    def next_numeral(self, state: States) -> NextNumeral:
        """The whole distribution in one context: `states[i : i + 1]`."""
        ...

    def shares(self, states: States) -> np.ndarray:
        """The share of each member in each context: [N, M]; M is 0 without members."""
        ...
