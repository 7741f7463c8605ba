"""Scores of discrete distributions against direct sums, integrals and SciPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, stats

from numerate.lm.evaluate import distribution
from numerate.lm.evaluate.distribution import crps, percentage_medians, quantiles


def forecasts(seed: int = 0, rows: int = 40, candidates: int = 25):
    """Rows of probabilities over unsorted values with duplicates; truths on and off the grid."""
    random = np.random.default_rng(seed)
    values = random.choice([0, 0.5, 1, 2, 2.5, 5, 7.25, 10, 40, 100, 2000], candidates)
    probabilities = random.dirichlet(np.full(candidates, 0.3), rows)
    on_grid = random.choice(values, rows)
    truth = np.where(random.random(rows) < 0.5, on_grid, random.uniform(-5, 3000, rows))
    return probabilities, values, truth


def direct_crps(probabilities: np.ndarray, values: np.ndarray, truth: float) -> float:
    """E|X − y| − ½ E|X − X'| as a double sum over one distribution."""
    spread = np.abs(values[:, None] - values)
    return float(
        probabilities @ np.abs(values - truth) - probabilities @ spread @ probabilities / 2
    )


def probability(probabilities: np.ndarray, chosen: np.ndarray) -> float:
    return float(probabilities[chosen].sum())


@pytest.mark.parametrize("candidates", [1, 2, 25, 200])
def test_crps_is_the_difference_of_expectations(candidates: int):
    probabilities, values, truth = forecasts(candidates=candidates)
    expected = [direct_crps(p, values, y) for p, y in zip(probabilities, truth, strict=True)]
    assert_allclose(crps(probabilities, values, truth), expected, rtol=1e-9, atol=1e-9)


def test_crps_is_the_integral_of_the_squared_distance():
    probabilities, values, truth = forecasts(rows=6, candidates=5)
    for row, y, found in zip(probabilities, truth, crps(probabilities, values, truth), strict=True):

        def distance(x: float, row=row, y=y) -> float:
            return (probability(row, values <= x) - (y <= x)) ** 2

        edges = np.unique([*values, y])
        middles = (edges[1:] + edges[:-1]) / 2
        steps = sum(
            integrate.quad(distance, low, high, points=[middle])[0]
            for low, high, middle in zip(edges[:-1], edges[1:], middles, strict=True)
        )
        assert found == pytest.approx(steps, rel=1e-9)


def test_crps_is_scipys_energy_distance():
    """SciPy's energy distance between two distributions is √(2 ∫ (F − G)² dx)."""
    probabilities, values, truth = forecasts()
    found = crps(probabilities, values, truth)
    for row, y, score in zip(probabilities, truth, found, strict=True):
        assert score == pytest.approx(
            stats.energy_distance(values, [y], row) ** 2 / 2, rel=1e-9, abs=1e-9
        )


def test_crps_of_a_point_is_the_absolute_error():
    _, values, truth = forecasts()
    point = np.zeros((len(truth), len(values)))
    point[:, 3] = 1
    assert_allclose(crps(point, values, truth), np.abs(values[3] - truth), rtol=1e-12)


def test_crps_approaches_the_normal_distributions():
    """On a fine grid, the closed form σ[z(2Φ(z) − 1) + 2φ(z) − 1/√π]."""
    grid = np.linspace(-10, 14, 24_001)
    normal = stats.norm(2, 1.5)
    mass = np.diff(normal.cdf(np.append(grid - 0.0005, grid[-1] + 0.0005)))
    truth = np.array([-3.0, 0.7, 2.0, 6.1])
    z = (truth - 2) / 1.5
    expected = 1.5 * (z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - np.pi**-0.5)
    mass = np.tile(mass / mass.sum(), (4, 1))
    assert_allclose(crps(mass, grid, truth), expected, rtol=1e-5)


def test_crps_keeps_its_digits_beside_an_enormous_candidate():
    """A difference of two expectations, both 1e16 here, would lose all of them."""
    tiny, huge = 1e-16, 1e32
    probabilities = np.array([[0.5 - tiny, 0.5, tiny]])
    expected = 0.5**2 * 1 + tiny**2 * (huge - 1)  # (1 − F)² from 0 to 1, then to the end
    assert_allclose(crps(probabilities, [0, 1, huge], [0]), expected, rtol=1e-9)
    assert abs(direct_crps(probabilities[0], np.array([0, 1, huge]), 0) - expected) > 0.1


def test_crps_is_proper():
    """In expectation over the truth, no other distribution does better than the true one."""
    random = np.random.default_rng(3)
    values = np.array([0.0, 1, 5, 5, 20])
    true = random.dirichlet(np.ones(5))
    others = random.dirichlet(np.ones(5), 200)

    def expected_score(row: np.ndarray) -> float:
        return float(true @ crps(np.tile(row, (5, 1)), values, values))

    assert expected_score(true) < min(expected_score(other) for other in others)


@pytest.mark.parametrize("block", [1, 7 * 25, 10**6])
def test_percentage_medians_have_the_least_expected_percentage_error(
    block: int, monkeypatch: pytest.MonkeyPatch
):
    """Against every candidate, and against a grid of numbers between them."""
    monkeypatch.setattr(distribution, "_BLOCK", block)
    probabilities, values, _ = forecasts()
    assert 0 in values
    found = percentage_medians(probabilities, values)
    assert np.isin(found, values).all()
    sizes = values != 0
    tried = np.concatenate([values, np.linspace(0, 2500, 5001)])
    for row, number in zip(probabilities, found, strict=True):

        def error(x: float, row=row) -> float:
            return float(row[sizes] @ (np.abs(x - values[sizes]) / values[sizes]))

        assert error(number) <= min(map(error, tried)) * (1 + 1e-12)
    assert (found < quantiles(probabilities, values, 0.5)).any()  # large numbers count less


def test_percentage_medians_of_negative_tiny_and_enormous_numbers():
    values = [-4.0, 5e-324, 0.0, 1e300]
    rows = np.array([[0.5, 0, 0.2, 0.3], [0.4, 0.1, 0.4, 0.1], [0, 0, 0.5, 0.5], [0, 0, 1, 0]])
    assert_array_equal(percentage_medians(rows, values), [-4, 5e-324, 1e300, 0])
    assert_array_equal(percentage_medians(np.ones((2, 1)), [0.0]), [0, 0])


@pytest.mark.parametrize("q", [0.001, 0.05, 0.25, 0.5, 0.8, 0.95, 0.999])
def test_quantiles_are_numpys_weighted_ones(q: float):
    probabilities, values, _ = forecasts()
    expected = [np.quantile(values, q, method="inverted_cdf", weights=row) for row in probabilities]
    assert_array_equal(quantiles(probabilities, values, q), expected)


@pytest.mark.parametrize("parts", [3, 7, 10, 49, 100])
def test_quantiles_at_the_jumps(parts: int):
    """Where F(x) = q exactly the quantile is x, whatever the sums lose to rounding."""
    probabilities = np.full((1, parts), 1 / parts)
    for part in range(1, parts):
        assert quantiles(probabilities, np.arange(parts), part / parts) == part - 1


def test_quantiles_of_single_precision_stay_on_the_grid():
    probabilities = np.random.default_rng(0).dirichlet(np.ones(500), 200).astype(np.float32)
    assert (quantiles(probabilities, np.arange(500), 1 - 1e-9) <= 499).all()


def median(probabilities, values, truth):
    return quantiles(probabilities, values, 0.5)


SCORES = [crps, median]


@pytest.mark.parametrize("score", SCORES)
class TestInvariance:
    def test_order_of_candidates(self, score):
        probabilities, values, truth = forecasts()
        order = np.random.default_rng(9).permutation(len(values))
        found = score(probabilities[:, order], values[order], truth)
        assert_allclose(found, score(probabilities, values, truth), rtol=1e-12, atol=1e-12)

    def test_candidates_of_one_value_are_one(self, score):
        probabilities, values, truth = forecasts()
        merged, which = np.unique(values, return_inverse=True)
        sums = np.stack([np.bincount(which, row) for row in probabilities])
        found = score(sums, merged, truth)
        assert_allclose(found, score(probabilities, values, truth), rtol=1e-12, atol=1e-12)

    def test_candidates_of_no_probability(self, score):
        """Far beyond the others too: on the way there F is 1."""
        probabilities, values, truth = forecasts()
        found = score(np.pad(probabilities, ((0, 0), (1, 1))), [-1e9, *values, 1e9], truth)
        assert_allclose(found, score(probabilities, values, truth), rtol=1e-6, atol=1e-12)

    def test_blocks(self, score, monkeypatch):
        columns = forecasts(rows=41)
        whole = score(*columns)
        monkeypatch.setattr(distribution, "_BLOCK", 4 * 25)
        assert_array_equal(score(*columns), whole)

    def test_no_rows(self, score):
        assert score(np.empty((0, 3)), [1, 2, 3], []).shape == (0,)

    def test_single_precision(self, score):
        probabilities, values, truth = forecasts()
        found = score(probabilities.astype(np.float32), values, truth)
        assert found.dtype == np.float64
        assert_allclose(found, score(probabilities, values, truth), rtol=1e-4, atol=1e-5)

    def test_what_is_refused(self, score):
        probabilities, values, truth = forecasts()
        with pytest.raises(ValueError, match=r"expected \[N, 24\]"):
            score(probabilities, values[1:], truth)
        with pytest.raises(ValueError, match=r"values: .*expected finite numbers"):
            score(probabilities, np.where(values > 5, np.inf, values), truth)
        probabilities[7] *= 1.01
        with pytest.raises(ValueError, match=r"row 7 sums to 1.01, expected 1"):
            score(probabilities, values, truth)
        probabilities[7] = np.nan
        with pytest.raises(ValueError, match=r"row 7 sums to nan, expected 1"):
            score(probabilities, values, truth)


def test_scale_and_shift():
    probabilities, values, truth = forecasts()
    moved, y = 8 * values + 100, 8 * truth + 100
    assert_allclose(
        crps(probabilities, moved, y), 8 * crps(probabilities, values, truth), rtol=1e-12
    )
    assert_array_equal(median(probabilities, moved, y), 8 * median(probabilities, values, y) + 100)


def test_one_truth_for_each_row():
    probabilities, values, truth = forecasts()
    with pytest.raises(ValueError, match=r"truth: got shape \(39,\), expected \(40,\)"):
        crps(probabilities, values, truth[1:])


@pytest.mark.parametrize("fraction", [0, 1, -0.5, np.nan])
def test_fractions_are_checked(fraction: float):
    probabilities, values, _ = forecasts()
    with pytest.raises(ValueError, match=r"q: got .*, expected a number between 0 and 1"):
        quantiles(probabilities, values, fraction)
