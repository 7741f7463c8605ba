"""Known errors put into the articles of a split, the same for everybody who looks for them.

One error is put into each paragraph, of one kind after another, and one of any kind into each table
in view.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from numerate.detector.articles import Article, Errors, labels, numerals_of
from numerate.detector.channel import Channel, InSight, Place
from numerate.detector.edits import Edit
from numerate.detector.kinds_of_error import HELD_OUT, KINDS, TRAINED
from numerate.documents.document import Document, Paragraph
from numerate.errors import DatasetError
from numerate.lm.data.dataset import Dataset, some_paragraphs
from numerate.lm.train.detector_articles import articles_of
from numerate.rules.where import Where

POINT = "point dropped or added"
TABLE_CELL = "table cell"
FIGURES: dict[str, tuple[str, ...]] = {
    **{kind: (kind,) for kind in TRAINED if kind not in ("point dropped", "point added")},
    POINT: ("point dropped", "point added"),
    **{kind: (kind,) for kind in HELD_OUT},
}
"""Rows of the benchmark, and the kinds of error of each."""
ELSEWHERE = 64  # numerals of other articles that may be written into one


@dataclass(frozen=True, slots=True)
class Injected:
    """Errors of one row of the benchmark: of each article, and where they are among all."""

    errors: list[Errors]
    places: np.ndarray  # [E] numerals of texts; of tables, where cells are wrong
    numerals: list[str]  # what stands there instead

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True, slots=True)
class Region:
    """All numerals of texts, or all numbers of tables, and the errors put into them."""

    documents: np.ndarray  # [N] which article each is of
    rows: dict[str, Injected]  # by row of the benchmark


class Trial:
    """The articles of a split with the errors put into them."""

    def __init__(
        self, dataset: Dataset, split: str, *, seed: int = 1, limit: int | None = None
    ) -> None:
        self.dataset, self.split = dataset, split
        everything = articles_of(dataset.split(split), dataset.reading)
        count = sum(len(article.texts) for article in everything)
        self.chosen = some_paragraphs(count, limit)  # paragraphs of the split
        self.articles = _only(everything, self.chosen)
        numerals = numerals_of(self.articles)
        if not numerals:
            raise DatasetError(
                f"{dataset.folder}: no numeral in these {len(self.chosen)} paragraphs"
            )
        self.numerals = numerals
        counts = [article.count for article in self.articles]
        rows = {
            name: self._inject(kinds, [seed, KINDS.index(kinds[0])], _in_texts)
            for name, kinds in FIGURES.items()
        }
        self.in_texts = Region(np.repeat(np.arange(len(counts)), counts), rows)
        counts = [sum(map(len, article.cell_places)) for article in self.articles]
        rows = {TABLE_CELL: self._inject(KINDS, [seed, len(KINDS)], _in_tables)}
        self.in_tables = Region(np.repeat(np.arange(len(counts)), counts), rows)

    @property
    def texts(self) -> list[str]:
        return [text for article in self.articles for text in article.texts]

    def _inject(self, kinds: Sequence[str], seed: Sequence[int], into: "Into") -> Injected:
        generator = np.random.default_rng(seed)
        channel = Channel(kinds, self.dataset.reading)
        errors = []
        first = 0
        for article in self.articles:
            own = slice(first, first + article.count)
            first += article.count
            elsewhere = self._elsewhere(own, generator)

            def one(places: list[Place], sight: InSight) -> list[Edit]:
                edit = channel.one(places, sight, generator)
                return [] if edit is None else [edit]

            errors.append(into(article, elsewhere, one))
        of_texts, of_tables = labels(self.articles, errors)
        wrong = of_texts if into is _in_texts else of_tables
        edits = [e.numeral for one in errors for some in (*one.texts, *one.tables) for e in some]
        return Injected(errors, np.flatnonzero(wrong), edits)

    def _elsewhere(self, own: slice, generator: np.random.Generator) -> list[str]:
        """Some numerals of other articles, as often as they occur."""
        others = len(self.numerals) - (own.stop - own.start)
        if not others:
            return []
        drawn = generator.integers(others, size=ELSEWHERE)
        drawn = np.where(drawn >= own.start, drawn + own.stop - own.start, drawn)
        return [self.numerals[index] for index in drawn.tolist()]


One = Callable[[list[Place], InSight], list[Edit]]
"""An error in one of some places, if there can be one."""
Into = Callable[[Article, list[str], One], Errors]


def _in_texts(article: Article, elsewhere: list[str], one: One) -> Errors:
    texts = [
        one(places, article.sight(text, elsewhere)) for text, places in enumerate(article.places)
    ]
    return replace(article.no_errors(), texts=texts)


def _in_tables(article: Article, elsewhere: list[str], one: One) -> Errors:
    seen = {table for views in article.views for table in views}
    tables = [
        one(places, article.table_sight(table, elsewhere)) if table in seen else []
        for table, places in enumerate(article.cell_places)
    ]
    return replace(article.no_errors(), tables=tables)


def _only(articles: list[Article], chosen: np.ndarray) -> list[Article]:
    """Of some paragraphs of a split, counted through all articles."""
    wanted = set(chosen.tolist())
    found = []
    first = 0
    for article in articles:
        texts = [text for text in range(len(article.texts)) if first + text in wanted]
        first += len(article.texts)
        if len(texts) == len(article.texts):
            found.append(article)
        elif texts:
            found.append(article.part(texts))
    return found


def document_of(article: Article) -> Document:
    """As `check` reads it: paragraphs that refer to the tables in their view."""
    tables = [replace(table, id=str(index)) for index, table in enumerate(article.tables)]
    paragraphs = [
        Paragraph(text, tuple(map(str, views)))
        for text, views in zip(article.texts, article.views, strict=True)
    ]
    return Document(article.name, paragraphs, tables)


def text_places(article: Article) -> list[Where]:
    """Where the numerals of its texts stand."""
    return [
        Where(token.start, token.end, paragraph=text)
        for text, tokens in enumerate(article.tokens)
        for token in tokens
        if token.is_numeral
    ]


def cell_places(article: Article) -> list[Where]:
    """Where the numbers of its tables stand."""
    return [
        Where(number.start, number.end, None, table, number.row, number.column)
        for table, numbers in enumerate(article.numbers)
        for number in numbers
    ]
