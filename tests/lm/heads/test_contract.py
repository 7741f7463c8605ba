"""What every numeral head must do, whatever its strategy."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from itertools import islice

import numpy as np
import pytest
import torch

import numerate.lm.heads
from numerate.errors import NumerateError
from numerate.lm.data.numeral_table import NumeralBatch, NumeralTable
from numerate.lm.heads.base import Context, NextNumeral, NumeralHead
from numerate.lm.heads.bins import BinsHead, LearnedBinsHead
from numerate.lm.heads.combination import CombinationHead
from numerate.lm.heads.dexp import DExpHead
from numerate.lm.heads.digit_rnn import DigitRNNHead
from numerate.lm.heads.fone import FoNEHead
from numerate.lm.heads.log_mixture import LogMixtureHead
from numerate.lm.heads.log_normal import LogNormalHead
from numerate.lm.heads.mixture import MixtureHead
from numerate.lm.heads.mixture_fit import Components
from numerate.lm.heads.regression import RegressionHead
from numerate.lm.heads.softmax import (
    DigitSoftmaxHead,
    FlatDigitSoftmaxHead,
    FlatSoftmaxHead,
    SoftmaxHead,
)
from numerate.lm.heads.spline_flow import FlowHead
from numerate.lm.heads.testing import check_head

SIZE = 6
NUMERALS = ("2", "2.0", "12", "0", "0.5", "100", "3.14", "2000")
IDS = {text: index for index, text in enumerate(NUMERALS, 1)}
COMPONENTS = Components(
    means=np.array([40.0, 2.0, 900.0, 0.5, 30.0]),
    sds=np.array([500.0, 1.5, 400.0, 0.001, 12.0]),
    weights=np.array([1.0, 0.5, 0.5, 0.5, 0.5]),
    size_of=np.array([1, 2, 2, 2, 2]),
)
LOG_COMPONENTS = Components(
    means=np.array([3.0, 0.7, 6.0, -4.6, 3.4]),
    sds=np.array([4.0, 0.5, 0.8, 0.001, 0.3]),
    weights=np.array([1.0, 0.5, 0.5, 0.5, 0.5]),
    size_of=np.array([1, 2, 2, 2, 2]),
)

HEADS: dict[str, Callable[[], NumeralHead]] = {
    "h-softmax": lambda: SoftmaxHead(SIZE, NUMERALS),
    "h-softmax+rnn": lambda: DigitSoftmaxHead(SIZE, NUMERALS),
    "softmax": lambda: FlatSoftmaxHead(SIZE, NUMERALS),
    "softmax+rnn": lambda: FlatDigitSoftmaxHead(SIZE, NUMERALS),
    "h-softmax without unknown": lambda: SoftmaxHead(SIZE, NUMERALS, unknown=False),
    "h-softmax+rnn without unknown": lambda: DigitSoftmaxHead(SIZE, NUMERALS, unknown=False),
    "d-rnn": lambda: DigitRNNHead(SIZE),
    "mog": lambda: MixtureHead(SIZE, COMPONENTS),
    "truncated mog": lambda: MixtureHead(SIZE, COMPONENTS, truncate=True),
    "log-normal": lambda: LogNormalHead(SIZE),
    "log-mog": lambda: LogMixtureHead(SIZE, LOG_COMPONENTS),
    "regression": lambda: RegressionHead(SIZE),
    "flow": lambda: FlowHead(SIZE, 2.0, 1.0),
    "dexp": lambda: DExpHead(SIZE),
    "bins": lambda: BinsHead(SIZE),
    "learned-bins": lambda: LearnedBinsHead(SIZE),
    "fone": lambda: FoNEHead(SIZE),
    "combination": lambda: CombinationHead(
        SIZE,
        {
            "h-softmax": SoftmaxHead(SIZE, NUMERALS, unknown=False),
            "d-rnn": DigitRNNHead(SIZE),
            "mog": MixtureHead(SIZE, COMPONENTS),
        },
    ),
    "combination of open heads": lambda: CombinationHead(
        SIZE, {"d-rnn": DigitRNNHead(SIZE), "mog": MixtureHead(SIZE, COMPONENTS)}
    ),
}
KNOWN = list(NUMERALS)
HARD = {
    "zero": "0",
    "a millionth": "0.000001",
    "twelve digits": "999999999999",
    "thirty digits": "9" * 30,
    "thirty-two digits": "1" + "0" * 31,
    "thirty-one decimals": "0." + "0" * 30 + "7",
    "thirty-two digits with a point": "12345678." + "9" * 24,
    "out of vocabulary": "77",
}
VARIED = [*KNOWN, "3", "20", "2.00", "1234567890", "0.0", "0.25", "13.37", *list(HARD.values())[1:]]


def make(name: str, seed: int = 0) -> NumeralHead:
    """A head with random weights throughout: some start at zero, which would hide mistakes.

    As it is used: in training the members of a combination learn more than its values say.
    """
    torch.manual_seed(seed)
    head = HEADS[name]()
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.normal_(0, 0.7)
    return head.eval()


def places(count: int, seed: int = 1) -> Context:
    return Context(states(count, seed))


def states(count: int, seed: int = 1) -> torch.Tensor:
    """Hidden states in (-1, 1), as an LSTM gives them."""
    return torch.tanh(torch.randn(count, SIZE, generator=torch.Generator().manual_seed(seed)))


def impossible(name: str, texts: list[str]) -> torch.Tensor:
    """Which numerals a head must give probability 0."""
    return torch.tensor([name.endswith("without unknown") and text not in IDS for text in texts])


def gradients(head: NumeralHead, hidden: torch.Tensor, loss: torch.Tensor) -> dict[str, np.ndarray]:
    named = {"hidden": hidden, **dict(head.named_parameters())}
    found = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
    return {
        name: np.zeros(tensor.shape) if gradient is None else gradient.numpy()
        for (name, tensor), gradient in zip(named.items(), found, strict=True)
    }


def test_every_head_has_an_example() -> None:
    modules = [
        importlib.import_module(f"numerate.lm.heads.{module.name}")
        for module in pkgutil.walk_packages(numerate.lm.heads.__path__)
    ]
    defined = {
        thing
        for module in modules
        for _, thing in inspect.getmembers(module, inspect.isclass)
        if issubclass(thing, NumeralHead) and not inspect.isabstract(thing)
        if not thing.needs_digits  # of a language model: tests/pretrained has an example
        if not thing.needs_sight and thing.usual_sight == "none"  # tests/sight has examples
    }
    assert defined
    assert defined - {type(factory()) for factory in HEADS.values()} == set()


@pytest.mark.parametrize("name", HEADS)
def test_each_numeral_gets_one_log_probability(name: str) -> None:
    head, table = make(name), NumeralTable(VARIED, IDS)
    log_probs = head.log_prob(places(len(VARIED)), table.all())
    zero = impossible(name, VARIED)
    assert log_probs.shape == (len(VARIED),)
    assert (log_probs[zero] == -torch.inf).all()
    assert log_probs[~zero].isfinite().all()
    assert (log_probs[~zero] < 0).all()


@pytest.mark.parametrize("name", HEADS)
def test_open_vocabulary_is_declared(name: str) -> None:
    open_vocabulary = make(name).open_vocabulary
    assert open_vocabulary is not ("softmax" in name)


@pytest.mark.parametrize("name", HEADS)
def test_table_equals_log_prob_for_every_pair(name: str) -> None:
    head, table, hidden = make(name), NumeralTable(VARIED, IDS), states(7)
    scores = head.log_prob_table(Context(hidden), table)
    count = len(VARIED)
    rows = np.tile(np.arange(count), 7)
    pairs = head.log_prob(Context(hidden.repeat_interleave(count, 0)), table.batch(rows))
    assert scores.shape == (7, count)
    torch.testing.assert_close(scores.double(), pairs.view(7, count).double(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", HEADS)
def test_table_equals_log_prob_closely_in_double_precision(name: str) -> None:
    head, table = make(name).double(), NumeralTable(VARIED, IDS)
    hidden = states(1).double().expand(len(VARIED), -1)
    table_row = head.log_prob_table(Context(hidden[:1]), table)[0]
    torch.testing.assert_close(
        table_row, head.log_prob(Context(hidden), table.all()), rtol=1e-10, atol=0
    )


@pytest.mark.parametrize("name", HEADS)
def test_gradients_of_table_and_log_prob_agree(name: str) -> None:
    texts = [text for text in VARIED if not impossible(name, [text])]
    head, table = make(name), NumeralTable(texts, IDS)
    hidden = states(len(texts)).requires_grad_()
    upstream = torch.linspace(-1, 2, len(texts), dtype=torch.float64)
    direct = gradients(
        head, hidden, head.log_prob(Context(hidden), table.all()).double() @ upstream
    )
    diagonal = head.log_prob_table(Context(hidden), table).diagonal()
    through_table = gradients(head, hidden, diagonal.double() @ upstream)
    for parameter, gradient in direct.items():
        np.testing.assert_allclose(
            through_table[parameter],
            gradient,
            rtol=1e-3,
            atol=1e-5 * max(1.0, float(np.abs(gradient).max())),
            err_msg=parameter,
        )


@pytest.mark.parametrize("text", HARD.values(), ids=HARD.keys())
@pytest.mark.parametrize("name", HEADS)
def test_hard_numerals_have_finite_gradients(name: str, text: str) -> None:
    head, table = make(name), NumeralTable([text, "2"], IDS)
    hidden = states(2).requires_grad_()
    log_probs = head.log_prob(Context(hidden), table.all())
    zero = impossible(name, table.texts)
    found = gradients(head, hidden, log_probs[~zero].sum())
    assert log_probs[~zero].isfinite().all()
    assert all(np.isfinite(gradient).all() for gradient in found.values())
    assert np.abs(found["hidden"]).max() > 0


@pytest.mark.parametrize("name", HEADS)
def test_order_of_numerals_does_not_matter(name: str) -> None:
    head, table, hidden = make(name), NumeralTable(VARIED, IDS), states(len(VARIED))
    order = np.random.default_rng(0).permutation(len(VARIED))
    expected = head.log_prob(Context(hidden), table.all())[torch.from_numpy(order)]
    shuffled = head.log_prob(Context(hidden[torch.from_numpy(order)]), table.batch(order))
    torch.testing.assert_close(shuffled, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", HEADS)
def test_order_of_the_table_does_not_matter(name: str) -> None:
    head, hidden = make(name), states(3)
    backwards = head.log_prob_table(Context(hidden), NumeralTable(VARIED[::-1], IDS)).flip(1)
    forwards = head.log_prob_table(Context(hidden), NumeralTable(VARIED, IDS))
    torch.testing.assert_close(backwards, forwards, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", HEADS)
def test_a_repeated_numeral_scores_the_same_in_the_same_state(name: str) -> None:
    head, table = make(name), NumeralTable(VARIED, IDS)
    rows = np.array([2, 0, 2, 7, 0, 2])
    log_probs = head.log_prob(Context(states(1).expand(len(rows), -1)), table.batch(rows))
    for row in set(rows):
        same = log_probs[torch.from_numpy(rows == row)]
        torch.testing.assert_close(same, same[:1].expand_as(same), rtol=1e-6, atol=1e-6)
    assert len(set(log_probs.round(decimals=3).tolist())) == 3


@pytest.mark.parametrize("name", HEADS)
def test_a_numeral_alone_scores_as_in_company(name: str) -> None:
    head, table, hidden = make(name), NumeralTable(VARIED, IDS), states(len(VARIED))
    together = head.log_prob(Context(hidden), table.all())
    alone = [
        head.log_prob(Context(hidden[row : row + 1]), table.batch(np.array([row])))
        for row in range(len(VARIED))
    ]
    assert {part.shape for part in alone} == {(1,)}
    torch.testing.assert_close(torch.cat(alone), together, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", HEADS)
def test_a_state_affects_its_own_numeral_only(name: str) -> None:
    head, table, hidden = make(name), NumeralTable(KNOWN, IDS), states(len(KNOWN))
    before = head.log_prob(Context(hidden), table.all())
    hidden[3] = -hidden[3]
    after = head.log_prob(Context(hidden), table.all())
    changed = (after - before).abs() > 1e-5
    assert changed.tolist() == [row == 3 for row in range(len(KNOWN))]


@pytest.mark.parametrize("name", HEADS)
def test_numerals_of_equal_value_are_different(name: str) -> None:
    head, table = make(name), NumeralTable(["2", "2.0"], IDS)
    whole, tenths = head.log_prob_table(places(1), table)[0].tolist()
    assert abs(whole - tenths) > 1e-3


@pytest.mark.parametrize("name", HEADS)
def test_distinct_numerals_share_at_most_one(name: str) -> None:
    texts = [str(value) for value in range(1000)]
    texts += [f"{value // 10}.{value % 10}" for value in range(1000)]
    head, table = make(name), NumeralTable(texts, IDS)
    scores = head.log_prob_table(places(4), table).double()
    if not head.open_vocabulary:  # all unknown numerals stand for one event
        known = torch.from_numpy(head.knows(table))
        scores = torch.cat([scores[:, known], scores[:, ~known][:, :1]], dim=1)
    totals = scores.exp().sum(1)
    assert (totals > 0.01).all()
    assert (totals < 1 + 1e-5).all()


@pytest.mark.parametrize("name", HEADS)
def test_loaded_weights_give_the_same_bits(name: str) -> None:
    head, other = make(name), make(name, seed=9)
    table, hidden = NumeralTable(VARIED, IDS), states(len(VARIED))
    expected = head.log_prob(Context(hidden), table.all())
    assert not torch.equal(other.log_prob(Context(hidden), table.all()), expected)
    other.load_state_dict(head.state_dict())
    assert torch.equal(other.log_prob(Context(hidden), table.all()), expected)


@pytest.mark.parametrize("name", HEADS)
def test_a_table_of_one_candidate_works(name: str) -> None:
    head, table = make(name), NumeralTable(["2"], IDS)
    scores = head.log_prob_table(places(1), table)
    torch.testing.assert_close(scores[0], head.log_prob(places(1), table.all()))


@pytest.mark.parametrize("name", HEADS)
def test_the_contract_that_anyone_can_check_holds(name: str) -> None:
    known = [*KNOWN, "77"] if "softmax" in name and "without" not in name else None
    check_head(make(name), SIZE, everything=known)


class Broken(DigitRNNHead):
    """With one thing wrong at a time."""

    def __init__(self, size: int, wrong: str = "") -> None:
        super().__init__(size)
        self.wrong = wrong

    def config(self) -> dict[str, object]:
        return {"wrong": "table" if self.wrong == "stored" else self.wrong}

    def log_prob(self, context: Context, numerals: NumeralBatch) -> torch.Tensor:
        log_probs = super().log_prob(context, numerals)
        if self.wrong == "gradient":
            zero = context.hidden.sum(1) * 0
            return log_probs + zero.sqrt()
        if self.wrong == "shape":
            return log_probs[:-1]
        return log_probs.detach() if self.wrong == "detached" else log_probs

    def log_prob_table(self, context: Context, candidates: NumeralTable) -> torch.Tensor:
        table = super().log_prob_table(context, candidates)
        if self.wrong == "table":
            return table + 0.01 * table
        return table * 0 if self.wrong == "sum" else table

    def next_numeral(self, context: Context) -> NextNumeral:
        found = super().next_numeral(context)
        if self.wrong == "stream":
            first, second, *_ = islice(found.stream(), 9)
            found.stream = lambda: iter([second, first])  # type: ignore[method-assign]
        if self.wrong == "cdf":
            found.mass_up_to = lambda numbers: -numbers  # type: ignore[method-assign]
        return found


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("table", "log_prob and log_prob_table differ"),
        ("sum", "log_prob and log_prob_table differ"),
        ("shape", "RuntimeError: "),
        ("gradient", "not finite"),
        ("detached", "does not depend on the states"),
        ("stored", "another one"),
        ("stream", "not sorted"),
        ("cdf", "falls"),
    ],
)
def test_the_check_finds_what_is_broken(wrong: str, said: str) -> None:
    torch.manual_seed(0)
    check_head(Broken(SIZE), SIZE)
    with pytest.raises(AssertionError, match=said):
        check_head(Broken(SIZE, wrong), SIZE)


class TooMuch(MixtureHead):
    """Whose numerals have more than all of the probability together."""

    def log_prob(self, context: Context, numerals: NumeralBatch) -> torch.Tensor:
        return super().log_prob(context, numerals) + 0.5

    def log_prob_table(self, context: Context, candidates: NumeralTable) -> torch.Tensor:
        return super().log_prob_table(context, candidates) + 0.5


def test_the_check_adds_up_what_is_probable() -> None:
    narrow = Components(np.array([40.0]), np.array([5.0]), np.ones(1), np.ones(1, np.int64))
    check_head(MixtureHead(SIZE, narrow), SIZE, numerals=["40", "41.5", "2"])
    with pytest.raises(AssertionError, match="expected at most 1"):
        check_head(TooMuch(SIZE, narrow), SIZE, numerals=["40", "41.5", "2"])


class Unsearched(MixtureHead):
    """A head that does not say how to find its numerals."""

    def next_numeral(self, context: Context) -> NextNumeral:
        return NumeralHead.next_numeral(self, context)


def test_a_head_is_searched_before_it_is_tuned() -> None:
    """The default finds what the search of the number line finds."""
    head, exact = Unsearched(SIZE, COMPONENTS), make("mog")
    head.load_state_dict(exact.state_dict())
    check_head(head, SIZE)
    place = places(1)
    found, expected = head.next_numeral(place), exact.next_numeral(place)
    best, truly = (list(islice(one.stream(), 20)) for one in (found, expected))
    assert [text for text, _ in best] == [text for text, _ in truly]
    assert 0.5 < found.total <= expected.total
    numbers = np.array([1.0, 30.0, 500.0])
    shares = found.mass_up_to(numbers) / found.total
    assert shares == pytest.approx(expected.mass_up_to(numbers) / expected.total, abs=0.1)


class UnsearchedSoftmax(SoftmaxHead):
    def next_numeral(self, context: Context) -> NextNumeral:
        return NumeralHead.next_numeral(self, context)


def test_a_closed_head_is_searched_for_what_it_knows_alone() -> None:
    head, exact = UnsearchedSoftmax(SIZE, NUMERALS), make("h-softmax")
    head.load_state_dict(exact.state_dict())
    place = places(1)
    found, expected = head.next_numeral(place), exact.next_numeral(place)
    assert found.total <= expected.total + 1e-9 < 1
    known = {text for text, _ in found.stream()}
    assert known == {text for text in NUMERALS if float(text) < 1000}


# What is true of the combination alone.


def combination() -> CombinationHead:
    head = make("combination")
    assert isinstance(head, CombinationHead)
    return head


def test_combination_is_the_weighted_sum_of_its_members() -> None:
    head, table, hidden = combination(), NumeralTable(VARIED, IDS), states(len(VARIED))
    scores = hidden.double() @ head.weights.double().T  # [N, M]
    weights = scores.exp() / scores.exp().sum(1, keepdim=True)
    parts = [
        member.log_prob(Context(hidden), table.all()).double() for member in head.members.values()
    ]
    expected = (weights * torch.stack(parts, 1).exp()).sum(1).log()
    actual = head.log_prob(Context(hidden), table.all()).double()
    likely = expected > -300  # beyond, probabilities underflow when multiplied out
    assert likely.sum() >= len(VARIED) - 2
    torch.testing.assert_close(actual[likely], expected[likely], rtol=1e-5, atol=1e-5)


def test_members_of_the_combination_share_all_of_the_weight() -> None:
    weights = combination().mixture_weights(places(5))
    assert weights.shape == (5, 3)
    torch.testing.assert_close(weights.sum(1), torch.ones(5))


def test_an_unknown_numeral_gets_nothing_from_the_memorising_member() -> None:
    head, table, hidden = combination(), NumeralTable(["77", "12"], IDS), states(2)
    members = dict(head.members.items())
    memorised = members["h-softmax"].log_prob(Context(hidden), table.all())
    assert memorised[0] == -torch.inf
    assert memorised[1].isfinite()
    open_parts = [
        members[name].log_prob(Context(hidden), table.all()).double() for name in ("d-rnn", "mog")
    ]
    weights = torch.softmax(hidden.double() @ head.weights.double().T, dim=1)
    expected = weights[0, 1] * open_parts[0][0].exp() + weights[0, 2] * open_parts[1][0].exp()
    actual = head.log_prob(Context(hidden), table.all())
    torch.testing.assert_close(actual[0].double(), expected.log(), rtol=1e-5, atol=1e-6)


def test_an_unknown_numeral_teaches_the_memorising_member_nothing() -> None:
    head, table = combination(), NumeralTable(["77"], IDS)
    head.log_prob(places(1), table.all()).sum().backward()
    gradients = {name: parameter.grad for name, parameter in head.named_parameters()}
    memorised = [grad for name, grad in gradients.items() if name.startswith("members.h-softmax")]
    assert all(gradient is None or (gradient == 0).all() for gradient in memorised)
    weight_gradient = gradients["weights"]
    assert weight_gradient is not None
    assert weight_gradient.isfinite().all()
    assert weight_gradient.abs().max() > 0


def test_a_combination_needs_an_open_member() -> None:
    with pytest.raises(NumerateError, match="can write any numeral"):
        CombinationHead(SIZE, {"h-softmax": SoftmaxHead(SIZE, NUMERALS, unknown=False)})
