"""Injected errors are errors, of their kind, and the same for the same seed."""

import numpy as np
import pytest

from numerate.plausibility.benchmark.corruption import KINDS, corrupt


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_decides(kind: str) -> None:
    numerals = [f"{number / 10:.1f}" if number % 3 else str(number) for number in range(10, 200)]
    documents = np.arange(len(numerals)) // 10
    places, wrong = corrupt(numerals, documents, kind, seed=1)
    again = corrupt(numerals, documents, kind, seed=1)
    other = corrupt(numerals, documents, kind, seed=2)
    assert wrong == again[1]
    assert wrong != other[1] or kind == "point dropped"  # which leaves no choice
    assert all(numerals[place] != error for place, error in zip(places, wrong, strict=True))


def test_numbers_from_elsewhere_come_from_other_documents() -> None:
    numerals = ["1", "2", "1", "3"]
    places, wrong = corrupt(numerals, np.array([0, 0, 1, 1]), "other document", seed=1)
    assert places.tolist() == [0, 1, 2, 3]
    assert wrong[0] == "3"  # the other 1 is the same numeral
    assert wrong[2] == "2"
    places, _ = corrupt(["5", "6"], np.array([0, 0]), "other document", seed=1)
    assert len(places) == 0
