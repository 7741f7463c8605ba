"""Sequences of unequal length laid out step by step, for recurrent networks.

Packed, they are sorted by descending length and only living ones have a place at a step:
no work is wasted. Padded, all have the same number of steps and the surplus weighs nothing:
some work is wasted, but the shape does not depend on the lengths, which a GPU can exploit.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import torch
from torch import Tensor


class Packing(Protocol):
    """N sequences as S elements, all first elements first."""

    @property
    def padded(self) -> bool: ...

    @property
    def sizes(self) -> tuple[int, ...]:
        """Sequences at each step."""

    @property
    def last(self) -> Tensor:
        """Whether an element is the last one of its sequence: [S]."""

    @property
    def ends(self) -> Tensor:
        """Where the last element of each sequence is: [N]."""

    def sort(self, rows: Tensor) -> Tensor:
        """Something of each sequence, in the order in which they stand at the first step."""

    def sum(self, elements: Tensor) -> Tensor:
        """Add up the elements of each sequence: [S] → [N]."""


@dataclass(frozen=True, slots=True)
class Packed:
    sizes: tuple[int, ...]
    owners: Tensor  # [S] which sequence each element belongs to
    last: Tensor  # [S]
    ends: Tensor  # [N]
    order: Tensor | None  # [N] sequences as they stand at the first step; None: as they come
    padded: ClassVar[bool] = False

    def sort(self, rows: Tensor) -> Tensor:
        return rows if self.order is None else rows.index_select(0, self.order)

    def sum(self, elements: Tensor) -> Tensor:
        return elements.new_zeros(self.sizes[0]).index_add(0, self.owners, elements)


@dataclass(frozen=True, slots=True)
class Padded:
    """Known by the lengths alone, which stay on the device."""

    lengths: Tensor  # [N]
    steps: int
    padded: ClassVar[bool] = True

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.lengths.shape[0],) * self.steps

    @property
    def last(self) -> Tensor:
        return (self._steps() == self.lengths - 1).flatten()

    @property
    def ends(self) -> Tensor:
        count = self.lengths.shape[0]
        return (self.lengths - 1) * count + torch.arange(count, device=self.lengths.device)

    def sort(self, rows: Tensor) -> Tensor:
        return rows

    def sum(self, elements: Tensor) -> Tensor:
        inside = self._steps() < self.lengths  # [steps, N]
        return torch.where(inside, elements.view(self.steps, -1), 0.0).sum(0)

    def _steps(self) -> Tensor:
        return torch.arange(self.steps, device=self.lengths.device)[:, None]


@dataclass(frozen=True, slots=True)
class PackedArrays:
    """Packed sequences as integer arrays, on their way to the device."""

    sizes: tuple[int, ...]
    steps: np.ndarray  # [S] the step of each element
    arrays: dict[str, np.ndarray]

    def named(self, name: str) -> dict[str, np.ndarray]:
        return {f"{name} {key}": array for key, array in self.arrays.items()}


def packed(sizes: tuple[int, ...], tensors: dict[str, Tensor], name: str) -> Packed:
    """The sequences of a name, from what has arrived on the device."""
    owners, last, ends = (tensors[f"{name} {key}"] for key in ("owners", "last", "ends"))
    return Packed(sizes, owners, last, ends, tensors.get(f"{name} order"))


def pack(lengths: np.ndarray) -> PackedArrays:
    """Lay out sequences of these lengths."""
    count = len(lengths)
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
    return PackedArrays(tuple(sizes.tolist()), steps, arrays)


def move(array: np.ndarray, device: torch.device) -> Tensor:
    tensor = torch.from_numpy(array)
    if device.type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


def move_together(arrays: dict[str, np.ndarray], device: torch.device) -> dict[str, Tensor]:
    """Arrays of integers as one: on a GPU each transfer costs more than its bytes."""
    if device.type == "cpu":
        return {name: torch.from_numpy(array) for name, array in arrays.items()}
    flat = np.concatenate([array.ravel().astype(np.int64, copy=False) for array in arrays.values()])
    parts = torch.split(move(flat, device), [array.size for array in arrays.values()])
    return {
        name: part.view(array.shape)
        for (name, array), part in zip(arrays.items(), parts, strict=True)
    }
