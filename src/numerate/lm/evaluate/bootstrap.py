"""How far a figure could move with other documents of the same kind.

Tokens of one document resemble each other, so they are no independent observations and an
interval that treats them as such is far too narrow. Documents are what is drawn: with replacement
for confidence intervals (the cluster bootstrap), with random signs for the paired test (Good,
2005).

A mean has a bootstrap-t interval (Efron and Tibshirani, 1993, §12.5): errors of numbers have heavy
tails, and of the ways that `benchmarks/coverage.py` tries, this one contains the truth most nearly
as often as it says. A median, which has no standard error to divide by and no tails to fear, has a
percentile interval.

Ends are order statistics, never interpolated. Documents are told apart by id and drawn in the order
of their ids: the order of the observations does not matter, and one seed draws the same documents
for every figure.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerate.rules.distributions import largest_share

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

ANY = (-np.inf, np.inf)
_BLOCK = 2**21  # draws held at a time
_ROUND_OFF = 1e-12  # of a sum, against the sum of magnitudes


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure and its confidence interval.

    One document says nothing of how documents differ: with fewer than two the ends are nan.
    """

    estimate: float
    low: float
    high: float

    def mapped(self, increasing: Callable[[float], float]) -> "Interval":
        """The interval of an increasing function of the figure: perplexity from mean nats."""
        return Interval(increasing(self.estimate), increasing(self.low), increasing(self.high))


@dataclass(frozen=True, slots=True)
class PairedResult:
    """The first's figure minus the second's, its interval, and how likely one so far from 0 is."""

    difference: float
    low: float
    high: float
    p_value: float
    p_holm: float = np.nan  # corrected for all that is compared with it


def bootstrap_mean(
    values: ArrayLike,
    documents: ArrayLike,
    *,
    confidence: float = 0.95,
    samples: int = 1000,
    seed: int = 1,
    bounds: tuple[float, float] = ANY,
) -> Interval:
    """The bootstrap-t interval of a mean, from the sum S_d and size n_d of each document alone.

        m = Σ S_d / Σ n_d,  se = √(Σ (S_d − m n_d)²) / Σ n_d,  t* = (m* − m) / se*
        from m − t*_upper · se to m − t*_lower · se, and never beyond the `bounds` of any mean

    where m* and se* are those of drawn documents: matrix products for all samples. A sample whose
    documents agree has se* = 0 and t* = ±∞. If these are many (very few documents, or all that
    there is comes from a few of many), an end is infinite: the documents do not say how far. Of
    rates see `of_rate`.
    """
    _require_options(confidence, samples)
    sums, sizes = _document_sums(values, documents)
    if not sums.size:
        return Interval(np.nan, np.nan, np.nan)
    mean = float(sums.sum() / sizes.sum())
    # Around the mean, nothing is lost to rounding but what is no difference at all.
    rest = sums - mean * sizes  # [D]
    rest[np.abs(rest) <= _ROUND_OFF * (np.abs(sums) + abs(mean) * sizes)] = 0
    error = float(np.sqrt(rest @ rest) / sizes.sum())
    if not error:  # of equal documents, unless there is but one
        found = Interval(mean, *((mean, mean) if len(sums) > 1 else (np.nan, np.nan)))
    else:
        t = interval_of(0, studentised(rest, sizes, samples, seed), confidence)
        low, high = mean - t.high * error, mean - t.low * error
        found = Interval(mean, max(low, bounds[0]), min(high, bounds[1]))
    hits, misses = documents_beyond(sums, sizes, bounds)
    return of_rate(found, hits, misses, len(sums), confidence, bounds)


def of_rate(
    found: Interval,
    hits: int,
    misses: int,
    documents: int,
    confidence: float,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Interval:
    """What so few documents with any hit, or with any miss, leave open of a rate (Clopper and
    Pearson, 1934).

    Where it is 0 or 1 in all documents, so it is in all samples of them; where it is in nearly all,
    in many samples, and t* says nothing.
    """
    least, most = bounds
    if not np.isfinite(most - least) or not documents:
        return found
    tail, whole = (1 - confidence) / 2, most - least
    high = least + whole * largest_share(hits, documents, tail)
    low = most - whole * largest_share(misses, documents, tail)
    if found.estimate in bounds:
        return replace(found, low=max(low, least), high=min(high, most))
    return Interval(
        found.estimate,
        max(found.low, low) if low < found.estimate else found.low,
        min(found.high, high) if high > found.estimate else found.high,
    )


def documents_beyond(sums: Floats, sizes: Floats, bounds: tuple[float, float]) -> tuple[int, int]:
    """How many documents have more than the least there can be, and how many less than the most."""
    least, most = bounds
    return int((sums > least * sizes).sum()), int((sums < most * sizes).sum())


def studentised(rest: Floats, sizes: Floats, samples: int, seed: int = 1) -> Floats:
    """t* of each sample, from what documents [D] have beyond the mean, which sums to 0."""
    away, error = drawn_means(rest[:, None], sizes[:, None], samples, seed)
    return ratios(away, error)[:, 0]


def drawn_means(rest: Floats, sizes: Floats, samples: int, seed: int = 1) -> tuple[Floats, Floats]:
    """m* − m and se* of several figures of the same documents, both arguments [D, F].

    Both are [samples, F]; of fewer than two documents, [0, F].
    """
    products = (rest, sizes, rest * rest, rest * sizes, sizes * sizes)
    found = [np.empty((2, 0, rest.shape[1]))]
    for counts in _draws(len(rest), samples, seed):
        drawn = counts.astype(np.float64)
        total, size, squares, mixed, square_sizes = (drawn @ product for product in products)
        with np.errstate(divide="ignore", invalid="ignore"):
            away = np.where(total == 0, 0, total / size)
        spread = squares - 2 * away * mixed + away * away * square_sizes  # around m*
        spread[spread <= _ROUND_OFF * squares] = 0
        found.append(np.stack([away, ratios(np.sqrt(spread), size)]))
    away, error = np.concatenate(found, axis=1)
    return away, error


def ratios(differences: Floats, errors: Floats) -> Floats:
    """Differences by their standard errors: infinite without one, but 0 is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(differences == 0, 0, differences / errors)


def bootstrap_median(
    values: ArrayLike,
    documents: ArrayLike,
    *,
    confidence: float = 0.95,
    samples: int = 1000,
    seed: int = 1,
) -> Interval:
    """The percentile interval of a median. The draws are those of `bootstrap_mean`."""
    _require_options(confidence, samples)
    document, count = _documents(documents)
    numbers = _observations(values, document)
    estimate, drawn = drawn_medians(numbers, document, count, samples, seed)
    return interval_of(estimate, drawn, confidence)


def drawn_medians(
    numbers: Floats, document: NDArray[np.intp], count: int, samples: int, seed: int = 1
) -> tuple[float, Floats]:
    """The median of numbers [N] of so many documents, and that of each sample."""
    order = np.argsort(numbers, kind="stable")
    ascending, owner = numbers[order], document[order]  # [N]
    drawn = [
        _median(ascending, counts[owner])
        for block in _draws(count, samples, seed)
        for counts in block
    ]
    return _median(ascending, np.ones_like(owner)), np.array(drawn)


def bootstrap_figure(
    figure: Callable[[Floats], float],
    documents: ArrayLike,
    *,
    confidence: float = 0.95,
    samples: int = 1000,
    seed: int = 1,
) -> Interval:
    """The percentile interval of any figure of observations: `figure` is called with weights [N],
    how often each of them counts. The draws are those of `bootstrap_mean`."""
    _require_options(confidence, samples)
    document, count = _documents(documents)
    drawn = [
        figure(counts[document].astype(np.float64))
        for block in _draws(count, samples, seed)
        for counts in block
    ]
    return interval_of(figure(np.ones(len(document))), drawn, confidence)


def holm(results: dict[str, PairedResult]) -> dict[str, PairedResult]:
    """With p-values corrected for being many (Holm, 1979), whatever their dependence.

    The k-th smallest of n counts n − k + 1 times, but never less than a smaller one.
    """
    corrected, least = dict(results), 0.0
    ascending = sorted(results.items(), key=lambda item: item[1].p_value)
    for rank, (name, result) in enumerate(ascending):
        least = max(least, min(1.0, (len(results) - rank) * result.p_value))
        corrected[name] = replace(result, p_holm=least)
    return corrected


def paired_test(
    first: ArrayLike,
    second: ArrayLike,
    documents: ArrayLike,
    *,
    confidence: float = 0.95,
    samples: int = 10_000,
    seed: int = 1,
) -> PairedResult:
    """Whether two models differ on the same observations, such as per-token log-probabilities.

    The interval is `bootstrap_mean` of first − second. The p-value is two-sided, for the
    hypothesis that the two could change places in any document: with random signs s_d = ±1,

        p = (1 + #{|Σ_d s_d D_d| ≥ |Σ_d D_d|}) / (1 + samples),  D_d = Σ_{i in d} first_i − second_i

    The data as observed count as one of the samples, which keeps the test valid (Phipson and
    Smyth, 2010).
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != other.shape:
        raise ValueError(f"first, second: got shapes {one.shape}, {other.shape}, expected one [N]")
    mean = bootstrap_mean(one - other, documents, confidence=confidence, samples=samples, seed=seed)
    sums, _ = _document_sums(one - other, documents)
    observed = abs(sums.sum()) - _ROUND_OFF * np.abs(sums).sum()
    generator = np.random.default_rng([seed, 1])  # not the stream of the bootstrap
    as_far = 0
    for size in _block_sizes(samples, len(sums)):
        signs = 2.0 * generator.integers(0, 2, (size, len(sums)), dtype=np.int8) - 1.0
        as_far += int((np.abs(signs @ sums) >= observed).sum())
    return PairedResult(mean.estimate, mean.low, mean.high, (1 + as_far) / (1 + samples))


def paired_median_test(
    first: ArrayLike,
    second: ArrayLike,
    documents: ArrayLike,
    *,
    confidence: float = 0.95,
    samples: int = 2_000,
    seed: int = 1,
) -> PairedResult:
    """The same for the difference of two medians, which is not the median of differences.

    The interval is a percentile one, as of `bootstrap_median`. For the p-value, models change
    places in random documents, and both medians are taken anew.
    """
    _require_options(confidence, samples)
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    document, count = _documents(documents)
    if not one.shape == other.shape == document.shape:
        shapes = f"{one.shape}, {other.shape}, {document.shape}"
        raise ValueError(f"first, second, documents: got shapes {shapes}, expected one [N]")
    everything = np.concatenate([one, other])
    order = np.argsort(everything, kind="stable")
    ascending, owner = everything[order], np.tile(document, 2)[order]  # [2N]
    of_second = order >= len(one)

    def medians(weights: NDArray[np.int64], swapped: NDArray[np.bool_]) -> Floats:
        theirs = of_second ^ swapped
        return np.array(
            [_median(ascending, weights * ~theirs), _median(ascending, weights * theirs)]
        )

    stay, once = np.zeros_like(of_second), np.ones(len(order), dtype=np.int64)
    ours, theirs = medians(once, stay)
    observed = float(ours - theirs)
    blocks = _draws(count, samples, seed)
    drawn = [-np.diff(medians(counts[owner], stay))[0] for block in blocks for counts in block]
    generator = np.random.default_rng([seed, 1])  # not the stream of the bootstrap
    nearer, least = 0, abs(observed) - _ROUND_OFF * (abs(ours) + abs(theirs))
    for _ in range(samples):
        swapped = generator.integers(0, 2, count, dtype=np.int8).astype(bool)[owner]
        nearer += int(abs(np.diff(medians(once, swapped))[0]) < least)  # never, where it is nan
    as_far = samples - nearer
    interval = interval_of(observed, drawn, confidence)
    return PairedResult(observed, interval.low, interval.high, (1 + as_far) / (1 + samples))


def _median(ascending: Floats, counts: NDArray[np.int64]) -> float:
    """Of values that occur so often each; nan if none does."""
    upto = np.cumsum(counts)
    total = int(upto[-1]) if len(upto) else 0
    if not total:
        return np.nan
    low, high = np.searchsorted(upto, [(total + 1) // 2, total // 2 + 1])
    return float((ascending[low] + ascending[high]) / 2)


def _documents(documents: ArrayLike) -> tuple[NDArray[np.intp], int]:
    """The rank of each observation's document, and how many documents there are."""
    ids = np.asarray(documents)
    if ids.ndim != 1:
        raise ValueError(f"documents: got shape {ids.shape}, expected [N]")
    distinct, document = np.unique(ids, return_inverse=True)
    return document, len(distinct)


def _observations(values: ArrayLike, document: NDArray[np.intp]) -> Floats:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != document.shape:
        raise ValueError(f"values: got shape {numbers.shape}, expected {document.shape}")
    if not np.isfinite(numbers).all():
        unfit = numbers[~np.isfinite(numbers)]
        raise ValueError(f"values: got {unfit[0]} ({unfit.size} not finite), expected finite ones")
    return numbers


def _document_sums(values: ArrayLike, documents: ArrayLike) -> tuple[Floats, Floats]:
    """Sum and number of the observations of each document; both [D]."""
    document, count = _documents(documents)
    numbers = _observations(values, document)
    sums = np.zeros(count)
    np.add.at(sums, document, numbers)
    return sums, np.bincount(document, minlength=count).astype(np.float64)


def _draws(count: int, samples: int, seed: int) -> Iterator[Counts]:
    """Blocks [s, D] of how often each document is drawn in a sample of as many as there are.

    None where there are fewer than two documents to draw from.
    """
    if count < 2:
        return
    generator = np.random.default_rng(seed)
    for size in _block_sizes(samples, count):
        chosen = generator.integers(count, size=(size, count))
        chosen += np.arange(size)[:, None] * count
        yield np.bincount(chosen.ravel(), minlength=size * count).reshape(size, count)


def _block_sizes(samples: int, width: int) -> Iterator[int]:
    step = max(1, _BLOCK // max(1, width))
    for start in range(0, samples, step):
        yield min(step, samples - start)


def interval_of(estimate: float, drawn: ArrayLike, confidence: float) -> Interval:
    """Between the order statistics that cut off at most (1 − confidence)/2 at either end."""
    figures = np.sort(np.asarray(drawn, dtype=np.float64))
    figures = figures[~np.isnan(figures)]
    if not figures.size:
        return Interval(float(estimate), np.nan, np.nan)
    cut = int((1 - confidence) / 2 * (figures.size - 1))
    return Interval(float(estimate), float(figures[cut]), float(figures[-1 - cut]))


def _require_options(confidence: float, samples: int) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence: got {confidence}, expected a number between 0 and 1")
    if samples < 1:
        raise ValueError(f"samples: got {samples}, expected 1 or more")
