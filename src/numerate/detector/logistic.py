"""Logistic regression by Newton's method."""

import numpy as np

STEPS = 100
LEAP = 2.0  # that no coefficient changes by more in a step
LEAST_PENALTY = 1e-9  # so that there is always one solution


def fit_logistic(
    inputs: np.ndarray,
    targets: np.ndarray,
    *,
    start: np.ndarray,
    weights: np.ndarray | None = None,
    penalty: np.ndarray | None = None,
) -> np.ndarray:
    """The most likely coefficients [K] of `inputs` [N, K] for chances `targets` [N].

    An observation counts as many as its weight [N]; half the `penalty` [K] times the square of how
    far a coefficient is from where it starts is what that costs.
    """
    pull = LEAST_PENALTY + (np.zeros(len(start)) if penalty is None else penalty)  # [K]
    counts = np.ones(len(inputs)) if weights is None else weights
    line = start.astype(np.float64)
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(inputs @ line, -500, 500)))
        gradient = inputs.T @ (counts * (chance - targets)) + pull * (line - start)
        curvature = (inputs * (counts * chance * (1 - chance))[:, None]).T @ inputs + np.diag(pull)
        step = np.linalg.solve(curvature, gradient)
        line = line - step * min(1.0, LEAP / (np.abs(step).max() + 1e-12))
        if np.abs(step).max() < 1e-10:
            break
    return line
