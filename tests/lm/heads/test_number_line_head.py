"""What is true of every head on the number line: cells share all of it, searches are exact."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from numerate.lm.data.numeral_table import PADDED_STEPS, NumeralTable
from numerate.lm.heads.base import Context, HeadOptions, TrainingNumerals
from numerate.lm.heads.number_line_head import NumberLineHead
from numerate.lm.heads.number_line_search import FINEST, NumberLine
from numerate.lm.heads.registry import head_class
from numerate.lm.model.numeral_distribution import NumeralDistribution, draw_named

SIZE = 5
ALL = ["bins", "dexp", "flow", "learned-bins", "log-mog", "log-normal", "regression"]
TRAINING = ["0", "1", "2", "2.5", "3", "7", "7.25", "12", "12", "20", "37.5", "0.5", "60", "8"] * 50


def make(name: str, seed: int = 3, spread: float = 0.5) -> NumberLineHead:
    """Fitted, then moved at random, so that no two states are alike."""
    torch.manual_seed(seed)
    head = head_class(name).fit(TrainingNumerals.of(TRAINING), SIZE, HeadOptions())
    assert isinstance(head, NumberLineHead)
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.add_(torch.randn_like(parameter) * spread)
    return head.double()


def states(count: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(8)
    return torch.tanh(torch.randn(count, SIZE, generator=generator)).double()


def written(precision: int, limit: int) -> list[str]:
    """All numerals of a precision below the limit."""
    return [f"{n / 10**precision:.{precision}f}" for n in range(limit * 10**precision)]


@pytest.mark.parametrize("precision", [0, 1, 2])
@pytest.mark.parametrize("name", ALL)
def test_cells_of_a_precision_share_all_of_the_line(name: str, precision: int) -> None:
    head, limit = make(name), 120
    values, half_widths = NumeralTable(written(precision, limit)).intervals()
    with torch.no_grad():
        law = head.law(states(4)[:, None])
        masses = law.log_mass(values, half_widths).exp()
        beyond = law.above(torch.tensor([limit - half_widths[0]]))
    assert (masses.sum(1) > 0.1).all()
    torch.testing.assert_close(
        masses.sum(1, keepdim=True) + beyond, torch.ones(4, 1).double(), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("name", ALL)
def test_what_lies_above_is_what_the_cells_above_have(name: str) -> None:
    """Cells by themselves, and the distribution function, which knows no cells."""
    values, half_widths = NumeralTable(written(1, 30)).intervals()
    with torch.no_grad():
        law = make(name).law(states(1))
        masses = law.log_mass(values, half_widths).exp()
        edges = values + half_widths
        above = law.above(edges)
    torch.testing.assert_close(masses.flip(0).cumsum(0).flip(0)[1:] + above[-1], above[:-1])
    assert (law.above(torch.tensor([-0.5, -1e-20])) == 1).all()
    beyond_numerals = law.above(torch.tensor([1e32, 1e33, 1e40, torch.inf], dtype=torch.float64))
    assert (beyond_numerals >= 0).all()
    assert (beyond_numerals.diff() <= 0).all()
    assert beyond_numerals[0] <= above[-1]
    assert beyond_numerals[-1] == 0


@pytest.mark.parametrize("spread", [0.0, 0.5])
@pytest.mark.parametrize("name", [*ALL, "mog"])
def test_the_distribution_function_rises_to_one(name: str, spread: float) -> None:
    """Beyond all that can be written too, and so the masses between edges are all there is."""
    (found,) = NumeralDistribution.batch(make(name, spread=spread), Context(states(1)))
    through = [found.cdf(edge) for edge in (100, 1e31, 1e32, 1e33, 1e34, 1e40, np.inf)]
    assert (np.diff(through) >= 0).all()
    assert through[-1] == pytest.approx(1, rel=1e-15)
    assert found.masses([0, 100, np.inf]).sum() == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("name", ["bins", "dexp", "learned-bins"])
def test_decades_end_where_numerals_do(name: str) -> None:
    """What lies above the middle of the last decade is what a cell of its upper half has."""
    with torch.no_grad():
        law = make(name).law(states(1))
        law.log_chances[0, -1] = 0.0  # nearly all is of 32 digits
        law = replace(law, log_chances=law.log_chances.log_softmax(-1))
        middle, end = torch.tensor([5e31, 1e32], dtype=torch.float64)
        above = law.above(torch.stack([middle, end, 10 * end]))
        upper_half = law.log_mass((middle + end) / 2, (end - middle) / 2).exp()
    torch.testing.assert_close(above[0], upper_half[0], rtol=1e-12, atol=0)
    assert above[0] > 0.1
    assert above[1:].tolist() == [0, 0]


HARD = ["0", "0.00", "0." + "0" * 30 + "7", "1", "10", "9.99", "100000", "3" * 16, "1" + "0" * 31]


@pytest.mark.parametrize("name", ALL)
def test_gradients_are_those_of_finite_differences(name: str) -> None:
    head, table, hidden = make(name, spread=0.1), NumeralTable(HARD), states(len(HARD))

    def scores(hidden: torch.Tensor) -> torch.Tensor:
        return head.log_prob(Context(hidden), table.all())

    assert torch.autograd.gradcheck(scores, hidden.requires_grad_(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ALL)
def test_the_best_come_first(name: str, assert_best_first: Callable[..., None]) -> None:
    hidden = states(1)
    with torch.no_grad():
        law = make(name, spread=0.2).law(hidden).cpu()
    chances = np.zeros(FINEST + 1)
    chances[:3] = 0.5, 0.3, 0.2
    with np.errstate(divide="ignore"):
        found = NumberLine(law, torch.from_numpy(np.log(chances)))
    texts = [text for precision in range(3) for text in written(precision, 100)]
    table = NumeralTable(texts)
    log_masses = law.log_mass(*table.intervals()).numpy() + np.log(chances[table.precisions])
    masses = np.exp(log_masses)
    beyond = float(law.above(torch.tensor([99.0])))
    # No cell above 99 has a thirtieth of all that is there; if one had, it would be found.
    assert_best_first(
        found, texts, lambda texts: log_masses, beyond=beyond / 30, at_least=10, tolerance=1e-9
    )
    numbers = np.array([-1.0, 0.0, 0.04, 1.0, 7.25, 50.0])
    expected = [masses[table.values <= number].sum() for number in numbers]
    np.testing.assert_allclose(found.mass_up_to(numbers), expected, atol=1e-12)
    assert found.total == pytest.approx(1)


@pytest.mark.parametrize("name", ALL)
def test_draws_follow_the_distribution_function(name: str) -> None:
    """Kolmogorov–Smirnov; ties make it conservative."""
    found = make(name, spread=0.2).next_numeral(Context(states(1)))
    drawn = draw_named(found, 500, np.random.default_rng(1))
    values = np.sort([float(text) for text in drawn])
    through = np.searchsorted(values, values, side="right") / len(values)
    distance = np.abs(through - found.mass_up_to(values)).max()
    assert distance < 1.95 / np.sqrt(len(values))  # 1 in 1,000


@pytest.mark.parametrize("name", ALL)
def test_only_zeros_can_be_learnt_from(name: str) -> None:
    """There are corpora with next to no positive number."""
    head = head_class(name).fit(TrainingNumerals.of(["0", "0.0"]), SIZE, HeadOptions())
    table = NumeralTable(["0", "1", "0.0", "5000"])
    assert head.log_prob_table(Context(states(2).float()), table).isfinite().all()


@pytest.mark.parametrize("name", ALL)
def test_mixed_precision_leaves_the_number_line_in_float64(name: str) -> None:
    head, table = make(name).float(), NumeralTable(["3.00", "3.01", "12.25", "11.99"])
    state = states(1).float().expand(4, -1)
    plain = head.log_prob(Context(state), table.all())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = head.log_prob(Context(state), table.all())
    assert mixed.dtype == torch.float64
    torch.testing.assert_close(mixed - mixed[0], plain - plain[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [*ALL, "fone", "mog"])
def test_no_value_decides_a_shape(name: str) -> None:
    """A step is recorded on a GPU: nothing in it may wait for a value. Here tensors have none."""
    head = head_class(name).fit(TrainingNumerals.of(TRAINING), SIZE, HeadOptions())
    table = NumeralTable(["0", "12.5", "7"])
    rows = torch.arange(3)
    # What is kept of a table is made before anything is recorded.
    head.log_prob(Context(torch.zeros(3, SIZE)), table.padded_batch(rows, PADDED_STEPS[0]))
    with FakeTensorMode(allow_non_fake_inputs=True):
        hidden = torch.zeros(3, SIZE, requires_grad=True)
        log_probs = head.log_prob(
            Context(hidden), table.padded_batch(torch.zeros_like(rows), PADDED_STEPS[0])
        )
        log_probs.sum().backward()
    assert log_probs.shape == (3,)
    assert hidden.grad is not None
