"""Files and folders that appear whole or not at all, and are written by one process at a time.

A folder is filled under a hidden name beside its place. The file that locks the place names the
hidden folders, so after a kill the next process goes on with exactly those, and never touches
another folder of a similar name.
"""

import fcntl
import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from socket import gethostname
from typing import Any

from numerate.errors import FailureError, NumerateError
from numerate.reports.notices import warn
from numerate.storage.folder_kind import FolderKind, strange, temporary_name

_FORMAT = {"format": "numerate lock", "version": 1}
_MOST = 8192  # bytes of a lock file that are read


class InUseError(FailureError):
    """Another process writes there."""


class Lock:
    """The only writer of a folder, with the hidden folders beside it.

    `new` is filled until it takes the place of the folder, and `old` is what was there before. The
    lock file names both before they exist.
    """

    def __init__(self, target: Path, path: Path, handle: int, noted: dict[str, Any]) -> None:
        self.target, self.place = target, target.resolve()
        self._path, self._handle = path, handle
        self._noted = noted

    @property
    def new(self) -> Path | None:
        """The folder that is being filled, if there is one."""
        return _hidden(self.place, self._noted["new"])

    @property
    def old(self) -> Path | None:
        """The folder that was replaced, until it is removed."""
        return _hidden(self.place, self._noted["old"])

    def begin(self, kind: FolderKind) -> Path:
        """Make an empty folder to fill."""
        while True:
            mark = token_hex(6)
            new, old = (_beside(self.place, f"{what}-{mark}") for what in ("new", "old"))
            if not os.path.lexists(new) and not os.path.lexists(old):
                break
        self._note(kind=kind.title, new=new.name, old=None)
        new.mkdir()
        return new

    def recover(self, kind: FolderKind) -> None:
        """Finish the replacement that a killed process began.

        The new folder was complete when the old one moved, so it takes the place. If somebody has
        made a folder there since, both stay under names that are not hidden.
        """
        if self.old is not None and not self.place.exists():
            (self.new or self.old).rename(self.place)
        if self.old is not None and self.new is not None:
            self._show(self.old)
            self._show(self.new)
        if self.old is not None:
            self._refuse_stranger(self.old, kind)
            self._remove(self.old, kind)
        self._note(old=None, new=self.new.name if self.new else None)

    def discard(self, kind: FolderKind) -> None:
        """Remove a folder that was not filled to its end."""
        if self.new is not None:
            if self._noted["kind"] != kind.title:
                what = f"{self._noted['kind']} that is not complete"
                raise NumerateError(f"{self.new}: {what}; remove it or choose another folder")
            self._refuse_stranger(self.new, kind)
            self._remove(self.new, kind)
        self._note(new=None)

    def exchange(self, kind: FolderKind) -> None:
        """Let the filled folder take the place of what is there, if that may be replaced."""
        new = self.new
        assert new is not None
        if not is_occupied(self.place):
            new.rename(self.place)
            self._note(new=None)
            return
        kind.check_replaceable(self.place, self.target)
        old = _beside(self.place, f"old-{new.name.rpartition('-')[2]}")
        self._note(old=old.name)
        try:
            self.place.rename(old)
            new.rename(self.place)
        except BaseException:
            if new.is_dir() and old.is_dir():
                if self.place.exists():
                    self._show(old)
                else:
                    old.rename(self.place)
                self._note(old=None)
            raise
        self._remove(old, kind)
        self._note(new=None, old=None)

    def close(self) -> None:
        """Give the place free. The lock file stays as long as it names a folder that is there."""
        try:
            if self.new is not None or self.old is not None:
                self._note(holder="")
            elif _is_file_of(self._path, self._handle):
                self._path.unlink()
        finally:
            os.close(self._handle)

    def _refuse_stranger(self, folder: Path, kind: FolderKind) -> None:
        if stranger := kind.stranger(folder, drafts=True):
            raise strange(folder, stranger)

    def _remove(self, folder: Path, kind: FolderKind) -> None:
        if not kind.remove(folder, drafts=True):
            self._show(folder)

    def _show(self, folder: Path) -> None:
        """Give a hidden folder with files of others a name that is not hidden, and say so."""
        shown = folder.with_name(folder.name.removeprefix("."))
        if not os.path.lexists(shown):
            folder.rename(shown)
            warn(f"{self.target}: what was there before is kept in {shown}")

    def _note(self, **changed: str | None) -> None:
        """Write the lock file in one step: what follows its first line does not count."""
        self._noted |= changed
        data = json.dumps(_FORMAT | self._noted).encode() + b"\n"
        os.pwrite(self._handle, data, 0)
        os.ftruncate(self._handle, len(data))
        os.fsync(self._handle)


@contextmanager
def locked(folder: Path) -> Iterator[Lock]:
    """Lock a folder for this process; raise `InUseError`, which names the holder, if it is locked.

    The lock is a file beside the folder, so it holds while the folder itself is exchanged, and
    it is the kernel's, so it ends with its process, however that ends.
    """
    path = _beside(folder, "lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = _take_lock(path, folder)
    try:
        since = datetime.now().astimezone().isoformat(" ", "seconds")
        lock._note(holder=f"process {os.getpid()} on {gethostname()} since {since}")
        yield lock
    finally:
        lock.close()


def _take_lock(path: Path, folder: Path) -> Lock:
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
        except OSError:
            if os.path.lexists(path) and not _is_plain_file(path):
                raise _no_lock(path) from None
            raise
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_file_of(path, handle):
                noted = _read_lock(handle, folder.resolve())
                if noted is None:
                    raise _no_lock(path)
                return Lock(folder, path, handle, noted)
        except BlockingIOError:
            noted = _read_lock(handle, folder.resolve())
            holder = (noted and noted["holder"]) or "another process"
            os.close(handle)
            raise InUseError(f"{folder}: in use by {holder}; wait until it has ended") from None
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # its holder has just ended, and removed the file that was locked here


def _no_lock(path: Path) -> NumerateError:
    what = "numerate did not write it, and it has the name of a lock"
    return NumerateError(f"{path}: {what}; move it away or choose another folder")


def _is_plain_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _is_file_of(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False


def _read_lock(handle: int, place: Path) -> dict[str, Any] | None:
    """What a lock file says; None if it is none of ours."""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        return None
    line = os.pread(handle, _MOST, 0).partition(b"\n")[0]
    nothing = {"holder": "", "kind": None, "new": None, "old": None}
    if not line:
        return nothing
    try:
        record = json.loads(line)
    except ValueError:
        return None
    if not isinstance(record, dict) or record.keys() != (_FORMAT | nothing).keys():
        return None
    noted = {name: record[name] for name in nothing}
    is_ours = {name: record[name] for name in _FORMAT} == _FORMAT
    for name, value in noted.items():
        is_ours &= isinstance(value, str | (str if name == "holder" else None))
        if value is not None and name in ("new", "old"):
            pattern = rf"\.{re.escape(place.name)}\.{name}-[0-9a-f]{{12}}"
            is_ours &= re.fullmatch(pattern, str(value)) is not None
    return noted if is_ours else None


def _hidden(place: Path, name: str | None) -> Path | None:
    """A folder that a lock names, if it is there."""
    folder = None if name is None else place.with_name(name)
    return folder if folder and folder.is_dir() and not folder.is_symlink() else None


def unfinished(target: Path, kind: FolderKind) -> Path | None:
    """The hidden folder in which something of a kind waits to take the place of `target`."""
    try:
        handle = os.open(_beside(target, "lock"), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        noted = _read_lock(handle, target.resolve())
    finally:
        os.close(handle)
    if noted is None or noted["kind"] != kind.title:
        return None
    return _hidden(target.resolve(), noted["new"])


@contextmanager
def new_folder(target: Path, *, kind: FolderKind, force: bool = False) -> Iterator[Path]:
    """A folder to fill; it takes the name `target` only when the block ends without error.

    A target that is there is refused, unless it is empty, or `force` is set and it is of this
    kind; before it is refused, nothing is touched. It is replaced only at the end.
    """
    _check_free(target, kind, force)
    with locked(target) as lock:
        lock.recover(kind)
        _check_free(target, kind, force)
        lock.discard(kind)
        filling = lock.begin(kind)
        try:
            yield filling
            if not force and is_occupied(lock.place):
                raise NumerateError(f"{target}: has appeared meanwhile, so it is not replaced")
            lock.exchange(kind)
        except BaseException:
            with suppress(NumerateError, OSError):
                lock.discard(kind)
            raise


def _check_free(target: Path, kind: FolderKind, force: bool) -> None:
    if not is_occupied(target):
        return
    if not force:
        raise NumerateError(f"{target}: already exists; choose another place or add --force")
    kind.check_replaceable(target, target)


def is_occupied(target: Path) -> bool:
    """Whether something is there that is not an empty folder."""
    return target.exists() and (not target.is_dir() or any(target.iterdir()))


def recover(folder: Path, kind: FolderKind) -> None:
    """Put back a folder whose replacement a kill cut off, unless another process is at it."""
    try:
        if not folder.exists() and _is_plain_file(_beside(folder, "lock")):
            with locked(folder) as lock:
                lock.recover(kind)
    except (NumerateError, OSError):
        pass  # whoever opens the folder reports that it is missing


def _beside(folder: Path, what: str) -> Path:
    place = folder.resolve()
    return place.with_name(f".{place.name}.{what}")


def write_file(target: Path, data: bytes, mode: int = 0o644) -> None:
    """Replace a file in one step: readers see the old content or the new, never a part."""
    if target.is_symlink():
        raise NumerateError(f"{target}: is a link, which numerate did not write; expected a file")
    filling, handle = _temporary(target)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(filling, mode)
        os.replace(filling, target)
    except BaseException:
        filling.unlink(missing_ok=True)
        raise


@contextmanager
def first_file(target: Path) -> Iterator[Path]:
    """A file to fill; it takes the name `target` unless another process was first.

    A file that others may have opened already is never replaced: who comes second takes theirs.
    Where a file system has no hard links, that takes a look and then a renaming: a file that comes
    between the two is replaced all the same, and what its maker goes on to write there is lost.
    """
    filling, handle = _temporary(target)
    os.close(handle)
    try:
        filling.chmod(0o644)
        yield filling
        try:
            os.link(filling, target)
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            if not target.exists():
                filling.rename(target)
    finally:
        filling.unlink(missing_ok=True)


def _temporary(target: Path) -> tuple[Path, int]:
    """A new file beside `target`, and its descriptor."""
    path = target.with_name(temporary_name(target.name))
    return path, os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
