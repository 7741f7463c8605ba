"""The numbers in view of the texts of a corpus, as flat columns that are made once.

Every text has its numbers side by side, those of its tables first, then its own numerals. A place
is where a numeral stands, or the end of a text.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.data.sight.derivations import (
    Derivations,
    Results,
    groups_of,
    results_of,
)
from numerate.lm.data.sight.features import features_of
from numerate.text.columns import HEADER_WORDS, EarlierParagraph, SightColumns
from numerate.text.operations import KEY_BASE, drop_decimals, is_computable, written
from numerate.text.ragged import ranges
from numerate.text.seen_numbers import SeenNumber
from numerate.text.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class OwnTokens:
    """The tokens of the texts themselves, one after another."""

    types: list[str]  # distinct tokens
    codes: np.ndarray  # [T] which type
    offsets: np.ndarray  # [P + 1] where texts begin among the tokens
    numerals: np.ndarray  # [N] which tokens are numerals
    rows: np.ndarray  # [N] of the table of numerals
    numeral_offsets: np.ndarray  # [P + 1] where texts begin among the numerals


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

    @cached_property
    def sizes(self) -> np.ndarray:
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


def _starts(counts: np.ndarray) -> np.ndarray:
    """Where each begins, if they stand side by side."""
    starts: np.ndarray = np.cumsum(counts) - counts
    return starts
