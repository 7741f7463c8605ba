"""What the tests of the laboratory share: small runs, and enumeration of numerals."""

from collections.abc import Callable, Iterable
from itertools import product

import numpy as np
import pytest

from numerate.lm.heads.base import NextNumeral
from numerate.numeral import is_numeral


def pytest_configure(config: pytest.Config) -> None:
    """Load what tests of models share; a `conftest.py` below the first cannot name plugins."""
    config.pluginmanager.import_plugin("tests.trained")


@pytest.fixture(scope="session")
def short_numerals() -> list[str]:
    """All numerals of at most four characters."""
    return _short_numerals(4)


@pytest.fixture(scope="session")
def assert_best_first() -> Callable[..., None]:
    return _assert_best_first


def _short_numerals(characters: int) -> list[str]:
    """Every normalised numeral of at most so many characters."""
    strings = (
        "".join(symbols)
        for length in range(1, characters + 1)
        for symbols in product("0123456789.", repeat=length)
    )
    return [text for text in strings if is_numeral(text)]


def _assert_best_first(
    found: NextNumeral,
    numerals: list[str],
    score: Callable[[list[str]], Iterable[float]],
    *,
    beyond: float,
    at_least: int,
    tolerance: float = 1e-5,
) -> None:
    """The stream begins with the best of all numerals, in order, with their log-probabilities.

    No numeral that is not enumerated has more than probability `beyond`: whatever has more is
    among the best of all numerals there are.
    """
    log_probs = np.array(list(score(numerals)))
    order = np.lexsort((numerals, -log_probs))
    sure = [index for index in order if np.exp(log_probs[index]) > beyond + 1e-9]
    assert len(sure) >= at_least, f"only {len(sure)} numerals beat what is not enumerated"
    stream = found.stream()
    streamed = [next(stream) for _ in sure]
    np.testing.assert_allclose([p for _, p in streamed], log_probs[sure], atol=tolerance)
    # Numerals that are equally probable but for rounding may change places.
    expected = dict(zip(numerals, log_probs, strict=True))
    for text, log_prob in streamed:
        assert abs(expected.get(text, -np.inf) - log_prob) < tolerance
    assert len({text for text, _ in streamed}) == len(streamed)
