"""Precision LSTM times mixture of Gaussians, with SciPy and plain loops as oracles."""

import numpy as np
import pytest
import torch
from scipy.stats import norm
from torch import Tensor

from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.base import Context
from numerate.lm.heads.mixture import MixtureHead
from numerate.lm.heads.mixture_fit import Components

SIZE = 5
LIMIT = 60  # more than ten deviations beyond every mean


def components(means: list[float], sds: list[float]) -> Components:
    shares = np.full(len(means), 1 / len(means))
    return Components(np.array(means), np.array(sds), shares, np.full(len(means), len(means)))


SPREAD = components([0.0, 3.0, 12.0, 1.5, -0.5], [3.0, 0.4, 4.0, 0.02, 1.0])
AT_ZERO = components([0.0], [1e-40])
"""All of the mass is at zero, so p(0.00) is p(two decimals)."""


def make(parts: Components = SPREAD, *, truncate: bool = False, seed: int = 7) -> MixtureHead:
    torch.manual_seed(seed)
    head = MixtureHead(SIZE, parts, truncate=truncate)
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.normal_(0, 0.8)
    return head


def states(count: int, seed: int = 8) -> Tensor:
    return torch.tanh(torch.randn(count, SIZE, generator=torch.Generator().manual_seed(seed)))


def written(precision: int, limit: int = LIMIT) -> NumeralTable:
    """All numerals of a precision below the limit."""
    scale = 10**precision
    if not precision:
        return NumeralTable([str(value) for value in range(limit)])
    return NumeralTable(
        [f"{value // scale}.{value % scale:0{precision}}" for value in range(limit * scale)]
    )


def shares(head: MixtureHead, state: Tensor) -> np.ndarray:
    scores = (head.weights.double() @ state.double()).detach().numpy()
    return np.exp(scores) / np.exp(scores).sum()


def precision_probability(head: MixtureHead, state: Tensor, precision: int) -> Tensor:
    """p(r) by the equations of its LSTM: one symbol per decimal, then the end."""
    network = head.precision
    lstm = network.lstm
    hidden, cell = state.double(), torch.zeros(SIZE, dtype=torch.float64)
    probability = torch.ones((), dtype=torch.float64)
    for step in range(precision + 1):
        symbol = network.inputs[0 if step == 0 else 1].double()
        gates = lstm.weight_ih_l0.double() @ symbol + lstm.weight_hh_l0.double() @ hidden
        gates = gates + lstm.bias_ih_l0.double() + lstm.bias_hh_l0.double()
        i, f, g, o = gates.chunk(4)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
        hidden = torch.sigmoid(o) * torch.tanh(cell)
        end = 1 / (1 + torch.exp(-(network.end.double() @ hidden)))
        probability = probability * (end if step == precision else 1 - end)
    return probability


def scored_both_ways(head: MixtureHead, table: NumeralTable, state: Tensor) -> list[np.ndarray]:
    with torch.no_grad():
        by_table = head.log_prob_table(Context(state[None]), table)[0]
        by_pairs = head.log_prob(Context(state.expand(len(table), -1)), table.all())
    return [by_table.double().numpy(), by_pairs.double().numpy()]


@pytest.mark.parametrize("precision", [0, 1, 2])
def test_masses_of_a_precision_lack_only_what_lies_below_zero(precision: int) -> None:
    head, state = make(), states(1)[0]
    lowest = -0.5 * 10.0**-precision
    above = shares(head, state) @ norm.sf(lowest, SPREAD.means, SPREAD.sds)
    expected = above * precision_probability(head, state, precision).item()
    assert above < 0.95  # so that the test can tell
    for log_probs in scored_both_ways(head, written(precision), state):
        assert np.exp(log_probs).sum() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("precision", [0, 1, 2])
def test_truncated_masses_of_a_precision_sum_to_its_probability(precision: int) -> None:
    head, state = make(truncate=True), states(1)[0]
    expected = precision_probability(head, state, precision).item()
    for log_probs in scored_both_ways(head, written(precision), state):
        assert np.exp(log_probs).sum() == pytest.approx(expected, rel=1e-5)


def test_probabilities_of_precisions_sum_to_one() -> None:
    head, hidden = make(AT_ZERO), states(6)
    with torch.no_grad():
        head.precision.end.abs_()  # an end is likely enough that 31 decimals are beyond reach
        head.precision.lstm.bias_ih_l0[-SIZE:] += 3
        head.precision.lstm.bias_ih_l0[2 * SIZE : 3 * SIZE] += 3
    zeros = NumeralTable(["0", *("0." + "0" * decimals for decimals in range(1, 32))])
    probabilities = head.log_prob_table(Context(hidden), zeros).exp()
    assert (probabilities[:, -1] < 1e-6).all()
    torch.testing.assert_close(probabilities.sum(1), torch.ones(6).double(), rtol=1e-5, atol=1e-5)


def test_probability_of_a_precision_follows_its_equations() -> None:
    head = make(AT_ZERO)
    decimals = [3, 0, 31, 1, 0, 2, 9]
    texts = ["0." + "0" * count if count else "0" for count in decimals]
    table = NumeralTable(sorted(set(texts)))
    hidden = states(len(texts)).requires_grad_()
    rows = np.array([table.texts.index(text) for text in texts])
    actual = head.log_prob(Context(hidden), table.batch(rows))
    expected = torch.stack(
        [
            precision_probability(head, state, count).log()
            for state, count in zip(hidden, decimals, strict=True)
        ]
    )
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5)
    variables = [hidden, *head.precision.parameters()]
    upstream = torch.linspace(-1, 2, len(texts), dtype=torch.float64)
    torch.testing.assert_close(
        torch.autograd.grad(actual @ upstream, variables),
        torch.autograd.grad(expected @ upstream, variables),
        rtol=1e-3,
        atol=1e-4,
    )


@pytest.mark.parametrize("truncate", [False, True], ids=["plain", "truncated"])
def test_log_prob_follows_its_equation(truncate: bool) -> None:
    head = make(truncate=truncate)
    texts = ["3", "3.0", "2.99", "12", "0", "0.0", "1.50", "15", "7.25"]
    table, hidden = NumeralTable(texts), states(len(texts)).requires_grad_()
    expected = []
    for state, text in zip(hidden, texts, strict=True):
        precision = len(text.partition(".")[2])
        low, high = float(text) - 0.5 * 10.0**-precision, float(text) + 0.5 * 10.0**-precision
        masses = norm.cdf(high, SPREAD.means, SPREAD.sds) - norm.cdf(low, SPREAD.means, SPREAD.sds)
        above = norm.sf(-0.5 * 10.0**-precision, SPREAD.means, SPREAD.sds)
        weights = torch.softmax(head.weights.double() @ state.double(), 0)
        mass = weights @ torch.from_numpy(masses)
        if truncate:
            mass = mass / (weights @ torch.from_numpy(above))
        expected.append(mass.log() + precision_probability(head, state, precision).log())
    actual = head.log_prob(Context(hidden), table.all())
    torch.testing.assert_close(actual, torch.stack(expected), rtol=1e-5, atol=1e-5)
    upstream = torch.linspace(-1, 2, len(texts), dtype=torch.float64)
    variables = [hidden, *head.parameters()]
    torch.testing.assert_close(
        torch.autograd.grad(actual @ upstream, variables),
        torch.autograd.grad(torch.stack(expected) @ upstream, variables),
        rtol=1e-3,
        atol=1e-4,
    )


def test_components_are_not_trained() -> None:
    assert {"means", "sds"}.isdisjoint(name for name, _ in make().named_parameters())


def test_components_keep_every_bit() -> None:
    parts = components([1 / 3, 1e15 + 1, 0.1], [1e-3, 2 / 3, 1e300])
    head = make(parts)
    assert head.means.tolist() == parts.means.tolist()
    assert head.sds.tolist() == parts.sds.tolist()


def test_far_out_numerals_are_ranked_by_their_distance() -> None:
    head = make(components([3.0], [0.5]))
    near, far, farther = head.log_prob_table(
        Context(states(1)), NumeralTable(["999999", "9" * 15, "9" * 32])
    )[0].tolist()
    assert 0 > near > far > farther > -np.inf


def test_integers_below_a_thousand_are_all_different() -> None:
    head = make(components([1.0, 3000.0], [400.0, 5000.0]))
    table = NumeralTable([str(value) for value in range(1000)])
    for log_probs in scored_both_ways(head, table, states(1)[0]):
        assert len(set(log_probs.tolist())) == 1000


def test_a_sharp_gate_leaves_table_and_log_prob_equal() -> None:
    """The best component of a numeral may have next to no share of the mixture."""
    head = make(components([0.0, 1e6], [1.0, 1.0]))
    with torch.no_grad():
        head.weights[0], head.weights[1] = 500.0, -500.0
    state = torch.full((SIZE,), 0.99)
    by_table, by_pairs = scored_both_ways(head, NumeralTable(["0", "1000000", "999999.5"]), state)
    assert by_pairs[1] < -4000
    np.testing.assert_allclose(by_table, by_pairs, rtol=1e-5)


def test_other_components_can_be_loaded_after_a_table_was_scored() -> None:
    table, hidden = NumeralTable(["3", "12", "0.5"]), states(3)
    other = make(components([1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 1.0, 1.0, 2.0, 9.0]), seed=11)
    head = make()
    before = head.log_prob(Context(hidden), table.all())
    head.load_state_dict(other.state_dict())
    expected = other.log_prob(Context(hidden), table.all())
    assert not torch.allclose(before, expected)
    assert torch.equal(head.log_prob(Context(hidden), table.all()), expected)
    assert torch.equal(
        head.log_prob_table(Context(hidden), table), other.log_prob_table(Context(hidden), table)
    )


def test_two_heads_do_not_share_what_they_keep_of_a_table() -> None:
    table, hidden = NumeralTable(["3", "12", "0.5"]), states(3)
    narrow, wide = make(components([3.0], [1.0])), make(components([3.0], [100.0]))
    narrow_first = narrow.log_prob(Context(hidden), table.all())
    wide_second = wide.log_prob(Context(hidden), table.all())
    fresh = NumeralTable(table.texts)
    assert torch.equal(wide_second, wide.log_prob(Context(hidden), fresh.all()))
    assert torch.equal(narrow_first, narrow.log_prob(Context(hidden), fresh.all()))
    assert not torch.allclose(narrow_first, wide_second)


def test_mixed_precision_leaves_the_number_line_in_float64() -> None:
    """Numerals of one precision in one state differ by their masses alone."""
    head, table = make(), NumeralTable(["3.00", "3.01", "12.25", "11.99"])
    state = states(1).expand(4, -1)
    plain = head.log_prob(Context(state), table.all())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = head.log_prob(Context(state), table.all())
    assert mixed.dtype == torch.float64
    torch.testing.assert_close(mixed - mixed[0], plain - plain[0], rtol=1e-9, atol=1e-9)
