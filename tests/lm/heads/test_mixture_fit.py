"""EM over counted values, with scikit-learn on the repeated values as the oracle."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from numerate.lm.heads.mixture_fit import (
    GRANULARITIES,
    VARIANCE_FLOOR,
    Mixture,
    fit_granularities,
    fit_mixture,
    percentile_start,
)


def counted(numbers) -> tuple[np.ndarray, np.ndarray]:
    return np.unique(np.asarray(numbers, dtype=np.float64), return_counts=True)


def numbers_of_text(seed: int = 0) -> np.ndarray:
    """About what prose holds: counts, ages and percentages, measurements, years."""
    random = np.random.default_rng(seed)
    return np.concatenate(
        [
            random.geometric(0.15, 1500),
            random.normal(55, 15, 600).round(),
            random.normal(40, 20, 600).round(1),
            random.gamma(2, 1, 600).round(2),
            random.integers(1990, 2020, 200),
            np.exp(random.normal(6, 1.5, 300)).round(),
        ]
    ).clip(0)


def oracle(numbers, start: Mixture, tolerance: float, max_iterations: int) -> GaussianMixture:
    model = GaussianMixture(
        len(start.means),
        weights_init=start.weights,
        means_init=start.means[:, None],
        precisions_init=1 / start.variances[:, None, None],
        tol=tolerance,
        max_iter=max_iterations,
        init_params="random",  # all three are given, so nothing is drawn
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(np.sort(numbers)[:, None])


@pytest.mark.parametrize("components", [1, 2, 7, 32])
@pytest.mark.parametrize(("tolerance", "iterations"), [(0, 1), (0, 10), (1e-3, 100), (1e-6, 200)])
def test_same_fit_as_scikit_learn(components: int, tolerance: float, iterations: int):
    numbers = numbers_of_text()
    values, counts = counted(numbers)
    got = fit_mixture(values, counts, components, tolerance=tolerance, max_iterations=iterations)
    expected = oracle(numbers, percentile_start(values, counts, components), tolerance, iterations)
    assert got.iterations == expected.n_iter_
    assert got.converged == expected.converged_
    assert got.lower_bound == pytest.approx(expected.lower_bound_, rel=1e-9)
    np.testing.assert_allclose(got.weights, expected.weights_, rtol=1e-8, atol=1e-15)
    np.testing.assert_allclose(got.means, expected.means_[:, 0], rtol=1e-8)
    np.testing.assert_allclose(got.variances, expected.covariances_[:, 0, 0], rtol=1e-8)


def test_likelihood_never_falls():
    """Up to what the floor takes: it is added to a variance that was already the best."""
    values, counts = counted(numbers_of_text())
    bounds = [
        fit_mixture(values, counts, 8, tolerance=0, max_iterations=n).lower_bound
        for n in range(1, 15)
    ]
    assert (np.diff(bounds) > -1e-6).all()


def test_finds_well_separated_groups():
    random = np.random.default_rng(1)
    numbers = np.concatenate([random.normal(10, 1, 4000), random.normal(100, 5, 4000)])
    fit = fit_mixture(*counted(numbers), 2)
    assert fit.converged
    # Standard errors are below 0.08 and 0.006: a failure is a five-sigma event or a bug.
    np.testing.assert_allclose(fit.means, [10, 100], atol=0.4)
    np.testing.assert_allclose(fit.weights, [0.5, 0.5], atol=0.03)


def test_start_is_at_the_quantiles_with_the_spread_of_each_group():
    values, counts = counted([1, 1, 1, 2, 5, 6, 7, 9])
    start = percentile_start(values, counts, 2)
    np.testing.assert_array_equal(start.means, [1, 6])  # the 2nd and the 6th number
    np.testing.assert_array_equal(start.weights, [0.5, 0.5])
    np.testing.assert_allclose(start.variances, np.array([1, 1 + 1 + 9]) / 4 + VARIANCE_FLOOR)


def test_start_takes_the_lower_value_where_a_quantile_falls_between_two():
    start = percentile_start(*counted(range(1, 11)), 3)
    np.testing.assert_array_equal(start.means, [2, 5, 9])  # ranks 1.67, 5 and 8.33, rounded up


def test_start_divides_a_value_between_groups():
    start = percentile_start(*counted([3, 3, 3, 4]), 8)
    np.testing.assert_array_equal(start.means, [3] * 6 + [4] * 2)
    np.testing.assert_allclose(start.variances, VARIANCE_FLOOR)


@pytest.mark.parametrize(
    "numbers",
    [
        [7],
        [0],
        [1e32],
        [1, 2, 2],
        [0, 1e32],
        [1e-6, 1e30],
        [0, 1e-6, 1e-3, 1, 10, 1e6, 1e12, 1e20, 1e30, 1e30, 9.9e31],
    ],
)
@pytest.mark.parametrize("components", [1, 2, 16, 128])
def test_degenerate_data_stay_finite(numbers, components: int):
    check_sound(fit_mixture(*counted(numbers), components))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.floats(0, 1e32) | st.integers(0, 50), min_size=1, max_size=40),
    st.integers(1, 20),
)
def test_any_numbers_stay_finite(numbers, components):
    check_sound(fit_mixture(*counted(numbers), components))


def check_sound(fit: Mixture) -> None:
    for array in (fit.weights, fit.means, fit.variances):
        assert array.dtype == np.float64
        assert np.isfinite(array).all()
    assert np.isfinite(fit.lower_bound)
    assert fit.weights.sum() == pytest.approx(1)
    assert (fit.weights > 0).all()
    assert (fit.variances >= VARIANCE_FLOOR).all()


def test_a_single_value_is_a_spike_of_the_least_variance():
    fit = fit_mixture(*counted([7.0, 7.0, 7.0]), 1)
    assert fit.means[0] == pytest.approx(7)
    assert fit.variances[0] == pytest.approx(VARIANCE_FLOOR)


def test_counts_stand_for_repeated_numbers():
    values, counts = counted(numbers_of_text())
    once, thrice = (fit_mixture(values, counts * n, 16) for n in (1, 3))
    np.testing.assert_allclose(once.means, thrice.means, rtol=1e-6)


def test_granularities_are_the_union_of_the_separate_fits():
    values, counts = counted(numbers_of_text())
    union = fit_granularities(values, counts)
    assert len(union) == len(union.sds) == len(union.weights) == len(union.size_of) == 255
    for size in GRANULARITIES:
        alone, chosen = fit_mixture(values, counts, size), union.size_of == size
        assert chosen.sum() == size
        np.testing.assert_array_equal(union.means[chosen], alone.means)
        np.testing.assert_array_equal(union.sds[chosen], np.sqrt(alone.variances))
        np.testing.assert_array_equal(union.weights[chosen], alone.weights)


def test_finer_mixtures_fit_better():
    values, counts = counted(numbers_of_text())
    bounds = [fit_mixture(values, counts, size).lower_bound for size in GRANULARITIES]
    assert (np.diff(bounds) > 0).all()


@pytest.mark.parametrize(
    ("values", "counts", "components", "message"),
    [
        ([], [], 2, "got none"),
        ([1.0, 2.0], [1], 2, "shapes"),
        ([2.0, 1.0], [1, 1], 2, "ascending"),
        ([1.0, 1.0], [1, 1], 2, "distinct"),
        ([1.0, np.nan], [1, 1], 2, "finite"),
        ([1.0, 1e200], [1, 1], 2, "1e\\+140"),
        ([1.0, 2.0], [1, 0], 2, "got 0"),
        ([1.0], [1], 0, "components"),
    ],
)
def test_bad_input_is_named(values, counts, components, message):
    with pytest.raises(ValueError, match=message):
        fit_mixture(np.array(values, dtype=np.float64), np.array(counts, dtype=int), components)
