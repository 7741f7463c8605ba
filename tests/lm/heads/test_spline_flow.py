"""The flow against its equations, piece by piece in plain loops, and with 400 digits."""

import mpmath
import numpy as np
import pytest
import torch

from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.base import HeadOptions, TrainingNumerals
from numerate.lm.heads.spline_flow import BOUND, FlowHead, SplineFlow

SIZE = 4


def random_law(seed: int = 0) -> SplineFlow:
    torch.manual_seed(seed)
    head = FlowHead(SIZE, 2.0, 1.5)
    with torch.no_grad():
        head.linear.weight.normal_(0, 1.5)
        head.linear.bias.normal_(0, 1.0)
        return head.law(torch.randn(1, SIZE))


def curve(law: SplineFlow, x: mpmath.mpf) -> mpmath.mpf:
    """The spline as Durkan et al. write it: equation 4 of their paper in the piece of x."""
    knots, heights, slopes = (
        [mpmath.mpf(float(number)) for number in part[0]]
        for part in (law.knots, law.heights, law.slopes)
    )
    if x <= knots[0]:
        return heights[0] + slopes[0] * (x - knots[0])
    if x >= knots[-1]:
        return heights[-1] + slopes[-1] * (x - knots[-1])
    k = max(index for index in range(len(knots) - 1) if knots[index] <= x)
    width, height = knots[k + 1] - knots[k], heights[k + 1] - heights[k]
    s, xi = height / width, (x - knots[k]) / width
    over = height * (s * xi**2 + slopes[k] * xi * (1 - xi))
    under = s + (slopes[k + 1] + slopes[k] - 2 * s) * xi * (1 - xi)
    return heights[k] + over / under


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "text", ["0", "0.000", "1", "7", "7.4", "12.345678", "100", "9" * 30, "0." + "0" * 30 + "7"]
)
def test_masses_are_differences_of_the_distribution_function(text: str, seed: int) -> None:
    law, table = random_law(seed), NumeralTable([text])
    value, half = (float(part) for part in table.intervals())
    with mpmath.workdps(400):

        def below(edge: mpmath.mpf) -> mpmath.mpf:
            if edge <= 0:
                return mpmath.mpf(0)
            place, scale = (mpmath.mpf(float(part)) for part in (law.location, law.scale))
            return 1 / (1 + mpmath.exp(-curve(law, (mpmath.log(edge) - place) / scale)))

        mass = below(mpmath.mpf(value) + mpmath.mpf(half)) - below(
            mpmath.mpf(value) - mpmath.mpf(half)
        )
        expected = float(mpmath.log(mass))
    assert float(law.log_mass(*table.intervals())) == pytest.approx(expected, rel=1e-9, abs=1e-11)


def test_a_cell_on_a_knot_is_the_sum_of_its_sides() -> None:
    law = random_law(1)
    for knot in law.knots[0, 1:-1]:
        centre = knot * law.scale + law.location  # on the line of logarithms
        half = torch.tensor([1e-13], dtype=torch.float64)
        whole = law.log_between(centre, half).exp()
        sides = [law.log_between(centre + sign * half / 2, half / 2).exp() for sign in (-1, 1)]
        assert float(sum(sides)) == pytest.approx(float(whole), rel=1e-2)  # places have 16 digits


def test_it_starts_as_the_log_logistic_distribution() -> None:
    numerals = TrainingNumerals.of(["1", "100"])
    head = FlowHead.fit(numerals, SIZE, HeadOptions()).requires_grad_(False)
    law = head.law(torch.randn(1, SIZE))
    x = torch.linspace(-2 * BOUND, 2 * BOUND, 41, dtype=torch.float64)
    torch.testing.assert_close(law.curve(x), x, rtol=2e-3, atol=1e-2)  # and the least slope
    assert float(law.above(torch.tensor([10.0]))) == pytest.approx(0.5, abs=1e-3)


def test_the_curve_rises_through_its_knots() -> None:
    law = random_law(2)
    torch.testing.assert_close(law.curve(law.knots[0]), law.heights[0])
    x = torch.linspace(-12, 12, 1001, dtype=torch.float64)
    assert (law.curve(x).diff() > 0).all()
    slopes = (law.curve(law.knots[0] + 1e-6) - law.curve(law.knots[0] - 1e-6)) / 2e-6
    np.testing.assert_allclose(slopes.numpy(), law.slopes[0].numpy(), rtol=5e-3)
