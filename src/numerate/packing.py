"""Sequences of unequal length laid out step by step, for recurrent networks.

Packed, they are sorted by descending length and only living ones have a place at a step:
no work is wasted. Padded, all have the same number of steps and the surplus weighs nothing:
some work is wasted, but the shape does not depend on the lengths, which a GPU can exploit.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Packing:
    """N sequences as S elements, all first elements first."""

    sizes: tuple[int, ...]  # sequences at each step
    owners: Tensor  # [S] which sequence each element belongs to
    last: Tensor  # [S] 1 for the last element of a sequence, 0 for the others
    ends: Tensor  # [N] where the last element of each sequence is
    order: Tensor | None  # [N] sequences as they stand at the first step; None: as they come
    weights: Tensor | None  # [S] 0 for surplus elements; None: there are none

    @property
    def padded(self) -> bool:
        return self.weights is not None

    def sort(self, rows: Tensor) -> Tensor:
        return rows if self.order is None else rows.index_select(0, self.order)

    def sum(self, elements: Tensor) -> Tensor:
        """Add up the elements of each sequence: [S] → [N]."""
        if self.weights is not None:
            steps = len(self.sizes)
            return (elements * self.weights).view(steps, -1).sum(0)
        return elements.new_zeros(self.sizes[0]).index_add(0, self.owners, elements)


@dataclass(frozen=True, slots=True)
class PackingArrays:
    """A packing as integer arrays, on its way to the device."""

    sizes: tuple[int, ...]
    steps: np.ndarray  # [S] the step of each element
    arrays: dict[str, np.ndarray]


def assemble_packing(sizes: tuple[int, ...], tensors: dict[str, Tensor]) -> Packing:
    return Packing(
        sizes,
        tensors["owners"],
        tensors["last"],
        tensors["ends"],
        tensors.get("order"),
        tensors.get("weights"),
    )


def pack(lengths: np.ndarray, padded_steps: int | None = None) -> PackingArrays:
    """Lay out sequences of these lengths; with `padded_steps`, padded to that many steps."""
    count = len(lengths)
    if padded_steps is not None:
        steps = np.repeat(np.arange(padded_steps), count)
        owners = np.tile(np.arange(count), padded_steps)
        arrays = {
            "owners": owners,
            "last": steps == np.tile(lengths - 1, padded_steps),
            "ends": (lengths - 1) * count + np.arange(count),
            "weights": steps < np.tile(lengths, padded_steps),
        }
        return PackingArrays((count,) * padded_steps, steps, arrays)
    in_order = bool(np.all(lengths[1:] <= lengths[:-1]))
    order = np.arange(count) if in_order else np.argsort(-lengths, kind="stable")
    alive = np.arange(lengths.max(initial=0))[:, None] < lengths[order]  # [steps, N]
    steps, places = np.nonzero(alive)
    owners = order[places]
    sizes = alive.sum(axis=1)
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    ends = np.empty(count, dtype=np.int64)
    ends[order] = starts[lengths[order] - 1] + np.arange(count)
    arrays = {"owners": owners, "last": steps == lengths[owners] - 1, "ends": ends}
    if not in_order:
        arrays["order"] = order
    return PackingArrays(tuple(sizes.tolist()), steps, arrays)


def flatten(arrays: dict[str, np.ndarray]) -> np.ndarray:
    """All arrays as one: on a GPU each transfer costs more than its bytes."""
    return np.concatenate([array.astype(np.int64, copy=False) for array in arrays.values()])


def move(flat: np.ndarray, device: torch.device) -> Tensor:
    tensor = torch.from_numpy(flat)
    if device.type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


def ranges(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """All integers of [start, end) of each pair, one after another."""
    lengths = ends - starts
    total = np.cumsum(lengths)
    shifts = np.repeat(starts - np.concatenate([[0], total[:-1]]), lengths)
    return shifts + np.arange(total[-1] if len(total) else 0)
