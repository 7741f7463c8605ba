"""Things made one after another, maybe in processes beside the one that uses them."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import torch
from torch.utils.data import DataLoader
from torch.utils.data import Dataset as TorchDataset

T = TypeVar("T")


class _Made(TorchDataset[Any]):
    def __init__(self, make: Callable[[int], Any], count: int) -> None:
        self._make, self._count = make, count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Any:
        if index >= self._count:
            raise IndexError(index)
        return self._make(index)


def made_beside(make: Callable[[int], T], count: int, processes: int = 0) -> Iterator[T]:
    """`make` of 0 to `count` − 1, in this order. The processes know all that this one knows, and
    must not touch a device; without any, each is made when it is asked for."""
    loader: DataLoader[T] = DataLoader(
        _Made(make, count),
        batch_size=None,
        collate_fn=_as_it_is,
        num_workers=min(processes, count),
        multiprocessing_context="fork" if processes and count else None,
        generator=torch.Generator(),  # nothing of it is used, and the usual one is left alone
    )
    yield from loader


def _as_it_is(made: Any) -> Any:
    return made
