"""What a detector reads: the texts of a document with the tables in view of each, and errors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from numerate.detector.channel import CellNumbers, Channel, InSight, Place
from numerate.detector.edits import Edit, apply, apply_to_table
from numerate.documents.document import Document, Table
from numerate.text.reading_rules import ReadingRules
from numerate.text.table_numbers import NumberInTable, numbers_in_sight, within_view
from numerate.text.tokenizer import DEFAULT_RULES, Token, tokenize

LONGEST = 800
"""Tokens of a text; a longer paragraph is read in parts, so that no text has too many numerals."""


@dataclass(frozen=True, slots=True)
class Errors:
    """Those of one article."""

    texts: list[list[Edit]]  # of each text, by numeral
    tables: list[list[Edit]]  # of each table, by number as `numbers_in_sight` counts them


@dataclass(frozen=True, slots=True)
class Selection:
    """What is scored of an article: the numerals of which texts, the numbers of which tables; None:
    of all. Tables are compared with the texts that are read, whether these are scored or not."""

    texts: Sequence[int] | None = None
    tables: Sequence[int] | None = None
    scores_texts: bool = True


TEXTS_ALONE, NOTHING = Selection(tables=()), Selection((), ())


@dataclass(frozen=True)
class Article:
    """Texts T with their tokens, tables K, and which tables each text has in view."""

    name: str
    texts: list[str]
    tokens: list[list[Token]]
    tables: list[Table]
    views: list[list[int]]
    rules: ReadingRules = DEFAULT_RULES
    origins: list[tuple[int, int]] = field(default_factory=list)
    """The paragraph that each text is a part of, and where in it the text begins; empty for
    articles of a dataset, whose texts are paragraphs."""

    @cached_property
    def _channel(self) -> Channel:
        return Channel(rules=self.rules)

    @cached_property
    def places(self) -> list[list[Place]]:
        """The numerals of each text."""
        pairs = zip(self.texts, self.tokens, strict=True)
        return [self._channel.places(text, tokens) for text, tokens in pairs]

    @cached_property
    def cell_places(self) -> list[list[Place]]:
        """The numbers of each table."""
        return [self._channel.cell_places(table) for table in self.tables]

    @cached_property
    def numbers(self) -> list[list[NumberInTable]]:
        """The numbers of each table, and where they stand."""
        return [numbers_in_sight(table, self.rules) for table in self.tables]

    @cached_property
    def cell_numbers(self) -> list[CellNumbers]:
        return [CellNumbers.of_numbers(some) for some in self.numbers]

    @property
    def count(self) -> int:
        """Numerals of its texts."""
        return sum(map(len, self.places))

    @property
    def size(self) -> int:
        """Tokens of its texts."""
        return sum(map(len, self.tokens))

    def sight(self, text: int, elsewhere: Sequence[str] = ()) -> InSight:
        own = [place.numeral for place in self.places[text]]
        tables = [self.cell_numbers[table] for table in self.views[text]]
        return InSight(own, tables, elsewhere)

    def table_sight(self, table: int, elsewhere: Sequence[str] = ()) -> InSight:
        return InSight((), [self.cell_numbers[table]], elsewhere)

    def no_errors(self) -> Errors:
        return Errors([[] for _ in self.texts], [[] for _ in self.tables])

    def errors(
        self,
        channel: Channel,
        generator: np.random.Generator,
        *,
        rate: float,
        cell_rate: float,
        tables: float = 1.0,
        elsewhere: Sequence[str] = (),
    ) -> Errors:
        """Random ones, in about so many of its numerals, and of the numbers of some `tables`: in
        so large a share of them."""
        spoilt = generator.random(len(self.tables)) < tables
        return Errors(
            [
                channel.some(places, self.sight(text, elsewhere), generator, rate)
                for text, places in enumerate(self.places)
            ],
            [
                channel.some(places, self.table_sight(table, elsewhere), generator, cell_rate)
                if spoilt[table]
                else []
                for table, places in enumerate(self.cell_places)
            ],
        )

    def with_errors(self, errors: Errors) -> "Article":
        """The article as it reads then; numerals are counted as before."""
        texts, tokens = [], []
        for text, found, edits in zip(self.texts, self.tokens, errors.texts, strict=True):
            if edits:
                spans = [(token.start, token.end) for token in found if token.is_numeral]
                text = apply(text, spans, edits)[0]
                found = tokenize(text, self.rules)
            texts.append(text)
            tokens.append(found)
        tables = [
            apply_to_table(table, edits, self.rules) if edits else table
            for table, edits in zip(self.tables, errors.tables, strict=True)
        ]
        return Article(self.name, texts, tokens, tables, self.views, self.rules, self.origins)

    def part(self, texts: Sequence[int], tables: Sequence[int] | None = None) -> "Article":
        """The same with some of its texts, and some of its tables in their view."""
        kept = range(len(self.tables)) if tables is None else tables
        place = {table: index for index, table in enumerate(kept)}
        part = Article(
            self.name,
            [self.texts[text] for text in texts],
            [self.tokens[text] for text in texts],
            [self.tables[table] for table in kept],
            [[place[table] for table in self.views[text] if table in place] for text in texts],
            self.rules,
            [self.origins[text] for text in texts] if self.origins else [],
        )
        vars(part)["numbers"] = [self.numbers[table] for table in kept]  # known already
        return part


def labels(articles: Iterable[Article], errors: Iterable[Errors]) -> tuple[np.ndarray, np.ndarray]:
    """Which numerals of texts, and which numbers of tables, are errors, article by article."""
    of_texts, of_tables = [np.zeros(0, dtype=np.bool_)], [np.zeros(0, dtype=np.bool_)]
    for article, wrong in zip(articles, errors, strict=True):
        for found, places, edits in (
            (of_texts, article.places, wrong.texts),
            (of_tables, article.cell_places, wrong.tables),
        ):
            for some, instead in zip(places, edits, strict=True):
                is_wrong = np.zeros(len(some), dtype=np.bool_)
                is_wrong[[edit.index for edit in instead]] = True
                found.append(is_wrong)
    return np.concatenate(of_texts), np.concatenate(of_tables)


def article_of(
    document: Document, given: Sequence[Table] = (), rules: ReadingRules = DEFAULT_RULES
) -> Article:
    """A document as it is read to be checked; the tables `given` beside it are in view of all of
    its texts, and are counted after its own. Long paragraphs are several texts."""
    tables = [*document.tables, *given]
    beside = range(len(document.tables), len(tables))
    article = Article(document.name, [], [], tables, [], rules, [])
    sizes = list(map(len, article.numbers))
    for index, paragraph in enumerate(document.paragraphs):
        referred = [
            at
            for at, table in enumerate(document.tables)
            if table.id in paragraph.tables and table.id not in paragraph.holds
        ]
        view = within_view((*referred, *beside), sizes)
        tokens = tokenize(paragraph.text, rules)
        for first in range(0, len(tokens), LONGEST):
            some = tokens[first : first + LONGEST]
            start = some[0].start if first else 0
            end = some[-1].end if first + LONGEST < len(tokens) else len(paragraph.text)
            article.texts.append(paragraph.text[start:end])
            article.tokens.append(
                [token._replace(start=token.start - start, end=token.end - start) for token in some]
            )
            article.views.append(view)
            article.origins.append((index, start))
    return article


def numerals_of(articles: Iterable[Article]) -> list[str]:
    """All of their texts, as often as they occur."""
    return [place.numeral for article in articles for some in article.places for place in some]
