"""Files and folders that appear whole or not at all, and are written by one process at a time."""

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from socket import gethostname

from numerate.errors import FailureError, NumerateError

Refusal = Callable[[Path], str | None]
"""Why a folder may not be replaced, in words that follow its name; None where it may."""


class InUseError(FailureError):
    """Another process writes there."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One process at a time writes to a folder; who comes second is told who was first.

    The lock is a file beside the folder, so it holds while the folder itself is exchanged, and
    it is the kernel's, so it ends with its process, however that ends.
    """
    path = _beside(folder, "lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = _take_lock(path, folder)
    try:
        since = datetime.now().astimezone().isoformat(" ", "seconds")
        os.ftruncate(handle, 0)
        os.write(handle, f"process {os.getpid()} on {gethostname()} since {since}".encode())
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def _take_lock(path: Path, folder: Path) -> int:
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        except FileNotFoundError:
            pass
        except BlockingIOError:
            holder = os.read(handle, 200).decode(errors="replace") or "another process"
            os.close(handle)
            raise InUseError(f"{folder}: in use by {holder}; wait until it has ended") from None
        os.close(handle)  # its holder has just ended, and removed the file that was locked here


@contextmanager
def new_folder(target: Path, *, refusal: Refusal, force: bool = False) -> Iterator[Path]:
    """A folder to fill; it takes the name `target` only when the block ends without error.

    An existing target is never touched without `force`, and with it only replaced at the end,
    and only where there is no `refusal`. Where a process was killed before, its folder is put
    in order first.
    """
    with locked(target):
        _put_in_order(target)
        if target.exists() and not force:
            raise NumerateError(f"{target}: already exists; choose another place or add --force")
        if target.exists():
            check_replaceable(target, target, refusal)
        place = target.resolve()
        filling = Path(tempfile.mkdtemp(prefix=f".{place.name}.partial-", dir=place.parent))
        try:
            filling.chmod(0o755)
            yield filling
            _give_name(filling, target, force, refusal)
        except BaseException:
            shutil.rmtree(filling, ignore_errors=True)
            raise


def _give_name(filling: Path, target: Path, force: bool, refusal: Refusal) -> None:
    """The target is looked at again: what has appeared there meanwhile is nobody's to remove."""
    place = target.resolve()
    if not place.exists():
        filling.rename(place)
        return
    if not force:
        raise NumerateError(f"{target}: has appeared meanwhile, so it is not replaced")
    old = _old_of(filling, target)
    place.rename(old)
    try:
        check_replaceable(old, target, refusal)
        filling.rename(place)  # a kill before this is mended by `_put_in_order`
    except BaseException:
        old.rename(place)
        raise
    shutil.rmtree(old)


def check_replaceable(folder: Path, target: str | Path, refusal: Refusal) -> None:
    """Raises unless a folder, which a user knows as `target`, may be removed."""
    if not folder.is_dir():
        raise NumerateError(f"{target}: is a file, expected a folder")
    if any(folder.iterdir()) and (reason := refusal(folder)):
        raise NumerateError(f"{target}: {reason}, so it is not replaced; choose another place")


def recover(folder: Path) -> None:
    """Put back a folder that a kill left under a hidden name, unless somebody is at it."""
    try:
        if folder.exists():
            return
        if any(_leftovers(folder, "old")) or _beside(folder, "replaced").is_dir():
            with locked(folder):
                _put_in_order(folder)
                finish_exchange(folder)
    except (InUseError, OSError):
        pass  # the folder is missed by who wants to open it


def _put_in_order(target: Path) -> None:
    """Undo or complete the replacement of a killed process; only under the lock.

    While the folder that was being filled is there, it had not taken the place of the old one.
    """
    for filling in _leftovers(target, "partial"):
        old = _old_of(filling, target)
        if old.exists():
            if target.exists():
                continue  # made by others meanwhile: then all three are left as they are
            old.rename(target.resolve())
        shutil.rmtree(filling)
    fillings = {_old_of(filling, target) for filling in _leftovers(target, "partial")}
    for old in _leftovers(target, "old"):
        if old not in fillings and target.exists():
            shutil.rmtree(old)


def filling_beside(target: Path) -> Path:
    """The name of a folder that is filled in any number of goes, until it replaces the target."""
    return _beside(target, "new")


def exchange(target: Path, *, refusal: Refusal) -> None:
    """What was filled beside a folder takes its place; only under the lock.

    The filled folder is complete, so after a kill between the two renamings it is the one that
    counts: see `finish_exchange`.
    """
    place = target.resolve()
    if place.exists():
        check_replaceable(place, target, refusal)
        place.rename(_beside(target, "replaced"))
        finish_exchange(target)
    else:
        filling_beside(target).rename(place)


def finish_exchange(target: Path) -> None:
    """Go on where an exchange was killed; only under the lock."""
    place, filled, old = target.resolve(), filling_beside(target), _beside(target, "replaced")
    if not old.is_dir():
        return
    if not place.exists():
        (filled if filled.is_dir() else old).rename(place)
    if place.is_dir() and old.is_dir() and not filled.exists():
        shutil.rmtree(old)


def _beside(folder: Path, what: str) -> Path:
    place = folder.resolve()
    return place.with_name(f".{place.name}.{what}")


def _old_of(filling: Path, target: Path) -> Path:
    return _beside(target, f"old-{filling.name.rpartition('-')[2]}")


def _leftovers(target: Path, kind: str) -> list[Path]:
    place = target.resolve()
    name = re.compile(rf"\.{re.escape(place.name)}\.{kind}-[a-z0-9_]+")
    if not place.parent.is_dir():
        return []
    return [path for path in place.parent.iterdir() if name.fullmatch(path.name)]


def write_file(target: Path, data: bytes, mode: int = 0o644) -> None:
    """Replace a file in one step: readers see the old content or the new, never a part."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, mode)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def first_file(target: Path) -> Iterator[Path]:
    """A file to fill; it takes the name `target` unless another process was first.

    A file that others may have opened already is never replaced: who comes second takes theirs.
    Where a file system has no hard links, that takes a look and then a renaming: a file that comes
    between the two is replaced all the same, and what its maker goes on to write there is lost.
    """
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.partial-", dir=target.parent)
    os.close(handle)
    filling = Path(name)
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
