"""Exact digit distributions of a digit RNN against strings enumerated one by one."""

import itertools

import numpy as np
import pytest
import torch

from numerate.analysis import digit_mass as module
from numerate.analysis.digit_laws import significant_digits
from numerate.analysis.digit_mass import DigitMass, digit_mass
from numerate.heads.digit_rnn import DigitRNNHead
from numerate.numeral import is_numeral
from numerate.numeral_table import END, SYMBOLS, NumeralTable

SIZE, CONTEXTS, ZEROS = 5, 3, 4
DIGITS = "0123456789"
State = tuple[torch.Tensor, torch.Tensor]


@pytest.fixture(scope="module")
def head() -> DigitRNNHead:
    torch.manual_seed(3)
    head = DigitRNNHead(SIZE)
    with torch.no_grad():
        head.outputs *= 3
    return head


@pytest.fixture(scope="module")
def hidden() -> torch.Tensor:
    torch.manual_seed(4)
    return torch.randn(CONTEXTS, SIZE)


class OneByOne:
    """Mean probability that a string begins so: one symbol and one LSTM step at a time."""

    def __init__(self, head: DigitRNNHead, hidden: torch.Tensor) -> None:
        self.head = head
        start = (hidden[None], torch.zeros_like(hidden)[None])
        self.known = {"": self.step(END, start, torch.zeros(len(hidden), dtype=torch.float64))}

    def step(self, symbol: int, state: State, log_prob: torch.Tensor) -> tuple[State, torch.Tensor]:
        """The state after a symbol, and log p of the prefix with each symbol after it."""
        with torch.no_grad():
            inputs = self.head.inputs.weight[symbol].expand(1, len(log_prob), -1)
            output, state = self.head.lstm(inputs, state)
            scores = (output[0] @ self.head.outputs.T).double()
            return state, log_prob[:, None] + torch.log_softmax(scores, dim=1)

    def mass(self, text: str) -> float:
        return float(self.log_prob(text).exp().mean())

    def log_prob(self, text: str) -> torch.Tensor:
        before = text[:-1]
        if before not in self.known:
            log_prob = self.log_prob(before)
            state = self.known[before[:-1]][0]
            self.known[before] = self.step(SYMBOLS.index(before[-1]), state, log_prob)
        return self.known[before][1][:, SYMBOLS.index(text[-1])]


def well_formed(places: int) -> list[str]:
    """Numerals, as far as written, whose last symbol is their `places`-th significant digit."""
    found = []
    for digits in map("".join, itertools.product(DIGITS, repeat=places)):
        if digits[0] != "0":
            found += [digits] + [f"{digits[:cut]}.{digits[cut:]}" for cut in range(1, places)]
            found += [f"0.{'0' * zeros}{digits}" for zeros in range(ZEROS + 1)]
    return found


@pytest.fixture(scope="module")
def mass(head: DigitRNNHead, hidden: torch.Tensor) -> DigitMass:
    return digit_mass(head, hidden)


@pytest.mark.parametrize("places", [1, 2, 3])
def test_digits_are_those_of_all_strings(
    head: DigitRNNHead, hidden: torch.Tensor, mass: DigitMass, places: int
) -> None:
    expected = np.zeros(10)
    strings = OneByOne(head, hidden)
    for text in well_formed(places):
        assert is_numeral(text)
        assert len(significant_digits(text)) == places
        expected[int(text[-1])] += strings.mass(text)
    deeper = strings.mass("0." + "0" * (ZEROS + 1))  # what was not enumerated
    assert deeper < 1e-4
    np.testing.assert_allclose(mass.digits[places - 1], expected, atol=deeper + 1e-6)


@pytest.mark.parametrize("places", [0, 1, 2])
def test_endings_are_the_probabilities_of_numerals(
    head: DigitRNNHead, hidden: torch.Tensor, mass: DigitMass, places: int
) -> None:
    texts = well_formed(places) if places else ["0", *(f"0.{'0' * n}" for n in range(1, ZEROS))]
    with torch.no_grad():
        table = head.log_prob_table(hidden, NumeralTable(texts)).double().exp()
    assert mass.ended[places] == pytest.approx(float(table.sum(1).mean()), abs=2e-4)


def test_nothing_is_lost(mass: DigitMass) -> None:
    assert mass.digits.min() >= 0
    assert 0 < mass.other < 1
    firsts, seconds, thirds = mass.digits.sum(axis=1)
    assert mass.ended[0] + firsts <= 1
    assert mass.ended[1] + seconds <= firsts + 1e-9
    assert mass.ended[2] + thirds <= seconds + 1e-9


def test_many_contexts_are_the_mean_of_single_ones(
    head: DigitRNNHead, hidden: torch.Tensor, mass: DigitMass, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CONTEXTS_AT_ONCE", 2)
    monkeypatch.setattr(module, "NEGLIGIBLE", 1e-9)
    np.testing.assert_allclose(digit_mass(head, hidden).digits, mass.digits, atol=1e-5)
