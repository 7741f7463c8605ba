"""Figures of detection, against scikit-learn, SciPy and brute force."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score

from numerate.lm.evaluate.detection import (
    Pool,
    area_under_roc,
    precision_at,
    precision_of_first,
    quality,
    threshold_of,
)


@pytest.mark.parametrize("seed", range(5))
def test_area_under_the_curve(seed: int) -> None:
    generator = np.random.default_rng(seed)
    right = generator.normal(size=200).round(1)  # with ties
    wrong = generator.normal(0.7, size=90).round(1)
    truth = np.repeat([0, 1], [len(right), len(wrong)])
    expected = roc_auc_score(truth, np.concatenate([right, wrong]))
    assert area_under_roc(right, wrong) == pytest.approx(expected, rel=1e-12)
    weights = [generator.integers(0, 3, len(some)).astype(float) for some in (right, wrong)]
    expected = roc_auc_score(
        truth, np.concatenate([right, wrong]), sample_weight=np.concatenate(weights)
    )
    assert area_under_roc(right, wrong, *weights) == pytest.approx(expected, rel=1e-12)


def exceeded_by(right: np.ndarray, alarms: float) -> float:
    """By trying them all, from below."""
    return next(t for t in sorted(right) if (right > t).mean() <= alarms)


@pytest.mark.parametrize("alarms", [0.01, 0.1, 0.5])
def test_a_threshold_is_the_least_that_few_exceed(alarms: float) -> None:
    generator = np.random.default_rng(3)
    for size in (1, 7, 100, 1000):
        right = generator.normal(size=size).round(1)
        assert threshold_of(right, alarms) == exceeded_by(right, alarms)


def test_recall_is_at_one_percent_of_the_right_numerals() -> None:
    right = np.arange(1000.0)
    wrong = np.array([985.0, 991.0, 995.0, 2000.0])
    places = np.array([985, 991, 995, 3])
    found = quality(right, wrong, places, np.arange(1000) // 10)
    assert threshold_of(right) == 989
    assert found.count == 4
    assert found.recall.estimate == pytest.approx(0.75)
    assert found.auc.estimate == area_under_roc(right[places], wrong)
    assert found.auc.low <= found.auc.estimate <= found.auc.high


def test_the_threshold_is_drawn_with_the_documents() -> None:
    """Against copies of documents that are put side by side."""
    generator = np.random.default_rng(5)
    documents = np.sort(generator.integers(0, 12, 300))
    right = generator.normal(size=300) + 0.5 * (documents % 3)
    places = np.sort(generator.choice(300, 60, replace=False))
    wrong = right[places] + generator.normal(0.5, 1, 60)
    found = quality(right, wrong, places, documents, alarms=0.1, samples=200).recall
    drawn = []
    for chosen in np.random.default_rng(1).integers(12, size=(200, 12)):
        of_right = np.concatenate([right[documents == one] for one in chosen])
        of_wrong = np.concatenate([wrong[documents[places] == one] for one in chosen])
        drawn.append((of_wrong > exceeded_by(of_right, 0.1)).mean())
    ascending = np.sort(drawn)
    assert found.estimate == (wrong > exceeded_by(right, 0.1)).mean()
    assert (found.low, found.high) == pytest.approx((ascending[4], ascending[-5]))


@pytest.mark.parametrize(("score", "recall"), [(-1.0, 0.0), (2.0, 1.0)])
def test_none_and_all_found_are_not_certain(score: float, recall: float) -> None:
    documents = np.repeat(np.arange(20), 10)
    right = np.linspace(0, 1, 200)
    places = np.arange(0, 200, 5)  # two in each document
    found = quality(right, np.full(40, score), places, documents).recall
    exact = binomtest(round(20 * recall), 20).proportion_ci(method="exact")
    assert found.estimate == recall
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))


def test_one_document_says_nothing_of_others() -> None:
    found = quality(np.arange(9.0), np.array([1.0]), np.array([3]), np.zeros(9, dtype=int))
    assert np.isnan([found.auc.low, found.auc.high]).all()
    assert (found.recall.estimate, found.recall.low) == (0, 0)
    assert found.recall.high == pytest.approx(0.975)


def test_ties_among_the_first_are_worth_what_a_random_order_gives() -> None:
    generator = np.random.default_rng(2)
    right, wrong = np.array([3.0, 1, 1, 1, 0]), np.array([2.0, 1, 1])
    scores, truth = np.concatenate([right, wrong]), np.repeat([0.0, 1.0], [5, 3])
    found = []
    for _ in range(20_000):
        order = np.lexsort((generator.random(8), -scores))
        found.append(truth[order[:4]].mean())
    assert precision_at(right, wrong, 4) == pytest.approx(np.mean(found), abs=0.005)


def test_precision_among_the_first() -> None:
    """Of 10,000 right numerals and 50 wrong ones, by simulation of what is easily seen."""
    documents = np.repeat(np.arange(100), 100)
    right, owner = np.zeros(10_000), np.arange(100)

    def pool(*wrong: np.ndarray) -> Pool:
        return Pool(right, documents, wrong, [owner] * len(wrong))

    perfect = precision_of_first([pool(np.ones(100))], rate=1 / 200)
    assert perfect.estimate == pytest.approx(50 / 100)  # no more than 50 are wrong
    blind = precision_of_first([pool(np.zeros(100))], rate=1 / 200)
    assert blind.estimate == pytest.approx(50 / 10_050, rel=1e-9)  # ties, in any order
    half = precision_of_first([pool(np.ones(100), np.zeros(100))], rate=1 / 200)
    expected = (25 + 75 * 25 / 10_025) / 100
    assert half.estimate == pytest.approx(expected, rel=0.05)
    assert half.low < half.estimate < half.high


def test_each_pool_has_its_own_share_of_errors() -> None:
    """Few numerals of texts, which are found, and many of tables, which are not."""
    texts = Pool(np.zeros(1990), np.arange(1990) % 10, [np.ones(10)], [np.arange(10)])
    tables = Pool(np.full(19_900, -1.0), np.arange(19_900) % 10, [np.full(5, -2.0)], [np.arange(5)])
    found = precision_of_first([texts, tables], rate=1 / 200, samples=20)
    assert found.estimate == pytest.approx(10 / 100)
    alone = precision_of_first([tables], rate=1 / 200, samples=20)
    assert alone.estimate == 0
