"""Shares of a combination's members, fitted where the members have not learnt.

On the numerals it was trained on, the member that knows most of them by heart looks best, and a
gate that learns beside it comes to trust it too much. So the gate is fitted once more on held-out
numerals, no farther from what training found than they call for.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

FOLDS = 5
STRENGTHS = (1000.0, 300.0, 100.0, 30.0, 10.0)
"""Nats that moving the gate's weights by 1 (the root of the sum of squares) costs."""

_STEPS = 50  # of L-BFGS, which starts at the solution of the next larger strength


@dataclass(frozen=True, slots=True)
class GateFit:
    """What was found; the means are of log p, each numeral by weights that did not see it."""

    weights: Tensor  # float64 [M, D]
    strength: float | None  # None: nothing was better than what training found
    learnt: float  # mean with the weights of training
    fitted: float  # mean with those of `strength`


def fit_gate(learnt: Tensor, hidden: Tensor, members: Tensor, folds: Tensor) -> GateFit:
    """Fit the weights [M, D] of a gate to held-out numerals.

    `hidden` [N, D] is what the gate sees before them, `members` [N, M] what each member makes of
    them (log p, −inf allowed but not for all), `folds` [N] says which numerals belong together.
    The strength that holds the weights back is chosen by cross-validation over folds; a gain within
    its standard error does not count.
    """
    learnt, hidden, members = learnt.double(), hidden.double(), members.double()
    before = _log_probs(learnt, hidden, members)
    after = before.expand(len(STRENGTHS), -1).clone()  # [strengths, N]
    for fold in folds.unique():  # type: ignore[no-untyped-call]
        out = folds == fold
        if out.all():  # nothing to fit to
            break
        path = _path(learnt, hidden[~out], members[~out])
        after[:, out] = torch.stack([_log_probs(w, hidden[out], members[out]) for w in path])
    best = int(after.sum(1).argmax())
    gain = after[best] - before
    if gain.mean() <= gain.std(correction=0) / len(gain) ** 0.5:
        return GateFit(learnt, None, float(before.mean()), float(before.mean()))
    weights = _path(learnt, hidden, members)[best]
    return GateFit(weights, STRENGTHS[best], float(before.mean()), float(after[best].mean()))


def _path(learnt: Tensor, hidden: Tensor, members: Tensor) -> list[Tensor]:
    """The best weights at every strength."""
    moved = torch.zeros_like(learnt, requires_grad=True)
    found = []
    for strength in STRENGTHS:
        optimizer = torch.optim.LBFGS([moved], max_iter=_STEPS, line_search_fn="strong_wolfe")

        def loss(strength: float = strength) -> Tensor:
            moved.grad = None
            nats = strength * moved.square().sum()
            nats = nats - _log_probs(learnt + moved, hidden, members).sum()
            mean = nats / len(hidden)
            mean.backward()  # type: ignore[no-untyped-call]
            return mean

        optimizer.step(loss)  # type: ignore[no-untyped-call]
        found.append((learnt + moved).detach())
    return found


def _log_probs(weights: Tensor, hidden: Tensor, members: Tensor) -> Tensor:  # [N]
    return torch.logsumexp((hidden @ weights.T).log_softmax(1) + members, dim=1)
