"""A table of six numbers and three texts, two of which see it."""

import numpy as np

from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.data.sight.corpus_sight import CorpusSight, OwnTokens
from numerate.text.columns import SightColumns, join_words
from numerate.text.vocabulary import Vocabulary

WORDS = ("<unk>", "<eos>", "age", "weight", "placebo", "drug", "was", "and")
ROWS = [["51.25", "49"], ["80.0", "12"], ["0", "3.14159"]]
TEXTS = [
    ["age", "was", "51.3", "and", "12", "and", "48", "and", "25", "and", "36"],
    ["weight", "was", "80", "and", "80.0"],
    ["placebo", "7"],
]


def columns() -> SightColumns:
    """One table with three rows and two columns, in view of the first two texts."""
    codes: dict[str, int] = {}
    bags = join_words([["patients"], ["placebo"], ["drug"], ["age"], ["weight"], ["dose"]], codes)
    numerals = [cell for row in ROWS for cell in row]
    place = np.array([(row, column) for row in range(3) for column in range(2)])
    return SightColumns(
        words=list(codes),
        numerals=numerals,
        number_offsets=np.array([0, 6]),
        number_numerals=np.arange(6, dtype=np.int32),
        number_rows=(place[:, 0] + 3).astype(np.int32),
        number_columns=(place[:, 1] + 1).astype(np.int32),
        cell_rows=place[:, 0].astype(np.int32),
        cell_columns=place[:, 1].astype(np.int32),
        bag_offsets=np.array([0, 6]),
        bags=bags,
        view_offsets=np.array([0, 1, 2, 2]),
        views=np.array([0, 0], dtype=np.int32),
    )


def tiny_sight() -> CorpusSight:
    seen = columns()
    flat = [token for text in TEXTS for token in text]
    types = list(dict.fromkeys(flat))
    numerals = np.array([index for index, token in enumerate(flat) if token[0].isdigit()])
    table = NumeralTable.of_text([*seen.numerals, *(flat[index] for index in numerals)], {})
    index = {text: row for row, text in enumerate(table.texts)}
    offsets = np.cumsum([0, *map(len, TEXTS)])
    own = OwnTokens(
        types,
        np.array([types.index(token) for token in flat]),
        offsets,
        numerals,
        np.array([index[flat[place]] for place in numerals]),
        np.searchsorted(numerals, offsets),
    )
    return CorpusSight(seen, own, table, Vocabulary(WORDS, ("<unk_num>",)))
