"""The distribution of any head in one place, from nothing but the probabilities it gives.

A head that knows its own shape is searched exactly (`digit_tree.py`, `number_line_search.py`). Of
one that does not say, numerals are looked at from coarse to fine: all of few digits, and then,
where those are probable, their neighbours with one digit more. What is never looked at is missing
from `total`, so that nobody takes the search for the whole distribution.
"""

from typing import TYPE_CHECKING

import numpy as np

from numerate.heads.base import Context, log_prob_row
from numerate.heads.known_numerals import KnownNumerals
from numerate.numeral import MAX_DIGITS, count_digits

if TYPE_CHECKING:
    from numerate.heads.base import NumeralHead

LARGEST_POWER, MOST_DECIMALS = 7, 4
COARSE = 1000  # cells of each power of ten and each number of decimals that are looked at first
ROUNDS, REFINED = 3, 64  # times, and numerals each time, that are looked at more closely


def coarse_search(head: "NumeralHead", context: Context) -> KnownNumerals:
    texts = _coarse()
    log_probs = log_prob_row(head, context, texts)
    found = dict(zip(texts, log_probs.tolist(), strict=True))
    for _ in range(ROUNDS):
        best = sorted(found, key=lambda text: (-found[text], text))[:REFINED]
        finer = [text for text in dict.fromkeys(_near(best)) if text not in found]
        if not finer:
            break
        found.update(zip(finer, log_prob_row(head, context, finer).tolist(), strict=True))
    return KnownNumerals(list(found), np.array(list(found.values())))


def _coarse() -> list[str]:
    """Numerals of up to three digits at every place of the point, and large ones in steps."""
    texts = {
        _write(cell, decimals): None for decimals in range(MOST_DECIMALS) for cell in range(COARSE)
    }
    for power in range(1, LARGEST_POWER):
        texts |= {str(cell * 10**power): None for cell in range(COARSE // 10, COARSE)}
    return list(texts)


def _near(texts: list[str]) -> list[str]:
    """Cells beside each numeral, and those that one more digit tells apart from it."""
    near: list[str] = []
    for text in texts:
        whole, _, decimals = text.partition(".")
        cell, places = int(whole + decimals), len(decimals)
        if not places:  # of 12,000 the thousand was looked at: now hundreds, tens, ones
            step = 10 ** (len(whole) - len(whole.rstrip("0"))) if cell else 1
            near += [_write(cell + k * step // 10, 0) for k in range(-10, 11) if step > 1]
        near += [_write(cell + k, places) for k in (-2, -1, 1, 2)]
        if places < MOST_DECIMALS:
            near += [_write(10 * cell + k, places + 1) for k in range(-10, 11)]
    return [text for text in near if text and count_digits(text) <= MAX_DIGITS]


def _write(cell: int, decimals: int) -> str:
    """Nothing for what is negative: numerals have no sign."""
    if cell < 0:
        return ""
    digits = str(cell).zfill(decimals + 1)
    return f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits
