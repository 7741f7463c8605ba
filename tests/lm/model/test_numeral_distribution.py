"""What people ask of a distribution, against sums over its numerals."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice

import numpy as np
import pytest

from numerate.errors import NumerateError
from numerate.lm.data.numeral_table import END, SYMBOL_COUNT, SYMBOLS, NumeralTable
from numerate.lm.heads.digit_tree import DigitTree
from numerate.lm.heads.known_numerals import KnownNumerals
from numerate.lm.model.numeral_distribution import NumeralDistribution
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.numeral import is_numeral

TEXT = "the ejection fraction is"
KINDS = ("softmax", "h-softmax+rnn", "d-rnn", "mog", "combination")  # of distributions


def of(chances: dict[str, float]) -> NumeralDistribution:
    """A distribution that is known by heart."""
    log_probs = np.log(list(chances.values()))
    scores = dict(zip(chances, log_probs, strict=True))
    return NumeralDistribution(
        KnownNumerals(list(chances), log_probs),
        lambda table: np.array([scores.get(text, -np.inf) for text in table.texts]),
        NumeralTable(list(chances)),
        {},
    )


def test_a_small_distribution_by_hand() -> None:
    found = of({"2": 0.3, "2.0": 0.2, "7.5": 0.4, "100": 0.1})
    assert found.top(2) == [("7.5", pytest.approx(0.4)), ("2", pytest.approx(0.3))]
    assert found.median() == 2.0
    assert found.cdf(2) == pytest.approx(0.5)
    assert found.cdf(1.99) == 0
    assert found.cdf(7.5) == pytest.approx(0.9)
    assert found.interval(0.9) == (2.0, 100.0)
    assert found.interval(0.5) == (2.0, 7.5)
    assert found.quantile(0.9) == 7.5
    assert found.prob("2.0") == pytest.approx(0.2)
    assert found.prob(2) == pytest.approx(0.3)
    assert found.unnamed == pytest.approx(0)


class Script:
    """A writer of a few numerals with these chances: a prefix is followed as they go on."""

    def __init__(self, chances: dict[str, float]) -> None:
        self.chances = chances

    def start(self) -> tuple[str, np.ndarray]:
        return "", self._following("")

    def write(self, states: Sequence[str], symbols: Sequence[int]) -> tuple[list[str], np.ndarray]:
        prefixes = [s + SYMBOLS[x] for s, x in zip(states, symbols, strict=True)]
        return prefixes, np.stack([self._following(prefix) for prefix in prefixes])

    def _following(self, prefix: str) -> np.ndarray:
        found = np.zeros(SYMBOL_COUNT)
        for text, chance in self.chances.items():
            if text == prefix:
                found[END] += chance
            elif text.startswith(prefix):
                found[SYMBOLS.index(text[len(prefix)])] += chance
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(found / max(found.sum(), 1e-300)))


def written(chances: dict[str, float]) -> NumeralDistribution:
    """What a network that writes digits knows of them."""
    return NumeralDistribution(DigitTree(Script(chances)), of(chances)._score, NumeralTable(()), {})


@pytest.mark.parametrize("text", ["152.7", "12345678901", "0.000123456789", "1.0000000001"])
def test_an_interval_has_the_number_that_is_certain(text: str) -> None:
    """Of a known numeral and of one that is written digit by digit."""
    for found in (of({text: 1.0}), written({text: 1.0})):
        number = float(text)
        assert found.interval(0.9) == (number, number)
        assert found.median() == number
        assert found.cdf(number) == pytest.approx(1)
        assert found.cdf(number * (1 - 1e-11)) == 0


def test_ends_that_are_round_but_for_round_off_are_round() -> None:
    """A law's distribution function may reach a level a hair before the border of a bin."""

    class Hairy(KnownNumerals):
        def mass_up_to(self, numbers: np.ndarray) -> np.ndarray:
            return np.where(numbers >= 924.999999999991, 0.95, np.where(numbers >= 4, 0.05, 0.0))

    hairy = Hairy(["4"], np.zeros(1))
    found = NumeralDistribution(hairy, of({"4": 1.0})._score, NumeralTable(()), {})
    assert found.interval(0.9) == (4, 925)


def test_the_distribution_function_of_digits_is_that_of_a_sum() -> None:
    chances = {"152.7": 0.5, "152.75": 0.25, "1.04": 0.2, "152": 0.05}
    found = written(chances)
    for text in chances:
        expected = sum(p for other, p in chances.items() if float(other) <= float(text))
        assert found.cdf(float(text)) == pytest.approx(expected)
    assert found.interval(0.8) == (1.04, 152.75)
    assert found.median() == 152.7


@pytest.mark.parametrize("level", [0.3, 0.9])
def test_an_interval_holds_what_it_says(level: float) -> None:
    """Also where no numeral has noticeable mass, and its end is that of a range; by enumeration."""
    texts = [f"{n / 1000:.3f}" for n in range(150_000, 153_000)]
    found = written(dict.fromkeys(texts, 1 / len(texts)))
    low, high = found.interval(level)
    values = np.array(texts, dtype=float)
    inside = ((values >= low) & (values <= high)).mean()
    assert level - found.unresolved - 1e-9 <= inside
    assert high <= np.quantile(values, (1 + level) / 2) * 1.01


def test_what_cannot_be_named_is_left_out_of_numbers() -> None:
    found = of({"1": 0.3, "3": 0.1})
    assert found.unnamed == pytest.approx(0.6)
    assert found.cdf(1) == pytest.approx(0.75)
    assert set(found.sample(50)) == {"1", "3"}


@pytest.mark.parametrize("name", KINDS)
def test_numbers_agree_with_the_numerals(models: dict[str, NumeralLM], name: str) -> None:
    """The mass of the best numerals bounds the distribution function on both sides."""
    found = models[name].predict(TEXT)
    best = list(islice(found._numerals.stream(), 800))
    values = np.array([float(text) for text, _ in best])
    chances = np.exp([log_prob for _, log_prob in best]) / found._numerals.total
    rest = 1 - chances.sum()
    for number in (0, 1, 30, 55.5, 80, 200):
        below = chances[values <= number].sum()
        assert below - 1e-5 <= found.cdf(number) <= below + rest + found.unresolved + 1e-5
    assert found.cdf(1e33) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("name", KINDS)
def test_quantiles_turn_the_distribution_function_round(
    models: dict[str, NumeralLM], name: str
) -> None:
    found = models[name].predict(TEXT)
    for q in (0.05, 0.5, 0.95):
        number = found.quantile(q)
        assert found.cdf(number) >= q - 1e-9
        assert found.cdf(number * (1 - 1e-7)) < q or number == 0
    low, high = found.interval(0.9)
    assert low <= found.median() <= high


@pytest.mark.parametrize("name", KINDS)
def test_samples_are_numerals_and_follow_the_model(models: dict[str, NumeralLM], name: str) -> None:
    """The share of a numeral among draws, to 5 standard deviations."""
    found = models[name].predict(TEXT)
    drawn = found.sample(2000, seed=3)
    assert drawn == found.sample(2000, seed=3)
    assert drawn != found.sample(2000, seed=4)
    assert all(is_numeral(text) for text in drawn)
    counts = Counter(drawn)
    for text, p in found.top(3):
        share = p / (1 - found.unnamed)
        assert abs(counts[text] / 2000 - share) < 5 * np.sqrt(share / 2000)
    median = np.median([float(text) for text in drawn])
    assert found.cdf(float(median)) > 0.4
    assert found.cdf(float(median) * 0.999) < 0.6


@pytest.mark.parametrize("name", ["combination", "softmax"])
def test_a_curve_has_what_a_drawing_needs(models: dict[str, NumeralLM], name: str) -> None:
    found = models[name].predict(TEXT)
    curve = found.curve()
    assert (np.diff(curve.values) >= 0).all()
    assert len(curve.numerals) == len(curve.values) == len(curve.probabilities)
    best, p = found.top(1)[0]
    index = curve.numerals.index(best)
    assert curve.probabilities[index] == pytest.approx(p, rel=1e-4)
    assert curve.decimals[index] == len(best.partition(".")[2])
    figure = found.plot()
    axes = figure.axes[0]
    assert "probability" in axes.get_ylabel()
    assert any("decimal" in text.get_text() for text in axes.get_legend().get_texts())


def test_bad_questions_get_one_line() -> None:
    found = of({"1": 1.0})
    for ask, message in (
        (lambda: found.prob("-3"), "not a numeral: got '-3'"),
        (lambda: found.prob("many"), "not a numeral"),
        (lambda: found.top(0), "number of numerals: got 0"),
        (lambda: found.interval(1.5), "level: got 1.5, expected between 0 and 1"),
        (lambda: found.quantile(0), "quantile: got 0"),
        (lambda: found.sample(-1), "number of samples: got -1"),
    ):
        with pytest.raises(NumerateError, match=message):
            ask()


def test_nothing_known_is_said() -> None:
    nothing = KnownNumerals([], np.zeros(0))
    found = NumeralDistribution(nothing, lambda table: np.zeros(0), NumeralTable([]), {})
    with pytest.raises(NumerateError, match="nothing to draw from"):
        found.sample(3)
    with pytest.raises(NumerateError, match="no number to expect"):
        found.median()
    assert found.top(3) == []
    assert found.unnamed == 1
