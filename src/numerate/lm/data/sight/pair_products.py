"""Products of what asks at a place and the keys of the numbers it sees, for all pairs."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor

if TYPE_CHECKING:
    from numerate.lm.data.sight.view import View


class Scorer(ABC):
    """How the products of queries and keys are computed: text by text, or all at once."""

    @abstractmethod
    def products(self, view: "View", queries: Tensor, keys: Tensor) -> Tensor:
        """Of a place's queries with its numbers' keys: [N, H, d], [E, d] → [P, H]."""


@dataclass(frozen=True, slots=True)
class TextByText(Scorer):
    """On a CPU, where padding costs more than a loop over texts: one product of matrices a text."""

    order: Tensor  # [N] places, text by text
    places: list[int]  # [B + 1] where those of each text begin among them
    numbers: list[int]  # [B + 1] where its numbers begin
    index: Tensor  # [P] where each pair is, if all numbers of a text had all places of it

    def products(self, view: "View", queries: Tensor, keys: Tensor) -> Tensor:
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

    def products(self, view: "View", queries: Tensor, keys: Tensor) -> Tensor:
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
