"""Flat columns of numbers in view to batches, gathered on the device they lie on.

A `Room` says how large a batch is, so that on a GPU no shape depends on a value there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from numerate.lm.data.sight.corpus_sight import CorpusSight
from numerate.lm.data.sight.pair_products import AllAtOnce, Scorer, TextByText, ranks
from numerate.lm.data.sight.view import FoundDerivations, HostTexts, Sight, View


@dataclass(frozen=True, slots=True)
class Room:
    """How large the parts of a batch are."""

    numbers: int  # E, of all texts
    bags: int  # of all texts
    most: int  # M, numbers of a text
    most_bags: int  # of a text
    width: int  # Q, places of a text
    pairs: int  # P, of a place and a number it sees
    derivations: int | None  # K, in a padded batch; None: as many as there are

    @staticmethod
    def of(corpus: CorpusSight, texts: np.ndarray, *, padded: bool = False) -> "Room":
        """What a batch of texts needs; padded, one of a few sizes."""
        sizes = corpus.sizes[:, texts]  # [4, B]
        totals, most = sizes.sum(1), sizes[:3].max(1, initial=1)
        derivations = None
        if padded:
            totals = _enough(corpus.sizes.mean(1) * len(texts) * 1.25, totals)
            most = _enough(np.array([256, 64, 32]), most)
            ways = np.diff(corpus.derivation_offsets[corpus.place_offsets])
            mean = np.array([ways.mean() * len(texts) * 1.25])
            derivations = int(_enough(mean, ways[texts].sum(keepdims=True))[0])
        numbers, bags, _, pairs = map(int, totals)
        most_numbers, most_bags, width = map(int, most)
        return Room(numbers, bags, most_numbers, most_bags, width, pairs, derivations)


@dataclass(frozen=True, slots=True)
class SeenNumbers:
    """The E numbers and G bags of a batch's texts, for who makes vectors of them."""

    corpus: CorpusSight
    rows: Tensor  # [E] of the table of numerals
    order: Tensor  # [E] which of the text's own numerals; −1: in a table
    steps: Tensor  # [E] where an own numeral stands in its text
    columns: Tensor  # [E] the text of each, counted within the batch
    row_bags: Tensor  # [E] counted within the batch
    column_bags: Tensor  # [E]
    captions: Tensor  # [E]
    bags: Tensor  # [G, HEADER_WORDS] word ids; as many as there are words: none
    found: Tensor  # [E] which numbers of the corpus they are
    texts: Tensor  # [B] the texts
    room: Room
    places: Tensor  # [N] of the numerals to be predicted, among those of the corpus
    place_texts: Tensor  # [N] their texts, counted within the batch
    counts: Tensor | None  # bool [N]

    @staticmethod
    def of(
        corpus: CorpusSight,
        texts: Tensor,
        room: Room,
        places: Tensor,
        place_texts: Tensor,
        counts: Tensor | None = None,
    ) -> "SeenNumbers":
        """The numbers of a batch's texts [B], flat; `places` [N] are to be predicted."""
        offsets = corpus.on_device("offsets")
        found, columns, _ = _gather(offsets[texts], offsets[texts + 1], room.numbers)
        bag_starts = corpus.on_device("bag_offsets")
        bags, _, is_bag = _gather(bag_starts[texts], bag_starts[texts + 1], room.bags)
        sizes = bag_starts[texts + 1] - bag_starts[texts]
        shift = (sizes.cumsum(0) - sizes).index_select(0, columns)  # of a text's bags in the batch
        words = corpus.on_device("word_ids").index_select(0, bags)
        nothing = len(corpus.vocabulary.words)
        words = torch.where(is_bag[:, None], words, nothing)

        def column(name: str) -> Tensor:
            return corpus.on_device(name).index_select(0, found)

        return SeenNumbers(
            corpus=corpus,
            rows=column("rows"),
            order=column("order"),
            steps=column("steps"),
            columns=columns,
            row_bags=column("row_bags") + shift,
            column_bags=column("column_bags") + shift,
            captions=column("captions") + shift,
            bags=words,
            found=found,
            texts=texts,
            room=room,
            places=places,
            place_texts=place_texts,
            counts=counts,
        )

    def with_vectors(self, vectors: Tensor, read: Tensor | None = None) -> "BatchSight":
        """What heads are given: the numbers with their vectors [E, D]; `read` [E]: which have."""
        place_offsets = self.corpus.on_device("derivation_offsets")
        starts, ends = place_offsets[self.places], place_offsets[self.places + 1]
        room = self.room.derivations
        which, at, counts = _gather(
            starts, ends, int((ends - starts).sum()) if room is None else room
        )
        if self.counts is not None:
            counts = counts & self.counts[at]
        operations, a, b = _take(self.corpus.on_device("derivation_columns"), which).unbind(1)
        standing = FoundDerivations(at, operations, a, b, counts)
        view = self.view(vectors, read)
        return BatchSight(replace(view, standing=standing))

    def view(self, vectors: Tensor, read: Tensor | None) -> View:
        room, texts, places, corpus = self.room, self.texts, self.places, self.corpus
        offsets = corpus.on_device("offsets")
        sizes = offsets[texts + 1] - offsets[texts]
        starts = sizes.cumsum(0) - sizes  # [B] where a text's numbers begin
        pair_starts = corpus.on_device("pair_offsets")
        counts = pair_starts[places + 1] - pair_starts[places]
        if self.counts is not None:
            counts = torch.where(self.counts, counts, 0)
        first = counts.cumsum(0) - counts
        slots, pair_places, are_pairs = _gather(counts.new_zeros(len(places)), counts, room.pairs)
        numbers = starts.index_select(0, self.place_texts).index_select(0, pair_places) + slots
        numbers = numbers.clamp(max=max(0, room.numbers - 1))

        def column(name: str) -> Tensor:
            return corpus.on_device(name).index_select(0, self.found)

        def numeral(name: str) -> Tensor:
            return corpus.table.on_device(name).index_select(0, self.rows)

        known = pair_starts.index_select(0, places).index_select(0, pair_places) + slots
        return View(
            keys=numeral("keys"),
            values=numeral("values"),
            precisions=numeral("precisions"),
            order=self.order,
            groups=column("groups"),
            vectors=vectors,
            read=read,
            texts=self.place_texts,
            before=corpus.on_device("before").index_select(0, places),
            starts=first,
            pair_places=pair_places,
            pair_numbers=numbers,
            pair_counts=are_pairs,
            known=_take(corpus.on_device("features"), known),
            bags=room.most_bags,
            standing=None,
            scorer=self._scorer(starts, sizes, pair_places, slots),
            host=HostTexts(corpus, None),
        )

    def _scorer(self, starts: Tensor, sizes: Tensor, pair_places: Tensor, slots: Tensor) -> Scorer:
        if self.texts.device.type == "cpu" and self.room.derivations is None:
            numbers = F.pad(sizes.cumsum(0), (1, 0))
            return TextByText.of(self.place_texts, numbers, (pair_places, slots))
        within = torch.arange(self.room.most, device=starts.device)
        index = torch.where(within < sizes[:, None], starts[:, None] + within, 0)
        if self.room.derivations is None:
            _, counts, rank = ranks(self.place_texts, len(self.texts))
            width = int(counts.max()) if len(counts) else 1
            return AllAtOnce(index, rank, width, slots, None)
        # In training every numeral is asked about once: the others before it are its rank.
        rank = self.corpus.on_device("before").index_select(0, self.places)
        return AllAtOnce(index, rank, self.room.width, slots, self.counts)


class ReadSight(Sight):
    """Of texts that have been read: the vectors of all their numbers are known."""

    def __init__(
        self, sight: CorpusSight, vectors: Tensor, seen: Tensor | None, places: np.ndarray
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
            self._view = self._lay_out()
        return self._view

    def _lay_out(self) -> View:
        sight, places = self.sight, self.places
        texts, place_texts = np.unique(sight.place_texts[places], return_inverse=True)
        pairs = np.diff(sight.pair_offsets)[places].sum()
        room = replace(Room.of(sight, texts), pairs=int(pairs))
        on_device = (
            torch.from_numpy(array).to(sight.table.device) for array in (texts, places, place_texts)
        )
        texts_there, *places_there = on_device
        seen = SeenNumbers.of(sight, texts_there, room, *places_there)
        read = None if self.seen is None else self.seen[seen.found]
        view = seen.view(self.vectors[seen.found], read)
        return replace(view, host=HostTexts(sight, texts))


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


def _gather(starts: Tensor, ends: Tensor, room: int) -> tuple[Tensor, Tensor, Tensor]:
    """All integers of [start, end) of each pair, the pair of each, and whether it is one.

    There is room for so many; what is left over repeats the first.
    """
    sizes = ends - starts
    if not len(sizes):
        nothing = starts.new_zeros(room)
        return nothing, nothing, nothing.bool()
    until = sizes.cumsum(0)
    index = torch.arange(room, device=starts.device)
    is_one = index < until[-1]
    index = torch.where(is_one, index, 0)
    pair = torch.searchsorted(until, index, right=True).clamp(max=len(starts) - 1)
    return (starts - until + sizes)[pair] + index, pair, is_one


def _take(column: Tensor, rows: Tensor) -> Tensor:
    """Like indexing, also of nothing."""
    if not len(column):
        return column.new_zeros(len(rows), *column.shape[1:])
    return column[rows.clamp(max=len(column) - 1)]


def _enough(least: np.ndarray, needed: Sequence[int] | np.ndarray) -> np.ndarray:
    """The least sizes, each times a power of two, such that they are enough."""
    needs = np.maximum(np.asarray(needed) / np.maximum(least, 1.0), 1.0)
    sizes: np.ndarray = np.ceil(np.maximum(least, 1.0)) * 2.0 ** np.ceil(np.log2(needs))
    return sizes
