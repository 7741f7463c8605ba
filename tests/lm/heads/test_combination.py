"""How the members of a combination learn beside each other."""

from collections.abc import Callable

import torch
from torch import Tensor

from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.base import Context
from numerate.lm.heads.combination import CombinationHead
from numerate.lm.heads.digit_rnn import DigitRNNHead
from numerate.lm.heads.softmax import SoftmaxHead

NUMERALS = ("2", "12", "0.5")
TEXTS = ["2", "0.5", "77", "12", "2", "1.25"]  # two of them are unknown
SIZE = 5


def combination(share_of_digits: float) -> CombinationHead:
    """Softmax and d-rnn with random weights, the latter with the given share everywhere."""
    torch.manual_seed(3)
    members = {"h-softmax": SoftmaxHead(SIZE, NUMERALS, unknown=False), "d-rnn": DigitRNNHead(SIZE)}
    head = CombinationHead(SIZE, members)
    logit = torch.tensor([1 - share_of_digits, share_of_digits]).log()
    with torch.no_grad():
        head.weights.copy_(logit[:, None].expand(-1, SIZE) / SIZE)  # of states that are all 1
    return head


def learnt(head: CombinationHead, weights: Tensor | None = None) -> tuple[Tensor, list[Tensor]]:
    """log p of the numerals, and what every member's weights learn from them."""
    table = NumeralTable(TEXTS, {text: index for index, text in enumerate(NUMERALS, 1)})
    log_probs = head.log_prob(Context(torch.ones(len(TEXTS), SIZE)), table.all())
    weighed = log_probs if weights is None else log_probs * weights
    parameters = list(head.members.parameters())
    return log_probs.detach(), list(torch.autograd.grad(weighed.sum(), parameters))


def alone(head: CombinationHead, some: list[int]) -> list[Tensor]:
    """What they would learn from some of the numerals if each was a model by itself."""
    found: list[Tensor] = []
    for name, member in head.members.items():
        known = [i for i in some if name == "d-rnn" or TEXTS[i] in NUMERALS]
        table = NumeralTable(TEXTS, {text: index for index, text in enumerate(NUMERALS, 1)})
        log_probs = member.log_prob(Context(torch.ones(len(TEXTS), SIZE)), table.all())  # type: ignore[operator]
        found += torch.autograd.grad(log_probs[known].sum(), list(member.parameters()))
    return found


def difference(ours: list[Tensor], others: list[Tensor]) -> list[Tensor]:
    return [our - other for our, other in zip(ours, others, strict=True)]


def test_every_member_learns_from_every_numeral_as_if_it_were_alone() -> None:
    """Beside what the mixture teaches it, which is next to nothing for one without a share."""
    for share in (1e-6, 0.3, 1 - 1e-6):
        head = combination(share)
        log_probs, taught = learnt(head)
        plain_log_probs, plain = learnt(head.eval())
        assert log_probs.equal(plain_log_probs), "the distribution is the mixture's"
        extra = difference(taught, plain)
        for found, expected in zip(extra, alone(head, list(range(len(TEXTS)))), strict=True):
            torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-5)
            assert float(expected.abs().max()) > 1e-3


def test_plain_training_follows_the_mixture_alone() -> None:
    head = combination(0.3)
    _, taught = learnt(head)
    _, evaluated = learnt(head.eval())
    head.plain = True
    _, plain = learnt(head.train())
    assert all(map(torch.equal, plain, evaluated))
    assert not any(map(torch.equal, plain, taught))


def test_a_numeral_of_no_weight_teaches_nobody() -> None:
    """Batches for recorded steps are padded with such numerals."""
    weights = torch.tensor([1.0, 0.0, 1.0, 0.0, 0.0, 1.0])
    head = combination(0.3)
    extra = difference(learnt(head, weights)[1], learnt(head.eval(), weights)[1])
    for found, expected in zip(extra, alone(head, [0, 2, 5]), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-5)


def test_states_get_half_of_what_members_give_and_all_that_the_shares_give() -> None:
    """By central differences: states are shared with the words, shares are the combination's."""
    head = combination(0.3).double()
    table = NumeralTable(TEXTS, {text: index for index, text in enumerate(NUMERALS, 1)})
    states = torch.randn(len(TEXTS), SIZE, dtype=torch.float64, requires_grad=True)
    (found,) = torch.autograd.grad(head.log_prob(Context(states), table.all()).sum(), [states])

    def members(at: Tensor) -> Tensor:
        return head.log_prob_by_member(Context(at), table.all())

    fixed = states.detach()
    each = members(fixed)

    def taught(at: Tensor) -> Tensor:
        alone = members(at)
        known = torch.where(alone.isfinite(), alone, 0.0).sum()
        return head.mix(fixed, alone).sum() + known

    def slope(of: Callable[[Tensor], Tensor]) -> Tensor:
        steps = 1e-5 * torch.eye(states.numel(), dtype=torch.float64).view(-1, *states.shape)
        rises = [(of(fixed + step) - of(fixed - step)).detach() / 2e-5 for step in steps]
        return torch.stack(rises).view(states.shape)

    expected = slope(taught) / 2 + slope(lambda at: head.mix(at, each).sum())
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
