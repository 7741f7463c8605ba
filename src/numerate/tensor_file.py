"""Tensors on disk: one file that appears whole, knows what it is, and notices damage."""

import hashlib
import json
import struct
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from numerate.errors import RunError
from numerate.storage import write


def save_tensors(
    path: Path, format: str, tensors: dict[str, Tensor], about: dict[str, str]
) -> None:
    """Write tensors with `about`, short texts that say what they belong to."""
    record = {**about, "format": format, "digest": _digest(tensors)}
    # In one entry: safetensors writes several in no fixed order.
    write(path, save(tensors, {"numerate": json.dumps(record, sort_keys=True)}))


def load_tensors(path: Path, format: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read tensors of a format back, or say in one line why they cannot be trusted."""
    try:
        data = path.read_bytes()
        tensors = load(data)
        about = _about(data)
    except FileNotFoundError:
        raise RunError(f"{path.parent}: {path.name} is missing") from None
    except (OSError, SafetensorError, ValueError, struct.error) as error:
        raise RunError(f"{path}: broken: {' '.join(str(error).split())}") from None
    if about.get("format") != format:
        got = about.get("format", "none")
        raise RunError(f"{path}: of another kind: got format {got!r}, expected {format!r}")
    if about.get("digest") != _digest(tensors):
        raise RunError(f"{path}: broken: its content does not match its digest")
    return tensors, about


def rewrite_tensors(source: Path, target: Path, change: Callable[[Tensor], Tensor]) -> None:
    """The same file with other tensors, which belong to the same things."""
    about = _about(source.read_bytes())
    tensors, about = load_tensors(source, about.get("format", ""))
    changed = {name: change(tensor) for name, tensor in tensors.items()}
    save_tensors(target, about["format"], changed, about)


def _about(data: bytes) -> dict[str, str]:
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    found: dict[str, str] = json.loads(header.get("__metadata__", {}).get("numerate", "{}"))
    return found


def _digest(tensors: dict[str, Tensor]) -> str:
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(tensors[name].reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
