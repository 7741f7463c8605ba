"""Powers of ten with Gaussian mantissas, against SciPy's truncated Gaussian."""

import numpy as np
import pytest
import torch
from scipy.stats import truncnorm

from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.base import HeadOptions, TrainingNumerals
from numerate.lm.heads.decades import DECADES, decade_counts
from numerate.lm.heads.dexp import DExpHead, GaussianMantissas
from numerate.numeral import MAX_DIGITS

SIZE = 4
TEXTS = ["0", "0.00", "1", "1.0", "9", "10", "10.0", "99.95", "100", "0.1", "0.099", "7", "5000"]


def random_law(seed: int = 0) -> GaussianMantissas:
    torch.manual_seed(seed)
    head = DExpHead(SIZE)
    with torch.no_grad():
        head.linear.weight.normal_(0, 0.5)
        head.linear.bias[1 + DECADES :].normal_(4, 2)
        head.spreads.normal_(0, 1)
        return head.law(torch.randn(1, SIZE))


def below(law: GaussianMantissas, edge: float) -> float:
    """The distribution function: zero, whole decades, and a part of one."""
    if edge <= 0:
        return 0.0
    chances = law.log_chances[0].exp().numpy()
    total = chances[0]
    for decade in range(DECADES):
        mantissa = edge / float(f"1e{decade - MAX_DIGITS}")
        mean, sd = float(law.means[0, decade]), float(law.sds[decade])
        cut = truncnorm((1 - mean) / sd, (10 - mean) / sd, mean, sd)
        total += chances[1 + decade] * float(cut.cdf(mantissa))
    return float(total)


@pytest.mark.parametrize("seed", range(2))
def test_masses_are_differences_of_the_distribution_function(seed: int) -> None:
    law, table = random_law(seed), NumeralTable(TEXTS)
    masses = law.log_mass(*table.intervals()).exp().numpy()
    cells = zip(*(part.tolist() for part in table.intervals()), strict=True)
    expected = [below(law, value + half) - below(law, value - half) for value, half in cells]
    np.testing.assert_allclose(masses, expected, rtol=1e-7, atol=1e-13)


def test_zero_has_a_class_of_its_own_and_all_that_rounds_to_it() -> None:
    law = random_law()
    coarse, fine = law.log_mass(*NumeralTable(["0", "0." + "0" * 31]).intervals()).exp().tolist()
    own = float(law.log_chances[0, 0].exp())
    assert own < fine < coarse
    # Below half of 10^-31 there is one decade, cut in the middle.
    assert fine < own + float(law.log_chances[0, 1].exp())


def test_the_cell_of_a_power_of_ten_lies_in_two_decades() -> None:
    law = random_law()
    with torch.no_grad():
        law.log_chances[0, 1 + MAX_DIGITS :] = -50.0  # nothing from 1 on
        law.log_chances[0, MAX_DIGITS] = 0.0  # 0.1 to 1
    one, two = law.log_mass(*NumeralTable(["1", "2"]).intervals()).tolist()
    assert one > -5
    assert two < -40


def test_it_starts_with_the_mantissas_of_each_power_of_ten() -> None:
    numerals = TrainingNumerals.of(["0"] * 10 + ["20", "40"] * 20 + ["0.03"] * 30)
    head = DExpHead.fit(numerals, SIZE, HeadOptions()).requires_grad_(False)
    law = head.law(torch.zeros(1, SIZE))
    decade = MAX_DIGITS + 1
    assert float(law.means[0, decade]) == pytest.approx(3)
    assert float(law.means[0, MAX_DIGITS - 2]) == pytest.approx(3)
    chances = law.log_chances[0].exp()
    assert float(chances[1 + decade]) == pytest.approx(41 / (80 + 1 + DECADES))
    assert float(chances[0]) == pytest.approx(11 / (80 + 1 + DECADES))


@pytest.mark.parametrize("power", range(-MAX_DIGITS + 1, MAX_DIGITS))
def test_powers_of_ten_begin_their_decades(power: int) -> None:
    text = "1" + "0" * power if power >= 0 else "0." + "0" * (-power - 1) + "1"
    _, classes = decade_counts(TrainingNumerals.of([text]))
    assert classes.tolist() == [1 + MAX_DIGITS + power]
