"""Scores of whole predictive distributions, not of their best guess alone.

A distribution sits on the candidates: `probabilities[N, C]`, rows summing to 1, over
`values[C]`, in any order. Several candidates may write one number (5 and 5.0); they are then one
atom, and F(x) = Σ_{values_j ≤ x} p_j takes all of them. Rows are treated in blocks, so that
memory stays bounded however many there are.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerate.lm.model.candidate_line import CandidateLine, Floats

AnyFloats = NDArray[np.floating]

_BLOCK = 2**21  # probabilities held in float64 at a time: 16 MiB for each array made of them
_SUM_TOLERANCE = 1e-5  # how far from 1 a row may sum: float32 over a few thousand candidates


def crps(probabilities: AnyFloats, values: ArrayLike, truth: ArrayLike) -> Floats:  # [N]
    """Continuous ranked probability score, exact for the discrete distribution.

        CRPS(F, y) = E|X − y| − ½ E|X − X'| = ∫ (F(x) − 1[y ≤ x])² dx

    in the unit of the numbers; for a point prediction it is the absolute error, so it compares
    with MAE. Lower is better, and only the true distribution is best in expectation (Gneiting and
    Raftery, 2007). The integral is what is computed: F is a step function, hence a sum over the
    gaps between sorted candidates, and all its terms are positive. The difference of
    expectations would cancel where one candidate is enormous.
    """
    order, grid = _sorted(values)
    true = _truth(truth, probabilities)
    gaps = np.diff(grid)
    scores: Floats = np.maximum(grid[0] - true, 0) + np.maximum(
        true - grid[-1], 0
    )  # outside the grid
    for rows, block in _blocks(probabilities, order):
        below = np.clip(true[rows, None] - grid[:-1], 0, gaps)  # [n, C-1] part of the gap before y
        cdf = np.cumsum(block, axis=1)[:, :-1]
        survival = np.cumsum(block[:, ::-1], axis=1)[:, -2::-1]  # 1 − F, without its round-off
        scores[rows] += (cdf**2 * below + survival**2 * (gaps - below)).sum(axis=1)
    return scores


def quantiles(probabilities: AnyFloats, values: ArrayLike, q: float) -> Floats:  # [N]
    """The smallest candidate value x with F(x) ≥ q, 0 < q < 1."""
    order, grid = _sorted(values)
    _require_fraction("q", q)
    found = np.empty(len(probabilities))
    for rows, block in _blocks(probabilities, order):
        found[rows] = CandidateLine(grid, block).quantile(q)
    return found


def percentage_medians(probabilities: AnyFloats, values: ArrayLike) -> Floats:  # [N]
    """The candidate value x whose expected percentage error E(|x − V| / |V|) is least.

    It is the median of another distribution, the one that has p/|v| for p: to miss a large number
    matters less there (Gneiting, 2011: the median of order −1). A zero has no percentage error
    and takes no part; where there is nothing but zeros, it is zero.
    """
    order, grid = _sorted(values)
    sizes = np.full_like(grid, np.inf)
    np.log(np.abs(grid), out=sizes, where=grid != 0)
    found = np.zeros(len(probabilities))
    for rows, block in _blocks(probabilities, order):
        logs = np.full_like(block, -np.inf)
        np.log(block, out=logs, where=block > 0)
        logs -= sizes
        largest = logs.max(axis=1, keepdims=True)
        some = largest[:, 0] > -np.inf
        weights = np.exp(logs[some] - largest[some])
        found[rows][some] = CandidateLine(grid, weights).quantile(0.5)
    return found


def _sorted(values: ArrayLike) -> tuple[NDArray[np.intp], Floats]:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1 or not numbers.size or not np.isfinite(numbers).all():
        raise ValueError(f"values: got shape {numbers.shape}, expected finite numbers [C], C > 0")
    order = np.argsort(numbers, kind="stable")
    return order, numbers[order]


def _truth(truth: ArrayLike, probabilities: AnyFloats) -> Floats:
    true = np.asarray(truth, dtype=np.float64)
    if true.shape != probabilities.shape[:1]:
        raise ValueError(f"truth: got shape {true.shape}, expected {probabilities.shape[:1]}")
    return true


def _blocks(probabilities: AnyFloats, order: NDArray[np.intp]) -> Iterator[tuple[slice, Floats]]:
    """The rows a block at a time, in float64, candidates in the given order."""
    if probabilities.ndim != 2 or probabilities.shape[1] != len(order):
        raise ValueError(
            f"probabilities: got shape {probabilities.shape}, expected [N, {len(order)}]"
        )
    step = max(1, _BLOCK // len(order))
    for start in range(0, len(probabilities), step):
        rows = slice(start, start + step)
        block = probabilities[rows][:, order].astype(np.float64, copy=False)
        totals = block.sum(axis=1)
        if not (np.abs(totals - 1) <= _SUM_TOLERANCE).all():
            worst = start + int(np.argmax(np.abs(totals - 1)))
            raise ValueError(
                f"probabilities: row {worst} sums to {totals[worst - start]:.6g}, expected 1"
            )
        yield rows, block


def _require_fraction(name: str, fraction: float) -> None:
    if not 0 < fraction < 1:
        raise ValueError(f"{name}: got {fraction}, expected a number between 0 and 1")
