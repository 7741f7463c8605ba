"""Rows of unequal length that lie one after another in an array."""

import numpy as np


def ranges(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """All integers of [start, end) of each pair, one after another."""
    lengths = ends - starts
    total = np.cumsum(lengths)
    shifts = np.repeat(starts - np.concatenate([[0], total[:-1]]), lengths)
    return shifts + np.arange(total[-1] if len(total) else 0)
