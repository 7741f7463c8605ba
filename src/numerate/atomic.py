"""Files and folders that appear whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from numerate.errors import NumerateError


@contextmanager
def new_folder(target: Path, *, force: bool = False) -> Iterator[Path]:
    """A folder to fill; it takes the name `target` only when the block ends without error.

    An existing target is never touched without `force`, and with it only replaced at the end.
    """
    if target.exists() and not force:
        raise NumerateError(f"{target}: already exists; choose another place or add --force")
    if target.exists() and not target.is_dir():
        raise NumerateError(f"{target}: is a file, expected a folder")
    target.parent.mkdir(parents=True, exist_ok=True)
    filling = Path(tempfile.mkdtemp(prefix=f".{target.name}.partial-", dir=target.parent))
    try:
        filling.chmod(0o755)
        yield filling
        if target.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{target.name}.old-", dir=target.parent))
            target.rename(old / target.name)
            filling.rename(target)
            shutil.rmtree(old)
        else:
            filling.rename(target)
    except BaseException:
        shutil.rmtree(filling, ignore_errors=True)
        raise


def write_file(target: Path, data: bytes) -> None:
    """Replace a file in one step: readers see the old content or the new, never a part."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, 0o644)
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
