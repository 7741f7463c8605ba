"""Cosine similarities, and how they are drawn."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

SCALE: dict[str, Any] = {"cmap": "PuOr_r", "vmin": -1.0, "vmax": 1.0}  # orange like, purple unlike


def cosine_similarities(vectors: np.ndarray) -> np.ndarray:
    """Of every row with every row: [N, D] → [N, N]; a row of zeros is like nothing."""
    rows = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    directions = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    cosines: np.ndarray = np.clip(directions @ directions.T, -1.0, 1.0)
    return cosines


def draw_similarities(axes: Axes, matrix: np.ndarray) -> AxesImage:
    """A square heat map on the common scale; returns what a colour bar needs."""
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return axes.imshow(matrix, interpolation="nearest", aspect="equal", **SCALE)
