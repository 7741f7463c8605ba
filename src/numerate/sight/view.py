"""What heads are given to see: the numbers in view of N places, laid out text by text."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from numerate.corpus.tokenizer import Token
from numerate.sight.features import SCALE

if TYPE_CHECKING:
    from numerate.sight.collate import CorpusSight
    from numerate.sight.derivations import Results

Made = TypeVar("Made")

DROPPED = 4
"""A copy may drop up to so many decimals, less one."""

FEATURES = 15
COPY = -1  # instead of an operation


@dataclass(frozen=True, slots=True)
class SeenNumber:
    """A number in view, and where it stands: in a table, or among the tokens of the text."""

    text: str
    token: int | None = None  # of the text itself, or of the earlier paragraph
    paragraph: int | None = None  # an earlier one of the document
    start: int | None = None  # offsets of the token
    end: int | None = None
    table: int | None = None  # of those in view, counted as they were given
    row: int | None = None  # of the body; −1, −2 …: of the header, upwards
    column: int | None = None
    label: str = ""  # of the table
    row_header: str = ""
    column_header: str = ""

    @property
    def where(self) -> tuple[int | None, ...]:
        """The cell, the earlier paragraph, or the text as a whole."""
        return self.table, self.row, self.column, self.paragraph

    @property
    def place(self) -> str:
        """In words: `Table 2, Age, Placebo`, or `text`."""
        if self.paragraph is not None:
            return f"paragraph {self.paragraph + 1}"
        if self.table is None:
            return "text"
        names = (self.label or f"Table {self.table + 1}", self.row_header, self.column_header)
        return ", ".join(filter(None, names))


@dataclass(frozen=True, slots=True)
class Source:
    """A part of a distribution's probability, and what it was made of."""

    numeral: str
    probability: float
    numbers: tuple[SeenNumber, ...]
    kind: str | None = None  # the name of an operation; None: a copy
    operation: str | None = None  # with the numbers in it; None: a copy

    def __str__(self) -> str:
        return f"{self.wording} ({self.probability:.2f})"

    @property
    def wording(self) -> str:
        """All but the probability: `Table 2, Age, Placebo: 51`, or `100 · 12/48 = 25`."""
        if self.operation is not None:
            return f"{self.operation} = {self.numeral}"
        (number,) = self.numbers
        rounded = f", of {number.text}" if number.text != self.numeral else ""
        return f"{number.place}: {self.numeral}{rounded}"

    def record(self) -> dict[str, Any]:
        """As plain values, and in words."""
        return {"words": str(self), "reason": self.reason, **asdict(self)}

    @property
    def reason(self) -> str:
        """Why this numeral, in a few words: `100 · 12/48`, or where it stands."""
        return self.operation if self.operation is not None else self.numbers[0].place


def located(source: Source, tokens: Sequence[Token]) -> Source:
    """The same with the offsets of the numbers that stand in the text itself."""
    numbers = tuple(
        number
        if number.token is None or number.paragraph is not None
        else replace(number, start=tokens[number.token].start, end=tokens[number.token].end)
        for number in source.numbers
    )
    return replace(source, numbers=numbers)


def merged(sources: Iterable[Source]) -> list[Source]:
    """The most probable first; the same numeral by the same way from the same places once.

    A sum is the same in either order, and a number that stands in the text twice is one number.
    """
    found: dict[object, Source] = {}
    for source in sources:
        places = frozenset((number.text, number.where) for number in source.numbers)
        key = source.numeral, source.kind, places
        if key in found:
            more = found[key].probability + source.probability
            found[key] = replace(found[key], probability=more)
        else:
            found[key] = source
    return sorted(found.values(), key=lambda source: -source.probability)


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
    scorer: "Scorer"
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


class Scorer(ABC):
    """How the products of queries and keys are computed: text by text, or all at once."""

    @abstractmethod
    def products(self, view: View, queries: Tensor, keys: Tensor) -> Tensor:
        """Of a place's queries with its numbers' keys: [N, H, d], [E, d] → [P, H]."""


@dataclass(frozen=True, slots=True)
class TextByText(Scorer):
    """On a CPU, where padding costs more than a loop over texts: one product of matrices a text."""

    order: Tensor  # [N] places, text by text
    places: list[int]  # [B + 1] where those of each text begin among them
    numbers: list[int]  # [B + 1] where its numbers begin
    index: Tensor  # [P] where each pair is, if all numbers of a text had all places of it

    def products(self, view: View, queries: Tensor, keys: Tensor) -> Tensor:
        sorted_queries = queries.index_select(0, self.order)
        found: Tensor = _Products.apply(sorted_queries, keys, self)  # type: ignore[no-untyped-call]
        return found.index_select(0, self.index)

    def blocks(self, heads: int) -> Iterator[tuple[slice, slice, slice, int]]:
        """Of each text: rows of queries, of keys and of products, and columns of the latter."""
        done = 0
        bounds = zip(pairwise(self.places), pairwise(self.numbers), strict=True)
        for (first, last), (begin, end) in bounds:
            size = (last - first) * (end - begin)
            if size:
                queries = slice(first * heads, last * heads)
                yield queries, slice(begin, end), slice(done, done + size), (last - first) * heads
            done += size

    @staticmethod
    def of(place_texts: Tensor, numbers: Tensor, pairs: tuple[Tensor, Tensor]) -> "TextByText":
        """`numbers` [B + 1] are where those of each text begin; `pairs`: places and slots."""
        order, counts, rank = ranks(place_texts, len(numbers) - 1)
        places = F.pad(counts.cumsum(0), (1, 0))
        sizes = counts * numbers.diff()
        begin = sizes.cumsum(0) - sizes  # of each text's products
        of_place, slots = pairs
        text = place_texts[of_place]
        index = begin[text] + slots * counts[text] + rank[of_place]
        return TextByText(order, places.tolist(), numbers.tolist(), index)


def ranks(texts: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """Places [N] text by text, how many each of so many texts has, and which of them each is.

    A place may be asked about several times: each time counts.
    """
    order = torch.argsort(texts, stable=True)
    counts = torch.bincount(texts, minlength=count)
    starts = counts.cumsum(0) - counts
    rank = torch.empty_like(order)
    rank[order] = torch.arange(len(order), device=order.device) - starts[texts[order]]
    return order, counts, rank


class _Products(torch.autograd.Function):
    """All products of all texts: [N, H, d], [E, d] → [·, H]."""

    @staticmethod
    def forward(ctx: Any, queries: Tensor, keys: Tensor, of: TextByText) -> Tensor:
        ctx.save_for_backward(queries, keys)
        ctx.of = of
        heads, flat = queries.shape[1], queries.flatten(0, 1)
        *_, (_, _, last, _) = [(slice(0), slice(0), slice(0, 0), 0), *of.blocks(heads)]
        result = queries.new_empty(last.stop, heads)
        for mine, numbers, products, columns in of.blocks(heads):
            torch.mm(keys[numbers], flat[mine].T, out=result[products].view(-1, columns))
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        queries, keys = ctx.saved_tensors
        gradient, flat = gradients[0].contiguous(), queries.flatten(0, 1)
        of_queries, of_keys = torch.zeros_like(flat), torch.zeros_like(keys)
        for mine, numbers, products, columns in ctx.of.blocks(queries.shape[1]):
            part = gradient[products].view(-1, columns)
            torch.mm(part.T, keys[numbers], out=of_queries[mine])
            torch.mm(part, flat[mine], out=of_keys[numbers])
        return of_queries.view(queries.shape), of_keys, None


@dataclass(frozen=True, slots=True)
class AllAtOnce(Scorer):
    """On a GPU: texts are padded to one size, which no value there decides."""

    index: Tensor  # [B, M] numbers of each text
    rank: Tensor  # [N] of each place among those of its text
    width: int  # Q, more than any rank
    slots: Tensor  # [P] which of its text's numbers
    counts: Tensor | None  # bool [N]; the others are there to fill up

    def products(self, view: View, queries: Tensor, keys: Tensor) -> Tensor:
        _, heads, size = queries.shape
        texts, most = self.index.shape
        rows = view.texts * self.width + self.rank
        # What fills up would stand where another place stands: it is put aside.
        aside = rows if self.counts is None else torch.where(self.counts, rows, texts * self.width)
        table = queries.new_zeros(texts * self.width + 1, heads * size)
        table = table.index_copy(0, aside, queries.flatten(1))[:-1]
        table = table.view(texts, self.width * heads, size)
        padded = keys.index_select(0, self.index.flatten()).view(texts, most, size)
        products = torch.bmm(padded, table.transpose(1, 2))  # [B, M, Q * H]
        text, rank = view.for_pairs(view.texts), view.for_pairs(self.rank)
        at = (text * most + self.slots) * self.width + rank
        return products.view(-1, heads).index_select(0, at)


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


class ReadSight(Sight):
    """Of texts that have been read: the vectors of all their numbers are known."""

    def __init__(
        self, sight: "CorpusSight", vectors: Tensor, seen: Tensor | None, places: np.ndarray
    ) -> None:
        """`vectors` [E, D] of all numbers; `seen` [E] which were read; `places` [N] of `sight`."""
        self.sight, self.vectors, self.seen, self.places = sight, vectors, seen, places
        self._view: View | None = None

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, rows: slice | Tensor) -> "ReadSight":
        wanted = rows if isinstance(rows, slice) else rows.cpu().numpy()
        return ReadSight(self.sight, self.vectors, self.seen, self.places[wanted])

    def laid_out(self) -> View:
        if self._view is None:
            self._view = self.sight.view_of(self.places, self.vectors, self.seen)
        return self._view


class BatchSight(Sight):
    """Of a batch in training, laid out already."""

    def __init__(self, view: View) -> None:
        self.view = view

    def __len__(self) -> int:
        return len(self.view)

    def __getitem__(self, rows: slice | Tensor) -> "BatchSight":
        raise ValueError("the numbers in view of a batch are not cut into pieces")

    def laid_out(self) -> View:
        return self.view
