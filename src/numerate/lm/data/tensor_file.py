"""Tensors on disk: one file that appears whole, knows what it is, and notices damage.

The file may be a stranger's. Its header is read first, and says how large everything is: what does
not fit is refused before there is memory for it.
"""

import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from numerate.errors import RunError, one_line
from numerate.storage import write
from numerate.storage.records import Shape, misfit, parse_record
from numerate.storage.regular_files import open_regular

Sizes = Mapping[str, tuple[int, ...]]
"""The shape of each tensor, by its name."""

HEADER_BYTES = 100_000_000  # as safetensors has it
_ABOUT = "__metadata__"
_ITEM = {
    **dict.fromkeys(("F64", "I64", "U64"), 8),
    **dict.fromkeys(("F32", "I32", "U32"), 4),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 2),
    **dict.fromkeys(("I8", "U8", "BOOL"), 1),
}
_TENSOR: dict[str, Shape] = {"dtype": str, "shape": [int], "data_offsets": [int, int]}


@dataclass(frozen=True, slots=True)
class Header:
    about: dict[str, str]
    sizes: Sizes


def save_tensors(
    path: Path, format: str, tensors: dict[str, Tensor], about: dict[str, str]
) -> None:
    """Write tensors with `about`, short texts that say what they belong to."""
    record = {**about, "format": format, "digest": _digest(tensors)}
    # In one entry: safetensors writes several in no fixed order.
    write(path, save(tensors, {"numerate": json.dumps(record, sort_keys=True)}))


def read_header(path: Path, format: str | None) -> Header:
    """Read what a file of a format says of its tensors, and refuse one that is not as long."""
    with _opened(path) as stream:
        return _header(stream, path, format)


def load_tensors(path: Path, format: str | None) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read tensors of a format back, or say in one line why they cannot be trusted."""
    with _opened(path) as stream:
        about = _header(stream, path, format).about
        size = _size(stream)
        if 2 * size > (room := memory()):
            got = f"got {size:,} bytes of weights"
            raise RunError(f"{path}: {got}, expected at most half of the memory, {room:,}")
        stream.seek(0)
        try:
            tensors = load(stream.read())
        except (OSError, SafetensorError, ValueError, RuntimeError, MemoryError) as error:
            raise _broken(path, error) from None
    if about.get("digest") != _digest(tensors):
        raise RunError(f"{path}: broken: its content does not match its digest")
    return tensors, about


def rewrite_tensors(source: Path, target: Path, change: Callable[[Tensor], Tensor]) -> None:
    """Write the same file with other tensors, which belong to the same things."""
    tensors, about = load_tensors(source, None)
    changed = {name: change(tensor) for name, tensor in tensors.items()}
    save_tensors(target, about["format"], changed, about)


def refuse_misfits(found: Sizes, expected: Sizes) -> None:
    """Raise ValueError over the first tensor that a network does not have, or has in another
    shape."""
    for name in sorted(expected.keys() | found.keys()):
        got, needed = found.get(name, "none"), expected.get(name, "none")
        if got != needed:
            raise ValueError(f"{name}: got {got}, expected {needed}")


def memory() -> int:
    """Bytes of memory that this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _opened(path: Path) -> BinaryIO:
    try:
        return open_regular(path)
    except FileNotFoundError:
        raise RunError(f"{path.parent}: {path.name} is missing") from None
    except OSError as error:
        raise _broken(path, error.strerror) from None


def _header(stream: BinaryIO, path: Path, format: str | None) -> Header:
    """Names, shapes and offsets, which must fill the file without a gap or an overlap."""
    size = _size(stream)
    length = int.from_bytes(stream.read(8), "little")
    if size < 8 or length > min(HEADER_BYTES, size - 8):
        raise _broken(path, f"its header has {length:,} bytes, the file {size:,}")
    try:
        text = stream.read(length).decode("utf-8")
    except UnicodeDecodeError as error:
        raise _broken(path, error) from None
    record = parse_record(text, {f"{_ABOUT}?": {"*": str}, "*": _TENSOR}, RunError, path)
    found = (record.pop(_ABOUT, None) or {}).get("numerate", "{}")
    about = parse_record(found, {}, RunError, path)
    if wrong := misfit(about, {"format?": str, "digest?": str}):
        raise RunError(f"{path}: {wrong}")
    if format is not None and about.get("format") != format:
        got = about.get("format", "none")
        raise RunError(f"{path}: of another kind: got format {got!r}, expected {format!r}")
    end = 0
    for name, tensor in sorted(record.items(), key=lambda item: item[1]["data_offsets"]):
        end = _end_of(tensor, end, f"{path}: broken: {name}")
    if 8 + length + end != size:
        raise _broken(path, f"got {size:,} bytes, expected {8 + length + end:,}")
    return Header(about, {name: tuple(tensor["shape"]) for name, tensor in record.items()})


def _end_of(tensor: dict[str, Any], start: int, where: str) -> int:
    """The place where a tensor ends that should start here."""
    kind, shape, (begin, end) = tensor["dtype"], tensor["shape"], tensor["data_offsets"]
    if kind not in _ITEM:
        raise RunError(f"{where}: dtype: got {kind!r:.40}, expected one of {', '.join(_ITEM)}")
    if any(not 0 <= size <= 1 << 48 for size in shape):
        raise RunError(f"{where}: shape: got {shape!r:.80}, expected sizes that can be")
    expected: int = start + math.prod(shape) * _ITEM[kind]
    if (begin, end) != (start, expected):
        raise RunError(f"{where}: data_offsets: got {[begin, end]}, expected {[start, expected]}")
    return expected


def _size(stream: BinaryIO) -> int:
    return os.fstat(stream.fileno()).st_size


def _broken(path: Path, reason: object) -> RunError:
    return RunError(f"{path}: broken: {one_line(reason)}")


def _digest(tensors: dict[str, Tensor]) -> str:
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(tensors[name].reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
