"""The numbers in view of the texts of a corpus: made once, then gathered batch by batch.

Every text has its numbers side by side, those of its tables first, then its own numerals. A place
is where a numeral stands, or the end of a text. Batches are gathered on the device; a `Room` says
how large, so that on a GPU no shape depends on a value there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from numerate.numeral_table import KEY_BASE, NumeralTable
from numerate.ragged import ranges
from numerate.sight.columns import HEADER_WORDS, EarlierParagraph, SightColumns
from numerate.sight.derivations import (
    Derivations,
    Results,
    groups_of,
    results_of,
)
from numerate.sight.features import features_of
from numerate.sight.operations import drop_decimals, is_computable, written
from numerate.sight.view import (
    AllAtOnce,
    BatchSight,
    FoundDerivations,
    HostTexts,
    Scorer,
    SeenNumber,
    TextByText,
    View,
    ranks,
)
from numerate.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class OwnTokens:
    """The tokens of the texts themselves, one after another."""

    types: list[str]  # distinct tokens
    codes: np.ndarray  # [T] which type
    offsets: np.ndarray  # [P + 1] where texts begin among the tokens
    numerals: np.ndarray  # [N] which tokens are numerals
    rows: np.ndarray  # [N] of the table of numerals
    numeral_offsets: np.ndarray  # [P + 1] where texts begin among the numerals


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


@dataclass(frozen=True, slots=True)
class SeenNumbers:
    """The E numbers and G bags of a batch's texts, for who makes vectors of them."""

    corpus: "CorpusSight"
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

    def with_vectors(self, vectors: Tensor, read: Tensor | None = None) -> BatchSight:
        """What heads are given: the numbers with their vectors [E, D]; `read` [E]: which have."""
        return self.corpus.batch(self, vectors, read)


class CorpusSight:
    """What the texts of a corpus have in view, as flat columns."""

    def __init__(
        self,
        columns: SightColumns,
        own: OwnTokens,
        table: NumeralTable,
        vocabulary: Vocabulary,
    ) -> None:
        self.columns, self.own, self.table, self.vocabulary = columns, own, table, vocabulary
        self._moved: dict[tuple[torch.device, str], Tensor] = {}
        self._last: tuple[int, Results] | None = None
        self._lay_out_numbers()

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def _lay_out_numbers(self) -> None:
        columns, own = self.columns, self.own
        texts = np.arange(len(columns))
        per_view = np.diff(columns.number_offsets)[columns.views]
        view_texts = np.repeat(texts, np.diff(columns.view_offsets))
        entries = ranges(
            columns.number_offsets[columns.views], columns.number_offsets[columns.views + 1]
        )
        view_of = np.repeat(np.arange(len(columns.views)), per_view)
        owners = view_texts[view_of]
        in_tables = np.bincount(owners, minlength=len(texts))
        local = np.arange(len(entries)) - np.repeat(_starts(in_tables), in_tables)
        self.numbers_in_tables = in_tables  # [P] that each text sees
        own_counts = np.diff(own.numeral_offsets)
        self.offsets = np.concatenate([[0], np.cumsum(in_tables + own_counts)])  # [P + 1]
        at = self.offsets[owners] + local
        own_owners = np.repeat(texts, own_counts)
        which = np.arange(len(own_owners)) - own.numeral_offsets[:-1][own_owners]
        own_at = self.offsets[own_owners] + in_tables[own_owners] + which
        # Bags of a text: an empty one, then those of its tables.
        per_view_bags = np.diff(columns.bag_offsets)[columns.views]
        text_bags = np.bincount(view_texts, per_view_bags, minlength=len(texts)).astype(np.int64)
        first = np.concatenate([[0], np.cumsum(per_view_bags)])[:-1]
        shift = 1 + first - _starts(text_bags)[view_texts]  # [V] of a table's bags in its text
        self.bag_offsets = np.concatenate([[0], np.cumsum(text_bags + 1)])
        taken = ranges(columns.bag_offsets[columns.views], columns.bag_offsets[columns.views + 1])
        self.bag_words = np.full((self.bag_offsets[-1], HEADER_WORDS), -1, dtype=np.int32)
        filled = np.ones(len(self.bag_words), dtype=np.bool_)
        filled[self.bag_offsets[:-1]] = False
        self.bag_words[filled] = columns.bags[taken]
        count = int(self.offsets[-1])
        index = {text: row for row, text in enumerate(self.table.texts)}
        rows = np.array([index[text] for text in columns.numerals], dtype=np.int64)
        self.rows = np.zeros(count, dtype=np.int64)
        self.order = np.full(count, -1, dtype=np.int64)
        self.row_bags, self.column_bags, self.captions, self.entries = (
            np.zeros(count, dtype=np.int64) for _ in range(4)
        )
        self.entries[:] = -1  # which numbers of the tables; −1: own
        self.entries[at] = entries
        if len(entries):
            self.rows[at] = rows[columns.number_numerals[entries]]
            self.row_bags[at] = shift[view_of] + columns.number_rows[entries]
            self.column_bags[at] = shift[view_of] + columns.number_columns[entries]
            self.captions[at] = shift[view_of]
        self.rows[own_at], self.order[own_at] = own.rows, which
        self.steps = np.zeros(count, dtype=np.int64)
        self.steps[own_at] = own.numerals - own.offsets[:-1][own_owners]
        self.number_texts = np.repeat(texts, np.diff(self.offsets))
        self.number_tables = np.full(count, -1, dtype=np.int64)
        self.number_tables[at] = columns.views[view_of] if len(entries) else 0
        # Places: the numerals of each text, then its end.
        self.place_offsets = own.numeral_offsets + np.arange(len(texts) + 1)
        self.place_texts = np.repeat(texts, own_counts + 1)
        self.before = np.arange(len(self.place_texts)) - self.place_offsets[:-1][self.place_texts]

    @property
    def numeral_places(self) -> np.ndarray:
        """Of the texts' own numerals: [N]."""
        return np.flatnonzero(self.before < np.diff(self.own.numeral_offsets)[self.place_texts])

    @property
    def end_places(self) -> np.ndarray:
        """Of the ends of the texts: [P]."""
        ends: np.ndarray = self.place_offsets[1:] - 1
        return ends

    @cached_property
    def groups(self) -> np.ndarray:
        """See `derivations.groups_of`: int64 [E, 2]."""
        table = self.table
        computable = is_computable(table.values, table.precisions)[self.rows]
        # Bags are counted within their text: one number each for all texts at once.
        shift = self.bag_offsets[self.number_texts]
        together = groups_of(
            self.row_bags + shift, self.column_bags + shift, self.order, computable
        )
        inside = together > 0
        return np.where(inside, together - shift, together).T.copy()

    @cached_property
    def word_ids(self) -> np.ndarray:
        """Words of the vocabulary in each bag; as many as there are: no more. int64 [G, …]."""
        ids = self.vocabulary.word_ids()
        known = np.array([*(ids.get(word, 0) for word in self.columns.words), len(ids)])
        return known[self.bag_words].astype(np.int64)

    @cached_property
    def derivations(self) -> Derivations:
        """Of all places."""
        parts = [self._derivations_of(text) for text in range(len(self))]
        names = ("places", "operations", "a", "b")
        none = np.zeros(0, dtype=np.int64)
        return Derivations(
            *(np.concatenate([none, *(getattr(part, name) for part in parts)]) for name in names)
        )

    def _derivations_of(self, text: int) -> Derivations:
        """Of the numerals that stand in a text; places are those of the corpus."""
        first, last = self.own.numeral_offsets[text : text + 2]
        rows = self.own.rows[first:last]
        results = self._results_of(text)
        which, ways = results.matching(self.table.values[rows], self.table.precisions[rows])
        seen = results.visible(which, ways)
        which, ways = which[seen], ways[seen]
        return Derivations(
            which + self.place_offsets[text],
            results.operations[ways].astype(np.int64),
            results.a[ways].astype(np.int64),
            results.b[ways].astype(np.int64),
        )

    def results(self, text: int) -> Results:
        """All that can be computed from the numbers of a text; the last one asked for is cached."""
        if self._last is None or self._last[0] != text:
            self._last = text, self._results_of(text)
        return self._last[1]

    def _results_of(self, text: int) -> Results:
        numbers = slice(*self.offsets[text : text + 2])
        rows = self.rows[numbers]
        return results_of(
            self.table.values[rows],
            self.table.precisions[rows],
            self.groups[numbers].T,
            self.order[numbers],
        )

    def rounded(self, text: int, number: int, dropped: int) -> str:
        """The numeral of one of a text's numbers with so many decimals dropped."""
        row = int(self.rows[self.offsets[text] + number])
        numeral: str = self.table.texts[row]
        if not dropped:
            return numeral
        units, precision = divmod(int(self.table.keys[row]), KEY_BASE)
        scale = 10**dropped
        return written(drop_decimals(units, scale) * KEY_BASE + precision - dropped)

    def number(self, text: int, number: int) -> SeenNumber:
        """One of a text's numbers, and where it stands."""
        at = self.offsets[text] + number
        numeral = self.table.texts[self.rows[at]]
        if self.order[at] >= 0:
            place = self.own.numerals[self.own.numeral_offsets[text] + self.order[at]]
            return SeenNumber(numeral, token=int(place - self.own.offsets[text]))
        columns, entry = self.columns, self.entries[at]
        table = int(self.number_tables[at])
        row, column = int(columns.cell_rows[entry]), int(columns.cell_columns[entry])
        if columns.tables is None:
            return SeenNumber(numeral, table=table, row=row, column=column)
        shown = columns.tables[table]
        if isinstance(shown, EarlierParagraph):
            place = [n for n, token in enumerate(shown.tokens) if token.is_numeral][row]
            _, start, end, _ = shown.tokens[place]
            return SeenNumber(numeral, place, shown.index, start, end)
        cell = shown.cell(row, column) if row >= 0 else None
        return SeenNumber(
            numeral,
            table=table,
            row=row,
            column=column,
            label=shown.label,
            row_header=cell.row_header if cell and column else "",
            column_header=", ".join(cell.column_header) if cell else shown.header[row][column],
        )

    # Batches

    def room(self, texts: np.ndarray, *, padded: bool = False) -> Room:
        """What a batch of texts needs; padded, one of a few sizes."""
        sizes = self._sizes[:, texts]  # [4, B]
        totals, most = sizes.sum(1), sizes[:3].max(1, initial=1)
        derivations = None
        if padded:
            totals = _enough(self._sizes.mean(1) * len(texts) * 1.25, totals)
            most = _enough(np.array([256, 64, 32]), most)
            ways = np.diff(self.derivation_offsets[self.place_offsets])
            mean = np.array([ways.mean() * len(texts) * 1.25])
            derivations = int(_enough(mean, ways[texts].sum(keepdims=True))[0])
        numbers, bags, _, pairs = map(int, totals)
        most_numbers, most_bags, width = map(int, most)
        return Room(numbers, bags, most_numbers, most_bags, width, pairs, derivations)

    @cached_property
    def _sizes(self) -> np.ndarray:
        """Numbers, bags, places and pairs of each text: int64 [4, P]."""
        pairs = self.pair_offsets[self.place_offsets]
        columns = (self.offsets, self.bag_offsets, self.place_offsets, pairs)
        return np.stack([np.diff(column) for column in columns])

    @cached_property
    def pair_offsets(self) -> np.ndarray:
        """Where the pairs of each place begin, were they all side by side."""
        counts = self.numbers_in_tables[self.place_texts] + self.before
        return np.concatenate([[0], np.cumsum(counts)])

    @cached_property
    def features(self) -> np.ndarray:
        """Of all pairs, in the order of `pair_offsets`: uint8 [P, FEATURES]."""
        return features_of(self)

    @cached_property
    def derivation_offsets(self) -> np.ndarray:
        """Where those of each place begin."""
        counts = np.bincount(self.derivations.places, minlength=len(self.place_texts))
        return np.concatenate([[0], np.cumsum(counts)])

    @cached_property
    def derivation_columns(self) -> np.ndarray:
        """Operation, a and b of all: [K, 3]."""
        found = self.derivations
        return np.stack([found.operations, found.a, found.b], axis=1)

    def on_device(self, column: str) -> Tensor:
        """One of the arrays as a tensor where the table is; moved once."""
        device = self.table.device
        if (device, column) not in self._moved:
            self._moved[device, column] = torch.from_numpy(getattr(self, column)).to(device)
        return self._moved[device, column]

    def numbers_of(
        self,
        texts: Tensor,
        room: Room,
        places: Tensor,
        place_texts: Tensor,
        counts: Tensor | None = None,
    ) -> SeenNumbers:
        """The numbers of a batch's texts [B], flat; `places` [N] are to be predicted."""
        offsets = self.on_device("offsets")
        found, columns, _ = _gather(offsets[texts], offsets[texts + 1], room.numbers)
        bag_starts = self.on_device("bag_offsets")
        bags, _, is_bag = _gather(bag_starts[texts], bag_starts[texts + 1], room.bags)
        sizes = bag_starts[texts + 1] - bag_starts[texts]
        shift = (sizes.cumsum(0) - sizes).index_select(0, columns)  # of a text's bags in the batch
        words = self.on_device("word_ids").index_select(0, bags)
        nothing = len(self.vocabulary.words)
        words = torch.where(is_bag[:, None], words, nothing)

        def column(name: str) -> Tensor:
            return self.on_device(name).index_select(0, found)

        return SeenNumbers(
            corpus=self,
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

    def batch(self, seen: SeenNumbers, vectors: Tensor, read: Tensor | None = None) -> BatchSight:
        """The numbers of a batch with their vectors [E, D]; `read` [E] which there are."""
        place_offsets = self.on_device("derivation_offsets")
        starts, ends = place_offsets[seen.places], place_offsets[seen.places + 1]
        room = seen.room.derivations
        which, at, counts = _gather(
            starts, ends, int((ends - starts).sum()) if room is None else room
        )
        if seen.counts is not None:
            counts = counts & seen.counts[at]
        operations, a, b = _take(self.on_device("derivation_columns"), which).unbind(1)
        standing = FoundDerivations(at, operations, a, b, counts)
        view = self._view(seen, vectors, read)
        return BatchSight(replace(view, standing=standing))

    def view_of(self, places: np.ndarray, vectors: Tensor, read: Tensor | None) -> View:
        """Of any places [N], where the vectors of all numbers of the corpus are known."""
        texts, place_texts = np.unique(self.place_texts[places], return_inverse=True)
        pairs = np.diff(self.pair_offsets)[places].sum()
        room = replace(self.room(texts), pairs=int(pairs))
        device = self.table.device

        def tensor(array: np.ndarray) -> Tensor:
            return torch.from_numpy(array).to(device)

        seen = self.numbers_of(tensor(texts), room, tensor(places), tensor(place_texts))
        mine = None if read is None else read[seen.found]
        view = self._view(seen, vectors[seen.found], mine)
        return replace(view, host=HostTexts(self, texts))

    def _view(self, seen: SeenNumbers, vectors: Tensor, read: Tensor | None) -> View:
        room, texts, places = seen.room, seen.texts, seen.places
        offsets = self.on_device("offsets")
        sizes = offsets[texts + 1] - offsets[texts]
        starts = sizes.cumsum(0) - sizes  # [B] where a text's numbers begin
        pair_starts = self.on_device("pair_offsets")
        counts = pair_starts[places + 1] - pair_starts[places]
        if seen.counts is not None:
            counts = torch.where(seen.counts, counts, 0)
        first = counts.cumsum(0) - counts
        slots, pair_places, are_pairs = _gather(counts.new_zeros(len(places)), counts, room.pairs)
        numbers = starts.index_select(0, seen.place_texts).index_select(0, pair_places) + slots
        numbers = numbers.clamp(max=max(0, room.numbers - 1))

        def column(name: str) -> Tensor:
            return self.on_device(name).index_select(0, seen.found)

        def numeral(name: str) -> Tensor:
            return self.table.on_device(name).index_select(0, seen.rows)

        known = pair_starts.index_select(0, places).index_select(0, pair_places) + slots
        return View(
            keys=numeral("keys"),
            values=numeral("values"),
            precisions=numeral("precisions"),
            order=seen.order,
            groups=column("groups"),
            vectors=vectors,
            read=read,
            texts=seen.place_texts,
            before=self.on_device("before").index_select(0, places),
            starts=first,
            pair_places=pair_places,
            pair_numbers=numbers,
            pair_counts=are_pairs,
            known=_take(self.on_device("features"), known),
            bags=room.most_bags,
            standing=None,
            scorer=self._scorer(seen, starts, sizes, pair_places, slots),
            host=HostTexts(self, None),
        )

    def _scorer(
        self,
        seen: SeenNumbers,
        starts: Tensor,
        sizes: Tensor,
        pair_places: Tensor,
        slots: Tensor,
    ) -> Scorer:
        if seen.texts.device.type == "cpu" and seen.room.derivations is None:
            numbers = F.pad(sizes.cumsum(0), (1, 0))
            return TextByText.of(seen.place_texts, numbers, (pair_places, slots))
        within = torch.arange(seen.room.most, device=starts.device)
        index = torch.where(within < sizes[:, None], starts[:, None] + within, 0)
        if seen.room.derivations is None:
            _, counts, rank = ranks(seen.place_texts, len(seen.texts))
            width = int(counts.max()) if len(counts) else 1
            return AllAtOnce(index, rank, width, slots, None)
        # In training every numeral is asked about once: the others before it are its rank.
        rank = self.on_device("before").index_select(0, seen.places)
        return AllAtOnce(index, rank, seen.room.width, slots, seen.counts)


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


def _starts(counts: np.ndarray) -> np.ndarray:
    """Where each begins, if they stand side by side."""
    starts: np.ndarray = np.cumsum(counts) - counts
    return starts
