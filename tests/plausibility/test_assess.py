"""How strange a numeral is, where it lies, and why."""

from dataclasses import asdict

import numpy as np
import pytest

from numerate.model.names import MODELS
from numerate.numeral_table import NumeralTable
from numerate.plausibility.assess import LEVEL, _reasons, strangeness
from numerate.plausibility.finding import REASONS
from numerate.plausibility.grid import Grid, Written
from numerate.plausibility.model import NumerateModel

TABLE = NumeralTable(["1", "10", "10.0", "12.5", "100"])
CHANCES = np.array([[0.1, 0.4, 0.2, 0.2, 0.1], [0.96, 0.01, 0.01, 0.01, 0.01]])
GRID = Grid(TABLE, np.log(CHANCES * 0.5))  # a grid need not hold all the probability


def test_a_percentile_is_what_lies_below_and_half_of_what_is_there() -> None:
    np.testing.assert_allclose(GRID.percentile(np.array([10.0, 0.5])), [0.1 + 0.3, 0.0])
    np.testing.assert_allclose(GRID.percentile(np.array([1000.0, 1.0])), [1.0, 0.48])
    np.testing.assert_allclose(GRID.percentile(np.array([11.0, 11.0])), [0.7, 0.98])


def test_quantiles_by_hand() -> None:
    assert GRID.quantile(0.05).tolist() == [1.0, 1.0]
    assert GRID.quantile(0.1).tolist() == [1.0, 1.0]
    assert GRID.quantile(0.11).tolist() == [10.0, 1.0]
    assert GRID.quantile(0.95).tolist() == [100.0, 1.0]
    assert GRID.likely() == ["10", "1"]


def test_costs_by_hand() -> None:
    """Of precision: the probability of as many decimals. Of magnitude: near it, on a log scale."""
    cost = GRID.precision_cost(np.array([1, 1]))
    np.testing.assert_allclose(np.exp(-cost), [0.4, 0.02], atol=1e-5)
    near = np.exp(-0.5 * (np.log(10) - np.log([1, 10, 10, 12.5, 100])) ** 2)
    expected = -np.log(CHANCES @ near)
    np.testing.assert_allclose(GRID.magnitude_cost(np.array([10.0, 10.0])), expected, rtol=1e-6)
    assert np.isfinite(GRID.magnitude_cost(np.array([0.0, 1e30]))).all()
    assert np.isfinite(GRID.precision_cost(np.array([31, 31]))).all()


def test_the_statistic_is_what_the_documentation_says() -> None:
    found = strangeness(Written.of(["12.5", "700"]), np.array([-3.0, -9.0]))
    np.testing.assert_allclose(found, [3 - 3 * np.log(10), 9 - np.log(10)])


@pytest.mark.parametrize(
    ("text", "digits"),
    [("0", 1), ("7", 1), ("1250", 3), ("100", 1), ("0.0120", 3), ("0.00", 1), ("12.50", 4)],
)
def test_significant_digits(text: str, digits: int) -> None:
    assert Written.of([text]).significant.tolist() == [digits]


def test_reasons() -> None:
    one = Grid(TABLE, np.log(np.repeat(CHANCES[:1], 3, axis=0)))
    assert _reasons(one, Written.of(["900000", "10.000", "11"])) == [
        "magnitude",
        "precision",
        "digits",
    ]
    # Near enough on a log scale, but beyond all that is expected.
    narrow = Grid(NumeralTable(["58", "60", "62"]), np.log([[0.3, 0.4, 0.3]]))
    assert _reasons(narrow, Written.of(["290"])) == ["magnitude"]
    assert _reasons(narrow, Written.of(["61"])) == ["digits"]
    assert REASONS == ("magnitude", "precision", "digits")


def test_findings_point_into_the_text(models: dict[str, NumerateModel]) -> None:
    text = "Volume 1,234.50 ml.\n\n  The fraction is 55 %\nand 007 more.\n\nNothing."
    found = models["combination"].assess(text)
    assert [f.written for f in found] == ["1,234.50", "55", "007"]
    assert [f.numeral for f in found] == ["1234.50", "55", "7"]
    for finding in found:
        assert text[finding.start : finding.end] == finding.written
        assert finding.surprisal > 0
        assert 0 <= finding.percentile <= 1
        assert 0 < finding.plausibility <= 1
        assert finding.interval[0] <= finding.interval[1]
        assert finding.reason in REASONS
        assert finding.flagged == (finding.plausibility <= 0.01)


def test_paragraphs_do_not_see_each_other(models: dict[str, NumerateModel]) -> None:
    """And a paragraph of a text is read as the same text alone."""
    lm = models["combination"]
    first, second = "The fraction is 55 %.", "The volume is 140 ml."
    both = lm.assess(f"{first}\n \n{second}")
    apart = lm.assess(first) + lm.assess(second)
    for together, alone in zip(both, apart, strict=True):
        assert together.surprisal == pytest.approx(alone.surprisal, rel=1e-4)


def test_the_most_likely_is_searched_where_something_is_flagged(
    models: dict[str, NumerateModel],
) -> None:
    lm = models["combination"]
    text = "The ejection fraction is 123456789.123 %."
    (finding,) = lm.check(text)
    assert finding.flagged
    assert finding.reason in {"magnitude", "precision"}
    assert finding.likely == lm.predict("The ejection fraction is").top(1)[0][0]
    assert finding.percentile == 1
    whole = lm.predict("The ejection fraction is")
    low, high = finding.interval  # from 1,000 draws: to 3 standard deviations of the level
    assert whole.cdf(low * 0.999) < 0.04
    assert whole.cdf(high) > 0.96


@pytest.mark.parametrize("text", ["", " \n\n ", "no numeral at all"])
def test_a_text_without_numerals_has_no_findings(
    models: dict[str, NumerateModel], text: str
) -> None:
    assert models["mog"].assess(text) == []
    assert models["mog"].check(text) == []


def test_the_plausible_range_is_central() -> None:
    assert 0 < LEVEL < 1


@pytest.mark.parametrize("name", MODELS)
def test_a_glance_sees_what_an_assessment_sees(models: dict[str, NumerateModel], name: str) -> None:
    text = "LV ejection fraction is 612%.\n\nNo numeral.\n\nVolumes of 1,150 and 57.5 mL."
    glances = models[name].glance(text, 0.1)
    findings = models[name].assess(text, 0.1)
    assert [text[glance.start : glance.end] for glance in glances] == ["612", "1,150", "57.5"]
    for glance, finding in zip(glances, findings, strict=True):
        assert asdict(glance).items() <= finding.record().items()
    assert models[name].glance("") == []


@pytest.mark.parametrize("name", MODELS)
def test_the_reason_at_one_place_is_that_of_the_assessment(
    models: dict[str, NumerateModel], name: str
) -> None:
    text = " 7 is first.\n\nLV ejection fraction is 612%.\n\nVolumes of 1,150 and 57.53 mL."
    reasons = {finding.start: finding.reason for finding in models[name].assess(text)}
    assert len(reasons) == 4
    judged = {place: models[name].judge_at(text, place) for place in range(len(text))}
    assert {place: pair[1] for place, pair in judged.items() if pair} == reasons


def test_checking_finds_what_an_assessment_flags_without_looking_at_the_rest(
    models: dict[str, NumerateModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = models["combination"]
    text = "the patient is 54 years old.\n\nheight 98765.4321 cm, weight 0.00001 kg, 172 cm."
    expected = [found for found in lm.assess(text, 0.2, search=True) if found.flagged]
    assert 0 < len(expected) < 4
    monkeypatch.setattr(type(lm.model), "log_probs", None)  # of the grid's candidates
    assert lm.check(text, 0.2) == expected
    assert lm.sift(text, 0.2) == (expected, 4)
