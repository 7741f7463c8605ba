"""Arrays that are mapped into memory from files full of holes: opened, checked, written to.

Where a hole cannot be filled, since the disk is full, the system ends the process at once
(SIGBUS). So room is made before anything is written, where it can still be said that there is none.
"""

import errno
import math
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from numerate.errors import BackboneError, FailureError, one_line
from numerate.storage.atomic import first_file
from numerate.storage.regular_files import open_regular

_CANNOT_RESERVE = {errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS}  # of some file systems


def open_mapped(path: Path, dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
    """The array of a file, which is made where there is none; of another kind, it is refused."""
    if not os.path.lexists(path):
        with first_file(path) as part:
            np.lib.format.open_memmap(part, mode="w+", dtype=dtype, shape=shape).flush()
    expected = f"{np.dtype(dtype)} {shape}"
    if path.is_symlink():
        raise BackboneError(f"{path}: is a link, expected {expected}; remove it")
    try:
        with open_regular(path) as stream:
            np.lib.format.read_magic(stream)
            found, _, kind = np.lib.format.read_array_header_1_0(stream)
            missing = stream.tell() + kind.itemsize * math.prod(found) - path.stat().st_size
    except (OSError, ValueError) as error:
        reason = one_line(error)
        raise BackboneError(f"{path}: {reason}, expected {expected}; remove it") from None
    if (found, kind) != (shape, dtype) or missing:
        got = f"{kind} {found}" + (f", {missing} bytes short" if missing else "")
        raise BackboneError(f"{path}: got {got}, expected {expected}; remove it")
    return np.lib.format.open_memmap(path, mode="r+")


def put(array: np.ndarray, rows: np.ndarray | slice | list[int], values: object) -> None:
    """Write some rows, in whatever order, of a mapped array."""
    if isinstance(rows, slice):
        first, last = int(rows.start), int(rows.stop)
    else:
        first, last = (min(rows), max(rows) + 1) if len(rows) else (0, 0)
    if first < last:
        _reserve(array, int(first), int(last))
        array[rows] = values


def _reserve(array: np.ndarray, first: int, last: int) -> None:
    assert isinstance(array, np.memmap)
    path, size = Path(str(array.filename)), array.nbytes // len(array)
    begin, length = array.offset + first * size, (last - first) * size
    if not length:
        return
    try:
        _make_room(path, begin, length)
    except OSError as error:
        if error.errno in _CANNOT_RESERVE:
            return
        raise FailureError(
            f"{path}: no room for what the model says ({error.strerror}); what was read before is "
            "kept: free some space and go on, or choose another --cache"
        ) from None


def _make_room(path: Path, begin: int, length: int) -> None:
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), begin, length)
    elif shutil.disk_usage(path).free < length:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
