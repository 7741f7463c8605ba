"""The numbers of tables as columns of integers, and which tables each paragraph has in view."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from numerate.documents.document import Table
from numerate.errors import check_choice
from numerate.text.ragged import ranges
from numerate.text.reading_rules import ReadingRules
from numerate.text.tokenizer import Token

LEVELS = ("none", "paragraph", "tables", "document")
"""How far a model sees: nothing; the numerals before a place in its paragraph; and the cells of
the tables that the paragraph refers to; and all tables and earlier paragraphs of its document."""

HEADER_WORDS = 8  # of a row's header, a column's header, a caption: the last ones count


def check_level(level: str) -> None:
    check_choice("value of sight", level, LEVELS)


def sees_tables(level: str) -> bool:
    return level in LEVELS[LEVELS.index("tables") :]


@dataclass(frozen=True, slots=True)
class EarlierParagraph:
    """A paragraph that is read as a table by those after it."""

    index: int  # in its document
    text: str
    tokens: list[Token]


@dataclass(frozen=True, slots=True)
class SightColumns:
    """K tables with E numbers and G bags of words, in view of P paragraphs.

    The numbers of a table stand row by row, those of its header first. A bag has the words of a
    row's header or of a column's; the first bag of every table has those of its caption. Numbers
    with the same bag stand in the same row, or column. Bags are counted within their table.
    """

    words: list[str]  # distinct words of all bags
    numerals: list[str]  # distinct numerals of all tables
    number_offsets: np.ndarray  # int64 [K + 1] where the numbers of each table begin
    number_numerals: np.ndarray  # int32 [E] which numeral
    number_rows: np.ndarray  # int16 [E] the bag of its row
    number_columns: np.ndarray  # int16 [E] the bag of its column
    cell_rows: np.ndarray  # int16 [E] its row in the body; −1, −2 …: in the header, upwards
    cell_columns: np.ndarray  # int16 [E]
    bag_offsets: np.ndarray  # int64 [K + 1] where the bags of each table begin
    bags: np.ndarray  # int32 [G, HEADER_WORDS] words; −1: no more; stored, int16 if that will do
    view_offsets: np.ndarray  # int64 [P + 1]
    views: np.ndarray  # int32 [V] the tables that each paragraph has in view
    tables: Sequence[Table | EarlierParagraph] | None = None  # the K themselves, if at hand
    rules: ReadingRules | None = None  # by which their numbers were read, where they are at hand
    sources: np.ndarray | None = None
    """int32 [K] of a split: which of its tables it is; −1 − p: paragraph p, read as a table."""

    def __len__(self) -> int:
        return len(self.view_offsets) - 1

    def take(self, paragraphs: np.ndarray) -> "SightColumns":
        """The same with the views of some paragraphs only."""
        counts = np.diff(self.view_offsets)[paragraphs]
        return replace(
            self,
            view_offsets=np.concatenate([[0], np.cumsum(counts)]),
            views=self.views[
                ranges(self.view_offsets[paragraphs], self.view_offsets[paragraphs + 1])
            ],
        )

    def with_views(self, views: Sequence[Sequence[int]]) -> "SightColumns":
        """The same with other views."""
        counts = np.array([0, *map(len, views)], dtype=np.int64)
        flat = np.array([table for view in views for table in view], dtype=np.int32)
        return replace(self, view_offsets=np.cumsum(counts), views=flat)

    @classmethod
    def nothing(cls, paragraphs: int) -> "SightColumns":
        """No table in view."""
        none, no_places = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int16)
        first = np.zeros(1, dtype=np.int64)
        return cls(
            words=[],
            numerals=[],
            number_offsets=first,
            number_numerals=none,
            number_rows=no_places,
            number_columns=no_places,
            cell_rows=no_places,
            cell_columns=no_places,
            bag_offsets=first,
            bags=np.zeros((0, HEADER_WORDS), dtype=np.int32),
            view_offsets=np.zeros(paragraphs + 1, dtype=np.int64),
            views=none,
            tables=(),
        )


def join_words(bags: Iterable[list[str]], codes: dict[str, int]) -> np.ndarray:
    """Bags of words as rows of codes, which are given as they come: int32 [G, HEADER_WORDS]."""
    rows = [[codes.setdefault(word, len(codes)) for word in bag[-HEADER_WORDS:]] for bag in bags]
    return np.array(
        [row + [-1] * (HEADER_WORDS - len(row)) for row in rows], dtype=np.int32
    ).reshape(len(rows), HEADER_WORDS)
