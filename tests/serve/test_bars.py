"""Bars of distributions that are known exactly."""

import numpy as np
import pytest

from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.known_numerals import KnownNumerals
from numerate.lm.model.numeral_distribution import NumeralDistribution
from numerate.serve.bars import Bars, linear_bars, log_bars


def distribution(**chances: float) -> NumeralDistribution:
    """Of numerals like `n0`, `n12_5`, with their probabilities."""
    numerals = [name[1:].replace("_", ".") for name in chances]
    known = KnownNumerals(numerals, np.log(list(chances.values())))
    return NumeralDistribution(known, lambda table: np.zeros(len(table)), NumeralTable([]), {})


def mass_of(bars: Bars, number: float) -> float:
    index = int(np.searchsorted(bars.edges, number, side="right")) - 1
    return bars.masses[index]


def test_every_integer_has_a_bar_of_equal_width() -> None:
    fair = distribution(**{f"n{number}": 1 / 100 for number in range(100)})
    bars = linear_bars(fair, [])
    inner = [mass for edge, mass in zip(bars.edges, bars.masses, strict=False) if edge < 99]
    assert inner == pytest.approx([inner[0]] * len(inner))  # none has one integer more
    assert sum(bars.masses) == pytest.approx(1)


def test_a_number_on_an_edge_is_in_the_bar_that_begins_there() -> None:
    bars = linear_bars(distribution(n10=0.25, n20=0.75), [])
    assert mass_of(bars, 10) == pytest.approx(0.25)
    assert mass_of(bars, 20) == pytest.approx(0.75)


def test_zero_has_a_place_on_a_logarithmic_line() -> None:
    bars = log_bars(distribution(n0=0.4, n0_5=0.3, n500=0.3), [])
    assert bars.edges[0] == 0
    assert bars.masses[0] == pytest.approx(0.4)
    assert mass_of(bars, 0.5) == pytest.approx(0.3)
    assert mass_of(bars, 500) == pytest.approx(0.3)
    assert log_bars(distribution(n5=1.0), []).edges[0] > 0


@pytest.mark.parametrize("value", [0.0, 0.001, 7.0, 1e12])
def test_what_is_shown_is_within_the_bars(value: float) -> None:
    for bars in (
        linear_bars(distribution(n5=0.5, n9=0.5), [value]),
        log_bars(distribution(n5=0.5, n9=0.5), [value]),
    ):
        assert bars.edges[0] <= value <= bars.edges[-1]
        assert len(bars.masses) < 200
        assert all(np.isfinite(bars.edges))


@pytest.mark.parametrize("only", ["n0", "n7", "n0_0001", "n99999999999999999999999999999999"])
def test_a_distribution_of_one_numeral(only: str) -> None:
    certain = distribution(**{only: 1.0})
    for bars in (linear_bars(certain, []), log_bars(certain, [])):
        assert sum(bars.masses) == pytest.approx(1)
        assert np.all(np.diff(bars.edges) > 0)
