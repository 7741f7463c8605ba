"""Mixture weights of a combination's members, fitted where the members have not learnt.

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
    strength: float | None  # None: nothing was clearly better than what training found
    learnt: float  # mean with the weights of training
    fitted: float  # mean with those of `strength`


def fit_gate(
    learnt: Tensor,
    hidden: Tensor,
    members: Tensor,
    documents: Tensor,
    evidence: Tensor | None = None,
) -> GateFit:
    """Fit the weights [M, D] of a gate to held-out numerals.

    `hidden` [N, D] is what the gate sees before them, `members` [N, M] what each member makes of
    them (log p, −inf allowed but not for all), `documents` [N] where they are from, `evidence`
    [N, M] what speaks for each member beside that (−inf: it has nothing to say). The strength
    that holds the weights back is chosen by cross-validation over folds of documents. Since the
    best of several is taken, a gain within two standard errors, by document, does not count; nor
    does any from fewer documents than folds.
    """
    learnt, hidden, members = learnt.double(), hidden.double(), members.double()
    beside = torch.zeros_like(members) if evidence is None else evidence.double()
    before = _log_probs(learnt, hidden, members, beside)
    mean = float(before.mean())
    kept = GateFit(learnt, None, mean, mean)
    distinct, document = torch.unique(documents, return_inverse=True)
    if len(distinct) < FOLDS:
        return kept
    after = torch.empty(len(STRENGTHS), len(before), dtype=torch.float64)
    for fold in range(FOLDS):
        out = document * FOLDS // len(distinct) == fold
        path = _path(learnt, hidden[~out], members[~out], beside[~out])
        held_out = hidden[out], members[out], beside[out]
        after[:, out] = torch.stack([_log_probs(weights, *held_out) for weights in path])
    best = int(after.sum(1).argmax())
    gain = after[best] - before
    if not gain.mean() > 2 * _standard_error(gain, document):
        return kept
    weights = _path(learnt, hidden, members, beside)[best]
    return GateFit(weights, STRENGTHS[best], mean, float(after[best].mean()))


def _standard_error(values: Tensor, document: Tensor) -> Tensor:
    """Of a mean, where values of one document are alike."""
    deviations = torch.zeros(int(document.max()) + 1, dtype=torch.float64)
    deviations = deviations.index_add(0, document, values - values.mean())
    return deviations.square().sum().sqrt() / len(values)


def _path(learnt: Tensor, hidden: Tensor, members: Tensor, beside: Tensor) -> list[Tensor]:
    """The best weights at every strength."""
    moved = torch.zeros_like(learnt, requires_grad=True)
    found = []
    for strength in STRENGTHS:
        optimizer = torch.optim.LBFGS([moved], max_iter=_STEPS, line_search_fn="strong_wolfe")

        def loss(strength: float = strength) -> Tensor:
            moved.grad = None
            nats = strength * moved.square().sum()
            nats = nats - _log_probs(learnt + moved, hidden, members, beside).sum()
            mean = nats / len(hidden)
            mean.backward()  # type: ignore[no-untyped-call]
            return mean

        optimizer.step(loss)  # type: ignore[no-untyped-call]
        found.append((learnt + moved).detach())
    return found


def _log_probs(weights: Tensor, hidden: Tensor, members: Tensor, beside: Tensor) -> Tensor:  # [N]
    return torch.logsumexp((hidden @ weights.T + beside).log_softmax(1) + members, dim=1)
