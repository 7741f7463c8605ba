"""One place and its error, with SciPy's Laplace distribution and mpmath as oracles."""

import mpmath
import numpy as np
import pytest
import torch
from scipy.stats import laplace

from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.base import HeadOptions, TrainingNumerals
from numerate.lm.heads.regression import LogLaplace, RegressionHead

TEXTS = ["0", "0.00", "1", "20", "20.1", "19.99", "300", "0.002", "123456"]


@pytest.mark.parametrize(("location", "scale"), [(3.0, 0.5), (-2.0, 3.0), (2.9957, 0.001)])
def test_masses_are_differences_of_the_distribution_function(location: float, scale: float) -> None:
    table = NumeralTable(TEXTS)
    values, half = (part.numpy() for part in table.intervals())
    with np.errstate(divide="ignore"):
        low, high = np.log(np.maximum(values - half, 0)), np.log(values + half)
    # Of a tail the other side of it, so that the oracle does not cancel.
    sign = np.where(low > location, -1, 1)
    ends = (sign * (edge - location) for edge in (low, high))
    first, second = (laplace.cdf(end, 0, scale) for end in ends)
    law = LogLaplace(*(torch.tensor([x], dtype=torch.float64) for x in (location, scale)))
    found = law.log_mass(*table.intervals()).numpy()
    expected = np.abs(second - first)
    likely = expected > 1e-200
    assert likely.sum() >= 3
    np.testing.assert_allclose(np.exp(found[likely]), expected[likely], rtol=1e-8)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("text", ["9" * 30, "20." + "0" * 25 + "1", "0." + "0" * 30 + "7"])
def test_narrow_cells_keep_their_digits(text: str) -> None:
    table = NumeralTable([text])
    value, half = (float(part) for part in table.intervals())
    location, scale = float(np.log(20.0)), 0.3
    with mpmath.workdps(400):
        ends = [mpmath.log(mpmath.mpf(value) + sign * mpmath.mpf(half)) for sign in (-1, 1)]

        def below(edge: mpmath.mpf) -> mpmath.mpf:
            t = (edge - mpmath.mpf(location)) / mpmath.mpf(scale)
            return mpmath.exp(t) / 2 if t < 0 else 1 - mpmath.exp(-t) / 2

        expected = float(mpmath.log(below(ends[1]) - below(ends[0])))
    law = LogLaplace(*(torch.tensor([x], dtype=torch.float64) for x in (location, scale)))
    assert float(law.log_mass(*table.intervals())) == pytest.approx(expected, rel=1e-11)


def test_it_starts_with_the_moments_of_the_training_numbers() -> None:
    numerals = TrainingNumerals.of(["0", "1", "100"])
    head = RegressionHead.fit(numerals, 3, HeadOptions()).requires_grad_(False)
    law = head.law(torch.randn(2, 3))
    assert law.location.tolist() == pytest.approx([np.log(10)] * 2)
    deviation = laplace.std(0, law.scale[0].item())
    assert deviation == pytest.approx(np.log(10), rel=2e-3)  # and the least scale
