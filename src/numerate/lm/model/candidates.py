"""The numerals a model ranks for a point prediction, the same for every model of a vocabulary."""

from decimal import ROUND_HALF_EVEN, Context, Decimal

import numpy as np

from numerate.lm.data.batching import Corpus
from numerate.lm.data.numeral_table import NumeralTable
from numerate.numeral import MAX_DIGITS, count_digits

PERCENTILES = 100
COVERAGE = 0.9

# What stands in for the numerals of a dataset where there is none
SMALL = 100  # every whole number up to it
LEADING = ("1", "1.2", "1.5", "2", "2.5", "3", "4", "5", "6", "7", "8", "9")
DECADES = range(-2, 7)
DECIMALS = range(3)
WHOLE = 100  # from here on, without decimals
YEARS = range(1950, 2031, 5)

_EXACT = Context(prec=2 * MAX_DIGITS + 10, rounding=ROUND_HALF_EVEN)


def candidate_numerals(train: Corpus) -> NumeralTable:
    """In-vocabulary numbers and percentile points of the training numbers, in every format.

    A format is a number of decimals from 0 to n, n the smallest that covers 90 % of the
    training numerals; the vocabulary's numerals are also there as they are written.
    """
    decimals = covering_decimals(train)
    vocabulary = train.vocabulary.numerals[1:]
    texts = dict.fromkeys(vocabulary)
    for text in dict.fromkeys([*vocabulary, *percentile_numerals(train, PERCENTILES)]):
        for precision in range(decimals + 1):
            written = _write(Decimal(text), precision)
            if count_digits(written) <= MAX_DIGITS:
                texts[written] = None
    return NumeralTable(list(texts), train.vocabulary.numeral_ids())


def percentile_numerals(train: Corpus, count: int) -> list[str]:
    """So many points of the training numbers, as they are written, each once.

    The j-th of 100 is the smallest number that at least (j − ½) % of them do not exceed.
    """
    rows = train.rows
    order = np.lexsort((rows, train.table.values[rows]))  # not the order of the documents
    # ⌈(j − ½) % of all⌉ in integers: rounding would take some points one rank too high.
    ranks = -(-(2 * np.arange(count) + 1) * len(rows) // (2 * count)) - 1
    return list(dict.fromkeys(train.table.texts[row] for row in rows[order[ranks]]))


def covering_decimals(train: Corpus) -> int:
    """The smallest number of decimals that covers 90 % of the training numerals."""
    counts = np.bincount(train.table.precisions[train.rows])
    return int(np.searchsorted(np.cumsum(counts) / counts.sum(), COVERAGE - 1e-12))


def plain_candidates() -> tuple[str, ...]:
    """Numerals over the number line: whole ones up to 100, years, round ones of every size."""
    texts = dict.fromkeys(str(number) for number in (*range(SMALL + 1), *YEARS))
    for decade in DECADES:
        for leading in LEADING:
            number = Decimal(leading).scaleb(decade)
            for decimals in DECIMALS:
                written = f"{number:.{decimals}f}"
                if Decimal(written) == number and (not decimals or number < WHOLE):
                    texts[written] = None
    return tuple(texts)


def _write(value: Decimal, precision: int) -> str:
    return f"{value.quantize(Decimal(1).scaleb(-precision), context=_EXACT):f}"
