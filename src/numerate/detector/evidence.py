"""What speaks for or against each number of an article, as arrays: nothing of it is learnt.

A place is a numeral of a text or a number of a table. For each place there are pairs, one for each
number it is compared with: those of the tables in view and the other numerals of its text; for a
number of a table, those of its row and column, and the numerals of the texts that view it. A pair
says where the two stand (`LOCATION`) and how their values are related (`relations.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from numerate.detector.articles import Article, Errors
from numerate.detector.channel import Edit
from numerate.detector.relations import RELATIONS, NumeralColumns, relations
from numerate.sight.columns import HEADER_WORDS
from numerate.sight.table_numbers import ColumnsBuilder

EVIDENCE = 3
"""What is told of numbers, and how: a network that has learnt from other evidence is of no use."""
NEAR = ((-4, -24), (-16, -96), (6, 36))
"""How the words of headers around a numeral count: the nearer, the more. Before it or after it, at
which distance a word counts 1/e, and how far they are looked for."""
SCALE = 50  # a byte of 50 is 1
NEIGHBOURS = (-1, 1, -2, 2)  # numerals whose cells say where the next one is from
SIDES = ("right of", "left of", "below", "above", "after", "before")
BEFORE, AFTER = "([±<>=≤≥–-−/,", "%)±–-−/,;("
"""Signs beside a number that say which of several of a cell it is: the mean, its deviation."""
LOCATION = (
    *("own", "before", "after", "near before", "near after", "next before", "next after"),
    *(f"{of} words {near}" for near in ("just before", "before", "after")
      for of in ("row", "column", "caption")),
    *(f"{same} of the cell of {by:+}" for by in NEIGHBOURS for same in ("cell", "row", "column")),
    *(f"{side} that of {by:+}" for by in NEIGHBOURS for side in SIDES),
    *("written elsewhere", "in a header"),
    *("same sign before", "same sign after", "other sign before", "other sign after"),
    *("its row", "its column", "its cell", "near in its row", "near in its column"),
)  # fmt: skip
_AT = {name: index for index, name in enumerate(LOCATION)}
AROUND = (-1, 1, -2, 2, -3, 3, -4, 4)  # numerals that a numeral is compared with one by one
WINDOWS = (2, 6)  # numerals on either side with which it may be computed
OPERATIONS = ("percentage", "difference", "sum", "ratio", "complement", "part", "whole", "term")
OF_NEIGHBOUR = 4  # figures
TEXT_FIGURES = len(AROUND) * OF_NEIGHBOUR + len(WINDOWS) * len(OPERATIONS) + 2 + 4 + 4
CELL_FIGURES = len(SIDES) * OF_NEIGHBOUR + 8 + 4 + 4
DERIVED = 4
FAR = 3.0  # decades beyond which distance does not count
STEM = 5  # letters
GROUP = 48  # numbers of a row or column that a number is compared with: the nearest


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A table but for its values, which errors change."""

    numerals: list[str]
    rows: np.ndarray  # [C] bags, counted within the table
    columns: np.ndarray  # [C]
    cell_rows: np.ndarray  # [C]
    cell_columns: np.ndarray  # [C]
    cells: np.ndarray  # [C] which cell, counted from 0
    ranks: np.ndarray  # [C] within its cell
    bags: np.ndarray  # [G, HEADER_WORDS] words, as the vocabulary counts them; −1: none
    pairs: tuple[np.ndarray, np.ndarray]  # [K] numbers, and those of their rows and columns
    locations: np.ndarray  # uint8 [K, LOCATION] of these pairs
    sides: np.ndarray  # [C, len(SIDES)] the next numbers to all sides and in the cell; −1: none
    headers: np.ndarray  # [C] a number in the header of its column; −1: none
    signs: np.ndarray  # [C, 2] before and after each number, as `_sign` counts them


@dataclass(frozen=True, slots=True)
class KnownText:
    """A text but for its numerals."""

    words: np.ndarray  # int64 [L] word ids; −1: a numeral
    steps: np.ndarray  # int64 [P] where its numerals stand
    numerals: list[str]
    views: list[int]
    overlaps: list[np.ndarray]  # of each table in view, uint8 [P, G, NEAR]
    signs: np.ndarray  # [P, 2] before and after each numeral


@dataclass(frozen=True, slots=True)
class KnownArticle:
    texts: list[KnownText]
    tables: list[KnownTable]


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


class KnownArticles:
    """What is known of articles whatever errors are in them; made once for a corpus."""

    def __init__(self, articles: Sequence[Article], word_ids: dict[str, int]) -> None:
        """`word_ids` are those of the vocabulary, the frequent words first."""
        self.articles, self._ids = articles, word_ids
        self._weights: np.ndarray = np.log2(2 + np.arange(len(self._ids))) / np.log2(
            2 + len(self._ids)
        )
        self.known = [self._know(article) for article in articles]

    def __len__(self) -> int:
        return len(self.known)

    @property
    def words(self) -> int:
        """How many the vocabulary has."""
        return len(self._ids)

    @cached_property
    def sizes(self) -> np.ndarray:
        """Tokens of each article."""
        return np.array([sum(len(text.words) for text in one.texts) for one in self.known])

    def _know(self, article: Article) -> KnownArticle:
        builder = ColumnsBuilder(article.rules)
        for table in article.tables:
            builder.add_table(table)
        columns = builder.finish()
        stems: dict[str, int] = {}  # words of headers, whatever their endings
        stem_codes = [stems.setdefault(_stem(word), len(stems)) for word in columns.words]
        word_ids = np.array([*(self._ids.get(word, 0) for word in columns.words), -1])
        weights = np.ones(len(stems) + 1)  # what the vocabulary lacks is rare
        weights[-1] = 0.0
        known = word_ids[:-1] > 0
        np.minimum.at(weights, np.array(stem_codes, dtype=np.int64)[known],
                      self._weights[word_ids[:-1][known]])  # fmt: skip
        coded = np.array([*stem_codes, -1])
        tables, bags = [], []
        for index in range(len(article.tables)):
            numbers = slice(*columns.number_offsets[index : index + 2])
            bags.append(columns.bags[slice(*columns.bag_offsets[index : index + 2])])
            tables.append(
                _known_table(
                    [columns.numerals[code] for code in columns.number_numerals[numbers].tolist()],
                    columns.number_rows[numbers].astype(np.int64),
                    columns.number_columns[numbers].astype(np.int64),
                    columns.cell_rows[numbers].astype(np.int64),
                    columns.cell_columns[numbers].astype(np.int64),
                    word_ids[bags[-1]],
                    _signs_of_cells(article, index),
                )
            )
        texts = []
        for text, tokens, views in zip(article.texts, article.tokens, article.views, strict=True):
            ids = [-1 if token.is_numeral else self._ids.get(token.text, 0) for token in tokens]
            words = np.array(ids, dtype=np.int64)
            steps = np.flatnonzero(words < 0)
            named = np.array(
                [-1 if token.is_numeral else stems.get(_stem(token.text), -1) for token in tokens],
                dtype=np.int64,
            )
            overlaps = [_overlaps(named, steps, coded[bags[table]], weights) for table in views]
            numerals = [token.text for token in tokens if token.is_numeral]
            spans = [(token.start, token.end) for token in tokens if token.is_numeral]
            signs = _signs([(text, *span) for span in spans])
            texts.append(KnownText(words, steps, numerals, views, overlaps, signs))
        return KnownArticle(texts, tables)

    def evidence(
        self,
        rows: Sequence[int],
        errors: Sequence[Errors] | None = None,
        *,
        cells: Sequence[Sequence[int]] | None = None,
    ) -> Evidence:
        """Of some articles, with the errors of each if there are any; `cells` says which tables
        of each have places, by default all."""
        return _Gathering(self, rows, errors, cells).finish()


def _stem(word: str) -> str:
    """Words that begin alike mean the same where headers are named: women, women's; treated."""
    return word[:STEM]


def _known_table(
    numerals: list[str],
    rows: np.ndarray,
    columns: np.ndarray,
    cell_rows: np.ndarray,
    cell_columns: np.ndarray,
    bags: np.ndarray,
    signs: np.ndarray,
) -> KnownTable:
    count = len(numerals)
    width = int(cell_columns.max(initial=0)) + 1
    top = int(cell_rows.min(initial=0))
    _, cells = np.unique((cell_rows - top) * width + cell_columns, return_inverse=True)
    new = np.concatenate([[True], cells[1:] != cells[:-1]])[:count]
    starts = np.flatnonzero(new)
    ranks = np.arange(count) - (starts[np.cumsum(new) - 1] if count else 0)
    first, second = [], []
    places = np.arange(count)
    for group in (rows, columns):
        order = np.argsort(group, kind="stable")
        _, begins, counts = np.unique(group[order], return_index=True, return_counts=True)
        at = np.arange(count)
        begin, end = np.repeat(begins, counts), np.repeat(begins + counts, counts)
        begin, end = np.maximum(begin, at - GROUP // 2), np.minimum(end, at + GROUP // 2 + 1)
        lengths = end - begin
        left = np.repeat(order, lengths)
        inside = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        first.append(left)
        second.append(order[np.repeat(begin, lengths) + inside])
    a, b = np.concatenate(first), np.concatenate(second)
    both = np.unique(a * max(count, 1) + b)
    a, b = both // max(count, 1), both % max(count, 1)
    a, b = a[a != b], b[a != b]
    found = np.zeros((len(a), len(LOCATION)), dtype=np.uint8)
    same_row, same_column = rows[a] == rows[b], columns[a] == columns[b]
    found[:, _AT["its row"]] = SCALE * same_row
    found[:, _AT["its column"]] = SCALE * same_column
    found[:, _AT["its cell"]] = SCALE * (cells[a] == cells[b])
    found[:, _AT["in a header"]] = SCALE * (cell_rows[b] < 0)
    across, down = np.abs(cell_columns[a] - cell_columns[b]), np.abs(cell_rows[a] - cell_rows[b])
    found[:, _AT["near in its row"]] = SCALE * same_row / np.maximum(across, 1)
    found[:, _AT["near in its column"]] = SCALE * same_column / np.maximum(down, 1)
    headers = np.full(count, -1)
    above = np.flatnonzero(cell_rows < 0)[::-1]  # the lowest and first counts
    of_column = dict(zip(cell_columns[above].tolist(), above.tolist(), strict=True))
    headers[:] = [of_column.get(column, -1) for column in cell_columns.tolist()]
    headers[cell_rows < 0] = -1
    sides = _sides(cell_rows, cell_columns, ranks, places)
    return KnownTable(
        numerals, rows, columns, cell_rows, cell_columns, cells, ranks, bags, (a, b), found, sides,
        headers, signs,
    )  # fmt: skip


def _signs_of_cells(article: Article, table: int) -> np.ndarray:
    body, header = article.tables[table].body, article.tables[table].header
    return _signs(
        [
            ((body if row >= 0 else header)[row][column], start, end)
            for _, row, column, start, end in article.numbers[table]
        ]
    )


def _signs(spans: list[tuple[str, int, int]]) -> np.ndarray:
    """Before and after parts of texts, past one space: [N, 2]; 0: none that says anything."""
    found = [
        (
            1 + BEFORE.find(text[max(start - 2, 0) : start].strip()[-1:] or "\n"),
            1 + AFTER.find(text[end : end + 2].strip()[:1] or "\n"),
        )
        for text, start, end in spans
    ]
    return np.array(found, dtype=np.int64).reshape(len(found), 2)


def _sides(
    rows: np.ndarray, columns: np.ndarray, ranks: np.ndarray, places: np.ndarray
) -> np.ndarray:
    """The next numbers of the same rank to the left and right, above and below, and those before
    and after in the same cell; −1: none."""
    sides = np.full((len(places), len(SIDES)), -1)
    for first, keys in ((0, (columns, ranks, rows)), (2, (rows, ranks, columns))):
        order = np.lexsort(keys)
        same = (keys[1][order][1:] == keys[1][order][:-1]) & (
            keys[2][order][1:] == keys[2][order][:-1]
        )
        sides[order[1:][same], first] = order[:-1][same]
        sides[order[:-1][same], first + 1] = order[1:][same]
    if len(places):
        same = (rows[1:] == rows[:-1]) & (columns[1:] == columns[:-1])
        sides[1:, 4] = np.where(same, places[:-1], -1)
        sides[:-1, 5] = np.where(same, places[1:], -1)
    return sides


def _overlaps(
    named: np.ndarray, steps: np.ndarray, bags: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """How much of each bag stands around each place: uint8 [P, G, NEAR].

    `named` [L] are the tokens as words of headers, −1 for others.
    """
    found = np.zeros((len(steps), len(bags), len(NEAR)), dtype=np.uint8)
    at = np.flatnonzero(named >= 0)
    if not len(at) or not len(steps):
        return found
    distinct, local = np.unique(bags, return_inverse=True)
    local = local.reshape(bags.shape)
    column = np.searchsorted(distinct, named[at]).clip(max=len(distinct) - 1)
    hit = distinct[column] == named[at]
    at, column = at[hit], column[hit]
    distance = at - steps[:, None]  # [P, hits]
    weight = weights[distinct]
    for index, (fading, reach) in enumerate(NEAR):
        inside = np.zeros((len(steps), len(distinct)), dtype=np.float32)
        along = distance if reach > 0 else -distance
        near, which = np.nonzero((along > 0) & (along <= abs(reach)))
        strength = np.exp((1 - along[near, which]) / abs(fading))
        np.maximum.at(inside, (near, column[which]), strength)
        inside *= weight
        total = inside[:, local].sum(2)  # [P, G]
        found[:, :, index] = np.minimum(np.rint(SCALE * total), 255)
    return found


class _Gathering:
    """The evidence of a batch, article by article and text by text."""

    def __init__(
        self,
        known: KnownArticles,
        rows: Sequence[int],
        errors: Sequence[Errors] | None,
        cells: Sequence[Sequence[int]] | None,
    ) -> None:
        self.known = known
        self.articles = [known.known[row] for row in rows]
        self.cells = cells
        index: dict[str, int] = {}
        # Of each article: rows of the numerals, of tables and of texts, as they stand; and right.
        self.table_rows: list[list[np.ndarray]] = []
        self.text_rows: list[list[np.ndarray]] = []
        self.right_rows: list[list[np.ndarray]] = []
        for order, article in enumerate(self.articles):
            wrong = errors[order] if errors is not None else None
            self.table_rows.append(
                [
                    _rows(table.numerals, wrong.tables[at] if wrong else (), index)
                    for at, table in enumerate(article.tables)
                ]
            )
            self.text_rows.append(
                [
                    _rows(text.numerals, wrong.texts[at] if wrong else (), index)
                    for at, text in enumerate(article.texts)
                ]
            )
            self.right_rows.append([_rows(text.numerals, (), index) for text in article.texts])
        self.numerals = NumeralColumns.of(list(index))

    def finish(self) -> Evidence:
        numerals, articles = self.numerals, self.articles
        count = sum(len(table.numerals) for one in articles for table in one.tables)
        texts = [text for one in articles for text in one.texts]
        longest = max((len(text.words) for text in texts), default=0)
        words = np.full((longest, len(texts)), -1, dtype=np.int64)
        vocabulary = self.known.words
        numbers, bags, header_bags = [], [], []
        positions, figures, cell_figures = [], [], []
        pairs = _Pairs()
        cell_pairs = _Pairs()
        cell_places: list[np.ndarray] = []
        bag_count = column = text_place = cell_place = table_start = 0
        text_numbers: list[np.ndarray] = []
        for order, article in enumerate(articles):
            starts = []  # of its tables among the numbers
            standing = self._standing(order)
            for rows, table in zip(self.table_rows[order], article.tables, strict=True):
                starts.append(table_start)
                table_start += len(rows)
                numbers.append(rows)
                bags.append(table.bags)
                places = np.stack([table.rows, table.columns, np.zeros_like(table.rows)], axis=1)
                header_bags.append(places + bag_count)
                bag_count += len(table.bags)
            scored = range(len(article.tables)) if self.cells is None else self.cells[order]
            cell_starts: dict[int, int] = {}
            for at in scored:
                table, rows = article.tables[at], self.table_rows[order][at]
                cell_starts[at] = cell_place
                cell_places.append(starts[at] + np.arange(len(rows)))
                a, b = table.pairs
                related = relations(numerals, rows[a], rows[b])
                cell_pairs.add(cell_place + a, starts[at] + b, table.locations, related)
                cell_figures.append(_cell_figures(numerals, table, rows, standing))
                cell_place += len(rows)
            derived = {
                at: _derived(numerals, article.tables[at], self.table_rows[order][at])
                for at in {view for text in article.texts for view in text.views}
            }
            for at, text in enumerate(article.texts):
                rows = self.text_rows[order][at]
                words[: len(text.words), column] = text.words
                words[text.steps, column] = vocabulary + rows
                positions.append(text.steps * len(texts) + column)
                text_numbers.append(rows)
                tables = [article.tables[view] for view in text.views]
                seen = [self.table_rows[order][view] for view in text.views]
                at_tables = [starts[view] + np.arange(len(self.table_rows[order][view]))
                             for view in text.views]  # fmt: skip
                own = count + text_place + np.arange(len(rows))
                candidates = np.concatenate([*seen, rows])
                located = _text_locations(text, tables, seen, rows)  # [P, M + P, LOCATION]
                size = len(candidates)
                i = np.repeat(np.arange(len(rows)), size)
                j = np.tile(np.arange(size), len(rows))
                kept = j != i + size - len(rows)  # not with itself
                i, j = i[kept], j[kept]
                at_numbers = np.concatenate([*at_tables, own])
                located = located.reshape(-1, len(LOCATION))[kept]
                related = relations(numerals, rows[i], candidates[j])
                right = self.right_rows[order][at]
                pairs.add(
                    text_place + i, at_numbers[j], located, related, right[i] == candidates[j]
                )
                figures.append(
                    _text_figures(
                        numerals, rows, size, standing, [derived[view] for view in text.views]
                    )
                )
                # The same pairs, seen from the cells.
                first = 0
                for view, table_rows in zip(text.views, seen, strict=True):
                    if view in cell_starts:
                        here = (j >= first) & (j < first + len(table_rows))
                        c, q = j[here] - first, i[here]
                        cell_pairs.add(
                            cell_starts[view] + c,
                            count + text_place + q,
                            located[here],
                            relations(numerals, table_rows[c], rows[q]),
                        )
                    first += len(table_rows)
                text_place += len(rows)
                column += 1
        return Evidence(
            numerals,
            words,
            np.array([len(text.words) for text in texts], dtype=np.int64),
            _join([*numbers, *text_numbers]),
            _join(positions),
            _join(bags, (0, HEADER_WORDS)),
            _join(header_bags, (0, 3)),
            *pairs.joined(),
            _join(figures, (0, TEXT_FIGURES)).astype(np.float32),
            pairs.right(),
            _join(cell_places),
            *cell_pairs.joined(),
            _join(cell_figures, (0, CELL_FIGURES)).astype(np.float32),
        )

    def _standing(self, order: int) -> np.ndarray:
        """How often each numeral stands in the tables, and in the texts, of an article: [2, U]."""
        found = np.zeros((2, len(self.numerals.texts)), dtype=np.int64)
        for kind, rows in enumerate((self.table_rows[order], self.text_rows[order])):
            if rows:
                np.add.at(found[kind], np.concatenate(rows), 1)
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


def _text_locations(
    text: KnownText, tables: list[KnownTable], seen: list[np.ndarray], rows: np.ndarray
) -> np.ndarray:
    """Where the numbers in view stand, and the text's own, at each place: uint8 [P, M + P, …]."""
    count, size = len(rows), sum(map(len, seen))
    found = np.zeros((count, size + count, len(LOCATION)), dtype=np.uint8)
    apart = np.arange(count) - np.arange(count)[:, None]  # [P, P] negative: before
    own = found[:, size:]
    near = SCALE / np.maximum(np.abs(apart), 1)
    own[:, :, _AT["own"]] = SCALE
    own[:, :, _AT["before"]] = SCALE * (apart < 0)
    own[:, :, _AT["after"]] = SCALE * (apart > 0)
    own[:, :, _AT["near before"]] = near * (apart < 0)
    own[:, :, _AT["near after"]] = near * (apart > 0)
    own[:, :, _AT["next before"]] = SCALE * (apart == -1)
    own[:, :, _AT["next after"]] = SCALE * (apart == 1)
    first = 0
    for table, overlaps, numbers in zip(tables, text.overlaps, seen, strict=True):
        part = found[:, first : first + len(numbers)]
        first += len(numbers)
        if not len(numbers):
            continue
        begin = _AT["row words just before"]
        bags = (table.rows, table.columns, np.zeros_like(table.rows))
        for near_at in range(len(NEAR)):
            for of, bag in enumerate(bags):
                part[:, :, begin + len(bags) * near_at + of] = overlaps[:, bag, near_at]
        part[:, :, _AT["in a header"]] = SCALE * (table.cell_rows < 0)
        begin = _AT["same sign before"]
        for of in (0, 1):
            here, there = text.signs[:, of][:, None], table.signs[:, of]
            part[:, :, begin + of] = SCALE * ((here == there) & (there > 0))
            part[:, :, begin + 2 + of] = SCALE * (here != there)
        same = rows[:, None] == numbers  # [P, C]
        if not same.any():
            continue
        elsewhere = same.sum(0) - same > 0
        part[:, :, _AT["written elsewhere"]] = SCALE * elsewhere
        groups = table.cells, table.rows, table.columns
        shared = [_in_group(same, group) for group in groups]  # each [P, C]
        begin = _AT["cell of the cell of -1"]
        for which, by in enumerate(NEIGHBOURS):
            for of, hits in enumerate(shared):
                part[:, :, begin + len(groups) * which + of] = SCALE * _shifted(hits, by)
        begin = _AT["right of that of -1"]
        for of, number in enumerate(table.sides.T):  # to the left of it stands that of −1
            hits = same[:, number] & (number >= 0)
            for which, by in enumerate(NEIGHBOURS):
                part[:, :, begin + len(SIDES) * which + of] = SCALE * _shifted(hits, by)
    return found


def _in_group(same: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Whether a number shares its group [C] with one that a place's numeral is: bool [P, C]."""
    hits = np.zeros((len(same), int(group.max()) + 1), dtype=np.bool_)
    place, number = np.nonzero(same)
    hits[place, group[number]] = True
    shared: np.ndarray = hits[:, group]
    return shared


def _shifted(hits: np.ndarray, by: int) -> np.ndarray:
    """What is true of the numeral so many further on, at each place; none there: false."""
    found = np.zeros_like(hits)
    if by > 0:
        found[:-by] = hits[by:]
    else:
        found[-by:] = hits[:by]
    return found


def _against(numerals: NumeralColumns, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Of numerals [N] and others, −1 where there is none [N, S]: figures [N, S · OF_NEIGHBOUR]."""
    there = others >= 0
    logs, precisions = numerals.logs, numerals.precisions
    apart = np.clip(logs[rows][:, None] - logs[others], -FAR, FAR) / FAR
    figures = np.stack(
        [there, apart, np.abs(apart), precisions[rows][:, None] == precisions[others]], axis=2
    )
    flat: np.ndarray = (figures * there[:, :, None]).reshape(
        len(rows), others.shape[1] * OF_NEIGHBOUR
    )
    return flat


def _text_figures(
    numerals: NumeralColumns,
    rows: np.ndarray,
    size: int,
    standing: np.ndarray,
    derived: list[np.ndarray],
) -> np.ndarray:
    """What is known of each numeral of a text without looking at words: [P, TEXT_FIGURES]."""
    count = len(rows)
    at = np.arange(count)
    padded = np.append(rows, -1)
    places = at[:, None] + np.array(AROUND)
    others = padded[np.where((places >= 0) & (places < count), places, count)]
    values, precisions = numerals.values[rows], numerals.precisions[rows]
    arithmetic = [_arithmetic(values, precisions, window) for window in WINDOWS]
    here = np.bincount(rows, minlength=standing.shape[1])[rows]
    counted = np.stack(
        [
            np.minimum(standing[0][rows], 5) / 5,
            np.minimum(standing[1][rows] - here, 5) / 5,
            np.minimum(here - 1, 5) / 5,
            np.full(count, np.log1p(size) / 7),
        ],
        axis=1,
    )
    return np.concatenate(
        [
            _against(numerals, rows, others),
            *(found for found, _ in arithmetic),
            arithmetic[0][1],
            counted,
            _is_derived(values, precisions, derived),
        ],
        axis=1,
    )


def _arithmetic(
    values: np.ndarray, precisions: np.ndarray, window: int
) -> tuple[np.ndarray, np.ndarray]:
    """Which of the `OPERATIONS` hold of each numeral with two others near it: [P, OPERATIONS];
    and how far it is from being a percentage, or the part of one, in decades: [P, 2]."""
    count = len(values)
    offsets = np.array([by for by in range(-window, window + 1) if by])
    places = np.arange(count)[:, None] + offsets
    inside = (places >= 0) & (places < count)
    places = np.where(inside, places, 0)
    near = np.where(inside, values[places], np.nan) if count else np.zeros((0, len(offsets)))
    decimals = precisions[places] if count else np.zeros((0, len(offsets)), dtype=np.int64)
    half = 0.5 * 10.0 ** -decimals.astype(np.float64)  # of others [P, S]
    own_half = (0.5 * 10.0 ** -precisions.astype(np.float64))[:, None, None]
    x, y = near[:, :, None], near[:, None, :]
    own = values[:, None, None]
    different = ~np.eye(len(offsets), dtype=np.bool_)

    def holds(result: np.ndarray, stated: np.ndarray, within: np.ndarray) -> np.ndarray:
        close = np.abs(result - stated) <= within * (1 + 1e-6) + 1e-9
        found: np.ndarray = (close & different).any((1, 2))
        return found

    with np.errstate(all="ignore"):
        percentage, part = 100 * x / y, 100 * own / y
        found = [
            holds(percentage, own, own_half),
            holds(np.abs(x - y), own, own_half),
            holds(x + y, own, own_half),
            holds(x / y, own, own_half),
            (np.abs(100 - near - values[:, None]) <= 1e-9).any(1),
            holds(part, x, half[:, :, None]),
            holds(100 * y / own, x, half[:, :, None]),
            holds(own + y, x, half[:, :, None]),
        ]
        misses = []
        for result, stated in ((percentage, own), (part, x)):
            miss = np.abs(np.log10(result / stated))
            miss = np.where(different & np.isfinite(miss), miss, 1.0)
            misses.append(np.minimum(miss.min((1, 2), initial=1.0), 1.0))
    return np.stack(found, axis=1), np.stack(misses, axis=1)


def _derived(numerals: NumeralColumns, table: KnownTable, rows: np.ndarray) -> np.ndarray:
    """What follows from a table: of each kind, values and their kinds: [2, R].

    Percentages of a column's number, differences and sums along rows and columns, ratios along
    rows.
    """
    values = numerals.values[rows]
    found = []
    with np.errstate(all="ignore"):
        headed = table.headers >= 0
        found.append((0, 100 * values[headed] / values[table.headers[headed]]))
        a, b = table.pairs
        chosen = (a < b) & (table.ranks[a] == table.ranks[b])
        a, b = a[chosen], b[chosen]
        found.append((1, np.abs(values[a] - values[b])))
        found.append((2, values[a] + values[b]))
        found.append((3, 100 * values[a] / values[b]))
        found.append((3, 100 * values[b] / values[a]))
    kinds = np.concatenate([np.full(len(some), kind) for kind, some in found])
    return np.stack([np.nan_to_num(np.concatenate([some for _, some in found]), posinf=0), kinds])


def _is_derived(
    values: np.ndarray, precisions: np.ndarray, derived: list[np.ndarray]
) -> np.ndarray:
    """Which numerals follow from a table in view, by kind: bool [P, DERIVED]."""
    found = np.zeros((len(values), DERIVED), dtype=np.bool_)
    half = 0.5 * 10.0 ** -precisions.astype(np.float64) * (1 + 1e-6)
    for results, kinds in derived:
        for kind in range(DERIVED):
            ordered = np.sort(results[kinds == kind])
            low = np.searchsorted(ordered, values - half - 1e-9)
            high = np.searchsorted(ordered, values + half + 1e-9, side="right")
            found[:, kind] |= high > low
    return found


def _cell_figures(
    numerals: NumeralColumns, table: KnownTable, rows: np.ndarray, standing: np.ndarray
) -> np.ndarray:
    """What is known of each number of a table without looking at words: [C, CELL_FIGURES]."""
    count = len(rows)
    if not count:
        return np.zeros((0, CELL_FIGURES))
    values, logs, precisions = numerals.values[rows], numerals.logs[rows], numerals.precisions[rows]
    padded = np.append(rows, -1)
    parts = [_against(numerals, rows, padded[table.sides])]
    half = 0.5 * 10.0 ** -precisions.astype(np.float64) * (1 + 1e-6) + 1e-9
    headers = table.headers
    totals = np.where(headers >= 0, values[headers], np.nan)
    with np.errstate(all="ignore"):
        for side in (4, 5):  # the numbers beside it in its cell
            sibling = table.sides[:, side]
            there = sibling >= 0
            other = np.where(there, values[sibling], np.nan)
            as_share, as_part = 100 * other / totals, 100 * values / totals
            parts.append(np.abs(as_share - values)[:, None] <= half[:, None])
            parts.append(np.abs(as_part - other)[:, None] <= half[sibling][:, None])
            for miss in (np.log10(as_share / values), np.log10(as_part / other)):
                miss = np.abs(np.where(np.isfinite(miss), miss, 1.0))
                parts.append(np.minimum(miss, 1.0)[:, None])
    for group in (table.rows, table.columns):
        key = group * (int(table.ranks.max()) + 1) + table.ranks
        _, inverse, sizes = np.unique(key, return_inverse=True, return_counts=True)
        members = sizes[inverse]
        mean = np.bincount(inverse, logs)[inverse] / members
        away = np.clip(np.abs(logs - mean), 0, FAR) / FAR
        _, like, alike = np.unique(
            key * 64 + np.minimum(precisions, 63), return_inverse=True, return_counts=True
        )
        parts += [away[:, None], (alike[like] / members)[:, None]]
    parts.append(np.minimum(standing[1][rows], 5)[:, None] / 5)
    parts.append(np.minimum(standing[0][rows] - 1, 5)[:, None] / 5)
    parts.append(_is_total(values, half, table)[:, None])
    parts.append((table.cell_rows < 0)[:, None])
    return np.concatenate(parts, axis=1)


def _is_total(values: np.ndarray, half: np.ndarray, table: KnownTable) -> np.ndarray:
    """Whether a number is the sum of the others of its row or column, of the same rank."""
    found = np.zeros(len(values), dtype=np.bool_)
    in_body = table.cell_rows >= 0
    for group in (table.rows, table.columns):
        key = np.where(in_body, group * (int(table.ranks.max()) + 1) + table.ranks, 0)
        _, inverse = np.unique(key, return_inverse=True)
        sums = np.bincount(inverse, values * in_body)[inverse]
        sizes = np.bincount(inverse, in_body)[inverse]
        found |= in_body & (sizes > 2) & (np.abs(sums - 2 * values) <= half * sizes)
    return found
