"""The digit RNN, with its equations in plain loops as the oracle."""

import itertools

import numpy as np
import pytest
import torch
from torch import Tensor

from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads import digit_rnn
from numerate.lm.heads.base import Context
from numerate.lm.heads.digit_rnn import DigitRNNHead
from numerate.lm.heads.recurrent import new_lstm
from numerate.numeral import is_numeral

SIZE = 6
ALPHABET = "0123456789.$"  # the last one ends a numeral; as an input, it starts one
TEXTS = ["7", "12", "2", "2.0", "0.000001", "999999999999", "9" * 32, "0." + "1" * 31, "12.5"]


def make() -> DigitRNNHead:
    torch.manual_seed(5)
    head = DigitRNNHead(SIZE)
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.normal_(0, 0.8)
    return head


def states(count: int) -> Tensor:
    return torch.tanh(torch.randn(count, SIZE, generator=torch.Generator().manual_seed(6)))


class Writer:
    """The head's network one symbol at a time: state, then the probabilities of what follows."""

    def __init__(self, head: DigitRNNHead) -> None:
        self.head = head

    def step(self, symbol: str, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        lstm = self.head.lstm
        gates = (
            lstm.weight_ih_l0.double() @ self.head.inputs.weight[ALPHABET.index(symbol)].double()
        )
        gates = gates + lstm.weight_hh_l0.double() @ hidden
        gates = gates + lstm.bias_ih_l0.double() + lstm.bias_hh_l0.double()
        i, f, g, o = gates.chunk(4)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
        hidden = torch.sigmoid(o) * torch.tanh(cell)
        scores = self.head.outputs.double() @ hidden
        return hidden, cell, scores.exp() / scores.exp().sum()

    def log_prob(self, start: Tensor, text: str) -> Tensor:
        hidden, cell = start.double(), torch.zeros(SIZE, dtype=torch.float64)
        total = torch.zeros((), dtype=torch.float64)
        for previous, symbol in itertools.pairwise("$" + text + "$"):
            hidden, cell, following = self.step(previous, hidden, cell)
            total = total + following[ALPHABET.index(symbol)].log()
        return total


def test_log_prob_follows_its_equations() -> None:
    head, table = make(), NumeralTable(TEXTS)
    hidden = states(len(TEXTS)).requires_grad_()
    writer = Writer(head)
    expected = torch.stack(
        [writer.log_prob(state, text) for state, text in zip(hidden, TEXTS, strict=True)]
    )
    actual = head.log_prob(Context(hidden), table.all()).double()
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5)
    upstream = torch.linspace(-1, 2, len(TEXTS), dtype=torch.float64)
    variables = [hidden, *head.parameters()]
    torch.testing.assert_close(
        torch.autograd.grad(actual @ upstream, variables),
        torch.autograd.grad(expected @ upstream, variables),
        rtol=1e-3,
        atol=1e-4,
    )


def test_the_alphabet_is_ten_digits_the_point_and_the_end() -> None:
    assert make().outputs.shape[0] == len(ALPHABET) == 12


@torch.no_grad()
def test_all_that_can_be_written_sums_to_one_at_every_step() -> None:
    """By brute force over the tree of strings, of which the numerals are a part."""
    head, start, deepest = make(), states(1)[0], 3
    writer = Writer(head)
    zero = torch.zeros(SIZE, dtype=torch.float64)
    alive = [("", 0.0, *writer.step("$", start.double(), zero))]
    ended: dict[str, float] = {}
    for length in range(deepest + 1):
        longer = []
        for text, log_prob, hidden, cell, following in alive:
            assert following.shape == (12,)
            assert following.sum().item() == pytest.approx(1, rel=1e-12)
            ended[text] = log_prob + following[-1].log().item()
            if length == deepest:
                continue
            for symbol, share in zip(ALPHABET[:-1], following.log().tolist(), strict=False):
                state = writer.step(symbol, hidden, cell)
                longer.append((text + symbol, log_prob + share, *state))
        going_on = sum(
            np.exp(log_prob) * (1 - following[-1].item()) for _, log_prob, _, _, following in alive
        )
        assert sum(np.exp(list(ended.values()))) + going_on == pytest.approx(1, rel=1e-10)
        alive = longer or alive
    numerals = [text for text in ended if is_numeral(text)]
    assert len(numerals) == 1100  # 0 to 999, and 0.0 to 9.9
    table = NumeralTable(numerals)
    expected = [ended[text] for text in numerals]
    scores = head.log_prob_table(Context(start[None]), table)[0]
    np.testing.assert_allclose(scores.numpy(), expected, rtol=1e-5, atol=1e-5)
    scores = head.log_prob(Context(start.expand(len(table), -1)), table.all())
    np.testing.assert_allclose(scores.numpy(), expected, rtol=1e-5, atol=1e-5)
    others = sum(np.exp(value) for text, value in ended.items() if not is_numeral(text))
    total = scores.double().exp().sum().item() + others + going_on
    assert total == pytest.approx(1, rel=1e-5)


def test_integers_below_a_thousand_are_all_different() -> None:
    table = NumeralTable([str(value) for value in range(1000)])
    head, hidden = make().double(), states(1).double()
    assert len(set(head.log_prob_table(Context(hidden), table)[0].tolist())) == 1000
    assert len(set(head.log_prob(Context(hidden.expand(1000, -1)), table.all()).tolist())) == 1000


def test_a_table_scored_in_parts_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    head, table, hidden = make(), NumeralTable(TEXTS), states(11)
    whole = head.log_prob_table(Context(hidden), table)
    monkeypatch.setattr(digit_rnn, "STATES_AT_ONCE", 20)
    torch.testing.assert_close(
        head.log_prob_table(Context(hidden), table), whole, rtol=1e-5, atol=1e-6
    )


def test_a_candidate_may_be_a_prefix_of_another() -> None:
    head, hidden, texts = make(), states(2), ["123.45", "1", "123", "12", "123.4"]
    table = head.log_prob_table(Context(hidden), NumeralTable(texts))
    for column, text in enumerate(texts):
        alone = head.log_prob_table(Context(hidden), NumeralTable([text]))[:, 0]
        torch.testing.assert_close(table[:, column], alone, rtol=1e-5, atol=1e-5)


def test_candidates_given_twice_are_refused() -> None:
    with pytest.raises(ValueError, match="distinct"):
        make().log_prob_table(Context(states(1)), NumeralTable(["2,000", "2000"]))


def test_forget_gates_start_open() -> None:
    lstm = new_lstm(SIZE)
    i, f, g, o = (lstm.bias_ih_l0 + lstm.bias_hh_l0).chunk(4)
    assert f.tolist() == [1.0] * SIZE
    assert not torch.cat([i, g, o]).any()
