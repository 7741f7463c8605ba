"""Digit distributions of a digit RNN against numerals enumerated one by one."""

import itertools

import numpy as np
import pytest
import torch

from numerate.lm.data.numeral_table import SYMBOLS, NumeralTable
from numerate.lm.heads.base import Context
from numerate.lm.heads.digit_rnn import DigitRNNHead
from numerate.lm.inspect import digit_mass as module
from numerate.lm.inspect.digit_laws import significant_digits
from numerate.lm.inspect.digit_mass import digit_mass
from numerate.numeral import count_digits, is_numeral

SIZE, CONTEXTS, MOST = 5, 3, 4


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


@pytest.fixture(scope="module")
def every_numeral(head: DigitRNNHead, hidden: torch.Tensor) -> dict[str, float]:
    """Mean probability of each numeral of at most four digits, from the head that is trained."""
    strings = (
        "".join(symbols)
        for length in range(1, MOST + 2)
        for symbols in itertools.product(SYMBOLS, repeat=length)
    )
    texts = [text for text in strings if is_numeral(text) and count_digits(text) <= MOST]
    assert len(texts) > 30_000
    with torch.no_grad():
        table = head.log_prob_table(Context(hidden), NumeralTable(texts)).double().exp()
    return dict(zip(texts, table.mean(0).tolist(), strict=True))


def counted(numerals: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """Digits and endings, read off the texts."""
    digits, ended = np.zeros((3, 10)), np.zeros(3)
    for text, probability in numerals.items():
        found = significant_digits(text)
        for place, digit in enumerate(found[:3]):
            digits[place, int(digit)] += probability
        if len(found) < 3:
            ended[len(found)] += probability
    return digits, ended


def test_where_numerals_are_finitely_many_all_is_exact(
    head: DigitRNNHead,
    hidden: torch.Tensor,
    every_numeral: dict[str, float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is not a numeral of at most four digits is malformed: `1..2`, `1.`, `007`, `12345`."""
    monkeypatch.setattr(module, "MAX_DIGITS", MOST)
    monkeypatch.setattr(module, "NEGLIGIBLE", 0.0)
    monkeypatch.setattr(module, "MOST_FOLLOWED", 12**5)
    found = digit_mass(head, hidden)
    digits, ended = counted(every_numeral)
    np.testing.assert_allclose(found.digits, digits, rtol=1e-5)
    np.testing.assert_allclose(found.ended, ended, rtol=1e-5)
    assert found.malformed == pytest.approx(1 - sum(every_numeral.values()), rel=1e-5)
    assert found.undecided == 0


@pytest.mark.parametrize("negligible", [1e-3, 1e-5])
def test_no_figure_is_wrong_by_more_than_what_is_undecided(
    head: DigitRNNHead,
    hidden: torch.Tensor,
    every_numeral: dict[str, float],
    monkeypatch: pytest.MonkeyPatch,
    negligible: float,
) -> None:
    monkeypatch.setattr(module, "NEGLIGIBLE", negligible)
    found = digit_mass(head, hidden)
    assert 0 < found.undecided < 1
    total = found.ended.sum() + found.digits[-1].sum() + found.malformed + found.undecided
    assert total == pytest.approx(1, abs=1e-6)
    digits, ended = counted(every_numeral)  # of more digits there are more
    assert (found.digits >= digits - found.undecided - 1e-9).all()
    assert (found.ended >= ended - found.undecided - 1e-9).all()


def test_where_all_symbols_are_equally_likely_one_can_count(
    head: DigitRNNHead, hidden: torch.Tensor
) -> None:
    even = DigitRNNHead(SIZE)
    even.load_state_dict(head.state_dict())
    with torch.no_grad():
        even.outputs *= 0
    found = digit_mass(even, hidden)
    # Malformed are an end or a point at once (2 of 12), a digit after 0 (10 of 144), and more.
    assert found.malformed > 2 / 12 + 10 / 144
    # Of one significant digit are 1 to 9, and 0.n, 0.0n, …, each 1/12 as likely as the one before.
    one = 9 / 12**2 + 9 / 12**4 * (1 + 1 / 12 + 1 / 144 + 1 / 1728)
    assert found.ended[1] == pytest.approx(one, abs=1e-5)


def test_many_contexts_are_the_mean_of_single_ones(
    head: DigitRNNHead, hidden: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "NEGLIGIBLE", 1e-4)
    monkeypatch.setattr(module, "MOST_FOLLOWED", 12**5)  # of all contexts together
    whole = digit_mass(head, hidden)
    monkeypatch.setattr(module, "CONTEXTS_AT_ONCE", 2)
    np.testing.assert_allclose(digit_mass(head, hidden).digits, whole.digits, atol=1e-9)


def test_no_more_beginnings_are_followed_than_there_is_time_for(
    head: DigitRNNHead, hidden: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left out is said to be undecided."""
    widest = 0
    write = head.write

    def counting(hidden: torch.Tensor, *rest: torch.Tensor) -> tuple[torch.Tensor, ...]:
        nonlocal widest
        widest = max(widest, len(hidden))
        return write(hidden, *rest)

    monkeypatch.setattr(head, "write", counting)
    monkeypatch.setattr(module, "MOST_FOLLOWED", 50)
    few = digit_mass(head, hidden)
    assert 100 < widest <= 50 * CONTEXTS + 1
    total = few.ended.sum() + few.digits[-1].sum() + few.malformed + few.undecided
    assert total == pytest.approx(1, abs=1e-6)
