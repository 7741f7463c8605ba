"""Mixtures of log-normals against SciPy, and far out against mpmath."""

import mpmath
import numpy as np
import pytest
import torch
from scipy.stats import lognorm, norm

from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.base import Context, HeadOptions, TrainingNumerals
from numerate.lm.heads.log_line import LogGaussians
from numerate.lm.heads.log_mixture import SHIFT, LogMixtureHead
from numerate.lm.heads.log_normal import LogNormalHead

WEIGHTS, MEANS, SDS = np.array([0.2, 0.5, 0.3]), np.array([0.0, 2.0, -1.0]), np.array([1, 0.1, 2])
TEXTS = ["0", "0.0", "1", "7", "7.4", "7.39", "100", "0.001", "2500"]


def law(shift: float = 0.0) -> LogGaussians:
    parts = (torch.from_numpy(part)[None] for part in (np.log(WEIGHTS), MEANS, SDS))
    return LogGaussians(*parts, shift)


def test_masses_are_differences_of_the_distribution_function() -> None:
    table = NumeralTable(TEXTS)
    values, half = (part.numpy()[:, None] for part in table.intervals())
    cdf = lognorm(SDS, scale=np.exp(MEANS)).cdf
    expected = (cdf(values + half) - cdf(values - half)) @ WEIGHTS  # of negative numbers, 0
    masses = law().log_mass(*table.intervals()).exp().numpy()
    np.testing.assert_allclose(masses, expected, rtol=1e-9, atol=1e-15)


def test_a_shift_moves_the_line() -> None:
    table = NumeralTable(TEXTS)
    values, half = (part.numpy()[:, None] for part in table.intervals())
    above, below = np.log(values + half + SHIFT), np.log(np.maximum(values - half, 0) + SHIFT)
    lower = np.where(values == 0, 0.0, norm.cdf(below, MEANS, SDS))  # zero has all below
    expected = (norm.cdf(above, MEANS, SDS) - lower) @ WEIGHTS
    masses = law(SHIFT).log_mass(*table.intervals()).exp().numpy()
    np.testing.assert_allclose(masses, expected, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(
    "text", ["9" * 30, "1" + "0" * 31, "0." + "0" * 30 + "7", "3.14159265358979"]
)
def test_narrow_cells_and_far_tails_keep_their_digits(text: str) -> None:
    table = NumeralTable([text])
    value, half = (float(part) for part in table.intervals())
    with mpmath.workdps(400):
        total = mpmath.mpf(0)
        for weight, mean, sd in zip(WEIGHTS, MEANS, SDS, strict=True):
            ends = [mpmath.log(mpmath.mpf(value) + sign * mpmath.mpf(half)) for sign in (1, -1)]
            tails = [mpmath.erfc((end - mean) / (sd * mpmath.sqrt(2))) / 2 for end in ends]
            total += mpmath.mpf(float(weight)) * (tails[1] - tails[0])
        expected = float(mpmath.log(total))
    assert float(law().log_mass(*table.intervals())) == pytest.approx(expected, rel=1e-11)


NUMERALS = TrainingNumerals.of(["0", "3", "40", "41.5", "2000"] * 20)


def test_log_normals_start_where_the_training_numbers_are() -> None:
    head = LogNormalHead.fit(NUMERALS, 4, HeadOptions()).requires_grad_(False)
    first = head.law(torch.zeros(1, 4))
    assert float(first.above(torch.tensor([2.5]))) == pytest.approx(1, abs=1e-3)
    assert float(first.above(torch.tensor([100.0]))) == pytest.approx(1 / 4, abs=1e-3)
    head.linear.weight[16:32] = 1.0  # the means alone
    moved = head.law(torch.full((1, 4), 0.25))
    torch.testing.assert_close(moved.means, first.means + 1)
    assert torch.equal(moved.log_weights, first.log_weights)


def test_fixed_components_lie_on_the_shifted_line_and_only_their_weights_move() -> None:
    head = LogMixtureHead.fit(NUMERALS, 4, HeadOptions())
    assert len(head.means) == 255
    assert {name for name, _ in head.named_parameters() if "precision" not in name} == {"weights"}
    single = int((head.granularity == 1).nonzero()[0])
    logs = np.log(np.array([0, 3, 40, 41.5, 2000]) + SHIFT)
    assert float(head.means[single]) == pytest.approx(logs.mean())
    assert float(head.sds[single]) == pytest.approx(logs.std())


def test_a_table_of_fixed_components_is_that_of_its_law() -> None:
    """Masses that are kept for all places, and those of each place by itself."""
    torch.manual_seed(0)
    head, table = LogMixtureHead.fit(NUMERALS, 4, HeadOptions()), NumeralTable(TEXTS)
    with torch.no_grad():
        head.weights.normal_()
    hidden = torch.randn(3, 4)
    by_law = head.law(hidden[:, None]).log_mass(*table.intervals())
    by_law = by_law + head.log_factors(hidden, 3)[:, table.precisions]
    torch.testing.assert_close(head.log_prob_table(Context(hidden), table), by_law)


def test_numbers_that_only_float64_tells_apart_can_be_fitted() -> None:
    close = TrainingNumerals.of(["1234567890123456", "1234567890123457", "1234567890123458"])
    for kind in (LogMixtureHead, LogNormalHead):
        head = kind.fit(close, 4, HeadOptions())
        assert head.log_prob_table(Context(torch.zeros(1, 4)), close.table).isfinite().all()
