"""How strange a numeral is, where it lies, and why."""

from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from numerate.detector.slips import meant
from numerate.lm.backbones.contract import AFTER
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.base import Context
from numerate.lm.heads.registry import paper_heads
from numerate.lm.model.assess import (
    LEVEL,
    LOG_OTHER,
    Strangeness,
    _ranges,
    _reasons,
    first_sight,
    log_odds,
)
from numerate.lm.model.assessments import REASONS
from numerate.lm.model.grid import Grid, Written
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.wording import UNUSUAL

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


class TwoNumerals:
    """A model by hand: 5 is likely and suits what follows, 50 is neither, 7 suits only."""

    second_looks = 1.0
    chances: ClassVar = {"5": 0.5, "50": 0.001, "7": 0.01}
    follows: ClassVar = {"5": 0.2, "50": 0.0004, "7": 0.2}

    def in_place(
        self, reading: Any, rows: np.ndarray, numerals: list[str]
    ) -> tuple[np.ndarray, np.ndarray]:
        chances = [self.chances.get(text, 1e-6) for text in numerals]
        return np.log(chances), np.log([self.follows.get(text, 0.1) for text in numerals])


def test_the_statistic_is_what_the_documentation_says() -> None:
    """The odds by enumeration: what may have been meant, kind by kind, against what is written."""
    model, rows, numerals = TwoNumerals(), np.array([0, 0, 1]), ["5", "50", "7"]
    found = log_odds(model, None, rows, numerals)  # type: ignore[arg-type]
    for written, odds in zip(numerals, found, strict=True):

        def joint(text: str) -> float:
            return model.chances.get(text, 1e-6) * model.follows.get(text, 0.1)

        kinds = [texts for texts in meant(written).values() if texts]
        every = [written, *(text for texts in kinds for text in texts)]
        after = sum(map(joint, every)) / sum(model.chances.get(text, 1e-6) for text in every)
        slips = sum(sum(map(joint, texts)) / len(texts) for texts in kinds)
        other = np.exp(LOG_OTHER) * 0.1 * after  # one significant digit each
        assert odds == pytest.approx(np.log(slips + other) - np.log(joint(written)), rel=1e-9)
    assert found[1] > 5 > 0 > found[0]


def test_what_follows_counts() -> None:
    """The same numeral is stranger where what follows suits what may have been meant better."""
    model = TwoNumerals()
    (before,) = log_odds(model, None, np.array([0]), ["50"])  # type: ignore[arg-type]
    model.follows = {"50": 0.9, "5": 0.0001}  # type: ignore[misc]
    (after,) = log_odds(model, None, np.array([0]), ["50"])  # type: ignore[arg-type]
    assert before > after + 5


def test_where_anything_may_come_nothing_is_strange() -> None:
    model = TwoNumerals()
    model.chances = {}  # type: ignore[misc]
    model.follows = {}  # type: ignore[misc]
    (odds,) = log_odds(model, None, np.array([0]), ["12345.67"])  # type: ignore[arg-type]
    assert abs(odds - np.log(5)) < 1  # five kinds of slips, each as likely as what is written


@pytest.mark.parametrize("name", paper_heads())
def test_in_the_place_of_another_a_numeral_is_read_as_if_it_stood_there(
    models: dict[str, NumeralLM], name: str
) -> None:
    """And so is what follows: the next tokens of the text, read anew with the other numeral."""
    model = models[name]
    text = "LV ejection fraction is 55%. Volume is 140.5 mL, and 7"
    (reading,) = model.read_texts([text], going_on=True)
    rows, numerals = np.array([0, 0, 1, 2, 1]), ["61", "5.5", "98765", "1", "140.5"]
    log_probs, after = model.in_place(reading, rows, numerals)
    for row, numeral, log_prob, following in zip(rows, numerals, log_probs, after, strict=True):
        token = reading.numerals[row]
        (other,) = model.read_texts([text[: token.start] + numeral + text[token.end :]])
        place = int(reading.positions[row])
        assert other.numeral_log_probs[row] == pytest.approx(log_prob, rel=1e-4)
        expected = other.log_probs[place + 1 : -1][:AFTER].sum()
        assert expected == pytest.approx(following, rel=1e-4, abs=1e-6)


def test_only_what_is_strange_at_first_sight_gets_a_second_look(
    models: dict[str, NumeralLM],
) -> None:
    lm = models["combination"]
    text = "LV ejection fraction is 55%, volume 98765.4321 mL, age 61 years."
    (reading,) = lm.read_texts([text], going_on=True)
    numerals = [token.text for token in reading.numerals]
    sight = first_sight(numerals, reading.numeral_log_probs)
    digits = np.array([2, 9, 2])
    np.testing.assert_allclose(sight, -reading.numeral_log_probs - digits * np.log(10))
    whole = Strangeness(lm).of(reading)
    np.testing.assert_allclose(Strangeness(lm)(reading, np.arange(3), numerals), whole, rtol=1e-4)
    least = np.sort(sight)[1]
    some = Strangeness(lm, least).of(reading)
    looked = sight >= least
    np.testing.assert_allclose(some[looked], whole[looked], rtol=1e-5)
    assert some[~looked].max() < whole.min()
    again = Strangeness(lm, least - 1e-3)(reading, np.arange(3), numerals)
    np.testing.assert_allclose(again, some, rtol=1e-4)


@pytest.mark.parametrize(
    ("text", "digits"),
    [("0", 1), ("7", 1), ("1250", 3), ("100", 1), ("0.0120", 3), ("0.00", 1), ("12.50", 4)],
)
def test_significant_digits(text: str, digits: int) -> None:
    assert Written.of([text]).significant.tolist() == [digits]


def test_reasons() -> None:
    one = Grid(TABLE, np.log(np.repeat(CHANCES[:1], 3, axis=0)))
    written = Written.of(["900000", "10.000", "11"])
    assert _reasons(one, written, _ranges(one, None)) == ["magnitude", "precision", "digits"]
    # Near enough on a log scale, but beyond all that is expected.
    narrow = Grid(NumeralTable(["58", "60", "62"]), np.log([[0.3, 0.4, 0.3]]))
    own = _ranges(narrow, None)
    assert _reasons(narrow, Written.of(["290"]), own) == ["magnitude"]
    assert _reasons(narrow, Written.of(["61"]), own) == ["digits"]
    # What is shown as plausible is no reason, and what is not is one.
    shown = np.array([59.0]), np.array([120.0])
    assert _reasons(narrow, Written.of(["100"]), shown) == ["digits"]
    assert _reasons(narrow, Written.of(["58"]), shown) == ["magnitude"]
    assert REASONS == ("magnitude", "precision", "digits")


def test_findings_point_into_the_text(models: dict[str, NumeralLM]) -> None:
    text = "Volume 1,234.50 ml.\n\n  The fraction is 55 %\nand 007 more.\n\nNothing."
    found = models["combination"].checker.assess(text)
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


def test_findings_know_sign_and_power(models: dict[str, NumeralLM]) -> None:
    text = "A change of −2.5 × 10^3.\n\nA volume of 140 to 150 ml."
    found = models["mog"].checker.assess(text, 0.05)
    assert [f.numeral for f in found] == ["2.5", "10", "3", "140", "150"]
    assert [(f.sign, f.power) for f in found] == [(-1, 3), (1, 0), (1, 0), (1, 0), (1, 0)]
    assert found[0].record()["sign"] == -1


def test_paragraphs_do_not_see_each_other(models: dict[str, NumeralLM]) -> None:
    """And a paragraph of a text is read as the same text alone."""
    lm = models["combination"]
    first, second = "The fraction is 55 %.", "The volume is 140 ml."
    both = lm.checker.assess(f"{first}\n \n{second}")
    apart = [*lm.checker.assess(first), *lm.checker.assess(second)]
    for together, alone in zip(both, apart, strict=True):
        assert together.surprisal == pytest.approx(alone.surprisal, rel=1e-4)


def test_the_most_likely_is_searched_where_something_is_flagged(
    models: dict[str, NumeralLM],
) -> None:
    lm = models["combination"]
    text = "The ejection fraction is 123456789.123 %."
    (finding,) = lm.check(text)
    assert finding.flagged
    assert finding.reason in {"magnitude", "precision"}
    assert finding.likely == lm.predict("The ejection fraction is").top(1)[0][0]
    assert finding.percentile == 1
    shown = lm.predict("The ejection fraction is").interval(LEVEL, calibrated=True)
    assert finding.interval == shown


def test_what_is_odd_but_not_flagged_is_named(models: dict[str, NumeralLM], dataset: Path) -> None:
    lm = models["combination"]
    split = Dataset.open(dataset).split("test").read(["text"])["text"].to_pylist()
    text = "\n\n".join(split[:8])
    strict = lm.checker.sift(text, lm.checker.calibration.finest)
    glances = lm.checker.glance(text, lm.checker.calibration.finest)
    odd = [g for g in glances if not g.flagged and g.plausibility < UNUSUAL]
    assert odd, "something is unusual"
    assert strict.unusual == sorted(odd, key=lambda glance: (glance.plausibility, glance.start))
    assert not {g.start for g in odd} & {finding.start for finding in strict}
    assert f"unusual: {strict.unusual[0].written}" in repr(strict)


@pytest.mark.parametrize("text", ["", " \n\n ", "no numeral at all"])
def test_a_text_without_numerals_has_no_findings(models: dict[str, NumeralLM], text: str) -> None:
    assert models["mog"].checker.assess(text) == []
    assert models["mog"].check(text) == []


def test_the_plausible_range_is_central() -> None:
    assert 0 < LEVEL < 1


@pytest.mark.parametrize("name", paper_heads())
def test_a_glance_sees_what_an_assessment_sees(models: dict[str, NumeralLM], name: str) -> None:
    text = "LV ejection fraction is 612%.\n\nNo numeral.\n\nVolumes of 1,150 and 57.5 mL."
    glances = models[name].checker.glance(text, 0.1)
    findings = models[name].checker.assess(text, 0.1)
    assert [text[glance.start : glance.end] for glance in glances] == ["612", "1,150", "57.5"]
    for glance, finding in zip(glances, findings, strict=True):
        assert asdict(glance).items() <= finding.record().items()
    assert models[name].checker.glance("") == []


@pytest.mark.parametrize("name", paper_heads())
def test_the_reason_at_one_place_is_that_of_the_assessment(
    models: dict[str, NumeralLM], name: str
) -> None:
    text = " 7 is first.\n\nLV ejection fraction is 612%.\n\nVolumes of 1,150 and 57.53 mL."
    reasons = {finding.start: finding.reason for finding in models[name].checker.assess(text)}
    assert len(reasons) == 4
    judged = {place: models[name].checker.judge_at(text, place) for place in range(len(text))}
    assert {place: pair[1] for place, pair in judged.items() if pair} == reasons


def test_checking_finds_what_an_assessment_flags_without_looking_at_the_rest(
    models: dict[str, NumeralLM], monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = models["combination"]
    text = "the patient is 54 years old.\n\nheight 98765.4321 cm, weight 0.00001 kg, 172 cm."
    expected = [found for found in lm.checker.assess(text, 0.2, search=True) if found.flagged]
    assert 0 < len(expected) < 4
    asked, table = [], type(lm).log_prob_table  # of the grid's candidates

    def counted(model: NumeralLM, context: Context, numerals: NumeralTable) -> np.ndarray:
        asked.append(len(context))
        return table(model, context, numerals)

    monkeypatch.setattr(type(lm), "log_prob_table", counted)
    assert lm.check(text, 0.2) == expected
    assert asked == [1] * len(expected)
    found = lm.checker.sift(text, 0.2)
    assert (list(found), found.numerals) == (expected, 4)
