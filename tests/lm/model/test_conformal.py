"""Calibrated intervals against worlds in which it is known how often they must hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import stats

from numerate.errors import NumerateError, RunError
from numerate.lm.model.candidate_line import CandidateLine
from numerate.lm.model.conformal import (
    DOCUMENTS,
    GROUPS,
    TAILS,
    ConformalIntervals,
    Placed,
    predicted_spread,
)

LEVELS = (0.5, 0.9)
VALUES = np.linspace(1, 1000, 700)


@pytest.fixture(autouse=True)
def few_documents_do_not_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numerate.lm.model.conformal.DOCUMENTS", DOCUMENTS)


def normal(centres: np.ndarray, sds: np.ndarray) -> CandidateLine:
    """What a model believes that knows nothing but bells."""
    weights = stats.norm.pdf(VALUES, centres[:, None], sds[:, None])
    return CandidateLine(VALUES, weights)


def covered(
    intervals: ConformalIntervals, line: CandidateLine, truth: np.ndarray, level: float
) -> np.ndarray:
    low, high = intervals.bounds(line, level)
    return (low <= truth) & (truth <= high)


def own(line: CandidateLine, truth: np.ndarray, level: float) -> np.ndarray:
    low, high = line.quantile((1 - level) / 2), line.quantile((1 + level) / 2)
    return (low <= truth) & (truth <= high)


def fit(line: CandidateLine, truth: np.ndarray, documents: np.ndarray) -> ConformalIntervals:
    return ConformalIntervals.fit(Placed.of(line, truth), documents)


@given(
    st.lists(st.sampled_from([0.0, 0.5, 1, 2, 2, 5, 40]), min_size=1, max_size=8),
    st.integers(0, 10**6),
)
def test_a_number_is_within_an_end_just_where_its_score_says_so(
    values: list[float], seed: int
) -> None:
    """By going through all candidates, those of one number and of no probability among them."""
    generator = np.random.default_rng(seed)
    weights = generator.integers(0, 5, len(values)).astype(float)
    weights[generator.integers(len(values))] += 1
    line = CandidateLine(np.array(values), weights[None] / weights.sum())
    numbers = [*values, -1.0, 0.7, 99.0]
    steps = [float(line.through(np.array([x]))[0]) for x in numbers]
    for y in numbers:
        here = np.array([y])
        below, through = float(line.below(here)[0]), float(line.through(here)[0])
        mass = {x: weights[np.array(values) == x].sum() / weights.sum() for x in values}
        assert below == pytest.approx(sum(p for x, p in mass.items() if x < y))
        assert through == pytest.approx(sum(p for x, p in mass.items() if x <= y))
        for q in [step for step in steps if 0 < step < 1]:
            assert (y >= line.quantile(q)[0]) == (through >= q - 1e-9)
            assert (y <= line.quantile_above(q)[0]) == (below <= q + 1e-9)


@pytest.mark.parametrize("factor", [0.4, 1.0, 2.5])
def test_a_model_that_is_too_sure_or_not_sure_enough(factor: float) -> None:
    """Its own intervals hold what bells of another width hold; calibrated ones what they say.
    Five standard errors of both samples."""
    generator = np.random.default_rng(1)
    count = 3000
    centres, sds = generator.uniform(400, 600, (2, count)), np.full((2, count), 40.0)
    truth = generator.normal(centres, sds)
    lines = [normal(centre, factor * sd) for centre, sd in zip(centres, sds, strict=True)]
    intervals = fit(lines[0], truth[0], np.arange(count))
    for level in LEVELS:
        error = 5 * np.sqrt(level * (1 - level) * 2 / count)
        known = 2 * stats.norm.cdf(factor * stats.norm.ppf((1 + level) / 2)) - 1
        assert own(lines[1], truth[1], level).mean() == pytest.approx(known, abs=error + 0.02)
        found = covered(intervals, lines[1], truth[1], level).mean()
        assert found == pytest.approx(level, abs=error)
        for side in (-1, 1):  # as many below as above
            low, high = intervals.bounds(lines[1], level)
            beyond = truth[1] < low if side < 0 else truth[1] > high
            assert beyond.mean() == pytest.approx((1 - level) / 2, abs=error)


def test_places_of_every_spread_are_calibrated() -> None:
    """Too sure where it is sure, not sure enough where it is not: one level for all would cover
    nine in ten together, and neither of them apart."""
    generator = np.random.default_rng(2)
    count = 6000
    centres, narrow = generator.uniform(400, 600, (2, count)), generator.random((2, count)) < 0.5
    truth = generator.normal(centres, np.where(narrow, 20, 40))
    lines = [
        normal(centre, np.where(some, 8.0, 100.0))
        for centre, some in zip(centres, narrow, strict=True)
    ]
    intervals = fit(lines[0], truth[0], np.arange(count))
    assert len(intervals.low) == GROUPS
    for level in LEVELS:
        inside = covered(intervals, lines[1], truth[1], level)
        for some in (narrow[1], ~narrow[1]):
            error = 5 * np.sqrt(level * (1 - level) * 4 / count)
            assert inside[some].mean() == pytest.approx(level, abs=error + 0.01)
    single = own(lines[1], truth[1], 0.9)
    assert single[narrow[1]].mean() < 0.6 < 0.98 < single[~narrow[1]].mean()


def test_large_steps_do_not_make_intervals_hold_more() -> None:
    """Half of the probability on one number: a true model's own interval holds far more than its
    level, the calibrated one does not."""
    generator = np.random.default_rng(3)
    count = 4000
    heights = generator.uniform(0.3, 0.7, (2, count))
    others = generator.dirichlet(np.full(8, 2.0), (2, count)) * (1 - heights[..., None])
    weights = np.insert(others, 4, heights, axis=2)
    values = np.arange(1.0, 10.0)
    chosen = (weights.cumsum(2) < generator.random((2, count, 1))).sum(2)
    truth = values[np.minimum(chosen, 8)]
    intervals = fit(CandidateLine(values, weights[0]), truth[0], np.arange(count))
    line = CandidateLine(values, weights[1])
    error = 5 * np.sqrt(0.09 * 2 / count)
    assert own(line, truth[1], 0.9).mean() > 0.9 + error
    assert covered(intervals, line, truth[1], 0.9).mean() == pytest.approx(0.9, abs=error)


def world(
    generator: np.random.Generator, documents: int
) -> tuple[CandidateLine, np.ndarray, np.ndarray]:
    """Documents whose numbers are all off in the same way; the longer, the more."""
    sizes = generator.choice([1, 4, 30], documents)
    document = np.repeat(np.arange(documents), sizes)
    shift = generator.normal(0, np.sqrt(sizes) * 10)[document]
    truth = generator.normal(500 + shift, 15)
    return normal(np.full(len(truth), 500.0), np.full(len(truth), 20.0)), truth, document


def test_a_numeral_of_a_new_document_is_as_safe_as_promised() -> None:
    """Over many worlds the share of misses is within 2/(K + 1) of what the level leaves, of a
    numeral of a document, whatever its length; 4 standard errors. Where every numeral counted
    alike, long documents, which are harder, would make intervals of far more than the level."""
    generator = np.random.default_rng(4)
    worlds, count, level = 250, 50, 0.8
    shares, alike = np.empty((2, worlds))
    for index in range(worlds):
        line, truth, document = world(generator, count)
        intervals = fit(line, truth, document)
        pooled = fit(line, truth, np.arange(len(truth)))
        new_line, new_truth, new = world(generator, 10)
        sizes = np.bincount(new)
        for found, kind in ((shares, intervals), (alike, pooled)):
            inside = covered(kind, new_line, new_truth, level)
            found[index] = (np.bincount(new, inside) / sizes).mean()
    error = 4 * shares.std() / np.sqrt(worlds)
    assert abs(shares.mean() - level) < 2 / (count + 1) + error
    assert alike.mean() > level + 2 / (count + 1) + error


@given(st.integers(0, 10**6), st.integers(1, 60))
def test_intervals_end_at_candidates_and_wider_ones_hold_the_narrower(
    seed: int, documents: int
) -> None:
    generator = np.random.default_rng(seed)
    values = generator.choice([0, 0.5, 1, 2, 2.0, 5, 7.25, 10, 40, 100, 2000], 25)
    line = CandidateLine(values, generator.dirichlet(np.full(25, 0.2), 80))
    truth = generator.choice([*values, 3.0, 5000.0], 80)
    intervals = fit(line, truth, generator.integers(0, documents, 80))
    inner: tuple[np.ndarray, np.ndarray] | None = None
    for level in (0.01, 0.3, 0.5, 0.501, 0.8, 0.9, 0.95, 0.99, 0.999):
        low, high = intervals.bounds(line, level)
        assert {*low, *high} <= {*values}
        assert (low <= high).all()
        if inner is not None:
            assert (low <= inner[0]).all()
            assert (high >= inner[1]).all()
        inner = low, high


def test_few_documents_make_one_group() -> None:
    generator = np.random.default_rng(5)
    line, truth, _ = world(generator, 40)
    for documents, groups in ((1, 1), (2 * DOCUMENTS - 1, 1), (2 * DOCUMENTS, 2)):
        found = fit(line, truth, np.arange(len(truth)) % documents)
        assert found.documents == documents
        assert len(found.low) <= groups
    same = fit(CandidateLine(VALUES, np.ones((200, 700))), np.full(200, 7.0), np.arange(200))
    assert len(same.low) == 1  # all are of one spread


def test_every_group_has_enough_documents() -> None:
    """Half of the places are of one document, and all are spread widely: borders between them,
    among as many places, would make groups of that document alone."""
    generator = np.random.default_rng(9)
    document = np.concatenate([np.zeros(500, dtype=int), np.arange(1, 101).repeat(5)])
    spread = np.where(document == 0, generator.uniform(2, 3, 1000), generator.random(1000))
    shares = generator.random(1000)
    found = ConformalIntervals.fit(Placed(shares, shares, spread), document)
    group = np.searchsorted(found.spreads, spread, side="right")
    counts = [len(np.unique(document[group == one])) for one in range(len(found.low))]
    assert len(counts) > 1
    assert min(counts) >= DOCUMENTS


@pytest.mark.parametrize(("count", "promises"), [(1, False), (19, False), (20, True)])
def test_a_few_documents_promise_too_little(count: int, promises: bool) -> None:
    line, truth, document = world(np.random.default_rng(10), count)
    said = f"got {count} documents with numerals in the dev split, expected at least 20"
    assert fit(line, truth, document).shortage() == (None if promises else said)


def test_the_spread_is_that_of_the_own_interval() -> None:
    line = CandidateLine(np.array([0.0, 1.0, 10.0, 100.0]), np.array([[0.2, 0.3, 0.3, 0.2]]))
    assert predicted_spread(line)[0] == pytest.approx(5)  # from 0, as good as 0.001, to 100


def test_what_is_stored_is_what_was_fitted() -> None:
    line, truth, document = world(np.random.default_rng(6), 120)
    intervals = fit(line, truth, document)
    again = ConformalIntervals.read(intervals.record())
    with pytest.raises(RunError, match="intervals: version: got 1, expected 2"):
        ConformalIntervals.read(intervals.record() | {"version": 1})
    assert again.documents == 120
    assert again.low.shape == (len(again.spreads) + 1, TAILS)
    for level in LEVELS:
        for one, other in zip(
            again.bounds(line, level), intervals.bounds(line, level), strict=True
        ):
            assert_array_equal(one, other)


def test_what_is_no_intervals_is_refused() -> None:
    line, truth, document = world(np.random.default_rng(7), 50)
    record = fit(line, truth, document).record()
    for spoilt in (
        {**record, "low": [row[index:] for index, row in enumerate(record["low"])], "spreads": [1]},
        {**record, "low": [record["low"][0], [0.5]], "spreads": [1.0]},
        {**record, "low": record["low"][1:]},
        {**record, "high": [row[1:] for row in record["high"]]},
        {**record, "low": record["high"], "high": record["low"]},
        {**record, "spreads": ["x"]},
    ):
        with pytest.raises(RunError, match=r"intervals: "):
            ConformalIntervals.read(spoilt)


@pytest.mark.parametrize("level", [0, 1, -0.5, np.nan])
def test_levels_are_shares(level: float) -> None:
    line, truth, document = world(np.random.default_rng(8), 20)
    with pytest.raises(NumerateError, match=r"level: got .*, expected between 0 and 1"):
        fit(line, truth, document).bounds(line, level)


def test_without_numerals_there_is_nothing_to_fit() -> None:
    nothing = CandidateLine(VALUES, np.empty((0, len(VALUES))))
    with pytest.raises(NumerateError, match="no numeral to fit them to"):
        fit(nothing, np.empty(0), np.empty(0))
