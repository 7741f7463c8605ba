"""Perplexities against direct products of probabilities and the paper's own figures."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from numerate.lm.backbones.contract import Targets
from numerate.lm.evaluate.figures import figures_and_intervals, perplexities
from numerate.lm.perplexity import (
    adjusted_log_probs,
    numeral_shares,
    perplexity,
    without_improbable,
)


def class_perplexities(
    log_probs, is_numeral, is_unknown, oov_words, oov_numerals, *, open_vocabulary: bool
) -> dict[str, dict[str, float]]:
    """PP and APP on words, numerals and all tokens, as `evaluate` puts them together."""
    plain, numeral, unknown = map(np.asarray, (log_probs, is_numeral, is_unknown))
    numeral, unknown = numeral.astype(bool), unknown.astype(bool)
    adjusted = adjusted_log_probs(
        plain, numeral, unknown, oov_words, oov_numerals, open_vocabulary=open_vocabulary
    )
    documents = np.arange(len(plain))
    targets = Targets(numeral, unknown, documents, np.flatnonzero(numeral))
    measured = list(perplexities(plain, adjusted, targets, documents))
    return figures_and_intervals(measured, None)[0]["perplexity"]


OOV = {"oov_words": 40, "oov_numerals": 300}


def tokens(seed: int = 0, size: int = 500) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return (
        np.log(random.uniform(1e-3, 1, size)),
        random.random(size) < 0.2,
        random.random(size) < 0.3,
    )


@pytest.mark.parametrize("open_vocabulary", [False, True])
def test_by_hand(open_vocabulary: bool):
    probabilities = [0.5, 0.25, 0.1, 0.2]  # a word, an unknown word, a numeral, an unknown one
    found = class_perplexities(
        np.log(probabilities),
        [False, False, True, True],
        [False, True, False, True],
        4,
        10,
        open_vocabulary=open_vocabulary,
    )
    numeral = 0.2 if open_vocabulary else 0.02
    assert found == {
        "words": {
            "pp": pytest.approx((0.5 * 0.25) ** -0.5),
            "app": pytest.approx((0.5 * 0.25 / 4) ** -0.5),
        },
        "numerals": {
            "pp": pytest.approx((0.1 * 0.2) ** -0.5),
            "app": pytest.approx((0.1 * numeral) ** -0.5),
        },
        "all": {
            "pp": pytest.approx((0.5 * 0.25 * 0.1 * 0.2) ** -0.25),
            "app": pytest.approx((0.5 * 0.25 / 4 * 0.1 * numeral) ** -0.25),
        },
    }


def test_adjusted_model_is_a_distribution():
    """p' over all types of a class sums to p: the unknown symbol's share is spread, not lost."""
    known, unknown, types = 0.7, 0.3, 30
    spread = adjusted_log_probs(
        np.log([unknown] * types), [True] * types, [True] * types, 0, types, open_vocabulary=False
    )
    assert_allclose(known + np.exp(spread).sum(), 1, rtol=1e-12)


def test_one_ratio_for_all_models_with_one_vocabulary():
    """APP/PP on a class depends on the data alone (the identity the paper's table breaks)."""
    _, is_numeral, is_unknown = tokens()
    ratios = []
    for model in range(4):
        log_probs = tokens(seed=model + 1)[0] * (model + 1)
        found = class_perplexities(log_probs, is_numeral, is_unknown, **OOV, open_vocabulary=False)
        ratios.append([found[name]["app"] / found[name]["pp"] for name in found])
    assert_allclose(ratios, [ratios[0]] * 4, rtol=1e-9)

    words, numerals = ~is_numeral, is_numeral
    expected = [
        40 ** is_unknown[words].mean(),
        300 ** is_unknown[numerals].mean(),
        40 ** (is_unknown & words).mean() * 300 ** (is_unknown & numerals).mean(),
    ]
    assert_allclose(ratios[0], expected, rtol=1e-9)


def test_open_vocabulary_numerals_are_not_adjusted():
    log_probs, is_numeral, is_unknown = tokens()
    found = class_perplexities(
        log_probs, is_numeral, is_unknown, oov_words=40, oov_numerals=0, open_vocabulary=True
    )
    assert found["numerals"]["app"] == found["numerals"]["pp"]
    assert found["words"]["app"] > found["words"]["pp"]


# The paper's Table 2: PP and APP on words, numerals and all tokens; Table 1: share of numerals.
PUBLISHED = {
    "clinical": {
        "share": 0.043,
        "flat": {
            "softmax": [(4.08, 5.99), (12.04, 58443.72), (4.28, 8.91)],
            "softmax+rnn": [(4.03, 5.91), (11.57, 56164.81), (4.21, 8.77)],
        },
        "hierarchical": {
            "h-softmax": [(4.00, 4.96), (11.78, 495.95), (4.19, 6.05)],
            "h-softmax+rnn": [(4.03, 4.99), (11.65, 490.14), (4.22, 6.09)],
        },
        "by the equation": [507, 487],
    },
    "scientific": {
        "share": 0.040,
        "flat": {
            "softmax": [(33.96, 51.83), (127.12, 3505856.25), (35.79, 80.62)],
            "softmax+rnn": [(33.54, 51.20), (119.68, 3300688.50), (35.28, 79.47)],
        },
        "hierarchical": {
            "h-softmax": [(34.73, 49.81), (122.67, 550.98), (36.51, 54.80)],
            "h-softmax+rnn": [(34.04, 48.83), (120.83, 542.70), (35.80, 53.73)],
        },
        "by the equation": [571, 538],
    },
}


def counted_twice(words: float, numerals: float, share: float) -> tuple[float, float, float]:
    """APP/PP of the released code's flat models, from the right ratios of words and numerals.

    Each class is charged the other's nats on top of its own, so all tokens are charged twice.
    """
    odds = share / (1 - share)
    once = words ** (1 - share) * numerals**share
    return words * numerals**odds, numerals * words ** (1 / odds), once**2


def test_what_counting_twice_does():
    """`counted_twice` against an imitation of the released code on tokens."""
    log_probs, is_numeral, is_unknown = tokens()
    found = class_perplexities(log_probs, is_numeral, is_unknown, **OOV, open_vocabulary=False)
    right = {name: found[name]["app"] / found[name]["pp"] for name in found}

    adjusted = adjusted_log_probs(log_probs, is_numeral, is_unknown, **OOV, open_vocabulary=False)
    both_charges = (log_probs - adjusted).sum()
    sizes = np.array([(~is_numeral).sum(), is_numeral.sum(), is_numeral.size])
    twice = np.exp(np.array([1, 1, 2]) * both_charges / sizes)
    assert_allclose(
        counted_twice(right["words"], right["numerals"], is_numeral.mean()), twice, rtol=1e-9
    )
    assert_allclose(right["all"] ** 2, twice[2], rtol=1e-9)


@pytest.mark.parametrize("corpus", PUBLISHED)
def test_published_figures_count_twice(corpus: str):
    published = PUBLISHED[corpus]

    def ratios(kind: str) -> np.ndarray:  # [2 models, (words, numerals, all)]
        return np.array([[app / pp for pp, app in row] for row in published[kind].values()])

    right, flat = ratios("hierarchical"), ratios("flat")
    assert_allclose(right[0], right[1], rtol=3e-3)  # the identity holds within each kind
    assert_allclose(flat[0], flat[1], rtol=3e-3)
    assert (flat[:, 1] > 100 * right[:, 1]).all()  # and fails between them

    words, numerals, everything = counted_twice(*right[0, :2], published["share"])
    assert_allclose(words, flat[0, 0], rtol=1.5e-3)
    # The words' charge is multiplied by 22 or 24 words to a numeral, and so is its rounding.
    assert_allclose(np.log(numerals), np.log(flat[0, 1]), atol=0.1)
    assert_allclose(everything, flat[0, 2], rtol=5e-3)
    assert_allclose(right[0, 2] ** 2, flat[0, 2], rtol=5e-3)

    plain, with_digits = published["by the equation"]
    once = [row[1][0] * right[0, 1] for row in published["flat"].values()]
    assert once == pytest.approx([plain, with_digits], abs=0.5)
    hierarchical = [row[1][1] for row in published["hierarchical"].values()]
    assert 1.02 < once[0] / hierarchical[0] < 1.04  # plain slightly behind
    assert 0.99 < once[1] / hierarchical[1] < 1  # with digits level


def test_ratios_as_the_design_quotes_them():
    clinical, scientific = PUBLISHED["clinical"], PUBLISHED["scientific"]

    def numerals(corpus: dict, kind: str, model: str) -> float:
        pp, app = corpus[kind][model][1]
        return app / pp

    assert numerals(clinical, "hierarchical", "h-softmax") == pytest.approx(42.1, abs=0.05)
    assert numerals(clinical, "flat", "softmax") == pytest.approx(4854, abs=0.5)
    assert numerals(scientific, "hierarchical", "h-softmax") == pytest.approx(4.49, abs=0.005)
    assert numerals(scientific, "flat", "softmax") == pytest.approx(27579, abs=0.5)


def test_order_does_not_matter():
    log_probs, is_numeral, is_unknown = tokens()
    order = np.random.default_rng(5).permutation(log_probs.size)
    first = class_perplexities(log_probs, is_numeral, is_unknown, **OOV, open_vocabulary=False)
    second = class_perplexities(
        log_probs[order], is_numeral[order], is_unknown[order], **OOV, open_vocabulary=False
    )
    for name in first:
        assert second[name] == pytest.approx(first[name], rel=1e-12)


def test_repeated_data_change_nothing():
    columns = tokens()
    twice = [np.tile(column, 2) for column in columns]
    first = class_perplexities(*columns, **OOV, open_vocabulary=False)
    second = class_perplexities(*twice, **OOV, open_vocabulary=False)
    for name in first:
        assert second[name] == pytest.approx(first[name], rel=1e-12)


def test_arguments_are_left_alone():
    columns = tokens()
    copies = [column.copy() for column in columns]
    adjusted_log_probs(*columns, **OOV, open_vocabulary=False)
    for column, copy in zip(columns, copies, strict=True):
        assert (column == copy).all()


def test_single_precision_is_summed_in_double():
    log_probs = np.full(100_000, -0.1, dtype=np.float32)
    none = np.zeros(log_probs.size, dtype=bool)
    found = class_perplexities(log_probs, none, none, 0, 0, open_vocabulary=False)
    assert found["all"]["pp"] == pytest.approx(math.exp(float(np.float32(0.1))), rel=1e-12)


def test_empty_class_is_nan():
    found = class_perplexities([-1.0, -2.0], [False] * 2, [False] * 2, 0, 0, open_vocabulary=False)
    assert math.isnan(found["numerals"]["pp"])
    assert math.isnan(found["numerals"]["app"])
    assert found["words"] == found["all"]
    nothing = class_perplexities([], [], [], 0, 0, open_vocabulary=False)
    assert all(math.isnan(figure) for row in nothing.values() for figure in row.values())


def test_overflow_is_infinite():
    found = class_perplexities([-1e6, -1e5], [0, 1], [0, 0], 0, 0, open_vocabulary=False)
    assert all(figure == math.inf for row in found.values() for figure in row.values())
    assert perplexity(math.log(7)) == pytest.approx(7)
    assert perplexity(1e5) == math.inf


@pytest.mark.parametrize(
    ("is_numeral", "oov", "name"), [(False, (0, 5), "oov_words"), (True, (5, 0), "oov_numerals")]
)
def test_unknown_tokens_without_an_oov_set(is_numeral: bool, oov: tuple[int, int], name: str):
    with pytest.raises(ValueError, match=f"{name}: got 0 types for 2 unknown tokens"):
        class_perplexities([-1.0, -1.0], [is_numeral] * 2, [True] * 2, *oov, open_vocabulary=False)


def test_no_unknown_tokens_need_no_oov_set():
    found = class_perplexities([-1.0, -2.0], [0, 1], [0, 0], 0, 0, open_vocabulary=False)
    assert found["all"]["app"] == found["all"]["pp"] == pytest.approx(math.exp(1.5))


def test_shapes_must_agree():
    with pytest.raises(ValueError, match=r"got shapes \(2,\), \(1,\), \(2,\), expected one \[T\]"):
        adjusted_log_probs([-1.0, -1.0], [True], [True, True], 1, 1, open_vocabulary=False)


def test_unknown_numerals_share_the_unknown_evenly() -> None:
    """Over the OOV set; an open head has no unknown."""
    known = [3, 0, 1, 0]
    shares = numeral_shares(known, 50, open_vocabulary=False)
    assert_allclose(shares, [0, -np.log(50), 0, -np.log(50)])
    assert_allclose(numeral_shares(known, 50, open_vocabulary=True), np.zeros(4))
    assert_allclose(numeral_shares(known, 0, open_vocabulary=False), np.zeros(4))


def test_numerals_that_make_a_perplexity_are_counted() -> None:
    """By hand: four numerals of probability 1/8, two next to impossible, four words of 1/2."""
    numerals = np.array([True] * 6 + [False] * 4)
    log_probs = np.log([1 / 8] * 4 + [1e-30, 1e-250] + [1 / 2] * 4)
    found = without_improbable(log_probs, numerals)
    assert found is not None
    assert found["count"] == 2
    assert found["numerals"] == pytest.approx(8.0)
    assert found["all"] == pytest.approx(4.0)


def test_numerals_that_make_no_difference_are_not_mentioned() -> None:
    few, many = np.log([1 / 8] * 10 + [1e-19]), np.log([1 / 8] * 10_000 + [1e-30])
    for log_probs in (few, many, np.log([1e-30, 1e-40]), np.log([0.5])):
        assert without_improbable(log_probs, np.ones(len(log_probs), dtype=bool)) is None
    words = np.zeros(3, dtype=bool)
    assert without_improbable(np.log([0.5, 0.5, 1e-30]), words) is None, "a word is no numeral"
