"""Every numeral of a text against the distribution that was predicted where it stands."""

from dataclasses import dataclass

import numpy as np

from numerate.plausibility.number_model import NumberModel, Reading

LEVEL = 0.95  # of the plausible range


@dataclass(frozen=True, slots=True)
class Assessment:
    """N numerals, before any threshold; arrays are [N]."""

    surprisal: np.ndarray
    strangeness: np.ndarray  # what is calibrated and compared with a threshold
    percentile: np.ndarray
    low: np.ndarray  # plausible range
    high: np.ndarray
    likely: list[str]
    reasons: list[str]


def assess_reading(model: NumberModel, reading: Reading) -> Assessment:
    """All numerals of one text that has been read."""
    table = model.candidates
    log_probs = model.log_probs(reading.states, table)  # [N, C]
    own = reading.numeral_log_probs  # [N]
    numerals = reading.numerals
    values = np.array([float(token.text) for token in numerals])
    precisions = np.array([len(token.text.partition(".")[2]) for token in numerals])
    weights = np.exp(log_probs - log_probs.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    order = np.argsort(table.values, kind="stable")
    grid = table.values[order]
    cumulated = np.pad(np.cumsum(weights[:, order], axis=1), ((0, 0), (1, 0)))  # [N, C + 1]
    rows = np.arange(len(numerals))
    below = cumulated[rows, np.searchsorted(grid, values, side="left")]
    through = cumulated[rows, np.searchsorted(grid, values, side="right")]
    low = _quantile(cumulated, grid, (1 - LEVEL) / 2)
    high = _quantile(cumulated, grid, (1 + LEVEL) / 2)
    same_precision = (weights * (table.precisions == precisions[:, None])).sum(1)
    magnitude = (values < low) | (values > high)
    reasons = np.where(
        magnitude, "magnitude", np.where(same_precision < 0.05, "precision", "digits")
    )
    return Assessment(
        surprisal=-own,
        strangeness=-own,
        percentile=(below + through) / 2,
        low=low,
        high=high,
        likely=[table.texts[index] for index in log_probs.argmax(1)],
        reasons=reasons.tolist(),
    )


def _quantile(cumulated: np.ndarray, grid: np.ndarray, q: float) -> np.ndarray:
    short = (cumulated[:, 1:] < q - 1e-12).sum(1)
    found: np.ndarray = grid[np.minimum(short, len(grid) - 1)]
    return found
