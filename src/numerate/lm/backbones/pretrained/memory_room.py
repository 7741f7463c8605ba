"""How much a pretrained model reads at a time."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

PREFIX_TOKENS = {"cpu": 4096, "cuda": 65536}  # of prefixes that are read at a time: see `room`
PADDING = {"cpu": 256, "cuda": 8192}  # tokens of a batch that are none: another costs as much
MEMORY = 2**36  # bytes of a GPU that has room for these


def room(most: dict[str, int], device: torch.device) -> int:
    """How much of something is held at a time: on a GPU as its memory allows now, since one that
    reads little at a time waits to be told what comes next."""
    if device.type != "cuda" or "cuda" not in most:
        return most.get(device.type, most["cpu"])
    return most["cuda"] * free_memory(device) // MEMORY


def free_memory(device: torch.device) -> int:
    """Bytes of a GPU that nobody else has, and that are not in use here."""
    free, _ = torch.cuda.mem_get_info(device)
    return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)


def kept_tokens(model: Any, bytes_each: int, on_cpu: int) -> int:
    """Tokens of which all that gradients need can be kept: on a GPU as its memory allows now, at
    so many bytes by layer and size of a state."""
    if model.device.type != "cuda":
        return on_cpu
    config = model.config.get_text_config()
    size: int = bytes_each * config.num_hidden_layers * config.hidden_size
    return free_memory(model.device) // size


def in_batches(sizes: Sequence[int], most: int, waste: int) -> Iterator[list[int]]:
    """Which of things that are padded to the same size are taken together: similar ones.

    There is room for so much, of which so much may be padding.
    """
    batch: list[int] = []
    for index in np.argsort(sizes, kind="stable").tolist():
        padding = sum(sizes[index] - sizes[other] for other in batch)
        if batch and ((len(batch) + 1) * sizes[index] > most or padding > waste):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
