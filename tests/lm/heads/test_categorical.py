"""Softmax over a linear map, and the heads that memorise numerals with it."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from numerate.lm.data.numeral_table import END, SYMBOLS, NumeralTable
from numerate.lm.heads import categorical
from numerate.lm.heads.base import Context
from numerate.lm.heads.categorical import linear_log_prob
from numerate.lm.heads.softmax import DigitSoftmaxHead, SoftmaxHead

SIZE = 5
NUMERALS = ("<unk-numeral>", "7", "12", "0.5", "100", "2", "2.0")
IDS = {text: index for index, text in enumerate(NUMERALS)}


@pytest.fixture(params=["one block", "many blocks"])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "many blocks":
        monkeypatch.setitem(categorical.BLOCK_SCORES, "cpu", 40)
    return str(request.param)


def example(
    count: int = 23, types: int = 11, dtype: torch.dtype = torch.float64
) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(count)
    hidden = torch.randn(count, SIZE, generator=generator, dtype=dtype).requires_grad_()
    weight = torch.randn(types, SIZE, generator=generator, dtype=dtype).requires_grad_()
    return hidden, weight, torch.randint(types, (count,), generator=generator)


def reference(hidden: Tensor, weight: Tensor, targets: Tensor) -> Tensor:
    return F.log_softmax(hidden @ weight.T, dim=1).gather(1, targets[:, None])[:, 0]


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("count", [1, 3, 4, 23])
def test_values_are_those_of_log_softmax(count: int) -> None:
    arguments = example(count)
    torch.testing.assert_close(linear_log_prob(*arguments), reference(*arguments))


@pytest.mark.usefixtures("blocks")
def test_gradients_are_those_of_log_softmax() -> None:
    hidden, weight, targets = example()
    upstream = torch.linspace(-2, 3, len(targets), dtype=torch.float64)
    mine = torch.autograd.grad(
        linear_log_prob(hidden, weight, targets) @ upstream, [hidden, weight]
    )
    theirs = torch.autograd.grad(reference(hidden, weight, targets) @ upstream, [hidden, weight])
    torch.testing.assert_close(mine, theirs)


@pytest.mark.usefixtures("blocks")
def test_gradients_are_those_of_finite_differences() -> None:
    hidden, weight, targets = example(6, 7)
    assert torch.autograd.gradcheck(lambda h, w: linear_log_prob(h, w, targets), (hidden, weight))


@pytest.mark.parametrize("wanted", ["hidden", "weight"])
def test_gradient_of_one_argument_alone(wanted: str) -> None:
    hidden, weight, targets = example()
    (weight if wanted == "hidden" else hidden).requires_grad_(False)
    variable = hidden if wanted == "hidden" else weight
    mine = torch.autograd.grad(linear_log_prob(hidden, weight, targets).sum(), variable)
    theirs = torch.autograd.grad(reference(hidden, weight, targets).sum(), variable)
    torch.testing.assert_close(mine, theirs)


def test_gradients_hold_for_a_row_whose_upstream_is_zero() -> None:
    hidden, weight, targets = example()
    (gradient,) = torch.autograd.grad(linear_log_prob(hidden, weight, targets)[3], hidden)
    assert (gradient[3] != 0).any()
    assert (gradient[torch.arange(len(targets)) != 3] == 0).all()


def test_gradients_hold_when_the_graph_is_used_twice() -> None:
    hidden, weight, targets = example()
    log_probs = linear_log_prob(hidden, weight, targets)
    first = torch.autograd.grad(log_probs.sum(), weight, retain_graph=True)
    second = torch.autograd.grad(log_probs.sum(), weight)
    torch.testing.assert_close(first, second, rtol=0, atol=0)


@pytest.mark.usefixtures("blocks")
def test_huge_scores_neither_overflow_nor_vanish() -> None:
    hidden, weight, targets = example(dtype=torch.float32)
    log_probs = linear_log_prob(hidden * 1e4, weight, targets)
    found = torch.autograd.grad(log_probs.sum(), [hidden, weight])
    assert log_probs.isfinite().all()
    assert all(gradient.isfinite().all() for gradient in found)
    # Rounding of scores near 1e5 is about 0.01 in float32.
    expected = reference(hidden * 1e4, weight, targets)
    torch.testing.assert_close(log_probs, expected, rtol=1e-4, atol=0.1)


@pytest.mark.usefixtures("blocks")
def test_no_rows_give_no_log_probabilities() -> None:
    hidden, weight, _ = example()
    log_probs = linear_log_prob(hidden[:0], weight, torch.zeros(0, dtype=torch.int64))
    (gradient,) = torch.autograd.grad(log_probs.sum(), weight)
    assert log_probs.shape == (0,)
    assert (gradient == 0).all()


# The heads


def make(*, digits: bool, unknown: bool = True) -> SoftmaxHead:
    torch.manual_seed(3)
    kind = DigitSoftmaxHead if digits else SoftmaxHead
    head = kind(SIZE, NUMERALS[1:], unknown=unknown)
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.normal_(0, 0.8)
    return head


def states(count: int) -> Tensor:
    return torch.tanh(torch.randn(count, SIZE, generator=torch.Generator().manual_seed(4)))


def digit_embedding(symbols: nn.Embedding, lstm: nn.LSTM, text: str) -> Tensor:
    """The last state of an LSTM, by its equations, that reads a numeral and its end."""
    hidden = cell = torch.zeros(SIZE, dtype=torch.float64)
    for symbol in [*(SYMBOLS.index(character) for character in text), END]:
        gates = lstm.weight_ih_l0.double() @ symbols.weight[symbol].double()
        gates = gates + lstm.weight_hh_l0.double() @ hidden
        gates = gates + lstm.bias_ih_l0.double() + lstm.bias_hh_l0.double()
        i, f, g, o = gates.chunk(4)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
        hidden = torch.sigmoid(o) * torch.tanh(cell)
    return hidden


@pytest.mark.parametrize("digits", [False, True], ids=["h-softmax", "h-softmax+rnn"])
def test_probabilities_sum_to_one_over_numerals_and_unknown(digits: bool) -> None:
    table = NumeralTable([*NUMERALS[1:], "123456"], IDS)
    head, hidden = make(digits=digits), states(9)
    totals = head.log_prob_table(Context(hidden), table).exp().sum(1)
    torch.testing.assert_close(totals, torch.ones(9), rtol=1e-6, atol=1e-6)
    count = len(table)
    rows = np.tile(np.arange(count), 9)
    pairs = head.log_prob(Context(hidden.repeat_interleave(count, 0)), table.batch(rows))
    totals = pairs.view(9, count).exp().sum(1)
    torch.testing.assert_close(totals, torch.ones(9), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("digits", [False, True], ids=["h-softmax", "h-softmax+rnn"])
def test_without_unknown_the_known_numerals_have_it_all(digits: bool) -> None:
    table = NumeralTable([*NUMERALS[1:], "123456"], IDS)
    probabilities = (
        make(digits=digits, unknown=False).log_prob_table(Context(states(9)), table).exp()
    )
    torch.testing.assert_close(probabilities[:, :-1].sum(1), torch.ones(9))
    assert (probabilities[:, -1] == 0).all()


def test_all_unknown_numerals_have_the_probability_of_the_unknown() -> None:
    table = NumeralTable(["33", "44.4", "9" * 32], IDS)
    scores = make(digits=True).log_prob_table(Context(states(1)), table)[0]
    assert scores[0] == scores[1] == scores[2]


@pytest.mark.parametrize("digits", [False, True], ids=["h-softmax", "h-softmax+rnn"])
@pytest.mark.parametrize("unknown", [False, True], ids=["without unknown", "with unknown"])
def test_log_prob_follows_its_equation(digits: bool, unknown: bool) -> None:
    head, table = make(digits=digits, unknown=unknown), NumeralTable(NUMERALS[1:], IDS)
    hidden = states(len(table)).requires_grad_()
    embeddings = [row.double() for row in head.embedding.tokens]
    encoder = head.embedding.encoder
    assert (encoder is not None) == digits
    if encoder is not None:  # the unknown has no digits
        for row, text in enumerate(NUMERALS[1:], start=1):
            composed = digit_embedding(encoder.symbols, encoder.lstm, text)
            embeddings[row] = embeddings[row] + composed
    weight = torch.stack(embeddings if unknown else embeddings[1:])
    scores = hidden.double() @ weight.T
    target = torch.arange(len(table)) + unknown
    expected = scores[torch.arange(len(table)), target] - scores.exp().sum(1).log()
    actual = head.log_prob(Context(hidden), table.all()).double()
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-6)
    variables = [hidden, *head.parameters()]
    upstream = torch.linspace(-1, 2, len(table), dtype=torch.float64)
    torch.testing.assert_close(
        torch.autograd.grad(actual @ upstream, variables),
        torch.autograd.grad(expected @ upstream, variables),
        rtol=1e-4,
        atol=1e-5,
    )


def test_digit_embeddings_do_not_depend_on_their_neighbours() -> None:
    head = make(digits=True)
    encoder = head.embedding.encoder
    assert encoder is not None
    table = NumeralTable(["7", "9" * 32, "0.5", "12.25"])
    together = encoder(table.all())
    for row in range(len(table)):
        alone = encoder(table.batch(np.array([row])))[0]
        torch.testing.assert_close(together[row], alone, rtol=1e-5, atol=1e-6)
    backwards = encoder(table.batch(np.array([3, 2, 1, 0]))).flip(0)
    torch.testing.assert_close(backwards, together, rtol=1e-5, atol=1e-6)


def test_a_softmax_without_unknown_needs_a_numeral() -> None:
    with pytest.raises(ValueError, match="needs a numeral"):
        SoftmaxHead(SIZE, (), unknown=False)


def test_a_vocabulary_without_numerals_leaves_the_unknown_alone() -> None:
    head = DigitSoftmaxHead(SIZE, ())
    log_probs = head.log_prob(Context(states(2)), NumeralTable(["5", "6"]).all())
    assert log_probs.tolist() == [0.0, 0.0]
