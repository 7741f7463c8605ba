"""Digits from phases: by plain loops, by enumeration, and written from left to right."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.base import Context
from numerate.lm.heads.digit_places import NOTHING, ONES, PLACES, digits_by_place, whole_digits
from numerate.lm.heads.fone import FoNEHead

SIZE = 4
TEXTS = ["0", "7", "10", "90.50", "0.05", "123456789", "1" + "0" * 31, "0." + "1" * 31, "808"]


def make(seed: int = 0, spread: float = 0.6) -> FoNEHead:
    torch.manual_seed(seed)
    head = FoNEHead(SIZE).double()
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.normal_(0, spread)
    return head


def states(count: int) -> torch.Tensor:
    return torch.randn(count, SIZE, generator=torch.Generator().manual_seed(2)).double()


def test_digits_stand_at_their_powers_of_ten() -> None:
    table = NumeralTable(TEXTS)
    digits = digits_by_place(table)
    assert digits.shape == (len(TEXTS), PLACES)
    for text, row in zip(TEXTS, digits, strict=True):
        whole, _, decimals = text.partition(".")
        expected = {ONES - power: int(digit) for power, digit in enumerate(reversed(whole))}
        expected |= {ONES + place: int(digit) for place, digit in enumerate(decimals, 1)}
        assert {place: digit for place, digit in enumerate(row) if digit != NOTHING} == expected
    assert whole_digits(table).tolist() == [len(text.partition(".")[0]) for text in TEXTS]


def test_log_prob_follows_its_equation() -> None:
    head, table, hidden = make(), NumeralTable(TEXTS), states(len(TEXTS))
    with torch.no_grad():
        found = head.log_prob(Context(hidden), table.all()).numpy()
        arrows = head.arrows(hidden).view(len(TEXTS), PLACES, 2).numpy()
        lengths = torch.log_softmax(head.lengths(hidden), 1).numpy()
        decimals = head.precision.log_prob_table(hidden, 31).numpy()
    angles = 2 * np.pi * np.arange(10) / 10
    for row, text in enumerate(TEXTS):
        whole, _, fraction = text.partition(".")
        expected = lengths[row, len(whole) - 1] + decimals[row, len(fraction)]
        for index, digit in enumerate(whole + fraction):
            x, y = arrows[row, ONES - (len(whole) - 1) + index]
            scores = np.exp(x * np.cos(angles) + y * np.sin(angles))
            if index == 0 and len(whole) > 1:
                scores[0] = 0.0
            expected += np.log(scores[int(digit)] / scores.sum())
        assert found[row] == pytest.approx(expected, rel=1e-6)


def test_numerals_of_a_shape_share_its_probability() -> None:
    head, hidden = make(), states(3)
    shapes = {
        (1, 0): [str(n) for n in range(10)],
        (2, 0): [str(n) for n in range(10, 100)],
        (1, 2): [f"{n / 100:.2f}" for n in range(1000)],
        (3, 1): [f"{n / 10:.1f}" for n in range(1000, 10000)],
    }
    with torch.no_grad():
        lengths = torch.softmax(head.lengths(hidden), 1)
        decimals = head.precision.log_prob_table(hidden, 3).exp()
        for (whole, fraction), texts in shapes.items():
            sums = head.log_prob_table(Context(hidden), NumeralTable(texts)).exp().sum(1)
            torch.testing.assert_close(sums, lengths[:, whole - 1] * decimals[:, fraction])


@pytest.mark.parametrize("seed", range(3))
def test_written_from_left_to_right_it_is_the_same(
    seed: int, assert_best_first: Callable[..., None]
) -> None:
    head, place = make(seed, spread=1.5), Context(states(1))
    with torch.no_grad():  # short numerals are likely, so that all that matter can be listed
        head.lengths.weight.zero_()
        head.lengths.bias.copy_(-3.0 * torch.arange(32))
        head.precision.end.abs_()
        head.precision.lstm.bias_ih_l0[2 * SIZE :] += 5  # cells and outputs are positive

    def score(texts: list[str]) -> np.ndarray:
        with torch.no_grad():
            found: np.ndarray = head.log_prob_table(place, NumeralTable(texts))[0].numpy()
        return found

    texts = [str(n) for n in range(1000)] + [f"{n / 10:.1f}" for n in range(1000)]
    log_probs = score(texts)
    beyond = 1 - np.exp(log_probs).sum()
    found = head.next_numeral(place)
    assert_best_first(found, texts, score, beyond=beyond, at_least=1, tolerance=1e-9)
    values = np.array([float(text) for text in texts])
    for number in (0.0, 0.5, 9.0, 55.0):
        below = np.exp(log_probs[values <= number]).sum()
        assert below - 0.01 <= float(found.mass_up_to(np.array([number]))[0]) <= below + beyond
