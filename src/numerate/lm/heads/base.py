"""The contract of every numeral head: what it is given, and what it must answer."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
import torch
from torch import Tensor, nn

from numerate.lm.data.numeral_table import NumeralBatch, NumeralTable
from numerate.lm.data.sight.view import Sight, Ways
from numerate.text.seen_numbers import Source

Config = dict[str, Any]
"""What JSON can hold of a head: enough to make it again, but for its tensors."""


class Digits(Protocol):
    """What a language model of tokens says of numerals at N places, by itself.

    An adapter is a network that adapts these digits; without one they are the language model's own.
    """

    def log_prob(self, numerals: NumeralBatch, adapter: Any = None) -> Tensor:
        """log p(numeral | a numeral comes) of one numeral at each place: float64 [N]."""
        ...

    def log_prob_table(self, candidates: NumeralTable, adapter: Any = None) -> Tensor:
        """Of every candidate at every place: float64 [N, C]."""
        ...

    def next_numeral(self, adapter: Any = None) -> "NextNumeral":
        """The whole distribution at one place."""
        ...

    def __getitem__(self, rows: slice | Tensor) -> "Digits": ...


@dataclass(frozen=True, slots=True)
class Context:
    """What a head is given for N places where a numeral comes."""

    hidden: Tensor  # [N, D]
    sight: Sight | None = None  # the numbers in view, if the backbone sees any
    digits: Digits | None = None  # of the language model that the head stands on, if there is one

    def __len__(self) -> int:
        return self.hidden.shape[0]

    def __getitem__(self, rows: slice | Tensor) -> "Context":
        sight = None if self.sight is None else self.sight[rows]
        digits = None if self.digits is None else self.digits[rows]
        return Context(self.hidden[rows], sight, digits)


@dataclass(frozen=True, slots=True)
class TrainingNumerals:
    """The numerals of a training split: all that a head may fit itself to."""

    table: NumeralTable  # the distinct ones
    counts: np.ndarray  # [T] how often each occurs
    vocabulary: tuple[str, ...]  # those with an identity of their own
    state_size: int | None = None  # of a language model that brings its own digits; None: none does
    frozen: bool = True  # whether that model stays as it is

    @classmethod
    def of(cls, texts: Iterable[str], vocabulary: Sequence[str] | None = None) -> Self:
        """From a list in which numerals may come again; all have an identity unless told."""
        counted = Counter(texts)
        table = NumeralTable.of_text(counted, {})
        counts = np.array([counted[text] for text in table.texts])
        known = [text for text, _ in counted.most_common()] if vocabulary is None else vocabulary
        return cls(table, counts, tuple(known))

    def numbers(self) -> tuple[np.ndarray, np.ndarray]:
        """The distinct values, ascending, and how often each occurs."""
        occurring = self.counts > 0
        values, places = np.unique(self.table.values[occurring], return_inverse=True)
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, places, self.counts[occurring])
        return values, counts


@dataclass(frozen=True, slots=True)
class HeadOptions:
    """What can be chosen about heads; each takes what concerns it."""

    truncate: bool = False  # a mixture: renormalise over non-negative numerals
    members: tuple[str, ...] = ()  # a combination: of which heads; by default the usual ones


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


@runtime_checkable
class KnownFromAbove(Protocol):
    """A `NextNumeral` some of whose mass is known to lie in a small range, and no nearer."""

    def mass_surely_up_to(self, numbers: np.ndarray) -> np.ndarray:
        """As `mass_up_to`, which has each range where it begins, but where it ends."""
        ...


def mass_surely_up_to(numerals: NextNumeral, numbers: np.ndarray) -> np.ndarray:
    """Of those that know no ranges it is the mass up to the numbers itself."""
    if isinstance(numerals, KnownFromAbove):
        return numerals.mass_surely_up_to(numbers)
    return numerals.mass_up_to(numbers)


@dataclass(frozen=True, slots=True)
class DigitTable:
    """Embeddings of symbols that a head reads or writes digits with."""

    symbols: tuple[str, ...]
    weight: Tensor = field(repr=False)  # [symbols, D]
    of_lm_digits: bool = False  # of a language model, whose digits not every head uses


class NumeralHead(nn.Module, ABC):
    """A distribution over numerals in a context, given that a numeral comes next.

    A head knows nothing of where contexts come from. Closed heads give every numeral outside
    their vocabulary the probability of the one unknown symbol; open heads have none.

    `numerals` offer `texts`, `values` (float64), `precisions` and digits; so does `candidates`, a
    table whose `all()` has the same as tensors.
    """

    open_vocabulary: bool = True
    summary: ClassVar[str] = "A head of its own."  # a sentence for reports
    paper_row: ClassVar[int | None] = None  # its place in the paper's tables, if it is there
    flat: ClassVar[bool] = False  # whether words and its numerals share one softmax
    usual_sight: ClassVar[str] = "none"  # how far its model sees unless told: `text/columns.py`
    usual_member: ClassVar[bool] = False  # of a combination for which none are named
    drawn: ClassVar[bool] = True  # among the curves of a report
    style: ClassVar[tuple[str, str]] = ("ink", "-")  # its colour in reports/look.py, and dashes
    needs_sight: ClassVar[bool] = False  # numbers in view, of which alone it knows
    sees_states: ClassVar[bool] = True  # or only a language model's digits
    needs_digits: ClassVar[bool] = False  # those of a pretrained language model it stands on

    @classmethod
    def fit(cls, data: TrainingNumerals, size: int, options: HeadOptions) -> Self:
        """A new head for states of this size, fitted to what it needs of the training data."""
        return cls(size)

    @classmethod
    def fit_member(
        cls, data: TrainingNumerals, size: int, options: HeadOptions
    ) -> "NumeralHead | None":
        """The same inside a combination; None where it would have nothing to say."""
        return cls.fit(data, size, options)

    def config(self) -> Config:
        """What `from_config` needs to make the head again; tensors are stored by themselves."""
        return {}

    @classmethod
    def from_config(cls, size: int, config: Config) -> Self:
        """The head that `config` is of, with tensors that are still to be loaded."""
        return cls(size, **config)

    @abstractmethod
    def log_prob(self, context: Context, numerals: NumeralBatch) -> Tensor:
        """log p(numeral | a numeral, context) of each numeral in its own place: [N]."""

    @abstractmethod
    def log_prob_table(self, context: Context, candidates: NumeralTable) -> Tensor:
        """log p of every candidate in every place: [N, C]."""

    def next_numeral(self, context: Context) -> NextNumeral:
        """The whole distribution in one place. This one looks where numerals usually are."""
        from numerate.lm.heads.coarse_search import coarse_search

        return coarse_search(self, context)

    def log_evidence(self, context: Context) -> Tensor | None:
        """What speaks for it in each place, inside a combination, beside the state: [N].

        −inf where it has nothing to say: who knows only numbers in view, where there are none.
        """
        return None

    def sources(self, context: Context) -> list[Source]:
        """Where its probability in one place comes from, as far as that can be told."""
        return []

    def ways(self, context: Context, numerals: NumeralBatch) -> Ways | None:
        """How each numeral is made of numbers in view; None: it is not."""
        return None

    def knows(self, numerals: NumeralTable) -> np.ndarray:
        """Which numerals have a probability of their own: bool [T]."""
        return np.ones(len(numerals), dtype=np.bool_)

    def members_by_name(self) -> "dict[str, NumeralHead]":
        """Of a combination; others have none."""
        return {}

    def mixture_weights(self, context: Context) -> Tensor:
        """Of the members, in their order: [N, M]."""
        return context.hidden.new_zeros(len(context), 0)

    def beside_digits(
        self, context: Context, candidates: NumeralTable
    ) -> tuple[Tensor, Tensor] | None:
        """Where the language model's digits have a part: their weight, and all other probability.

        float64 [N] and [N, C]; a candidate has weight · p(its digits) + rest.
        """
        return None

    @property
    def uses_sight(self) -> bool:
        """Whether it asks for the numbers in view."""
        return self.needs_sight

    @property
    def uses_digits(self) -> bool:
        """Whether it asks for the digits of the language model it stands on."""
        return self.needs_digits

    def digit_adapter(self) -> Any:
        """The network that adapts the language model's digits, if there is one."""
        return None

    def digit_tables(self) -> dict[str, DigitTable]:
        """Embeddings of digits, by what they are for."""
        return {}

    def start_from_vectors(self, numerals: Mapping[str, np.ndarray]) -> None:
        """Start embeddings of numerals from pretrained vectors, by text; most heads have none."""


def log_prob_row(head: NumeralHead, context: Context, texts: Sequence[str]) -> np.ndarray:
    """log p of numerals in one place: float64 [C]."""
    candidates = NumeralTable(texts).to(context.hidden.device)
    with torch.no_grad():
        row: np.ndarray = head.log_prob_table(context, candidates)[0].double().cpu().numpy()
    return row
