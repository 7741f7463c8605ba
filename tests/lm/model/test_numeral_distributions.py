"""A head's distributions in many places at once, by the names of torch.distributions."""

import numpy as np
import pytest
import torch
from scipy.stats import norm

from numerate.errors import NumerateError
from numerate.lm.heads.base import Context, HeadOptions, TrainingNumerals
from numerate.lm.heads.registry import head_class, paper_heads
from numerate.lm.model.numeral_distribution import NumeralDistributions

SIZE = 5
DATA = TrainingNumerals.of(["1", "2", "2.5", "40", "41", "3.14", "0.5", "2", "100"] * 3)


@pytest.fixture(params=paper_heads())
def distributions(request: pytest.FixtureRequest) -> NumeralDistributions:
    torch.manual_seed(2)
    head = head_class(request.param).fit(DATA, SIZE, HeadOptions()).eval()
    return NumeralDistributions(head, Context(torch.tanh(torch.randn(3, SIZE))))


def test_answers_are_those_of_each_place(distributions: NumeralDistributions) -> None:
    assert distributions.batch_shape == (3,)
    numerals = ["2", "40", "2.5"]
    log_probs = distributions.log_prob(numerals)
    assert log_probs.requires_grad
    each = [one.log_prob(text) for one, text in zip(distributions, numerals, strict=True)]
    assert log_probs.tolist() == pytest.approx(each, abs=1e-4)
    numbers = torch.tensor([1.0, 30.0, 3.0])
    expected = [one.cdf(x) for one, x in zip(distributions, numbers.tolist(), strict=True)]
    assert distributions.cdf(numbers).tolist() == pytest.approx(expected)
    assert distributions.log_prob("40")[1].item() == pytest.approx(log_probs[1].item())
    medians = [one.median() for one in distributions]
    assert distributions.icdf(0.5).tolist() == pytest.approx(medians)
    assert (distributions.cdf(distributions.icdf(0.5)) >= 0.5 - 1e-6).all()


def test_draws_follow_the_distribution(distributions: NumeralDistributions) -> None:
    drawn = distributions.sample((400,))
    assert drawn.shape == (400, 3)
    assert drawn.dtype == torch.float64
    share = (drawn <= 2.0).double().mean(0)
    # Five standard errors: fails for one seed in a million.
    assert (share - distributions.cdf(2.0)).abs().max() < 5 * 0.5 / 20
    assert torch.equal(distributions.sample((2, 3)), distributions.sample((2, 3)))
    assert distributions.sample().shape == (3,)
    # Draws of one place and seed are not those of the next place and the seed before.
    there, here = distributions.sample((50,), seed=0)[:, 1], distributions.sample((50,), seed=1)
    same = NumeralDistributions(distributions._head, distributions._context[1:])
    assert not torch.equal(same.sample((50,), seed=1)[:, 0], there)
    assert here.shape == (50, 3)


def test_the_mixture_is_that_of_the_normal_distribution() -> None:
    torch.manual_seed(0)
    head = head_class("mog").fit(DATA, SIZE, HeadOptions()).eval()
    found = NumeralDistributions(head, Context(torch.zeros(1, SIZE)))
    means, sds = head.means.numpy(), head.sds.numpy()
    above = norm.sf((2.05 - means) / sds).mean()
    whole = norm.sf((-0.05 - means) / sds).mean()
    # Of numerals with one decimal: at most 2.0, among those that are not negative.
    weights = np.exp(head.precision.log_prob_table(torch.zeros(1, SIZE), 1).detach().numpy())[0]
    tenths = weights[1] * (whole - above)
    ones = weights[0] * (norm.sf((-0.5 - means) / sds) - norm.sf((2.5 - means) / sds)).mean()
    partial = tenths + ones
    numerals = [f"{n / 10:.1f}" for n in range(21)] + ["0", "1", "2"]
    probabilities = [float(found[0].prob(text)) for text in numerals]
    assert sum(probabilities) == pytest.approx(partial, rel=1e-6)


def test_one_numeral_is_wanted_for_each_place(distributions: NumeralDistributions) -> None:
    with pytest.raises(NumerateError, match="got 2, expected 3, one a place"):
        distributions.log_prob(["1", "2"])
