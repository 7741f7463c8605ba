"""Which digit a numeral has at each power of ten."""

import numpy as np

from numerate.lm.data.numeral_table import END, NumeralTable
from numerate.numeral import MAX_DIGITS

PLACES = 2 * MAX_DIGITS - 1
"""Powers of ten from 10^31 down to 10^-31."""

ONES = MAX_DIGITS - 1  # the place of the last digit before the point
NOTHING = -1


def digits_by_place(table: NumeralTable) -> np.ndarray:
    """Digits of each numeral, NOTHING where none is written: int64 [T, PLACES]."""
    found = np.full((len(table), PLACES), NOTHING, dtype=np.int64)
    if not len(table):
        return found
    whole = whole_digits(table)[:, None]
    step = np.arange(table.symbols.shape[1])
    place = ONES - (whole - 1 - step) - (step > whole)  # the point has no place
    is_digit = table.symbols < 10
    rows = np.broadcast_to(np.arange(len(table))[:, None], is_digit.shape)
    found[rows[is_digit], place[is_digit]] = table.symbols[is_digit]
    return found


def whole_digits(table: NumeralTable) -> np.ndarray:
    """How many stand before the point: [T]."""
    is_fraction = table.precisions > 0
    written: np.ndarray = (table.symbols != END).sum(1)
    return written - table.precisions - is_fraction
