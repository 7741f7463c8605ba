"""Files of a folder that a stranger may have made, opened only if they are files.

A FIFO in the place of a file would wait for ever for who writes to it, and a link to a device such
as /dev/zero never ends.
"""

import errno
import hashlib
import os
import stat
from io import BufferedReader
from pathlib import Path

TEXT_BYTES = 1 << 29  # of a JSON file; `documents.json` of ten million documents is half of it


def open_regular(path: str | Path) -> BufferedReader:
    """Open a file to read its bytes; raise OSError where it is a FIFO, a socket or a device."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ENXIO, errno.ENODEV):  # a socket, a device without a driver
            raise _not_regular(path) from None
        raise
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        raise _not_regular(path)
    return open(handle, "rb")


def check_regular(path: str | Path) -> None:
    """Raise OSError where a library is about to open what is no file."""
    open_regular(path).close()


def read_regular(path: str | Path, most: int | None = None) -> bytes:
    """Read a whole file, of so many bytes at most."""
    with open_regular(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        if most is not None and size > most:
            raise OSError(errno.EFBIG, f"got {size:,} bytes, expected at most {most:,}", str(path))
        return stream.read()


def read_text(path: str | Path) -> str:
    """Read a text file of ours."""
    return read_regular(path, TEXT_BYTES).decode("utf-8")


def file_digest(path: str | Path) -> str:
    """The SHA-256 of a file's bytes."""
    with open_regular(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _not_regular(path: str | Path) -> OSError:
    return OSError(errno.EINVAL, "not a regular file", str(path))
