"""How much each kind of evidence counts, fitted to numerals of which it is known."""

import numpy as np

from numerate.proofreading.joining import UNFITTED, Joining

RIDGE = 0.1
"""How strongly coefficients are drawn to those of kinds that know nothing of each other: what is
hardly ever said is not known to count for nothing."""
STEPS = 100


def fit_joining(vectors: np.ndarray, is_wrong: np.ndarray, weights: np.ndarray) -> Joining:
    """The most likely coefficients by Newton's method, drawn to those that are not fitted.

    `vectors` [N, 4] are of numerals of which some are wrong, `weights` [N] how many each stands
    for: errors are rarer in life. What speaks against a numeral never speaks for it: a
    coefficient that would be negative is 0, and the others are fitted without it.
    """
    used = np.ones(vectors.shape[1], dtype=np.bool_)
    while True:
        found = np.zeros(1 + len(used))
        columns = np.concatenate([[True], used])
        inputs = np.concatenate([np.ones((len(vectors), 1)), vectors], axis=1)[:, columns]
        usual = np.array(list(UNFITTED.record().values()))[columns]
        found[columns] = _newton(inputs, is_wrong, weights, usual)
        negative = used & (found[1:] < 0)
        if not negative.any():
            return Joining(*map(float, found))
        used &= ~negative


def _newton(
    inputs: np.ndarray, is_wrong: np.ndarray, weights: np.ndarray, usual: np.ndarray
) -> np.ndarray:
    line = usual.copy()
    penalty = RIDGE * np.eye(len(line))
    penalty[0, 0] = 1e-9
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(inputs @ line, -500, 500)))
        gradient = inputs.T @ (weights * (chance - is_wrong)) + penalty @ (line - usual)
        curvature = (inputs * (weights * chance * (1 - chance))[:, None]).T @ inputs + penalty
        step = np.linalg.solve(curvature, gradient)
        line = line - step * min(1.0, 2.0 / (np.abs(step).max() + 1e-12))  # no leap
        if np.abs(step).max() < 1e-10:
            break
    return line
