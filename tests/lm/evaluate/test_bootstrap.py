"""Intervals and tests by document, against SciPy, full enumeration and simulation."""

import itertools
import math
from dataclasses import astuple

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.stats import binomtest

from numerate.lm.evaluate import bootstrap
from numerate.lm.evaluate.bootstrap import (
    PairedResult,
    bootstrap_mean,
    bootstrap_median,
    holm,
    paired_median_test,
    paired_test,
)
from numerate.lm.evaluate.crossed import OverSeeds
from numerate.lm.evaluate.observed import by_document


def document_ids(random: np.random.Generator, documents: int = 60, size: float = 8) -> np.ndarray:
    """Documents of different sizes."""
    return np.repeat(np.arange(documents), 1 + random.poisson(size, documents))


def observed(random: np.random.Generator, documents: np.ndarray, mean: float = 2) -> np.ndarray:
    """Values around `mean` that share an effect of their document."""
    effects = random.normal(0, 1, documents.max() + 1)
    return mean + effects[documents] + random.normal(0, 1, documents.size)


def clustered(seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    documents = document_ids(random)
    return observed(random, documents), documents


def order_statistics(figures: list[float], confidence: float) -> tuple[float, float]:
    cut = int((1 - confidence) / 2 * (len(figures) - 1))
    ascending = sorted(figures)
    return ascending[cut], ascending[-1 - cut]


def drawn_observations(documents: np.ndarray, samples: int, seed: int) -> list[np.ndarray]:
    """Indices of the observations of each sample, repeated with their document."""
    distinct = np.unique(documents)
    return [
        np.concatenate(
            [
                np.tile(np.flatnonzero(documents == name), times)
                for name, times in zip(distinct, counts, strict=True)
            ]
        )
        for block in bootstrap._draws(len(distinct), samples, seed)
        for counts in block
    ]


def test_samples_are_as_many_documents_as_there_are():
    drawn = np.concatenate(list(bootstrap._draws(3, 300, 1)))
    assert np.issubdtype(drawn.dtype, np.integer)
    assert (drawn.sum(axis=1) == 3).all()
    assert len(np.unique(drawn, axis=0)) == 10  # all multisets of three documents


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_mean_is_studentised_by_the_residuals_of_documents(confidence: float):
    """Document by document, a document drawn twice being two, by the textbook's formula."""
    values, documents = clustered(0)
    by_document = [np.exp(values[documents == name]) for name in range(60)]  # skewed

    def mean_and_error(drawn: list[np.ndarray]) -> tuple[float, float]:
        mean = np.concatenate(drawn).mean()
        residuals = [(observations - mean).sum() for observations in drawn]
        return mean, math.sqrt(np.square(residuals).sum()) / sum(map(len, drawn))

    mean, error = mean_and_error(by_document)
    t = []
    for counts in np.concatenate(list(bootstrap._draws(60, 200, 7))):
        chosen = [by_document[name] for name in np.repeat(np.arange(60), counts)]
        sample_mean, sample_error = mean_and_error(chosen)
        t.append((sample_mean - mean) / sample_error)
    low, high = order_statistics(t, confidence)
    found = bootstrap_mean(np.exp(values), documents, confidence=confidence, samples=200, seed=7)
    assert_allclose(astuple(found), [mean, mean - high * error, mean - low * error], rtol=1e-9)


def test_same_interval_as_full_enumeration():
    """Quantiles of SciPy's t statistic over all 5^5 equally likely draws of five documents.

    The level of an end is off by 4 standard errors in 1 of 8,000 seeds.
    """
    values = np.array([1.0, 2.5, 3.0, 7.0, 11.5])
    draws = np.array(list(itertools.product(values, repeat=5)))
    equal = (draws == draws[:, :1]).all(axis=1)
    t = np.copysign(np.inf, draws.mean(axis=1) - values.mean())
    t[~equal] = stats.ttest_1samp(draws[~equal], values.mean(), axis=1).statistic
    error = stats.sem(values)
    found = bootstrap_mean(values, np.arange(5), confidence=0.9, samples=40_000)
    tolerance = 4 * math.sqrt(0.05 * 0.95 / 40_000)
    for end, level in ((found.high, 0.05), (found.low, 0.95)):
        at = (values.mean() - end) / error
        below, through = np.mean(t < at - 1e-9), np.mean(t < at + 1e-9)
        assert below - tolerance <= level <= through + tolerance


def test_median_has_scipys_percentile_interval():
    """One observation a document. 5 % of the width are 4 standard errors of an end."""
    values = np.exp(np.random.default_rng(5).normal(0, 2, 301))
    expected = stats.bootstrap(
        (values,),
        np.median,
        method="percentile",
        n_resamples=9_999,
        batch=1000,
        rng=np.random.default_rng(0),
    ).confidence_interval
    found = bootstrap_median(values, np.arange(301), samples=9_999)
    assert found.estimate == np.median(values)
    assert_allclose([found.low, found.high], expected, atol=0.05 * (expected.high - expected.low))


def test_median_is_of_repeated_observations():
    values, documents = clustered(0)
    medians = [np.median(values[chosen]) for chosen in drawn_observations(documents, 200, 1)]
    found = bootstrap_median(values, documents, samples=200)
    assert astuple(found) == (np.median(values), *order_statistics(medians, 0.95))


def test_coverage_by_document():
    """Intervals of 95 % contain the truth in about 95 % of worlds; by token, they do not.

    With 60 documents the interval covers 95.0 % (measured on 6,000 worlds; by token 53 %). Of 600
    worlds, fewer than 91.5 % or more than 98 % are then covered in 1 of 5,000 seeds.
    """
    random = np.random.default_rng(11)
    by_document, by_token = 0, 0
    for seed in range(600):
        documents = document_ids(random, size=12)
        values = observed(random, documents)
        interval = bootstrap_mean(values, documents, samples=400, seed=seed)
        by_document += interval.low <= 2 <= interval.high
        if seed < 200:
            tokens = np.arange(values.size)
            interval = bootstrap_mean(values, tokens, samples=200, seed=seed)
            by_token += interval.low <= 2 <= interval.high
    assert 0.915 <= by_document / 600 <= 0.98
    assert by_token / 200 < 0.75


def test_coverage_of_heavy_tails():
    """Of 40 documents with log-normal errors, σ = 2: percentile intervals cover 81 %, these 89 %.

    Measured by `benchmarks/coverage.py`. Of 600 worlds fewer than 85 % are then covered in 1 of 900
    seeds; with percentile intervals, 85 % or more in 1 of 90.
    """
    random = np.random.default_rng(13)
    covered = 0
    for seed in range(600):
        documents = document_ids(random, documents=40, size=12)
        effects, rest = random.normal(0, 1.2, 40), random.normal(0, 1.6, len(documents))
        errors = np.exp(effects[documents] + rest)
        interval = bootstrap_mean(errors, documents, samples=400, seed=seed)
        covered += interval.low <= math.exp(2) <= interval.high
    assert covered / 600 >= 0.85


def test_ends_stay_within_what_a_mean_can_be():
    """Hits in one of eight documents: a sample without it has no spread to measure by."""
    hits = np.array([1.0] + [0.0] * 7)
    free = bootstrap_mean(hits, np.arange(8))
    assert (free.estimate, free.high) == (0.125, math.inf)
    assert free.low < 0
    known = binomtest(1, 8).proportion_ci(0.95, "exact")
    bounded = astuple(bootstrap_mean(hits, np.arange(8), bounds=(0, 1)))
    assert bounded == pytest.approx((0.125, known.low, known.high))


@pytest.mark.parametrize("documents", [1, 2, 24])
@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_a_rate_that_is_the_same_in_all_documents_has_the_interval_of_counts(documents, rate):
    """That of Clopper and Pearson, by SciPy."""
    values = np.full(documents, rate)
    known = binomtest(int(values.sum()), documents).proportion_ci(0.9, "exact")
    found = bootstrap_mean(values, np.arange(documents), confidence=0.9, bounds=(0, 1))
    assert astuple(found) == pytest.approx((rate, known.low, known.high))
    over_seeds = OverSeeds([by_document(values, np.arange(documents), bounds=(0, 1))] * 3)
    assert over_seeds.interval(0.9) == pytest.approx((known.low, known.high))


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.99])
def test_rates_near_a_bound_contain_the_truth_and_are_not_open(rate):
    """At 0.99 all are hits in three of ten such worlds, and a bootstrap would have no width; at
    0.01 it would often reach from 0 to 1."""
    generator = np.random.default_rng(1)
    documents, covered = np.repeat(np.arange(24), 5), 0
    for _ in range(1000):
        hits = (generator.random(120) < rate).astype(float)
        found = bootstrap_mean(hits, documents, bounds=(0, 1), samples=200)
        assert found.low <= hits.mean() <= found.high
        assert found.high - found.low < 0.6
        covered += found.low <= rate <= found.high
    assert covered >= 950  # some 990: ten standard deviations of a count away


def test_one_long_document_may_have_more_than_documents_leave_open():
    """All hits are in one of 30 documents, which has half of the observations."""
    values, documents = np.repeat([1.0, 0.0], 29), np.repeat(np.arange(30), [29] + [1] * 29)
    found = bootstrap_mean(values, documents, bounds=(0, 1))
    assert found.low <= found.estimate == 0.5 <= found.high


def test_equal_documents_have_no_width():
    """0.1 cannot be written in binary, so sums of it differ in the last place."""
    documents = document_ids(np.random.default_rng(1))
    found = bootstrap_mean(np.full(len(documents), 0.1), documents)
    assert found.low == found.high == found.estimate == pytest.approx(0.1)


def test_p_values_under_the_null():
    """p ≤ α in a share α of worlds; beyond 3.5 standard errors in 1 of 1,000 seeds."""
    random = np.random.default_rng(12)
    worlds, rejected = 600, np.zeros(2)
    for seed in range(worlds):
        documents = document_ids(random, documents=30)
        first, second = observed(random, documents), observed(random, documents)
        result = paired_test(first, second, documents, samples=399, seed=seed)
        rejected += result.p_value <= np.array([0.05, 0.2])
    for share, level in zip(rejected / worlds, (0.05, 0.2), strict=True):
        assert abs(share - level) < 3.5 * math.sqrt(level * (1 - level) / worlds)


@pytest.mark.parametrize("documents", [3, 6, 10])
def test_same_p_value_as_scipys_exact_one(documents: int):
    """Random signs against all 2^D: 4 standard errors, exceeded in 1 of 16,000 seeds."""
    random = np.random.default_rng(documents)
    ids = document_ids(random, documents)
    first, second = observed(random, ids, mean=2.6), observed(random, ids, mean=2)
    exact = stats.permutation_test(
        (np.bincount(ids, first), np.bincount(ids, second)),
        lambda one, other, axis: (one - other).sum(axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    ).pvalue
    samples = 20_000
    found = paired_test(first, second, ids, samples=samples)
    assert abs(found.p_value - exact) < 4 * math.sqrt(exact * (1 - exact) / samples) + 1 / samples


@pytest.mark.parametrize("seed", range(20))
def test_ties_are_not_lost_to_rounding(seed: int):
    """All signs alike are as far as the data, however the sum was taken: 2 of 2^6 choices.

    Beyond 4 standard errors in 1 of 800 sets of seeds.
    """
    differences = np.random.default_rng(seed).integers(1, 99, 6) / 10
    exact, samples = 2 / 2**6, 4000
    found = paired_test(differences, np.zeros(6), np.arange(6), samples=samples, seed=seed)
    assert abs(found.p_value - exact) < 4 * math.sqrt(exact / samples) + 1 / samples


def test_paired_difference_has_the_bootstrap_interval():
    first, documents = clustered(1)
    second = first - 0.1 + np.random.default_rng(2).normal(0, 0.2, first.size)
    result = paired_test(first, second, documents, samples=2000)
    interval = bootstrap_mean(first - second, documents, samples=2000)
    assert (result.difference, result.low, result.high) == astuple(interval)
    assert result.difference == pytest.approx((first - second).mean(), rel=1e-12)
    assert result.p_value == 1 / 2001  # none as far


def test_pairing_finds_what_means_alone_do_not():
    first, documents = clustered(3)
    second = first + np.random.default_rng(4).normal(0.05, 0.1, first.size)
    assert paired_test(first, second, documents, samples=2000).p_value < 0.01
    one, other = (bootstrap_mean(values, documents) for values in (first, second))
    assert one.low < other.estimate < one.high
    assert other.low < one.estimate < other.high


def test_swapped_models_mirror_the_result():
    first, documents = clustered(1)
    second = first + np.random.default_rng(2).normal(0.02, 0.5, first.size)
    there, back = (
        paired_test(first, second, documents, samples=2000),
        paired_test(second, first, documents, samples=2000),
    )
    assert back.p_value == there.p_value
    mirrored = (-back.difference, -back.high, -back.low)
    assert_allclose(mirrored, (there.difference, there.low, there.high), rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_holm_is_the_closure_of_bonferroni(seed: int):
    """A hypothesis falls only with every set of hypotheses that it belongs to."""
    random = np.random.default_rng(seed)
    p = (random.integers(1, 20, 6) / 100).tolist()  # with ties
    found = holm({str(i): PairedResult(0, 0, 0, value) for i, value in enumerate(p)})
    sets = [s for size in range(1, 7) for s in itertools.combinations(range(6), size)]
    for i, value in enumerate(p):
        expected = max(min(1, len(s) * min(p[j] for j in s)) for s in sets if i in s)
        assert found[str(i)].p_holm == pytest.approx(expected)
        assert found[str(i)].p_value == value
    assert list(found) == list(map(str, range(6)))


def test_equal_models():
    values, documents = clustered(1)
    result = paired_test(values, values, documents, samples=500)
    assert astuple(result)[:4] == (0, 0, 0, 1)


def test_order_and_names_of_documents_do_not_matter():
    values, documents = clustered(1)
    other = values + np.random.default_rng(2).normal(0.05, 0.4, values.size)
    order = np.random.default_rng(3).permutation(values.size)
    renamed = 1000 + 17 * documents
    assert_allclose(
        astuple(bootstrap_mean(values[order], renamed[order])),
        astuple(bootstrap_mean(values, documents)),
        rtol=1e-12,
    )
    assert_allclose(
        astuple(paired_test(values[order], other[order], renamed[order], samples=999)),
        astuple(paired_test(values, other, documents, samples=999)),
        rtol=1e-9,
    )


def test_repeating_every_observation_changes_nothing():
    """Twice the tokens of the same documents are no more evidence."""
    values, documents = clustered(1)
    assert_allclose(
        astuple(bootstrap_mean(np.repeat(values, 2), np.repeat(documents, 2))),
        astuple(bootstrap_mean(values, documents)),
        rtol=1e-12,
    )


def test_scale_and_shift():
    values, documents = clustered(1)
    moved = bootstrap_mean(3 * values + 10, documents)
    assert_allclose(
        astuple(moved), [3 * end + 10 for end in astuple(bootstrap_mean(values, documents))]
    )


def test_increasing_functions_carry_intervals_over():
    values, documents = clustered(1)
    mean = bootstrap_mean(values, documents, samples=200)
    assert astuple(mean.mapped(math.exp)) == tuple(map(math.exp, astuple(mean)))


def test_seeds():
    values, documents = clustered(1)
    assert bootstrap_mean(values, documents, seed=4) == bootstrap_mean(values, documents, seed=4)
    assert bootstrap_mean(values, documents, seed=4) != bootstrap_mean(values, documents, seed=5)
    state = np.random.get_state()[1].copy()
    paired_test(values, -values, documents, samples=10)
    assert (np.random.get_state()[1] == state).all()  # the global generator is left alone


def test_blocks_change_nothing(monkeypatch):
    values, documents = clustered(1)
    other = values + np.random.default_rng(2).normal(0.05, 0.4, values.size)

    def everything() -> list[float]:
        return [
            *astuple(bootstrap_mean(values, documents, samples=333)),
            *astuple(bootstrap_median(values, documents, samples=33)),
            *astuple(paired_test(values, other, documents, samples=333)),
        ]

    whole = everything()
    monkeypatch.setattr(bootstrap, "_BLOCK", 7 * 60)
    assert_allclose(everything(), whole, rtol=1e-12)


def test_medians_have_the_bootstrap_interval():
    first, documents = clustered(1)
    second = first + np.random.default_rng(2).normal(0.3, 1, first.size)

    differences = [
        np.median(first[chosen]) - np.median(second[chosen])
        for chosen in drawn_observations(documents, 300, 1)
    ]
    found = paired_median_test(first, second, documents, samples=300)
    low, high = order_statistics(differences, 0.95)
    difference = np.median(first) - np.median(second)
    assert (found.difference, found.low, found.high) == (difference, low, high)
    back = paired_median_test(second, first, documents, samples=300)
    assert astuple(back)[:4] == (-found.difference, -found.high, -found.low, found.p_value)


@pytest.mark.parametrize("documents", [3, 6, 9])
def test_medians_have_the_p_value_of_all_exchanges(documents: int):
    """Random exchanges against all 2^D: 4 standard errors, exceeded in 1 of 16,000 seeds."""
    random = np.random.default_rng(documents)
    ids = document_ids(random, documents)
    first, second = observed(random, ids, mean=2.6), observed(random, ids, mean=2)
    far = abs(np.median(first) - np.median(second))
    every = [np.array(signs)[ids] for signs in itertools.product([False, True], repeat=documents)]
    exact = np.mean(
        [
            abs(np.median(np.where(s, second, first)) - np.median(np.where(s, first, second)))
            >= far
            for s in every
        ]
    )
    samples = 4000
    found = paired_median_test(first, second, ids, samples=samples)
    assert abs(found.p_value - exact) < 4 * math.sqrt(exact * (1 - exact) / samples) + 1 / samples


def test_equal_medians_are_not_lost_to_rounding():
    """0.1 + 0.2 is not 0.3: on paper these models have the same errors."""
    first = np.array([0.1 + 0.2, 0.1 + 0.2, 0.0, 5.0])
    second = np.array([0.3, 0.3, 0.0, 5.0])
    assert np.median(first) != np.median(second)
    assert paired_median_test(first, second, np.arange(4), samples=200).p_value == 1


def test_equal_medians():
    values, documents = clustered(1)
    result = paired_median_test(values, values, documents, samples=100)
    assert astuple(result)[:4] == (0, 0, 0, 1)


@pytest.mark.parametrize("values", [[], [4.0], [3.0, 5.0]])
def test_fewer_than_two_documents_have_no_interval(values: list[float]):
    documents = [8] * len(values)
    mean = 4.0 if values else math.nan
    assert_allclose(astuple(bootstrap_mean(values, documents)), [mean, math.nan, math.nan])
    assert_allclose(astuple(bootstrap_median(values, documents)), [mean, math.nan, math.nan])
    paired = paired_test(values, np.zeros(len(values)), documents, samples=50)
    assert_allclose(astuple(paired)[:4], [mean, math.nan, math.nan, 1])
    medians = paired_median_test(values, np.zeros(len(values)), documents, samples=50)
    assert_allclose(astuple(medians)[:4], [mean, math.nan, math.nan, 1])


def test_what_is_refused():
    with pytest.raises(ValueError, match="confidence: got 95, expected a number between 0 and 1"):
        bootstrap_mean([1.0, 2.0], [0, 1], confidence=95)
    with pytest.raises(ValueError, match="samples: got 0, expected 1 or more"):
        bootstrap_median([1.0, 2.0], [0, 1], samples=0)
    with pytest.raises(ValueError, match=r"values: got shape \(2,\), expected \(3,\)"):
        bootstrap_mean([1.0, 2.0], [0, 1, 2])
    with pytest.raises(ValueError, match=r"values: got -inf \(1 not finite\), expected finite"):
        bootstrap_mean([1.0, -math.inf], [0, 1])
    with pytest.raises(ValueError, match=r"documents: got shape \(1, 2\), expected \[N\]"):
        bootstrap_mean([[1.0, 2.0]], [[0, 1]])
    with pytest.raises(ValueError, match=r"first, second: got shapes \(2,\), \(3,\)"):
        paired_test([1.0, 2.0], [1.0, 2.0, 3.0], [0, 1])
    with pytest.raises(ValueError, match="confidence: got 95, expected a number between 0 and 1"):
        paired_median_test([1.0, 2.0], [1.0, 2.0], [0, 1], confidence=95)
    with pytest.raises(ValueError, match=r"documents: got shapes \(2,\), \(2,\), \(3,\)"):
        paired_median_test([1.0, 2.0], [1.0, 2.0], [0, 1, 2])
