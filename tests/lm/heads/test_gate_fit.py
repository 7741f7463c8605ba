"""The gate fitted on held-out numerals: against SciPy, and the shares that made the data."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp

from numerate.lm.heads.gate_fit import STRENGTHS, fit_gate

SIZE, MEMBERS = 4, 3


def simulated(count: int, seed: int, weights: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """States, and log p of numerals that a gate of these weights has drawn from three Gaussians."""
    generator = np.random.default_rng(seed)
    hidden = np.tanh(generator.normal(size=(count, SIZE)))
    shares = np.exp(log_softmax(hidden @ weights.T, axis=1))
    chosen = (shares.cumsum(1) < generator.random((count, 1))).sum(1)
    means = np.array([0.0, 3.0, 6.0])
    values = generator.normal(means[chosen])
    members = -0.5 * (values[:, None] - means) ** 2 - 0.5 * np.log(2 * np.pi)
    return torch.from_numpy(hidden), torch.from_numpy(members)


@pytest.fixture
def truth() -> np.ndarray:
    return np.random.default_rng(7).normal(size=(MEMBERS, SIZE)) * 2


def documents(count: int) -> torch.Tensor:
    """Of ten numerals each."""
    return torch.arange(count) // 10


def test_finds_what_an_independent_optimizer_finds(truth: np.ndarray) -> None:
    hidden, members = simulated(400, 1, truth)
    learnt = torch.from_numpy(truth + 2 * np.random.default_rng(2).normal(size=truth.shape))
    fit = fit_gate(learnt, hidden, members, documents(400))
    assert fit.strength in STRENGTHS

    def nats(flat: np.ndarray) -> float:
        weights = flat.reshape(truth.shape)
        shares = log_softmax(hidden.numpy() @ weights.T, axis=1)
        likelihood = logsumexp(shares + members.numpy(), axis=1).sum()
        return float(fit.strength * ((weights - learnt.numpy()) ** 2).sum() - likelihood)

    best = minimize(nats, learnt.numpy().ravel(), method="BFGS", options={"gtol": 1e-6})
    assert nats(fit.weights.numpy().ravel()) == pytest.approx(best.fun, rel=1e-7)
    np.testing.assert_allclose(fit.weights.numpy().ravel(), best.x, atol=2e-3)


def test_comes_nearer_to_the_truth_than_a_gate_that_trusts_one_member(truth: np.ndarray) -> None:
    hidden, members = simulated(4000, 1, truth)
    trusting = torch.zeros(MEMBERS, SIZE)
    trusting[0] = 3.0
    fit = fit_gate(trusting, hidden, members, documents(4000))
    assert fit.strength is not None
    new, seen = simulated(4000, 2, truth)

    def mean(weights: torch.Tensor) -> float:
        shares = (new @ weights.double().T).log_softmax(1)
        return float(torch.logsumexp(shares + seen, 1).mean())

    best = mean(torch.from_numpy(truth))
    assert best - mean(fit.weights) < 0.1 * (best - mean(trusting))
    assert fit.learnt == pytest.approx(mean(trusting), abs=0.1)
    assert fit.fitted == pytest.approx(mean(fit.weights), abs=0.05), "cross-validation is honest"


def test_a_gate_that_is_right_stays_as_it_is(truth: np.ndarray) -> None:
    hidden, members = simulated(200, 3, truth)
    fit = fit_gate(torch.from_numpy(truth), hidden, members, documents(200))
    assert fit.strength is None
    assert fit.fitted == fit.learnt
    np.testing.assert_array_equal(fit.weights.numpy(), truth)


def test_few_documents_say_nothing(truth: np.ndarray) -> None:
    hidden, members = simulated(1000, 3, truth)
    learnt = torch.zeros(MEMBERS, SIZE)
    learnt[0] = 3.0
    fit = fit_gate(learnt, hidden, members, torch.arange(1000) % 4)
    assert fit.strength is None
    assert torch.equal(fit.weights, learnt.double())
    assert fit_gate(learnt, hidden, members, torch.arange(1000) % 50).strength is not None


def test_what_documents_have_of_their_own_is_not_learnt() -> None:
    """Each document has members of its own liking; a gate that is right on average stays.

    Numerals taken for independent, or dealt out to folds, would call for another one.
    """
    changed = 0
    for seed in range(20):
        generator = np.random.default_rng(seed)
        document = np.repeat(np.arange(25), 20)
        own = generator.normal(size=(25, SIZE))  # what its states have in common
        hidden = np.tanh(own[document] + 0.3 * generator.normal(size=(500, SIZE)))
        liked = generator.normal(size=(25, MEMBERS))
        members = 2 * liked[document] + generator.normal(size=(500, MEMBERS))
        fit = fit_gate(
            torch.zeros(MEMBERS, SIZE),
            torch.from_numpy(hidden),
            torch.from_numpy(members),
            torch.from_numpy(document),
        )
        changed += fit.strength is not None
    assert changed <= 2


def test_the_strength_suits_the_evidence(truth: np.ndarray) -> None:
    """The more numerals, the farther the weights may go."""
    chosen = []
    for count in (400, 20_000):
        hidden, members = simulated(count, 5, truth)
        fit = fit_gate(torch.zeros(MEMBERS, SIZE), hidden, members, documents(count))
        assert fit.strength is not None
        chosen.append(float((fit.weights - torch.from_numpy(truth)).norm()))
    assert chosen[1] < chosen[0]


def test_what_no_member_knows_changes_nothing(truth: np.ndarray) -> None:
    hidden, members = simulated(400, 4, truth)
    members[0] = -torch.inf
    fit = fit_gate(torch.zeros(MEMBERS, SIZE), hidden, members, documents(400))
    assert fit.strength is None
    assert fit.weights.isfinite().all()


def test_members_that_do_not_know_a_numeral_have_no_part_in_it(truth: np.ndarray) -> None:
    hidden, members = simulated(1000, 4, truth)
    members[::2, 0] = -torch.inf
    fit = fit_gate(torch.zeros(MEMBERS, SIZE), hidden, members, documents(1000))
    assert fit.strength is not None
    assert fit.weights.isfinite().all()
    assert np.isfinite([fit.learnt, fit.fitted]).all()
    assert fit.fitted > fit.learnt
