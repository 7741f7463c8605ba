"""Open files that may be something else: a named pipe, a socket or a device in their place.

A pipe waits for a writer, perhaps forever, and a link to a device such as /dev/zero never ends.
"""

import errno
import hashlib
import os
import stat
from io import BufferedReader
from pathlib import Path

TEXT_BYTES = 1 << 29  # of a JSON file; `documents.json` of ten million documents is half of it
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_HANDED = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")


class NotAFileError(OSError):
    """Its text is the reason alone: who reports it names the file."""

    def __str__(self) -> str:
        return str(self.strerror)


def open_regular(path: str | Path) -> BufferedReader:
    """Open a file to read its bytes; raise OSError if it is a pipe, a socket or a device."""
    return _open(path, may_be_pipe=False)


def open_named(path: str | Path) -> BufferedReader:
    """Open a file that a user names, which may be a pipe of the shell: /dev/stdin, `<(command)`."""
    name = os.path.abspath(path)
    return _open(path, may_be_pipe=name.startswith(_HANDED) or name == os.devnull)


def _open(path: str | Path, *, may_be_pipe: bool) -> BufferedReader:
    """Look at the file before it is opened, and again after, in case it was replaced."""
    if not may_be_pipe:
        _refuse_others(os.stat(path), path)
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if may_be_pipe:
            os.set_blocking(handle, True)
        else:
            _refuse_others(os.fstat(handle), path)
        return open(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def _refuse_others(status: os.stat_result, path: str | Path) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "another kind of file")
        raise NotAFileError(errno.EINVAL, f"got {kind}, expected a file", str(path))


def check_regular(path: str | Path) -> None:
    """Raise OSError unless it is a file, before a library opens it."""
    open_regular(path).close()


def read_regular(path: str | Path, most: int | None = None) -> bytes:
    """Read a whole file, of so many bytes at most."""
    with open_regular(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        if most is not None and size > most:
            raise OSError(errno.EFBIG, f"got {size:,} bytes, expected at most {most:,}", str(path))
        return stream.read()


def read_named(path: str | Path) -> bytes:
    """Read all of a file that a user names."""
    with open_named(path) as stream:
        return stream.read()


def read_text(path: str | Path) -> str:
    """Read a text file of ours."""
    return read_regular(path, TEXT_BYTES).decode("utf-8")


def file_digest(path: str | Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with open_regular(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
