"""Errors as people make them with numbers, each drawn with a seed and really different."""

from collections.abc import Callable
from decimal import Decimal

import numpy as np

from numerate.numeral import Numeral, is_numeral

Draw = Callable[[str, np.random.Generator], str | None]
"""A wrong numeral for a right one, both normalised; None where this error cannot be made."""


def swap_digits(numeral: str, generator: np.random.Generator) -> str | None:
    """Two neighbouring digits change places: 153 for 135."""
    wrong = []
    for place in range(len(numeral) - 1):
        first, second = numeral[place], numeral[place + 1]
        if first != second and "." not in first + second:
            wrong.append(numeral[:place] + second + first + numeral[place + 2 :])
    return _choose(wrong, numeral, generator)


def drop_point(numeral: str, generator: np.random.Generator) -> str | None:
    """125 for 12.5. What begins with zeros is read without them: 5 for 0.05."""
    if "." not in numeral:
        return None
    return _choose([numeral.replace(".", "").lstrip("0") or "0"], numeral, generator)


def add_point(numeral: str, generator: np.random.Generator) -> str | None:
    """12.5 or 1.25 for 125."""
    if "." in numeral:
        return None
    wrong = [f"{numeral[:place]}.{numeral[place:]}" for place in range(1, len(numeral))]
    return _choose(wrong, numeral, generator)


def by_factor(digits: int) -> Draw:
    """Too large or too small by 10 to the power of `digits`: the point is elsewhere."""

    def draw(numeral: str, generator: np.random.Generator) -> str | None:
        value = Decimal(numeral)
        wrong = [f"{value.scaleb(power):f}" for power in (digits, -digits)]
        return _choose([text for text in wrong if Decimal(text) != value], numeral, generator)

    return draw


def replace_digit(numeral: str, generator: np.random.Generator) -> str | None:
    """One digit is another: 12.9 for 12.5."""
    wrong = [
        numeral[:place] + digit + numeral[place + 1 :]
        for place, old in enumerate(numeral)
        if old != "."
        for digit in "0123456789"
        if digit != old
    ]
    return _choose(wrong, numeral, generator)


def _choose(wrong: list[str], right: str, generator: np.random.Generator) -> str | None:
    valid = [text for text in wrong if is_numeral(text) and text != right]
    return valid[generator.integers(len(valid))] if valid else None


ERRORS: dict[str, Draw] = {
    "digits swapped": swap_digits,
    "digit replaced": replace_digit,
    "point dropped": drop_point,
    "point added": add_point,
    "factor 10": by_factor(1),
    "factor 1,000": by_factor(3),
}
OTHER_DOCUMENT = "other document"
KINDS = (*ERRORS, OTHER_DOCUMENT)


def corrupt(
    numerals: list[str], documents: np.ndarray, kind: str, seed: int
) -> tuple[np.ndarray, list[str]]:
    """One error of a kind in each numeral where it can be made: which those are, and the errors.

    `documents` [N] says where each numeral comes from: a number from another document comes from
    any of the others, as often as it occurs there.
    """
    generator = np.random.default_rng([seed, KINDS.index(kind)])
    places, wrong = [], []
    for place, numeral in enumerate(numerals):
        if kind == OTHER_DOCUMENT:
            error = _from_elsewhere(place, numerals, documents, generator)
        else:
            error = ERRORS[kind](numeral, generator)
        if error is not None:
            places.append(place)
            wrong.append(Numeral.parse(error).text)
    return np.array(places, dtype=np.int64), wrong


def _from_elsewhere(
    place: int, numerals: list[str], documents: np.ndarray, generator: np.random.Generator
) -> str | None:
    for _ in range(100):  # enough unless nearly all numerals are the same
        other = int(generator.integers(len(numerals)))
        if documents[other] != documents[place] and numerals[other] != numerals[place]:
            return numerals[other]
    return None
