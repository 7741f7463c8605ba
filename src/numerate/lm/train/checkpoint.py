"""Checkpoints: everything a run needs to go on as if nothing had happened, in one file.

A checkpoint replaces the one before it in a single step and says which run it belongs to; a
truncated, altered or foreign file is refused.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from numerate.errors import RunError, one_line
from numerate.lm.data.tensor_file import load_tensors, save_tensors
from numerate.lm.model.run_contents import DatasetPlace, Epoch
from numerate.lm.model.run_folder import CHECKPOINT
from numerate.storage.records import misfit, parse_record, typed

_FORMAT = "numerate checkpoint 1"


@dataclass(slots=True)
class Progress:
    """Where a run stands. Random numbers depend on seed, epoch and step, so they need no state."""

    epoch: int = 0
    step: int = 0  # batches done in this epoch
    loss: float = 0.0  # summed over this epoch's tokens so far
    tokens: int = 0
    seconds: float = 0.0  # spent in this epoch before the checkpoint
    best_loss: float | None = None
    best_epoch: int = -1
    history: list[dict[str, Any]] = field(default_factory=list)  # one record per epoch


def save_checkpoint(
    folder: Path,
    identity: dict[str, Any],
    progress: Progress,
    model: nn.Module,
    optimizer: Optimizer,
    best: dict[str, Tensor],
) -> None:
    tensors = {f"model/{name}": _plain(tensor) for name, tensor in model.state_dict().items()}
    tensors |= {f"best/{name}": _plain(tensor) for name, tensor in best.items()}
    for index, state in optimizer.state_dict()["state"].items():
        for key, value in state.items():
            tensors[f"optimizer/{index}/{key}"] = _plain(torch.as_tensor(value))
    about = {"identity": json.dumps(identity, sort_keys=True)}
    about["progress"] = json.dumps(asdict(progress))
    save_tensors(folder / CHECKPOINT, _FORMAT, tensors, about)


def load_checkpoint(
    folder: Path, identity: dict[str, Any], model: nn.Module, optimizer: Optimizer
) -> tuple[Progress, dict[str, Tensor]]:
    """Restore model and optimizer; returns where the run stood and its best weights."""
    path = folder / CHECKPOINT
    tensors, metadata = load_tensors(path, _FORMAT)
    if wrong := misfit(metadata, {"identity": str, "progress": str}):
        raise RunError(f"{path}: broken: {wrong}")
    stored = parse_record(metadata["identity"], {}, RunError, path)
    progress = parse_record(metadata["progress"], Progress, RunError, path)
    if wrong := misfit(progress["history"], [Epoch]):
        raise RunError(f"{path}: history{wrong}")
    if (options := stored.get("options", {})).get("ensemble_size") == 1:
        del options["ensemble_size"]  # as runs of 0.5 say it; more than one there can no longer be
    if changed := difference(stored, identity):
        raise RunError(f"{path}: checkpoint of another run: {changed}")
    parts: dict[str, dict[str, Tensor]] = {"model": {}, "best": {}, "optimizer": {}}
    try:
        for name, tensor in tensors.items():
            part, _, rest = name.partition("/")
            parts[part][rest] = tensor
        model.load_state_dict(parts["model"])
        state = optimizer.state_dict()
        state["state"] = {}
        for name, tensor in parts["optimizer"].items():
            index, _, key = name.partition("/")
            state["state"].setdefault(int(index), {})[key] = tensor
        optimizer.load_state_dict(state)
    except (KeyError, RuntimeError, ValueError) as error:
        raise RunError(f"{path}: does not fit the model: {one_line(error)}") from None
    return typed(Progress, progress), parts["best"]


def _plain(tensor: Tensor) -> Tensor:
    return tensor.detach().cpu().contiguous()


def other_data(known: DatasetPlace, given: DatasetPlace) -> str | None:
    """Say in what a dataset differs from a run's; None if in nothing."""
    return difference(known.content, given.content)


def difference(stored: dict[str, Any], asked: dict[str, Any]) -> str | None:
    """The first option that is not the same, in words; `a.b` is the option b among those of a."""
    for name in sorted(stored.keys() | asked.keys()):
        was, got = stored.get(name), asked.get(name)
        if isinstance(was, dict) and isinstance(got, dict):
            if inner := difference(was, got):
                return f"{name}.{inner}"
        elif was != got:
            return f"{name} was {was!r}, got {got!r}"
    return None
