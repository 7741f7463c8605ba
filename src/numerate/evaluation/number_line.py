"""Distances between the true numbers and the predicted ones.

Every function takes `truth[N]` and `predicted[N]`, and `weights[N]` where an observation stands
for several: weights are counts, and the result is exactly that of the data with each observation
repeated so many times. The bootstrap draws documents with replacement, which is such a count.
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


def number_line_errors(
    truth: ArrayLike, predicted: ArrayLike, weights: ArrayLike | None = None
) -> dict[str, float]:
    """Root mean squared, mean and median errors, absolute and in percent of the truth.

        e    = truth − predicted
        rmse = √(mean e²)
        mae  = mean |e|              mdae  = median |e|
        mape = 100 mean |e / truth|  mdape = 100 median |e / truth|

    The squares mind extreme errors most, the medians least. A true zero has no percentage error:
    `mape` and `mdape` skip the `zeros`, which are counted.
    """
    error, percentage = absolute_errors(truth, predicted)
    if weights is not None:
        counts = _counts(weights, error)
        error, percentage = np.repeat(error, counts), np.repeat(percentage, counts)
    percentage = percentage[~np.isnan(percentage)]
    return {
        "rmse": float(np.sqrt(_mean(error**2))),
        "mae": _mean(error),
        "mdae": _median(error),
        "mape": _mean(percentage),
        "mdape": _median(percentage),
        "zeros": float(error.size - percentage.size),
    }


def order_of_magnitude_accuracy(
    truth: ArrayLike, predicted: ArrayLike, weights: ArrayLike | None = None
) -> float:
    """Share of numbers predicted to the right power of ten: ⌊log10 predicted⌋ = ⌊log10 truth⌋.

    Zero has no order of magnitude and agrees with zero alone. Powers of ten are compared, not
    rounded logarithms, so 1000 is of order 3 and the float64 below it of order 2.
    """
    true, guess = _observations(truth, predicted)
    _require_non_negative(true, guess)
    same_order = _order_of_magnitude(true) == _order_of_magnitude(guess)
    right = (same_order & ((true == 0) == (guess == 0))).astype(np.float64)
    return _mean(right if weights is None else np.repeat(right, _counts(weights, true)))


def mean_absolute_log10_error(
    truth: ArrayLike, predicted: ArrayLike, weights: ArrayLike | None = None
) -> dict[str, float]:
    """`log10_error` = mean |log10 predicted − log10 truth|: how many orders of magnitude away.

    Zeros, true or predicted, have no logarithm: they are skipped, and `log10_zeros` counts the
    observations lost that way.
    """
    true, guess = _observations(truth, predicted)
    _require_non_negative(true, guess)
    positive = (true > 0) & (guess > 0)
    error = np.abs(np.log10(guess[positive]) - np.log10(true[positive]))
    total = true.size
    if weights is not None:
        counts = _counts(weights, true)
        error = np.repeat(error, counts[positive])
        total = int(counts.sum())
    return {"log10_error": _mean(error), "log10_zeros": float(total - error.size)}


def _observations(truth: ArrayLike, predicted: ArrayLike) -> tuple[Floats, Floats]:
    true = np.asarray(truth, dtype=np.float64)
    guess = np.asarray(predicted, dtype=np.float64)
    if true.shape != guess.shape or true.ndim != 1:
        raise ValueError(
            f"truth, predicted: got shapes {true.shape}, {guess.shape}, expected one [N]"
        )
    return true, guess


def _counts(weights: ArrayLike, true: Floats) -> NDArray[np.int64]:
    counts = np.asarray(weights)
    if counts.shape != true.shape:
        raise ValueError(f"weights: got shape {counts.shape}, expected {true.shape}")
    if not np.issubdtype(counts.dtype, np.integer):
        raise ValueError(f"weights: got {counts.dtype}, expected integers, which count repetitions")
    return counts.astype(np.int64, copy=False)


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
