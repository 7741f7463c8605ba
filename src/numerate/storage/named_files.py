"""Files that somebody names are opened without waiting: what is no regular file is refused."""

import os
import stat
from io import BufferedReader
from pathlib import Path

_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_HANDED = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")


def open_file(path: str | Path) -> BufferedReader:
    """Open a regular file, or a pipe that the shell has handed over (`/dev/stdin`, `<(command)`).

    Opening any other pipe would wait for a writer, perhaps forever, and a device may never end:
    they raise `OSError`. The file is looked at again once it is open, in case it was replaced.
    """
    name = os.path.abspath(path)
    may_be_pipe = name.startswith(_HANDED) or name == os.devnull

    def look(status: os.stat_result) -> None:
        kind = _KINDS.get(stat.S_IFMT(status.st_mode))
        if kind is not None and not may_be_pipe:
            raise OSError(f"got {kind}, expected a file")

    def open_now(opened: str, flags: int) -> int:
        handle = os.open(opened, flags | getattr(os, "O_NONBLOCK", 0))
        try:
            look(os.fstat(handle))
            if may_be_pipe:
                os.set_blocking(handle, True)
        except OSError:
            os.close(handle)
            raise
        return handle

    look(os.stat(path))  # before it is opened, which may already do something to a device
    return open(path, "rb", opener=open_now)


def read_bytes(path: str | Path) -> bytes:
    """Read all of such a file."""
    with open_file(path) as stream:
        return stream.read()
