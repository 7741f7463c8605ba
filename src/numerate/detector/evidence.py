"""What speaks for or against each number of an article, as arrays: nothing of it is learnt.

A place is a numeral of a text or a number of a table. For each place there are pairs, one for each
number it is compared with: those of the tables in view and the other numerals of its text; for a
number of a table, those of its row and column, and the numerals of the texts that view it. A pair
says where the two stand (`locations.py`) and how their values are related (`relations.py`).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from numerate.detector.articles import Errors, Selection
from numerate.detector.edits import Edit
from numerate.detector.known import KnownArticle, KnownArticles, KnownTable, KnownText
from numerate.detector.locations import LOCATION, SCALE, text_locations
from numerate.detector.numeral_figures import (
    CELL_FIGURES,
    TEXT_FIGURES,
    cell_figures,
    derived_from,
    text_figures,
)
from numerate.detector.relations import RELATIONS, NumeralColumns, relations
from numerate.text.columns import HEADER_WORDS

EVIDENCE = 3
"""What is told of numbers, and how: a network that has learnt from other evidence is of no use."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Of B texts and the tables in view of them; numbers are those of tables [C], then those of
    texts [N], and places the same."""

    numerals: NumeralColumns  # U distinct ones
    words: np.ndarray  # int64 [L, B] word ids; V + u: the u-th numeral; −1: beyond the end
    lengths: np.ndarray  # int64 [B]
    numbers: np.ndarray  # int64 [C + N] numerals as they stand
    positions: np.ndarray  # int64 [N] where numerals of texts stand in [L, B], flattened
    bags: np.ndarray  # int64 [G, HEADER_WORDS] −1: none
    header_bags: np.ndarray  # int64 [C, 3] of row, column and caption
    pair_places: np.ndarray  # int64 [K] those of texts count from 0, ascending
    pair_numbers: np.ndarray  # int64 [K]
    pairs: np.ndarray  # uint8 [K, LOCATION + RELATIONS]
    figures: np.ndarray  # float32 [N, TEXT_FIGURES]
    right: np.ndarray  # int64 [K] whether the number is what should stand at the place
    cell_places: np.ndarray  # int64 [D] numbers of tables that are places
    cell_pair_places: np.ndarray  # int64 [J] counted among these
    cell_pair_numbers: np.ndarray  # int64 [J]
    cell_pairs: np.ndarray  # uint8 [J, LOCATION + RELATIONS]
    cell_figures: np.ndarray  # float32 [D, CELL_FIGURES]


def evidence_of(
    known: KnownArticles,
    rows: Sequence[int],
    errors: Sequence[Errors] | None = None,
    selections: Sequence[Selection] | None = None,
) -> Evidence:
    """Of some articles, with the errors of each if there are any, and of what is selected of each,
    by default all."""
    return _Gathering(known, rows, errors, selections).finish()


class _Gathering:
    """The evidence of a batch, article by article and text by text."""

    def __init__(
        self,
        known: KnownArticles,
        rows: Sequence[int],
        errors: Sequence[Errors] | None,
        selections: Sequence[Selection] | None,
    ) -> None:
        index: dict[str, int] = {}
        self.articles = [
            _Standing(
                known.known[row],
                selections[order] if selections is not None else Selection(),
                errors[order] if errors is not None else None,
                index,
            )
            for order, row in enumerate(rows)
        ]
        self.numerals = NumeralColumns.of(list(index))
        self.vocabulary = known.words
        self.count = sum(len(rows) for one in self.articles for rows in one.tables.values())
        self.texts = [one.known.texts[at] for one in self.articles for at in one.texts]
        longest = max((len(text.words) for text in self.texts), default=0)
        self.words = np.full((longest, len(self.texts)), -1, dtype=np.int64)
        self.pairs, self.cell_pairs = _Pairs(), _Pairs()
        self.numbers: list[np.ndarray] = []
        self.text_numbers: list[np.ndarray] = []
        self.bags: list[np.ndarray] = []
        self.header_bags: list[np.ndarray] = []
        self.positions: list[np.ndarray] = []
        self.figures: list[np.ndarray] = []
        self.cell_figures: list[np.ndarray] = []
        self.cell_places: list[np.ndarray] = []
        self.bag_count = self.column = self.text_place = self.cell_place = self.table_start = 0

    def finish(self) -> Evidence:
        for article in self.articles:
            starts = self._add_tables(article)
            standing = article.standing(self.numerals)
            cell_starts = self._add_cells(article, starts, standing)
            derived = {
                at: derived_from(self.numerals, article.known.tables[at], article.tables[at])
                for at in {view for text in article.texts for view in article.views(text)}
            }
            for text in article.texts:
                self._add_text(article, text, starts, cell_starts, standing, derived)
        return Evidence(
            self.numerals,
            self.words,
            np.array([len(text.words) for text in self.texts], dtype=np.int64),
            _join([*self.numbers, *self.text_numbers]),
            _join(self.positions),
            _join(self.bags, (0, HEADER_WORDS)),
            _join(self.header_bags, (0, 3)),
            *self.pairs.joined(),
            _join(self.figures, (0, TEXT_FIGURES)).astype(np.float32),
            self.pairs.right(),
            _join(self.cell_places),
            *self.cell_pairs.joined(),
            _join(self.cell_figures, (0, CELL_FIGURES)).astype(np.float32),
        )

    def _add_tables(self, article: "_Standing") -> dict[int, int]:
        """Where the numbers of each of its tables begin among all."""
        starts = {}
        for at, rows in article.tables.items():
            table = article.known.tables[at]
            starts[at] = self.table_start
            self.table_start += len(rows)
            self.numbers.append(rows)
            self.bags.append(table.bags)
            places = np.stack([table.rows, table.columns, np.zeros_like(table.rows)], axis=1)
            self.header_bags.append(places + self.bag_count)
            self.bag_count += len(table.bags)
        return starts

    def _add_cells(
        self, article: "_Standing", starts: dict[int, int], standing: np.ndarray
    ) -> dict[int, int]:
        """Where the numbers of those tables begin whose numbers are places, among all of these."""
        cell_starts = {}
        for at in article.scored:
            table, rows = article.known.tables[at], article.tables[at]
            cell_starts[at] = self.cell_place
            self.cell_places.append(starts[at] + np.arange(len(rows)))
            a, b = table.pairs
            related = relations(self.numerals, rows[a], rows[b])
            self.cell_pairs.add(self.cell_place + a, starts[at] + b, table.locations, related)
            self.cell_figures.append(cell_figures(self.numerals, table, rows, standing))
            self.cell_place += len(rows)
        return cell_starts

    def _add_text(
        self,
        article: "_Standing",
        at: int,
        starts: dict[int, int],
        cell_starts: dict[int, int],
        standing: np.ndarray,
        derived: dict[int, np.ndarray],
    ) -> None:
        numerals, text = self.numerals, article.known.texts[at]
        rows, right = article.texts[at]
        self.words[: len(text.words), self.column] = text.words
        self.words[text.steps, self.column] = self.vocabulary + rows
        self.positions.append(text.steps * len(self.texts) + self.column)
        self.text_numbers.append(rows)
        tables = [article.known.tables[view] for view in text.views]
        seen = [article.tables[view] for view in text.views]
        own = self.count + self.text_place + np.arange(len(rows))
        at_tables = [
            starts[view] + np.arange(len(some)) for view, some in zip(text.views, seen, strict=True)
        ]
        at_numbers = np.concatenate([*at_tables, own])
        candidates = np.concatenate([*seen, rows])
        size = len(candidates)
        i = np.repeat(np.arange(len(rows)), size)
        j = np.tile(np.arange(size), len(rows))
        kept = j != i + size - len(rows)  # not with itself
        i, j = i[kept], j[kept]
        located = text_locations(text, tables, seen, rows)  # [P, M + P, LOCATION]
        located = located.reshape(-1, len(LOCATION))[kept]
        related = relations(numerals, rows[i], candidates[j])
        self.pairs.add(
            self.text_place + i, at_numbers[j], located, related, right[i] == candidates[j]
        )
        in_view = [derived[view] for view in text.views]
        self.figures.append(text_figures(numerals, rows, size, standing, in_view))
        first = 0
        for view, some in zip(text.views, seen, strict=True):
            if view in cell_starts:  # the same pairs, seen from the cells
                here = (j >= first) & (j < first + len(some))
                c, q = j[here] - first, i[here]
                self.cell_pairs.add(
                    cell_starts[view] + c,
                    self.count + self.text_place + q,
                    located[here],
                    relations(numerals, some[c], rows[q]),
                )
            first += len(some)
        self.text_place += len(rows)
        self.column += 1


class _Standing:
    """What is read of an article: rows of the numerals as they stand, and as they should."""

    def __init__(
        self, known: KnownArticle, selection: Selection, wrong: Errors | None, index: dict[str, int]
    ) -> None:
        self.known, self._wrong = known, wrong
        every = range(len(known.tables))
        chosen = range(len(known.texts)) if selection.texts is None else selection.texts
        self.scored = every if selection.tables is None else selection.tables
        read: Iterable[int] = every
        if selection.texts is not None:
            seen = {view for text in chosen for view in known.texts[text].views}
            read = sorted(seen.union(self.scored))
        self.tables = {
            at: _rows(known.tables[at].numerals, wrong.tables[at] if wrong else (), index)
            for at in read
        }
        stand = {
            at: _rows(known.texts[at].numerals, wrong.texts[at] if wrong else (), index)
            for at in chosen
        }
        self.texts = {
            at: (rows, _rows(known.texts[at].numerals, (), index)) for at, rows in stand.items()
        }

    def views(self, text: int) -> list[int]:
        return self.known.texts[text].views

    def standing(self, numerals: NumeralColumns) -> np.ndarray:
        """How often each numeral stands in the tables, and in the texts, of all of the article, as
        far as it is read: [2, U]."""
        found = np.zeros((2, len(numerals.texts)), dtype=np.int64)
        read = [*self.tables.values(), *(rows for rows, _ in self.texts.values())]
        mine = np.unique(_join(read)).tolist()
        known = self.known
        for kind, counts in enumerate(known.standing):
            changed: Counter[str] = Counter()
            if self._wrong is not None:
                pieces: Sequence[KnownTable | KnownText] = known.texts if kind else known.tables
                edits = self._wrong.texts if kind else self._wrong.tables
                for piece, some in zip(pieces, edits, strict=True):
                    changed.subtract(piece.numerals[edit.index] for edit in some)
                    changed.update(edit.numeral for edit in some)
            texts = [numerals.texts[row] for row in mine]
            found[kind, mine] = [counts[text] + changed[text] for text in texts]
        return found


def _rows(numerals: list[str], edits: Sequence[Edit], index: dict[str, int]) -> np.ndarray:
    texts = numerals
    if edits:
        texts = list(numerals)
        for edit in edits:
            texts[edit.index] = edit.numeral
    return np.array([index.setdefault(text, len(index)) for text in texts], dtype=np.int64)


class _Pairs:
    def __init__(self) -> None:
        self._places: list[np.ndarray] = []
        self._numbers: list[np.ndarray] = []
        self._features: list[np.ndarray] = []
        self._right: list[np.ndarray] = []

    def add(
        self,
        places: np.ndarray,
        numbers: np.ndarray,
        locations: np.ndarray,
        related: np.ndarray,
        right: np.ndarray | None = None,
    ) -> None:
        self._places.append(places)
        self._numbers.append(numbers)
        features = np.concatenate([locations, related.astype(np.uint8) * np.uint8(SCALE)], axis=1)
        self._features.append(features)
        if right is not None:
            self._right.append(right)

    def joined(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        width = len(LOCATION) + len(RELATIONS)
        features = self._features or [np.zeros((0, width), dtype=np.uint8)]
        return _join(self._places), _join(self._numbers), np.concatenate(features)

    def right(self) -> np.ndarray:
        return _join(self._right)


def _join(parts: Sequence[np.ndarray], empty: tuple[int, ...] = (0,)) -> np.ndarray:
    return np.concatenate(parts) if parts else np.zeros(empty, dtype=np.int64)
