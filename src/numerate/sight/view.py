"""What heads are given to see: the numbers in view of N places, laid out text by text."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from numerate.numeral_table import KEY_BASE

if TYPE_CHECKING:
    from numerate.sight.collate import CorpusSight
    from numerate.sight.derivations import Results

Made = TypeVar("Made")

DROPPED = 4
"""A copy may drop up to so many decimals, less one."""

FEATURES = 15


@dataclass(frozen=True, slots=True)
class SeenNumber:
    """A number in view, and where it stands: in a table, or among the tokens of the text."""

    text: str
    token: int | None = None  # of the text itself
    table: int | None = None  # of those in view, counted as they were given
    row: int | None = None  # of the body; −1, −2 …: of the header, upwards
    column: int | None = None
    label: str = ""  # of the table
    row_header: str = ""
    column_header: str = ""

    @property
    def place(self) -> str:
        """In words: `Table 2, Age, Placebo`, or `text`."""
        if self.table is None:
            return "text"
        names = (self.label or f"table {self.table + 1}", self.row_header, self.column_header)
        return ", ".join(filter(None, names))


@dataclass(frozen=True, slots=True)
class Source:
    """A part of a distribution's probability, and what it was made of."""

    numeral: str
    probability: float
    numbers: tuple[SeenNumber, ...]
    operation: str | None = None  # with the numbers in it; None: a copy

    def __str__(self) -> str:
        if self.operation is not None:
            return f"{self.operation} = {self.numeral} ({self.probability:.2f})"
        (number,) = self.numbers
        rounded = f", of {number.text}" if number.text != self.numeral else ""
        return f"{number.place}: {self.numeral}{rounded} ({self.probability:.2f})"


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


@dataclass(frozen=True)
class View:
    """N places in B texts, with at most M numbers and G bags of header words a text.

    Of a text's own numerals a place sees those before it, of tables everything.
    """

    exists: Tensor  # bool [B, M]
    keys: Tensor  # [B, M] see `NumeralTable.keys`
    values: Tensor  # float64 [B, M]
    precisions: Tensor  # [B, M]
    order: Tensor  # [B, M] which of the text's own numerals it is; −1: in a table
    row_bags: Tensor  # [B, M]
    column_bags: Tensor  # [B, M]
    groups: Tensor  # [B, 2, M] see `derivations.groups_of`
    vectors: Tensor  # [B, M, D]
    texts: Tensor  # [N] the text of each place
    before: Tensor  # [N] how many of the text's own numerals stand before the place
    width: int  # Q, larger than any of them
    counts: Tensor | None  # bool [N]; None: all; the others are there to fill up
    overlap: Tensor  # [N, 2, G] how much of a bag stands in the words before: just before, and near
    standing: FoundDerivations | None  # of the numerals that are asked about in training
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

    def of_text(self, numbers: Tensor) -> Tensor:
        """Something of the numbers of each text, for each place: [B, …] → [N, …]."""
        return numbers.index_select(0, self.texts)

    @cached_property
    def visible(self) -> Tensor:
        """Which numbers a place sees: bool [N, M]."""
        return self.of_text(self.exists) & (self.of_text(self.order) < self.before[:, None])

    def attend(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Scores of the numbers of each place's text: [N, H, d], [B, M, d] → [N, H, M].

        Places of a text are put side by side, so that its keys are read once for all of them.
        """
        _, heads, size = queries.shape
        texts, numbers, _ = keys.shape
        rows = self.texts * self.width + self.before
        aside = rows if self.counts is None else torch.where(self.counts, rows, texts * self.width)
        table = queries.new_zeros(texts * self.width + 1, heads * size)
        table = table.index_copy(0, aside, queries.flatten(1))
        table = table[:-1].view(texts, self.width * heads, size)
        scores = torch.bmm(table, keys.transpose(1, 2))  # [B, Q * H, M]
        return scores.view(texts * self.width, heads, numbers).index_select(0, rows)

    @cached_property
    def rounded_keys(self) -> Tensor:
        """Keys with 0 to 3 decimals dropped, −1 where there are not so many: [B, M, DROPPED]."""
        whole, precisions = self.keys // KEY_BASE, self.keys % KEY_BASE
        found = [self.keys]
        for dropped in range(1, DROPPED):
            scale = 10**dropped
            fewer = (whole + scale // 2) // scale * KEY_BASE + precisions - dropped
            found.append(torch.where((self.keys >= 0) & (precisions >= dropped), fewer, -1))
        return torch.stack(found, dim=2)

    @cached_property
    def droppable(self) -> Tensor:
        """Whether so many decimals can be dropped: bool [B, M, DROPPED]."""
        first = torch.ones_like(self.exists)[:, :, None]
        return torch.cat([first, self.rounded_keys[:, :, 1:] >= 0], dim=2)

    @cached_property
    def features(self) -> Tensor:
        """What is to be known of a number at a place without any learning: [N, M, FEATURES].

        Where it stands, whether its headers were just named, and how it stands to what was
        written last: tables are read along their rows and columns.
        """
        keys, order = self.of_text(self.keys), self.of_text(self.order)  # [N, M]
        rows, columns = self.of_text(self.row_bags), self.of_text(self.column_bags)
        own, visible = order >= 0, self.visible
        distance = (self.before[:, None] - order).clamp(min=1)
        in_table = visible & ~own
        found = [own, 1.0 / distance * own, (distance == 1) & own]
        for back in (1, 2):
            is_last = own & (distance == back) & visible
            last = torch.where(is_last, keys, 0).sum(1, keepdim=True)
            same = in_table & (keys == last) & is_last.any(1, keepdim=True)
            found += [same, self._shares(same, rows), self._shares(same, columns)]
            if back == 1:
                found.append(F.pad(same[:, :-1], (1, 0)) & in_table)
        first = self.of_text(self._first_written)
        found.append(in_table & (first < self.before[:, None]))
        named = torch.stack(found, dim=2).to(self.vectors.dtype)
        of_rows = self.overlap.gather(2, rows[:, None].expand(-1, 2, -1))  # [N, 2, M]
        of_columns = self.overlap.gather(2, columns[:, None].expand(-1, 2, -1))
        words = torch.cat([of_rows, of_columns], dim=1).transpose(1, 2)
        everything = torch.cat([named, words.to(named.dtype)], dim=2)
        return torch.where(visible[:, :, None], everything, 0.0)

    def _shares(self, same: Tensor, bags: Tensor) -> Tensor:
        """Whether a number shares a row or column with one of those: bool [N, M]."""
        hits = self.overlap.new_zeros(len(self), self.overlap.shape[2], dtype=torch.float32)
        hits = hits.scatter_add(1, bags, same.float())
        return (hits.gather(1, bags) > 0) & ~same & (bags > 0)

    @cached_property
    def _first_written(self) -> Tensor:
        """The first of the text's own numerals that is the same as a number: [B, M]."""
        none = self.width + 1
        found = torch.full_like(self.order, none)
        own = torch.where(self.exists & (self.order >= 0), self.order, none)
        by_key = self.keys.sort(dim=1)
        starts = torch.searchsorted(by_key.values, self.keys)  # where equal keys begin
        return found.scatter_reduce(1, starts, own, "amin").gather(1, starts)


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
