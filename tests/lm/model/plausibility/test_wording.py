"""What is said of a numeral is a sentence for people, and true."""

import pytest

from numerate.lm.model.assessments import REASONS, Assessment
from numerate.lm.model.domain import Compared, Fit
from numerate.lm.model.wording import explain, for_people, level_of, misfit, share, what_is_odd

FITS = Fit({"unknown_words": Compared(0.03, 0.03, 0.1)})
UNFIT = Fit({"unknown_words": Compared(0.41, 0.03, 0.1)})


def finding(numeral: str, reason: str, plausibility: float, *, likely: str = "61") -> Assessment:
    return Assessment(
        start=0,
        end=len(numeral),
        numeral=numeral,
        written=numeral,
        surprisal=12.9,
        percentile=0.973,
        interval=(24.0, 76.0),
        likely=likely,
        reason=reason,
        plausibility=plausibility,
        flagged=plausibility <= 0.01,
    )


@pytest.mark.parametrize(
    ("numeral", "reason", "said"),
    [
        ("612", "magnitude", "it is far larger than expected"),
        ("80", "magnitude", "it is larger than expected"),
        ("20", "magnitude", "it is smaller than expected"),
        ("8", "magnitude", "it is far smaller than expected"),
        ("0", "magnitude", "it is far smaller than expected"),
        ("70", "magnitude", "numbers of about this size are rare"),
        ("61", "precision", "it is rarely written without decimals"),
        ("61.2", "precision", "it is rarely written with 1 decimal"),
        ("61.250", "precision", "it is rarely written with 3 decimals"),
        ("57", "digits", "its size is usual, but this very number is rare"),
    ],
)
def test_what_is_odd(numeral: str, reason: str, said: str) -> None:
    assert what_is_odd(numeral, reason, (24.0, 76.0)) == said
    usual = "Usual: 24 to 76, most likely 60."
    assert explain(finding(numeral, reason, 0.005, likely="60"), FITS) == (
        f"{numeral} is implausible here: {said}. {usual}"
    )
    assert explain(finding(numeral, reason, 0.05, likely="60"), FITS) == (
        f"{numeral} is unusual here: {said}. {usual}"
    )


@pytest.mark.parametrize("reason", REASONS)
def test_what_is_plausible_is_not_odd(reason: str) -> None:
    found = finding("61", reason, 0.6)
    assert level_of(found) == "plausible"
    assert explain(found, FITS) == "61 is plausible here. Usual: 24 to 76."


def test_a_model_that_does_not_fit_promises_nothing() -> None:
    assert explain(finding("612", "magnitude", 0.005), UNFIT) == (
        "612 is very odd to this model: it is far larger than expected. "
        "Usual: 24 to 76, most likely 61."
    )
    said = [explain(finding("61", "digits", p), UNFIT) for p in (0.005, 0.05, 0.6)]
    assert not any("plausible" in sentence for sentence in said)


def test_what_differs_is_said_in_one_line() -> None:
    traits = {
        "unknown_words": Compared(0.41, 0.03, 0.1),
        "word_surprisal": Compared(6.7, 4.16, 5.0),
        "strangeness": Compared(6.0, -0.4, 1.0),
    }
    assert misfit("a.txt", Fit(traits)) == (
        "a.txt is unlike what the model was trained on: 41 % of its words are unknown to the "
        "model, 3 % are usual; its words surprise the model (perplexity 810, 64 is usual); its "
        "numbers surprise the model (strangeness 6.0, -0.4 is usual). Findings are uncalibrated."
    )
    traits["word_surprisal"] = traits["strangeness"] = Compared(1.0, 1.0, 1.5)
    assert misfit("a.txt", Fit(traits)).count(";") == 0


def test_numbers_for_people() -> None:
    numbers = [0.0, 0.05, 1.7512345, 61.0, 12345.6, 123456789.0, float("inf"), 0.00001]
    expected = ["0", "0.05", "1.751", "61", "12,346", "1.23e+08", "inf", "1e-05"]
    assert [for_people(number) for number in numbers] == expected


def test_shares_for_people() -> None:
    assert share(1 / 640) == "1 in 640"
    assert share(0.6) == "60 in 100"
