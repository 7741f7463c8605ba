"""Number-line metrics against scikit-learn."""

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn import metrics as oracle

from numerate.lm.evaluate.number_line import (
    absolute_log10_errors,
    number_line_errors,
    right_orders_of_magnitude,
)


def numbers(seed: int, size: int = 301) -> tuple[np.ndarray, np.ndarray]:
    """What text holds: small counts, some zeros, a wide range, some predictions exact."""
    random = np.random.default_rng(seed)
    truth = np.where(random.random(size) < 0.1, 0, np.exp(random.normal(3, 4, size)).round(2))
    noise = np.exp(random.normal(0, 1, size))
    predicted = np.where(random.random(size) < 0.3, truth, (truth * noise).round(1))
    return truth, np.where(random.random(size) < 0.05, 0, predicted)


def log10_error(truth, predicted) -> dict[str, float]:
    errors = absolute_log10_errors(truth, predicted)
    known = errors[~np.isnan(errors)]
    mean = known.mean() if known.size else math.nan
    return {"log10_error": mean, "log10_zeros": errors.size - known.size}


def all_metrics(truth, predicted) -> dict[str, float]:
    right = right_orders_of_magnitude(truth, predicted)
    return {
        **number_line_errors(truth, predicted),
        **log10_error(truth, predicted),
        "order": right.mean() if right.size else math.nan,
    }


@pytest.mark.parametrize("size", [1, 2, 300, 301])
@pytest.mark.parametrize("seed", range(3))
def test_same_errors_as_scikit_learn(seed: int, size: int):
    truth, predicted = numbers(seed, size)
    truth[0] = 4.5
    rest = truth != 0
    percentages = 100 * np.abs(truth[rest] - predicted[rest]) / truth[rest]
    expected = {
        "rmse": oracle.root_mean_squared_error(truth, predicted),
        "mae": oracle.mean_absolute_error(truth, predicted),
        "mdae": oracle.median_absolute_error(truth, predicted),
        "mape": 100 * oracle.mean_absolute_percentage_error(truth[rest], predicted[rest]),
        "mdape": np.median(percentages),
        "zeros": (~rest).sum(),
    }
    assert number_line_errors(truth, predicted) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_log_error_is_scikit_learns_on_logarithms(seed: int):
    truth, predicted = numbers(seed)
    kept = (truth > 0) & (predicted > 0)
    expected = oracle.mean_absolute_error(np.log10(truth[kept]), np.log10(predicted[kept]))
    found = log10_error(truth, predicted)
    assert found["log10_error"] == pytest.approx(expected, rel=1e-12)
    assert found["log10_zeros"] == (~kept).sum() > 0


@given(
    st.lists(
        st.tuples(
            st.decimals("0", "1e31", allow_nan=False, places=3),
            st.decimals("0", "1e31", allow_nan=False, places=3),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_order_of_magnitude_is_that_of_the_digits(pairs: list[tuple[Decimal, Decimal]]):
    """`Decimal.adjusted` reads the order of magnitude off the digits."""

    def order(number: Decimal) -> int | None:
        exact = Decimal(float(number))
        for power in (exact.adjusted(), exact.adjusted() + 1):
            if exact and float(number) == float(f"1e{power}"):
                return power  # the float64 nearest to a power of ten may lie just below it
        return exact.adjusted() if exact else None

    expected = [order(truth) == order(predicted) for truth, predicted in pairs]
    found = right_orders_of_magnitude(*np.array(pairs, dtype=np.float64).T)
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("truth", "predicted", "same"),
    [
        (1000, 9999.99, True),
        (1000, np.nextafter(1000, 0), False),
        (1000, 999, False),
        (0.001, 0.0099, True),
        (0.001, 0.00099, False),
        (1e32, 1e31, False),
        (1e-31, 9e-31, True),
        (0, 0, True),
        (0, 5e-324, False),
        (0.5, 0, False),
        (5, 5.0, True),
    ],
)
def test_orders_of_magnitude(truth: float, predicted: float, same: bool):
    assert right_orders_of_magnitude([truth], [predicted]) == same
    assert right_orders_of_magnitude([predicted], [truth]) == same


def test_every_power_of_ten_has_its_own_order():
    powers = np.array([float(f"1e{exponent}") for exponent in range(-31, 33)])
    below = np.nextafter(powers, 0)
    assert right_orders_of_magnitude(powers, 9.99 * powers).all()
    assert not right_orders_of_magnitude(powers, below).any()
    assert right_orders_of_magnitude(powers[:-1], below[1:]).all()


def test_order_does_not_matter():
    truth, predicted = numbers(1)
    order = np.random.default_rng(2).permutation(truth.size)
    found = all_metrics(truth[order], predicted[order])
    assert found == pytest.approx(all_metrics(truth, predicted), rel=1e-12)


def test_repeated_data_change_counts_alone():
    once = all_metrics(*numbers(1))
    twice = all_metrics(*(np.tile(column, 2) for column in numbers(1)))
    for count in ("zeros", "log10_zeros"):
        once[count] *= 2
    assert twice == pytest.approx(once, rel=1e-12)


def test_scale():
    """In another unit, absolute errors scale and relative ones stay."""
    truth, predicted = numbers(1)
    once, scaled = all_metrics(truth, predicted), all_metrics(1000 * truth, 1000 * predicted)
    for name in ("rmse", "mae", "mdae"):
        once[name] *= 1000
    assert scaled == pytest.approx(once, rel=1e-9)


def test_perfect_predictions():
    truth, _ = numbers(1)
    found = all_metrics(truth, truth)
    assert found.pop("order") == 1
    assert found.pop("zeros") == found.pop("log10_zeros") == (truth == 0).sum()
    assert set(found.values()) == {0}


def test_huge_and_tiny_numbers():
    found = all_metrics([1e32, 1e-31], [0.0, 1e32])
    assert found["rmse"] == pytest.approx(1e32)
    assert found["mape"] == pytest.approx(0.5e65)
    assert found["log10_error"] == pytest.approx(63)
    assert found["log10_zeros"] == 1


def test_nothing_to_measure():
    found = all_metrics([], [])
    assert found.pop("zeros") == found.pop("log10_zeros") == 0
    assert all(math.isnan(figure) for figure in found.values())


def test_true_zeros_only():
    found = number_line_errors([0.0, 0.0], [1.0, 3.0])
    assert math.isnan(found.pop("mape"))
    assert math.isnan(found.pop("mdape"))
    assert found == {"rmse": pytest.approx(math.sqrt(5)), "mae": 2, "mdae": 2, "zeros": 2}


def test_constant_predictions():
    """The median minimises MAE and the mean RMSE, which makes them the baselines."""
    truth, _ = numbers(4)
    for name, best in (("mae", np.median(truth)), ("rmse", np.mean(truth))):
        errors = [
            number_line_errors(truth, np.full(truth.size, best * factor))[name]
            for factor in (0.99, 1, 1.01)
        ]
        assert_allclose(min(errors), errors[1], rtol=1e-12)


@pytest.mark.parametrize("metric", [right_orders_of_magnitude, absolute_log10_errors])
@pytest.mark.parametrize("bad", [-1.0, math.nan])
def test_negative_numbers_are_refused(metric, bad: float):
    with pytest.raises(ValueError, match=r"predicted: got (-1.0|nan), expected non-negative"):
        metric([1.0, 2.0], [1.0, bad])


@pytest.mark.parametrize(
    "metric", [number_line_errors, right_orders_of_magnitude, absolute_log10_errors]
)
def test_shapes_are_checked(metric):
    with pytest.raises(ValueError, match=r"got shapes \(2,\), \(1,\), expected one \[N\]"):
        metric([1.0, 2.0], [1.0])
