"""Distances between the true numbers and the predicted ones, `truth[N]` and `predicted[N]`.

Without any observation a metric is nan.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_POWERS_OF_TEN = np.array([float(f"1e{exponent}") for exponent in range(-323, 309)])


def absolute_errors(truth: ArrayLike, predicted: ArrayLike) -> tuple[Floats, Floats]:
    """|truth − predicted| of each number, and in percent of the truth, nan where that is zero."""
    true, guess = _observations(truth, predicted)
    error = np.abs(true - guess)
    percentage = np.full_like(error, np.nan)
    np.divide(100 * error, np.abs(true), out=percentage, where=true != 0)
    return error, percentage


def number_line_errors(truth: ArrayLike, predicted: ArrayLike) -> dict[str, float]:
    """Root mean squared, mean and median errors, absolute and in percent of the truth.

        e    = truth − predicted
        rmse = √(mean e²)
        mae  = mean |e|              mdae  = median |e|
        mape = 100 mean |e / truth|  mdape = 100 median |e / truth|

    The squares mind extreme errors most, the medians least. A true zero has no percentage error:
    `mape` and `mdape` skip the `zeros`, which are counted.
    """
    error, percentage = absolute_errors(truth, predicted)
    percentage = percentage[~np.isnan(percentage)]
    return {
        "rmse": float(np.sqrt(_mean(error**2))),
        "mae": _mean(error),
        "mdae": _median(error),
        "mape": _mean(percentage),
        "mdape": _median(percentage),
        "zeros": float(error.size - percentage.size),
    }


def right_orders_of_magnitude(truth: ArrayLike, predicted: ArrayLike) -> Floats:
    """1 where a number is predicted to the right power of ten: ⌊log10 predicted⌋ = ⌊log10 truth⌋.

    Zero has no order of magnitude and agrees with zero alone. Powers of ten are compared, not
    rounded logarithms, so 1000 is of order 3 and the float64 below it of order 2.
    """
    true, guess = _observations(truth, predicted)
    _require_non_negative(true, guess)
    same_order = _order_of_magnitude(true) == _order_of_magnitude(guess)
    right: Floats = (same_order & ((true == 0) == (guess == 0))).astype(np.float64)
    return right


def absolute_log10_errors(truth: ArrayLike, predicted: ArrayLike) -> Floats:
    """|log10 predicted − log10 truth|: how many orders of magnitude away.

    Zeros, true or predicted, have no logarithm: nan.
    """
    true, guess = _observations(truth, predicted)
    _require_non_negative(true, guess)
    positive = (true > 0) & (guess > 0)
    error = np.full_like(true, np.nan)
    error[positive] = np.abs(np.log10(guess[positive]) - np.log10(true[positive]))
    return error


def _observations(truth: ArrayLike, predicted: ArrayLike) -> tuple[Floats, Floats]:
    true = np.asarray(truth, dtype=np.float64)
    guess = np.asarray(predicted, dtype=np.float64)
    if true.shape != guess.shape or true.ndim != 1:
        raise ValueError(
            f"truth, predicted: got shapes {true.shape}, {guess.shape}, expected one [N]"
        )
    return true, guess


def _require_non_negative(true: Floats, guess: Floats) -> None:
    """Numerals carry no sign, so a negative number here is a mistake of the caller."""
    for name, numbers in (("truth", true), ("predicted", guess)):
        if numbers.size and not numbers.min() >= 0:
            raise ValueError(f"{name}: got {numbers.min()}, expected non-negative numbers")


def _order_of_magnitude(numbers: Floats) -> NDArray[np.intp]:
    """⌊log10⌋ up to a constant, exact at the powers of ten themselves."""
    return np.searchsorted(_POWERS_OF_TEN, numbers, side="right")


def _mean(numbers: Floats) -> float:
    return float(np.mean(numbers)) if numbers.size else float("nan")


def _median(numbers: Floats) -> float:
    return float(np.median(numbers)) if numbers.size else float("nan")
