"""How much each kind of evidence counts, fitted to numerals of which it is known."""

import numpy as np

from numerate.detector.logistic import fit_logistic
from numerate.proofread.joining import UNFITTED, Joining

RIDGE = 0.1
"""How strongly coefficients are drawn to those of kinds that know nothing of each other: what is
hardly ever said is not known to count for nothing."""
LEAST = Joining(intercept=-np.inf, points=UNFITTED.points, involves=0.0, detected=0.0, unlikely=0.0)
"""What speaks against a numeral never speaks for it. And how precise a rule is was read from what
it points to in published articles: the few numerals of a dev split that it points to, which count
as right whether they are or not, do not make it less so."""
_HELD = 1e12  # a pull that nothing moves


def fit_joining(vectors: np.ndarray, is_wrong: np.ndarray, weights: np.ndarray) -> Joining:
    """The most likely coefficients by Newton's method, drawn to those that are not fitted.

    `vectors` [N, 4] are of numerals of which some are wrong, `weights` [N] how many each stands
    for: errors are rarer in life. A coefficient that would be less than `LEAST` is that, and the
    others are fitted to it.
    """
    usual, least = (np.array(list(one.record().values())) for one in (UNFITTED, LEAST))
    inputs = np.concatenate([np.ones((len(vectors), 1)), vectors], axis=1)
    pull = np.where(np.isfinite(least), RIDGE, 0.0)  # none for the intercept
    while True:
        found = fit_logistic(inputs, is_wrong, start=usual, weights=weights, penalty=pull)
        below = (found < least) & (pull < _HELD)
        if not below.any():
            return Joining(*map(float, np.maximum(found, least)))
        usual[below], pull[below] = least[below], _HELD
