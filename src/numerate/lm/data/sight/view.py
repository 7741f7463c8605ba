"""What heads are given to see: the numbers in view of N places, laid out text by text."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import torch
from torch import Tensor

from numerate.lm.data.sight.features import SCALE
from numerate.lm.data.sight.pair_products import Scorer
from numerate.text.seen_numbers import SeenNumber

if TYPE_CHECKING:
    from numerate.lm.data.sight.corpus_sight import CorpusSight
    from numerate.lm.data.sight.derivations import Results

Made = TypeVar("Made")

DROPPED = 4
"""A copy may drop up to so many decimals, less one."""

FEATURES = 15
COPY = -1  # instead of an operation


class Sight(ABC):
    """The numbers in view of N places."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, rows: slice | Tensor) -> "Sight": ...

    @abstractmethod
    def laid_out(self) -> "View":
        """As tensors, for who attends to them."""


@dataclass(frozen=True, slots=True)
class FoundDerivations:
    """K ways in which the numerals that stand at the places follow from numbers in view."""

    places: Tensor  # [K]
    operations: Tensor  # [K]
    a: Tensor  # [K] numbers of the place's text
    b: Tensor  # [K]
    counts: Tensor  # bool [K]; the others are there to fill up


@dataclass(frozen=True, slots=True)
class Ways:
    """K ways in which a head makes the numerals at some places of numbers in view."""

    places: Tensor  # [K]
    operations: Tensor  # [K] of `operations.OPERATIONS`, or `COPY`
    a: Tensor  # [K] numbers of the place's text
    b: Tensor  # [K] the same as a, where there is one operand
    dropped: Tensor  # [K] decimals that a copy drops
    probabilities: Tensor  # float64 [K] together those of the numerals


@dataclass(frozen=True)
class View:
    """N places in B texts that have E numbers in view: P pairs of a place and a number it sees.

    The numbers of a text stand side by side, those of its tables first, then its own numerals. A
    place sees all of the tables and the own numerals before it, which are therefore the first ones
    of its text; its pairs stand side by side too.
    """

    keys: Tensor  # [E] see `NumeralTable.keys`
    values: Tensor  # float64 [E]
    precisions: Tensor  # [E]
    order: Tensor  # [E] which of the text's own numerals it is; −1: in a table
    groups: Tensor  # [E, 2] see `derivations.groups_of`
    vectors: Tensor  # [E, D]
    read: Tensor | None  # bool [E] which a language model's window had room for; None: all
    texts: Tensor  # [N] the text of each place
    before: Tensor  # [N] how many of the text's own numerals stand before the place
    starts: Tensor  # [N] the first pair of each place
    pair_places: Tensor  # [P]
    pair_numbers: Tensor  # [P]
    pair_counts: Tensor | None  # bool [P]; the others are there to fill up; None: there are none
    known: Tensor  # uint8 [P, FEATURES] what is known of a pair without learning: `features.py`
    bags: int  # more than any bag of a text
    standing: FoundDerivations | None  # of the numerals that are asked about in training
    scorer: Scorer
    host: "HostTexts"
    _made: dict[tuple[int, int], object] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return self.texts.shape[0]

    def once(self, owner: object, hidden: Tensor, make: Callable[[], Made]) -> Made:
        """What a head makes of these places and their states, made once."""
        key = id(owner), id(hidden)
        if key not in self._made:
            self._made[key] = make(), owner, hidden  # which live as long, so that no id comes again
        made: Made = self._made[key][0]  # type: ignore[index]
        return made

    def of_pairs(self, numbers: Tensor) -> Tensor:
        """Something of the numbers, for each pair: [E, …] → [P, …]."""
        return numbers.index_select(0, self.pair_numbers)

    def for_pairs(self, places: Tensor) -> Tensor:
        """Something of the places, for each pair: [N, …] → [P, …]."""
        return places.index_select(0, self.pair_places)

    def add_up(self, pairs: Tensor) -> Tensor:
        """Sum over the pairs of each place: [P, …] → [N, …]."""
        return pairs.new_zeros(len(self), *pairs.shape[1:]).index_add(0, self.pair_places, pairs)

    @cached_property
    def features(self) -> Tensor:
        """What is known of the pairs without learning: float32 [P, FEATURES]."""
        return self.known.float() / SCALE * self.visible[:, None]

    @cached_property
    def visible(self) -> Tensor:
        """Which pairs count, and are of a number that was read: bool [P]."""
        everything = torch.ones_like(self.pair_places, dtype=torch.bool)
        counts = everything if self.pair_counts is None else self.pair_counts
        return counts if self.read is None else counts & self.of_pairs(self.read)


@dataclass(frozen=True, slots=True)
class HostTexts:
    """The texts of a view on the CPU: for names, and for what is not asked in training."""

    sight: "CorpusSight"
    texts: np.ndarray | None  # [B] which of its texts they are; None: that is on the device only

    def number(self, text: int, number: int) -> SeenNumber:
        """One of the numbers in view of one of the texts."""
        return self.sight.number(self._text(text), number)

    def rounded(self, text: int, number: int, dropped: int) -> str:
        """The numeral of a number with so many decimals dropped."""
        return self.sight.rounded(self._text(text), number, dropped)

    def results(self, text: int) -> "Results":
        """All that can be computed of the numbers in view."""
        return self.sight.results(self._text(text))

    def _text(self, text: int) -> int:
        if self.texts is None:
            raise ValueError("texts of a training batch are not known on the CPU")
        return int(self.texts[text])
