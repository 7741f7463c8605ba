"""The parts of the simulated corpus against independent calculations."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from numerate.lm.data.cardiac.attributes import (
    ATTRIBUTES,
    CORRELATION,
    DIAGNOSES,
    FEMALE,
    INDEX,
    LAWS,
    LOADINGS,
    PRIOR,
)
from numerate.lm.data.cardiac.chart import Chart, Quantity
from numerate.lm.data.cardiac.grammar import AnyOrder, ByDiagnosis, Graded, Grammar
from numerate.lm.data.cardiac.graph import END
from numerate.lm.data.cardiac.measurements import SLOTS
from numerate.lm.data.cardiac.oracle import Oracle
from numerate.lm.data.cardiac.slots import Listed, Measured, normal_mass, pick


def test_there_are_twenty_attributes_with_sound_laws() -> None:
    assert len(ATTRIBUTES) == 20
    assert pytest.approx(1.0) == PRIOR.sum()
    mean, spread, low, high = np.moveaxis(LAWS, -1, 0)
    assert (spread > 0).all()
    assert (low > 0).all()
    assert (low < high).all()
    assert (stats.norm.cdf(high, mean, spread) - stats.norm.cdf(low, mean, spread) > 0.5).all()
    assert np.linalg.eigvalsh(CORRELATION).min() > 0.05
    assert np.diag(CORRELATION) == pytest.approx(np.ones(20))
    assert {name for cause in LOADINGS.values() for name in cause} <= set(ATTRIBUTES)
    assert CORRELATION[INDEX["lv_edv"], INDEX["rv_edv"]] > 0.5
    assert CORRELATION[INDEX["lv_edv"], INDEX["lv_ef"]] < -0.3


def test_the_chart_conditions_like_the_textbook() -> None:
    values = {"height": 160.0, "weight": 91.0, "lv_edv": 143.0, "septum": 9.5}
    chart = Chart()
    chart.state_sex(FEMALE)
    for name, value in values.items():
        chart.condition(name, value)
    known = [INDEX[name] for name in values]
    for d in range(len(DIAGNOSES)):
        mean, spread = LAWS[FEMALE, d, :, 0], LAWS[FEMALE, d, :, 1]
        covariance = CORRELATION * np.outer(spread, spread)
        inverse = np.linalg.inv(covariance[np.ix_(known, known)])
        for name in ("lv_ef", "lv_mass", "age"):
            i = INDEX[name]
            gain = covariance[i, known] @ inverse
            expected = mean[i] + gain @ (np.array(list(values.values())) - mean[known])
            variance = covariance[i, i] - gain @ covariance[known, i]
            got = chart.conditional(name)[d]
            assert got[:2] == pytest.approx((expected, math.sqrt(variance)))
            assert got[2:] == tuple(LAWS[FEMALE, d, i, 2:])


@pytest.mark.parametrize(
    ("low", "high"), [(-1, 1), (0, 0.01), (6, 6.5), (-6.5, -6), (20, 21), (-30, 2), (-1e-3, 1e-3)]
)
def test_interval_mass_is_accurate_in_both_tails(low: float, high: float) -> None:
    tail = stats.norm.cdf if low < 0 else stats.norm.sf
    assert normal_mass(low, high) == pytest.approx(abs(tail(high) - tail(low)), rel=1e-9)
    assert normal_mass(low, high) > 0


def test_a_measured_number_has_the_mass_of_its_rounding_cell() -> None:
    chart = Chart()
    slot = SLOTS["weight"]
    mean, spread, low, high = LAWS[0, 0, INDEX["weight"]]
    first, last = math.ceil(low * 10), math.floor(high * 10)
    a, b = ((edge / 10 - mean) / spread for edge in (first - 0.5, last + 0.5))
    law = stats.truncnorm(a, b, mean, spread)
    expected = 0.25 * (law.cdf(71.35) - law.cdf(71.25))
    assert slot.probability(chart, "71.3")[0] == pytest.approx(expected)
    assert slot.probability(chart, "71.30").sum() == 0
    assert slot.probability(chart, "kg").sum() == 0
    assert slot.probability(chart, "500").sum() == 0


@pytest.mark.parametrize("name", ["age", "height_m", "weight", "lv_ef_first", "lv_edv"])
def test_drawn_numbers_follow_the_table(name: str) -> None:
    """Chi-square on 4,000 draws: fails once in 10,000 seeds, each."""
    chart, slot, generator = Chart(), SLOTS[name], np.random.default_rng(5)
    assert isinstance(slot, Measured)
    table = {token: float(PRIOR @ p) for token, p in slot.table(chart).items()}
    assert math.fsum(table.values()) == pytest.approx(1.0, abs=1e-12)
    drawn = [slot.draw(chart, PRIOR, generator.random) for _ in range(4000)]
    assert set(drawn) <= {token for token, p in table.items() if p > 0}
    cells = np.minimum(np.cumsum(list(table.values())) * 20, 19.999).astype(int)
    expected, observed = np.zeros(20), np.zeros(20)
    np.add.at(expected, cells, list(table.values()))
    cell = dict(zip(table, cells, strict=True))
    np.add.at(observed, [cell[token] for token in drawn], 1)
    kept = expected > 0
    assert stats.chisquare(observed[kept], 4000 * expected[kept]).pvalue > 1e-4


@pytest.mark.parametrize(
    ("units", "precision", "text"), [(7, 0, "7"), (750, 2, "7.50"), (5, 1, "0.5")]
)
def test_quantities_are_exact(units: int, precision: int, text: str) -> None:
    assert Quantity(units, precision).text == text
    assert Quantity.read(text) == (units, precision)


def test_an_agreeing_volume_always_exists() -> None:
    slot = SLOTS["lv_esv_agreeing"]
    for edv, fraction in product((100, 101, 117, 250, 449), range(11, 85)):
        chart = Chart()
        chart.written = {"lv_edv": str(edv), "lv_ef": str(fraction)}
        table = slot.table(chart)
        exact = {
            str(esv)
            for esv in range(edv)
            if fraction - 0.5 <= 100 * (edv - esv) / edv < fraction + 0.5
        }
        assert set(table) == exact
        assert sum(p[0] for p in table.values()) == pytest.approx(1.0)


def test_pick_never_returns_what_has_no_weight() -> None:
    almost_one = math.nextafter(1.0, 0.0)
    assert pick([0.0, 1.0, 0.0], lambda: 0.0) == 1
    assert pick([0.0, 0.1, 0.2, 0.0], lambda: almost_one) == 2


def sentence_probabilities(grammar: Grammar) -> dict[str, float]:
    """Every sentence of a small grammar, by following every token of every distribution."""
    found: dict[str, float] = {}

    def follow(tokens: list[str], p: float) -> None:
        oracle = Oracle(grammar.start)
        for token in tokens:
            oracle.advance(token)
        for token, share in oracle.distribution().items():
            if token == END:
                found[" ".join(tokens)] = p * share
            else:
                follow([*tokens, token], p * share)

    follow([], 1.0)
    return found


def test_alternatives_that_begin_alike_are_summed() -> None:
    grammar = Grammar({"report": "[a b|a|3*a c][d|]"}, {})
    assert sentence_probabilities(grammar) == pytest.approx(
        {"a b": 0.1, "a b d": 0.1, "a": 0.1, "a d": 0.1, "a c": 0.3, "a c d": 0.3}
    )
    oracle = Oracle(grammar.start)
    assert oracle.distribution() == {"a": 1.0}


def test_two_ways_to_the_same_words_are_summed() -> None:
    grammar = Grammar({"report": "[a|] [a|b|]"}, {})
    assert sentence_probabilities(grammar) == pytest.approx(
        {"a a": 1 / 6, "a b": 1 / 6, "a": 1 / 3, "b": 1 / 6, "": 1 / 6}
    )


def test_the_hidden_diagnosis_is_summed_over() -> None:
    others = dict.fromkeys(DIAGNOSES, "x")
    grammar = Grammar(
        {
            "report": "<symptom> <sign>",
            "symptom": ByDiagnosis({**others, "dilated": "[x|3*y]"}),
            "sign": ByDiagnosis({**others, "dilated": "z"}),
        },
        {},
    )
    dilated = DIAGNOSES["dilated"].prior
    assert sentence_probabilities(grammar) == pytest.approx(
        {"x x": 1 - dilated, "x z": dilated / 4, "y z": 3 * dilated / 4}
    )


def test_any_order_uses_each_rule_at_most_once() -> None:
    rule = AnyOrder(frozenset({"one", "two", "three"}), frozenset({"one"}), stop={1: 0.5, 2: 0.25})
    grammar = Grammar({"report": rule, "one": "i", "two": "j", "three": "k"}, {})
    found = sentence_probabilities(grammar)
    assert sum(found.values()) == pytest.approx(1.0)
    assert found["i"] == pytest.approx(1 / 3 / 4)
    assert found["j i"] == pytest.approx(1 / 3 * 1 / 2 * 1 / 2)
    assert all("i" in words and len(set(words.split())) == len(words.split()) for words in found)


def test_a_slot_may_compete_with_words() -> None:
    slot = Listed("x", lambda chart: {"1": 0.25, "2": 0.75})
    grammar = Grammar({"report": "[a|{x}] [b|{x}]"}, {"x": slot})
    found = sentence_probabilities(grammar)
    assert found == pytest.approx(
        {
            "a b": 0.25,
            "a 1": 0.0625,
            "a 2": 0.1875,
            "1 b": 0.0625,
            "2 b": 0.1875,
            "1 1": 0.015625,
            "1 2": 0.046875,
            "2 1": 0.046875,
            "2 2": 0.140625,
        }
    )


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"report": "[a|b"}, "unbalanced brackets"),
        ({"report": "a]"}, "unbalanced brackets"),
        ({"report": "a * b"}, "malformed template"),
        ({"report": "LV lv"}, "two ways to write 'lv'"),
        ({"report": Graded("sex", {"man": "he"})}, r"rule 'report': got \['man'\], expected"),
        ({"report": ByDiagnosis({"normal": "a"})}, r"rule 'report': got \['normal'\], expected"),
    ],
)
def test_malformed_rules_are_refused(rules: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Grammar(rules, {})


def test_two_slots_in_one_place_are_refused() -> None:
    slots = {name: Listed(name, lambda chart: {"1": 1.0}) for name in ("x", "y")}
    with pytest.raises(RuntimeError, match="one of several slots"):
        Oracle(Grammar({"report": "[{x}|{y}]"}, slots).start)
    with pytest.raises(RuntimeError, match="is a word and fills a slot"):
        Oracle(Grammar({"report": "[{x}|1]"}, slots).start).advance("1")
