"""What is known of articles whatever errors are in them: all but the values of their numbers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from numerate.detector.articles import Article
from numerate.detector.locations import NEAR, SCALE, SIDES, cell_locations
from numerate.text.table_numbers import ColumnsBuilder

BEFORE, AFTER = "([±<>=≤≥–-−/,", "%)±–-−/,;("
"""Signs beside a number that say which of several of a cell it is: the mean, its deviation."""
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
    standing: tuple[Counter[str], Counter[str]]  # how often numerals stand in tables, and in texts


class KnownArticles:
    """What is known of articles whatever errors are in them."""

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
        in_tables = Counter(numeral for table in tables for numeral in table.numerals)
        in_texts = Counter(numeral for text in texts for numeral in text.numerals)
        return KnownArticle(texts, tables, (in_tables, in_texts))


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
    found = cell_locations(a, b, rows, columns, cell_rows, cell_columns)
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
