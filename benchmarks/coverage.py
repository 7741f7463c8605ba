"""How often do 95 % intervals contain the truth? Simulated documents, whose truth is known.

Percentile and BCa intervals are SciPy's, the bootstrap-t interval is `bootstrap_mean`. Errors are
log-normal with an effect of their document; σ says how heavy the tail is. The last column is of
`bootstrap_median`, by percentiles, on the same errors.
"""

import argparse
import warnings

import numpy as np
from scipy import stats

from numerate.lm.evaluate.bootstrap import bootstrap_mean, bootstrap_median

METHODS = ("percentile", "BCa", "bootstrap-t", "median")
SAMPLES = 1000


def errors_of_documents(
    random: np.random.Generator, documents: int, sigma: float
) -> tuple[np.ndarray, np.ndarray]:
    """Values and their documents; 36 % of the variance of a logarithm is between documents."""
    sizes = 1 + random.poisson(random.gamma(2, 6, documents))
    owner = np.repeat(np.arange(documents), sizes)
    effects = random.normal(0, 0.6 * sigma, documents)
    return np.exp(effects[owner] + random.normal(0, 0.8 * sigma, len(owner))), owner


def ratio(sums: np.ndarray, sizes: np.ndarray, axis: int = -1) -> np.ndarray:
    return sums.sum(axis) / sizes.sum(axis)


def intervals(values: np.ndarray, documents: np.ndarray, seed: int) -> list[tuple[float, float]]:
    columns = (np.bincount(documents, values), np.bincount(documents))
    found = []
    for method in ("percentile", "BCa"):
        theirs = stats.bootstrap(
            columns,
            ratio,
            paired=True,
            vectorized=True,
            method=method,
            n_resamples=SAMPLES,
            rng=np.random.default_rng(seed),
        ).confidence_interval
        found.append((theirs.low, theirs.high))
    for ours in (bootstrap_mean, bootstrap_median):
        interval = ours(values, documents, samples=SAMPLES, seed=seed)
        found.append((interval.low, interval.high))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=1000)
    options = parser.parse_args()
    warnings.simplefilter("ignore", stats.DegenerateDataWarning)
    print("sigma  documents  " + "".join(f"{method:>13}" for method in METHODS))
    for sigma in (0.5, 1.0, 1.5, 2.0):
        mean = np.exp(sigma**2 / 2)
        for documents in (40, 100, 200):
            random = np.random.default_rng(1)
            covered = np.zeros(len(METHODS))
            for world in range(options.worlds):
                values, owner = errors_of_documents(random, documents, sigma)
                truths = (mean, mean, mean, 1.0)  # the median of e^0 is 1
                ends = intervals(values, owner, world)
                covered += [
                    low <= truth <= high for (low, high), truth in zip(ends, truths, strict=True)
                ]
            shares = "".join(f"{share:12.1f}%" for share in 100 * covered / options.worlds)
            print(f"{sigma:5.1f}  {documents:9}  {shares}", flush=True)


if __name__ == "__main__":
    main()
