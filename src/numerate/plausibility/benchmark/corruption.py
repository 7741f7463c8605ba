"""Errors in held-out numerals, each drawn with a seed and really different."""

import numpy as np

from numerate.numeral import Numeral
from numerate.plausibility.slips import SLIPS

OTHER_DOCUMENT = "other document"
KINDS = (*SLIPS, OTHER_DOCUMENT)


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
            error = _one_of(SLIPS[kind](numeral), generator)
        if error is not None:
            places.append(place)
            wrong.append(Numeral.parse(error).text)
    return np.array(places, dtype=np.int64), wrong


def _one_of(wrong: list[str], generator: np.random.Generator) -> str | None:
    return wrong[generator.integers(len(wrong))] if wrong else None


def _from_elsewhere(
    place: int, numerals: list[str], documents: np.ndarray, generator: np.random.Generator
) -> str | None:
    for _ in range(100):  # enough unless nearly all numerals are the same
        other = int(generator.integers(len(numerals)))
        if documents[other] != documents[place] and numerals[other] != numerals[place]:
            return numerals[other]
    return None
