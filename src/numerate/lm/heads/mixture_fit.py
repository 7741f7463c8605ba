"""EM for one-dimensional Gaussian mixtures over distinct values with their counts.

Numbers in text repeat: a corpus of 160,000 has a few thousand distinct ones. Equal values have
equal responsibilities, so EM over distinct values weighted by their counts takes exactly the steps
of `sklearn.mixture.GaussianMixture(covariance_type="full")` over the repeated values, at a
fraction of the cost. Its details are followed to the letter (what is added to counts and
variances, the order of the steps, when to stop) so that it serves as the oracle in the tests.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

GRANULARITIES = (1, 2, 4, 8, 16, 32, 64, 128)
"""Sizes of the paper's mixtures, 255 components in all."""

VARIANCE_FLOOR = 1e-6
"""Added to every variance; scikit-learn's `reg_covar`."""

LARGEST_VALUE = 1e140
"""Squares of larger values, over the least variance, would come near the end of float64."""

_COUNT_FLOOR = 10 * np.finfo(np.float64).eps  # keeps a component without any data from dividing 0/0


@dataclass(frozen=True, eq=False)
class Mixture:
    """A Gaussian mixture and how it was found; arrays are [K], float64.

    `lower_bound` is the mean log-likelihood per number that the last E-step saw, that is, before
    the last update of the parameters; -inf for a start that has not been through EM.
    """

    weights: Floats
    means: Floats
    variances: Floats
    lower_bound: float = -np.inf
    iterations: int = 0
    converged: bool = False

    @property
    def sds(self) -> Floats:
        return np.sqrt(self.variances)


@dataclass(frozen=True, eq=False)
class Components:
    """The union of mixtures of several sizes, finest last; arrays are [Σ sizes].

    `size_of` tells which mixture a component comes from, `weights` its share of that mixture.
    """

    means: Floats
    sds: Floats
    weights: Floats
    size_of: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.means)

    @classmethod
    def empty(cls, count: int) -> "Components":
        """Room for so many."""
        if count < 1:
            raise ValueError(f"components: got {count}, expected 1 or more")
        return cls(np.zeros(count), np.ones(count), np.zeros(count), np.zeros(count, np.int64))


def fit_granularities(
    values: Floats,
    counts: NDArray[np.int64],
    sizes: Sequence[int] = GRANULARITIES,
    *,
    floor: float = VARIANCE_FLOOR,
) -> Components:
    """Fit one mixture of each size to the same numbers; arguments as for `fit_mixture`."""
    mixtures = [fit_mixture(values, counts, size, floor=floor) for size in sizes]
    return Components(
        means=np.concatenate([mixture.means for mixture in mixtures]),
        sds=np.concatenate([mixture.sds for mixture in mixtures]),
        weights=np.concatenate([mixture.weights for mixture in mixtures]),
        size_of=np.repeat(np.array(sizes, dtype=np.int64), sizes),
    )


def fit_mixture(
    values: Floats,
    counts: NDArray[np.int64],
    components: int,
    *,
    tolerance: float = 1e-3,
    max_iterations: int = 100,
    floor: float = VARIANCE_FLOOR,
) -> Mixture:
    """Fit a mixture to numbers given as distinct `values`, ascending, and their `counts`.

    EM starts from `percentile_start` and stops when the mean log-likelihood per number changes by
    less than `tolerance`; `floor` is added to every variance. There may be fewer values than
    components: some then coincide.
    """
    start = percentile_start(values, counts, components, floor)
    weights, means, variances = start.weights, start.means, start.variances
    total = counts.sum()
    squares = _squared_deviations(values, means)  # [K, N]
    lower_bound, iterations, converged = -np.inf, 0, False
    while iterations < max_iterations and not converged:
        # E-step: joint log densities become shares of each value's count, in one buffer.
        shares = squares * (-0.5 / variances)[:, None]  # [K, N]
        shares += (np.log(weights) - 0.5 * np.log(2 * np.pi * variances))[:, None]
        peak = shares.max(axis=0)  # [N]
        shares -= peak
        np.exp(shares, out=shares)
        density = shares.sum(axis=0)  # [N], relative to the peak, between 1 and K
        shares *= counts / density
        previous, lower_bound = lower_bound, float(counts @ (peak + np.log(density)) / total)
        # M-step.
        sizes = shares.sum(axis=1) + _COUNT_FLOOR  # [K]
        weights = sizes / sizes.sum()
        means = shares @ values / sizes
        _squared_deviations(values, means, out=squares)
        variances = np.einsum("kn,kn->k", shares, squares) / sizes + floor
        iterations += 1
        converged = abs(lower_bound - previous) < tolerance
    return Mixture(weights, means, variances, lower_bound, iterations, converged)


def percentile_start(
    values: Floats,
    counts: NDArray[np.int64],
    components: int,
    floor: float = VARIANCE_FLOOR,
) -> Mixture:
    """Where EM starts: the numbers, in ascending order, cut into K groups of equal size.

    Component j of K has the weight 1/K and the mean at the (j + ½)/K quantile, which is the least
    value with at least that share of the numbers at or below it, so always a value of the data.
    Its variance is the mean squared deviation from there over the group between the j/K and the
    (j + 1)/K quantile, plus the floor. (A value whose numbers straddle a border is divided.) Each
    number thus lies within reach of a component even when values span 30 orders of magnitude,
    where a common variance would make all components alike.
    """
    _check(values, counts, components)
    cumulative = np.cumsum(counts)  # [N]
    total = cumulative[-1]
    middles = (2 * np.arange(components) + 1) * total  # [K], times 2K to be exact
    means = values[np.searchsorted(2 * components * cumulative, middles)]
    borders = np.linspace(0, total, components + 1)  # [K + 1]
    filled = np.clip(cumulative, borders[:-1, None], borders[1:, None])  # [K, N]
    shares = np.diff(filled, axis=1, prepend=borders[:-1, None])
    spread = np.einsum("kn,kn->k", shares, _squared_deviations(values, means))
    variances = spread * components / total + floor
    return Mixture(np.full(components, 1 / components), means, variances)


def _squared_deviations(values: Floats, means: Floats, out: Floats | None = None) -> Floats:
    """`(x - μ)²`, [K, N]: always from the differences, as `E[x²] - μ²` cancels."""
    deviations = np.subtract(values, means[:, None], out=out)
    return np.square(deviations, out=deviations)


def _check(values: Floats, counts: NDArray[np.int64], components: int) -> None:
    if components < 1:
        raise ValueError(f"number of components: got {components}, expected at least 1")
    if values.ndim != 1 or values.shape != counts.shape:
        raise ValueError(
            f"values and counts: got shapes {values.shape} and {counts.shape}, "
            "expected two vectors of one length"
        )
    if len(values) == 0:
        raise ValueError("values: got none, expected at least one number to fit a mixture to")
    if not (np.abs(values) < LARGEST_VALUE).all():
        raise ValueError(f"values: expected finite numbers below {LARGEST_VALUE:g} in magnitude")
    if not (np.diff(values) > 0).all():
        raise ValueError("values: expected distinct numbers in ascending order")
    if not (counts > 0).all():
        raise ValueError(f"counts: got {counts.min()}, expected at least 1")
