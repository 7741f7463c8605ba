"""Bins: all numerals of a power of ten are alike, or as usual as their first two digits."""

import numpy as np
import pytest
import torch

from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.base import Context, HeadOptions, TrainingNumerals
from numerate.lm.heads.bins import BinsHead, LearnedBinsHead
from numerate.lm.heads.decades import DECADES
from numerate.numeral import MAX_DIGITS

SIZE = 4
NUMERALS = TrainingNumerals.of(["0", "7", "12", "12", "340"])


def test_numerals_of_a_bin_are_alike() -> None:
    head = BinsHead.fit(NUMERALS, SIZE, HeadOptions()).requires_grad_(False)
    chances = head.law(torch.zeros(1, SIZE)).log_chances[0].exp()
    inside = NumeralTable([str(n) for n in range(11, 100)])
    masses = head.law(torch.zeros(1, SIZE)).log_mass(*inside.intervals()).exp()
    assert float(chances[2 + MAX_DIGITS]) == pytest.approx(3 / (5 + 1 + DECADES))
    expected = chances[2 + MAX_DIGITS].expand(len(inside)) / 90
    torch.testing.assert_close(masses, expected)
    # Half of the cell of 10 is of the bin before, in which units are ten times as wide a part.
    ten = head.law(torch.zeros(1, SIZE)).log_mass(*NumeralTable(["10"]).intervals()).exp()
    halves = chances[1 + MAX_DIGITS] / 9 / 2 + chances[2 + MAX_DIGITS] / 90 / 2
    assert float(ten) == pytest.approx(float(halves))


def test_a_learned_density_is_a_histogram() -> None:
    """By counting: cells of thousandths, each of which lies in one part."""
    torch.manual_seed(1)
    head = LearnedBinsHead.fit(NUMERALS, SIZE, HeadOptions())
    with torch.no_grad():
        head.usual.normal_()
        law = head.law(torch.zeros(1, SIZE))
    shares = law.log_shares[MAX_DIGITS].exp().numpy()  # of 1 to 10
    chance = float(law.log_chances[0, 1 + MAX_DIGITS].exp())
    points = np.arange(1000, 10000) + 0.5  # middles of thousandths
    density = chance * shares[(points // 100).astype(int) - 10] / 100
    for text in ["2", "1.1", "1.15", "1.149", "5.0", "9.99", "3.25"]:
        precision = len(text.partition(".")[2])
        low, high = (1000 * (float(text) + sign * 0.5 * 10.0**-precision) for sign in (-1, 1))
        overlap = np.clip(np.minimum(points + 0.5, high) - np.maximum(points - 0.5, low), 0, 1)
        mass = float(law.log_mass(*NumeralTable([text]).intervals()).exp())
        assert mass == pytest.approx(float(overlap @ density), rel=1e-9), text


def test_narrow_cells_keep_their_digits() -> None:
    head = LearnedBinsHead.fit(NUMERALS, SIZE, HeadOptions()).requires_grad_(False)
    law = head.law(torch.zeros(1, SIZE))
    for text in ["1." + "0" * 31, "1.1" + "0" * 30, "1" + "0" * 31, "9" * 32]:
        table = NumeralTable([text])
        value, half = (float(part) for part in table.intervals())
        decade = min(int(np.floor(np.log10(value) + 1e-9)), MAX_DIGITS - 1)
        first = float(text.replace(".", "").rstrip("0") or 0) == 1
        expected = np.log(2 * half / (9 * 10.0**decade))
        expected += float(law.log_chances[0, 1 + MAX_DIGITS + decade])
        found = float(law.log_mass(*table.intervals()))
        if first:  # half of it is of the bin before
            before = float(law.log_chances[0, MAX_DIGITS + decade])
            other = expected - float(law.log_chances[0, 1 + MAX_DIGITS + decade]) + before
            expected = np.logaddexp(expected, other + np.log(10)) - np.log(2)
        assert found == pytest.approx(expected, abs=1e-9), text


def test_only_the_learned_density_learns() -> None:
    table = NumeralTable(["12", "13", "77"])
    flat, learned = (
        kind.fit(NUMERALS, SIZE, HeadOptions()) for kind in (BinsHead, LearnedBinsHead)
    )
    assert "usual" not in dict(flat.named_parameters())
    learned.log_prob(Context(torch.zeros(3, SIZE)), table.all()).sum().backward()
    gradient = learned.usual.grad
    assert gradient is not None
    assert gradient[MAX_DIGITS + 1].abs().max() > 0
    assert gradient[MAX_DIGITS + 3].abs().max() == 0
