"""How much each kind of evidence counts, fitted to numerals of which it is known."""

import numpy as np

from numerate.detector.logistic import fit_logistic
from numerate.proofreading.joining import UNFITTED, Joining

RIDGE = 0.1
"""How strongly coefficients are drawn to those of kinds that know nothing of each other: what is
hardly ever said is not known to count for nothing."""


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
        penalty = np.where(np.arange(len(usual)) > 0, RIDGE, 0.0)  # none for the intercept
        found[columns] = fit_logistic(
            inputs, is_wrong, start=usual, weights=weights, penalty=penalty
        )
        negative = used & (found[1:] < 0)
        if not negative.any():
            return Joining(*map(float, found))
        used &= ~negative
