"""Intervals and tests that count documents and seeds, beside what is known without drawing."""

import math
from typing import Any

import numpy as np
import pytest

from numerate.lm.evaluate.bootstrap import bootstrap_mean, bootstrap_median
from numerate.lm.evaluate.crossed import OverSeeds, against_best
from numerate.lm.evaluate.observed import Observed, by_document
from numerate.lm.perplexity import perplexity
from numerate.reports.tables import HIGH, LOW
from numerate.rules.distributions import t_quantile


def runs(values: np.ndarray, **about: Any) -> list[Observed]:
    """One run a row of `values` [K, D], whose documents have one observation each."""
    return [by_document(row, np.arange(len(row)), **about) for row in np.atleast_2d(values)]


def test_one_seed_has_the_intervals_of_documents_alone() -> None:
    generator = np.random.default_rng(3)
    documents = generator.integers(0, 30, 400)
    values = generator.exponential(2, 400) + documents / 10
    mean = OverSeeds([by_document(values, documents, function=perplexity)], samples=500)
    known = bootstrap_mean(values, documents, samples=500).mapped(perplexity)
    assert (mean.mean, *mean.interval(0.95)) == pytest.approx(
        (known.estimate, known.low, known.high)
    )
    assert math.isnan(mean.spread)
    median = OverSeeds([by_document(values, documents, is_median=True)], samples=300)
    middle = bootstrap_median(values, documents, samples=300)
    assert (median.mean, *median.interval(0.9)) == pytest.approx(
        (middle.estimate, *_ends(values, documents, 0.9))
    )


def _ends(values: np.ndarray, documents: np.ndarray, confidence: float) -> tuple[float, float]:
    found = bootstrap_median(values, documents, samples=300, confidence=confidence)
    return found.low, found.high


@pytest.mark.parametrize("seeds", [2, 3, 8])
def test_where_documents_agree_it_is_the_t_interval_of_seeds(seeds: int) -> None:
    means = np.random.default_rng(1).normal(5, 1, seeds)
    found = OverSeeds(runs(np.repeat(means[:, None], 50, axis=1)), samples=40_000)
    half = t_quantile(0.05, seeds - 1) * means.std(ddof=1) / math.sqrt(seeds)
    low, high = found.interval(0.95)
    assert found.mean == pytest.approx(means.mean())
    assert found.spread == pytest.approx(means.std(ddof=1))
    assert (found.mean - low, high - found.mean) == pytest.approx((half, half), rel=0.1)


def test_seeds_that_agree_have_no_spread() -> None:
    found = OverSeeds(runs(np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]])))
    assert found.estimates.std() > 0  # round-off
    assert found.spread == 0


def test_the_variance_is_that_of_documents_and_of_seeds() -> None:
    """Of 40 documents and 30 seeds, drawn 4,000 times, against sums of squares."""
    generator = np.random.default_rng(5)
    of_seeds = generator.normal(0, 0.8, (30, 1))
    values = of_seeds + generator.normal(0, 1, (1, 40)) + generator.normal(0, 0.3, (30, 40))
    levels = np.linspace(0.02, 0.98, 49)
    found = OverSeeds(runs(values), samples=4000)
    halves = [np.diff(found.interval(level))[0] / 2 for level in levels]
    of_documents = values.mean(0).var() / 40
    of_seeds_too = of_documents + values.mean(1).var(ddof=1) / 30
    z = np.array([_z(level) for level in levels])
    slope = float((halves @ z) / (z @ z))  # what the halves of all levels are multiples of
    assert slope == pytest.approx(math.sqrt(of_seeds_too), rel=0.08)
    assert slope > 1.2 * math.sqrt(of_documents)


def _z(level: float) -> float:
    return t_quantile(1 - level, 1e6)


@pytest.mark.parametrize("seed_effect", [0.0, 0.1, 0.5])
def test_intervals_of_three_seeds_contain_the_truth_as_often_as_they_say(
    seed_effect: float,
) -> None:
    generator, hits = np.random.default_rng(7), 0
    for _ in range(200):
        values = generator.normal(0, 1, (1, 50)) + generator.normal(0, 0.3, (3, 50))
        values += generator.normal(0, seed_effect, (3, 1))
        low, high = OverSeeds(runs(values), samples=400).interval(0.95)
        hits += low <= 0 <= high
    assert hits / 200 > 0.92


def test_sizes_that_differ_by_seed_are_heeded() -> None:
    """A ratio of sums, whose spread over resampled documents is known by drawing them plainly."""
    generator = np.random.default_rng(2)
    sizes = generator.integers(1, 9, (3, 60)).astype(float)
    sums = sizes * generator.normal(4, 1, 60) + generator.normal(0, 1, (3, 60))
    sums += sizes * (4 - (sums.sum(1) / sizes.sum(1)))[:, None]  # all seeds have mean 4
    observed = [Observed(s, n, np.arange(60)) for s, n in zip(sums, sizes, strict=True)]
    low, high = OverSeeds(observed, samples=4000).interval(0.6827)
    counts = generator.multinomial(60, [1 / 60] * 60, 4000)
    drawn = ((counts @ sums.T) / (counts @ sizes.T)).mean(1)
    assert (high - low) / 2 == pytest.approx(drawn.std(), rel=0.08)


def test_rows_fall_in_steps_by_the_greatest_of_what_is_left() -> None:
    """Beside plain normal draws: of one seed and many documents, nothing else is drawn."""
    generator = np.random.default_rng(4)
    shifts = (0.0, 0.01, 0.02, 0.03, 0.04, 0.6)
    values = {f"{shift}": shift + generator.normal(0, 0.6, 1000) for shift in shifts}
    rows = {name: OverSeeds(runs(of), samples=4000) for name, of in values.items()}
    found = against_best(rows, LOW, 0.95)
    assert found["0.0"].p_holm == 1
    means = np.array([of.mean() for of in values.values()])
    error = 0.6 * math.sqrt(2 / 1000)
    behind = (means[:, None] - means).max(1) / error
    normal = generator.normal(0, 1, (100_000, len(shifts))) / math.sqrt(2)
    drawn = normal - normal.min(1, keepdims=True)
    steps = [float((drawn[:, behind <= row].max(1) >= row).mean()) for row in behind]
    assert sum(0.01 < step < 0.9 for step in steps) > 2
    corrected = [found[name].p_holm for name in values]
    assert corrected[1:] == pytest.approx(steps[1:], abs=0.03)


def told_apart(*rows: tuple[int, float], worlds: int, documents: int = 60) -> float:
    """How often any of equal rows, of so many seeds that spread so far, is told from the best."""
    generator, told = np.random.default_rng(10), 0
    for _ in range(worlds):
        common = generator.normal(0, 1, documents)
        column = {}
        for name, (seeds, spread) in enumerate(rows):
            values = common + generator.normal(0, 0.2, (seeds, documents))
            values += generator.normal(0, spread, (seeds, 1))
            column[f"{name}"] = OverSeeds(runs(values), 300)
        told += min(one.p_holm for one in against_best(column, LOW, 0.95).values()) <= 0.05
    return told / worlds


@pytest.mark.parametrize("row", [(1, 0.0), (3, 0.3)])
def test_that_the_best_is_chosen_from_the_same_data_is_heeded(row: tuple[int, float]) -> None:
    assert told_apart(*[row] * 7, worlds=400) < 0.075


@pytest.mark.parametrize("rows", [((3, 0.3), (3, 0.0)), ((10, 0.03), (3, 0.3))])
def test_seeds_of_one_row_may_differ_more_than_those_of_another(
    rows: tuple[tuple[int, float], ...],
) -> None:
    assert told_apart(*rows, worlds=400) < 0.1


def test_equal_models_are_told_apart_as_seldom_as_they_should_be() -> None:
    """Whose seeds differ more than documents do: who counts documents alone is fooled."""
    generator, told, fooled = np.random.default_rng(10), 0, 0
    for _ in range(400):
        common = generator.normal(0, 1, 60)
        values = common + generator.normal(0, 0.2, (2, 3, 60)) + generator.normal(0, 0.1, (2, 3, 1))
        together = {name: OverSeeds(runs(of), 500) for name, of in zip("ab", values, strict=True)}
        one_each = {
            name: OverSeeds(runs(of[0]), 500) for name, of in zip("ab", values, strict=True)
        }
        told += min(one.p_holm for one in against_best(together, LOW, 0.95).values()) <= 0.05
        fooled += min(one.p_holm for one in against_best(one_each, LOW, 0.95).values()) <= 0.05
    assert told / 400 < 0.08
    assert fooled / 400 > 0.3


@pytest.mark.parametrize(
    ("goal", "means", "order"),
    [
        (LOW, (1.0, 2.0, 3.0), "abc"),
        (HIGH, (1.0, 2.0, 3.0), "cba"),
        (1.9, (1.0, 2.0, 3.0), "bac"),  # distances 0.9, 0.1, 1.1
    ],
)
def test_the_best_is_nearest_to_the_goal(goal: float, means: tuple[float, ...], order: str) -> None:
    generator = np.random.default_rng(1)
    noise = generator.normal(0, 0.01, (3, 3, 40))
    rows = {
        name: OverSeeds(runs(mean + noise[index]))
        for index, (name, mean) in enumerate(zip("abc", means, strict=True))
    }
    found = against_best(rows, goal, 0.95)
    assert sorted(found, key=lambda name: found[name].difference) == list(order)
    assert found[order[0]].p_holm == 1
    assert all(found[name].p_holm < 0.05 for name in order[1:])
    assert all(found[name].low > 0 for name in order[1:])


def test_medians_are_compared_too() -> None:
    generator = np.random.default_rng(1)
    common = generator.exponential(1, 300)
    rows = {
        "near": OverSeeds(runs(common + generator.normal(0, 0.01, (3, 300)), is_median=True), 300),
        "like": OverSeeds(runs(common + generator.normal(0, 0.01, (3, 300)), is_median=True), 300),
        "far": OverSeeds(
            runs(common + 1 + generator.normal(0, 0.01, (3, 300)), is_median=True), 300
        ),
    }
    found = against_best(rows, LOW, 0.95)
    assert found["far"].p_holm < 0.05
    assert min(found["near"].p_holm, found["like"].p_holm) > 0.05
    assert found["far"].difference == pytest.approx(1, abs=0.1)


def test_what_nothing_can_be_drawn_of_is_not_told_apart() -> None:
    rows = {"a": OverSeeds(runs(np.ones((3, 1)))), "b": OverSeeds(runs(np.full((3, 1), 2.0)))}
    found = against_best(rows, LOW, 0.95)
    assert found["b"].p_holm == 1
    assert all(math.isnan(end) for end in rows["a"].interval(0.95))


def test_of_nothing_there_is_no_figure_and_no_comparison() -> None:
    """As of errors of logarithms, where the best candidate is always 0."""
    nothing = by_document(np.empty(0), np.empty(0, dtype=int))
    some = runs(np.random.default_rng(1).normal(0, 1, (2, 30)))
    rows = {"none": OverSeeds([nothing] * 2), "one": OverSeeds([some[0], nothing])}
    for row in rows.values():
        assert all(map(math.isnan, (row.mean, row.spread, *row.interval(0.95))))
    assert against_best(rows, LOW, 0.95) == {}
    assert list(against_best(rows | {"some": OverSeeds(some)}, LOW, 0.95)) == ["some"]
    medians = OverSeeds([by_document(np.empty(0), np.empty(0, dtype=int), is_median=True)])
    assert math.isnan(medians.mean)


def test_identical_models_are_not_told_apart() -> None:
    values = np.random.default_rng(1).normal(0, 1, (3, 30))
    found = against_best({"a": OverSeeds(runs(values)), "b": OverSeeds(runs(values))}, LOW, 0.95)
    assert found["b"].p_holm == 1


def test_a_model_without_seeds_stands_beside_those_with_them() -> None:
    """Of a pretrained model as it comes, only the other's seeds can be off."""
    generator = np.random.default_rng(1)
    common = generator.normal(0, 1, 100)
    bare = OverSeeds(runs(common + 0.5))
    close = OverSeeds(runs(common + generator.normal(0, 0.05, (3, 100))))
    wild = OverSeeds(runs(common + np.array([[-0.6], [0.0], [0.6]])))
    assert against_best({"bare": bare, "close": close}, LOW, 0.95)["bare"].p_holm < 0.01
    assert against_best({"bare": bare, "wild": wild}, LOW, 0.95)["bare"].p_holm > 0.1
