"""One finding for one numeral, with all the evidence and one probability."""

import math

import pytest
from tests.lm.model.plausibility.test_domain import PROSE
from tests.proofread.papers import RIGHT, TABLE, WRONG, FakeDetector

import numerate
from numerate.detector.scored import ERROR_RATE, PRIOR
from numerate.documents.pipe_tables import pipe_tables
from numerate.documents.text import read_text
from numerate.errors import NumerateError
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.proofread.model_evidence import (
    MOST_CERTAIN,
    log_bound,
    probability_of,
    probability_of_odd,
)
from numerate.proofread.proofread import proofread
from numerate.rules.finding import DETECTED, RECOMPUTED, UNLIKELY
from numerate.rules.rule import RULES

pytest_plugins = ("tests.trained",)


def test_rules_alone_are_as_probable_as_they_are_precise() -> None:
    (found,) = proofread(read_text(WRONG))
    assert (found.code, found.written) == ("NUM301", "0.36")
    assert found.probability == RULES["NUM301"].precision


def test_nothing_is_surer_than_what_can_be_measured() -> None:
    assert probability_of(50.0) == probability_of_odd(0.0) == MOST_CERTAIN
    (found,) = proofread(read_text("Of these, 42 of 120 (53%) smoked."))
    assert found.probability == min(RULES["NUM101"].precision, MOST_CERTAIN)


def test_a_model_that_says_nothing_leaves_the_prior() -> None:
    assert probability_of(PRIOR) == pytest.approx(ERROR_RATE)
    assert probability_of_odd(1.0) == pytest.approx(ERROR_RATE)


def test_a_p_value_multiplies_the_prior_odds() -> None:
    """Against Bayes' rule by hand, with the largest factor that a p-value can be worth."""
    p = 1e-3
    odds = ERROR_RATE / (1 - ERROR_RATE) / (-math.e * p * math.log(p))
    assert probability_of_odd(p) == pytest.approx(odds / (1 + odds))


@pytest.mark.parametrize("p", [1e-6, 0.01, 0.3, 1 / math.e, 0.5, 1.0])
def test_a_p_value_never_speaks_for_an_error_less_the_smaller_it_is(p: float) -> None:
    assert log_bound(p) >= log_bound(min(1.0, 1.1 * p)) >= 0


def test_a_detector_and_a_rule_that_mean_the_same_numeral_are_one_finding() -> None:
    detector = FakeDetector(_0_36=2.0)
    (found,) = proofread(read_text(WRONG), models=[detector])
    assert found.kinds == (RECOMPUTED, DETECTED)
    assert found.codes == ("NUM301", "NUM800")
    assert found.message.startswith("p = 0.36 does not follow")
    assert found.evidence[-1].said == "fake: odds of 7.4 to 1 that it is an error"
    assert found.probability == pytest.approx(1 / (1 + math.exp(-2.0)))
    assert found.probability > RULES["NUM301"].precision


@pytest.mark.parametrize("detector", [FakeDetector(), FakeDetector(_0_36=1.0, _2_20=-4.0)])
def test_the_higher_probability_counts(detector: FakeDetector) -> None:
    """A detector that is less sure than the rule, or that takes the numeral for right, does not
    make the finding less probable."""
    (found,) = proofread(read_text(WRONG), models=[detector])
    assert found.probability == RULES["NUM301"].precision


def test_what_a_detector_says_of_an_involved_numeral_joins_the_statement() -> None:
    (found,) = proofread(read_text(WRONG), models=[FakeDetector(_2_20=2.0)])
    assert found.written == "0.36"
    assert found.kinds == (RECOMPUTED, DETECTED)
    assert found.evidence[-1].said.startswith("2.20: fake")
    assert found.probability == pytest.approx(1 / (1 + math.exp(-2.0)))


def test_what_only_a_detector_finds_is_its_own_finding() -> None:
    text = f"{RIGHT} They were 61 and 7."
    first, second = proofread(read_text(text), models=[FakeDetector(_61=1.0, _7=3.0)])
    assert [(f.code, f.written) for f in (first, second)] == [("NUM800", "7"), ("NUM800", "61")]
    assert first.probability == pytest.approx(1 / (1 + math.exp(-3.0)))
    assert not proofread(read_text(text), models=[FakeDetector(_61=1.0)], ignore=["NUM8"])


def test_a_detector_is_not_heard_on_digits_of_an_address() -> None:
    document = read_text("The article (10.1186/s13031-018) is about 12 of 40 patients.")
    found = proofread(document, models=[FakeDetector(_10_1186=3.0, _12=3.0)])
    assert [finding.written for finding in found] == ["12"]


def test_fewer_alarms_than_a_detector_was_calibrated_for_are_refused() -> None:
    detector = FakeDetector(_0_36=2.0)
    said = "alarms: got 0.0004, expected at least 0.0005: the detector fake was calibrated on 1999"
    with pytest.raises(NumerateError, match=said):
        proofread(read_text(WRONG), models=[detector], alarms=0.0004)
    proofread(read_text(WRONG), models=[detector], alarms=0.0005)
    detector.finest_alarms = 0.02  # who names none gets what it allows
    (found,) = numerate.check(WRONG, detector)
    assert found.kinds == (RECOMPUTED, DETECTED)


def test_a_language_model_shares_a_finding(
    models: dict[str, NumeralLM],
) -> None:
    text = "The ejection fraction is 123456789.123 %."
    found = proofread(read_text(text), models=[models["combination"]], alarms=0.05)
    (one,) = found
    assert (one.code, one.written, one.kinds) == ("NUM900", "123456789.123", (UNLIKELY,))
    assert "is implausible here" in one.message or "odd to this model" in one.message
    assert text[slice(*found.read.span(one.where))] == "123456789.123"
    both = proofread(
        read_text(text),
        models=[models["combination"], FakeDetector(_123456789_123=2.0)],
        alarms=0.05,
    )
    (shared,) = both
    assert shared.codes == ("NUM900", "NUM800")
    assert shared.probability == max(one.probability, probability_of(2.0))


def test_places_of_a_language_model_are_those_of_the_paragraph(
    models: dict[str, NumeralLM],
) -> None:
    text = "First.\n\nThe   ejection\nfraction is\n  123456789.123 %."
    found = proofread(read_text(text), models=[models["combination"]], alarms=0.05)
    (one,) = found
    assert one.where.paragraph == 1
    assert found.read.text(one.where) == "123456789.123"
    place = found.read.place(one.where)
    assert (place.line, place.column) == (5, 3)


def test_tables_that_a_model_cannot_see_are_for_the_rules(models: dict[str, NumeralLM]) -> None:
    tables = list(pipe_tables(TABLE))
    found = proofread(read_text(RIGHT), tables, [models["mog"]])
    assert [one.where.table for one in found if one.code == "NUM301"] == [0]


@pytest.mark.parametrize("code", ["NUM7", "nonsense", ""])
def test_a_code_that_is_none(code: str) -> None:
    with pytest.raises(NumerateError, match="expected a code or its beginning"):
        proofread(read_text(RIGHT), select=[code])


def test_a_model_that_does_not_fit_the_text_does_not_count(models: dict[str, NumeralLM]) -> None:
    """What it finds odd is told, but nobody knows what it is worth."""
    text = f"{PROSE} {WRONG}"
    found = proofread(read_text(text), models=[models["combination"]], alarms=0.2)
    assert not found.fits[0].calibrated
    assert {"NUM301", "NUM900"} == {one.code for one in found}
    for one in found:
        expected = RULES["NUM301"].precision if one.code == "NUM301" else ERROR_RATE
        assert one.probability == pytest.approx(expected)


def test_who_waits_for_several_models_is_told_how_far_it_is(models: dict[str, NumeralLM]) -> None:
    told: list[int] = []
    document = read_text("It is 5.\n\nIt is 7.")
    proofread(document, models=[models["mog"], models["combination"]], progress=told.append)
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0, 4)
    told.clear()
    proofread(document, models=[FakeDetector(), FakeDetector()], progress=told.append)
    assert told == [2, 4]
