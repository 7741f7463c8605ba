"""`here`: where something lies on this machine, fetched once, and anew where it has changed."""

import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from numerate.errors import FailureError, NumerateError
from numerate.places import WORK, copy_folder, is_remote, local_path
from numerate.storage.filesystems import check_address, filesystem, told
from numerate.storage.listing import HOLD, Entry, Listing, all_at_once, listing, version_of

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

SEALS = ("manifest.json", "config.json")
_KEPT_SECONDS = 24 * 3600  # since it was last used, of a version that has been replaced


def here(place: str | Path, *, seals: tuple[str, ...] = SEALS) -> Path:
    """Where a place lies on this machine: itself, or a copy of it that is complete.

    A folder elsewhere is complete if it has one of the `seals`, which are written last; without
    any, every folder is taken as it is. A file is fetched by itself. What was fetched before is
    used as long as the place has the same files of the same versions.
    """
    if not is_remote(place):
        check_address(place)
        return local_path(place)
    place = str(place).rstrip("/")
    system, root = filesystem(place)
    for _ in range(3):
        found, is_file = _look(system, root, place)
        if not is_file:
            check_sealed(system, root, place, found, seals)
        folder = copy_folder(place, version_of(found))
        with _alone(folder.parent):
            if not folder.is_dir():
                _fetch(system, root, place, found, folder, is_file=is_file)
                if _look(system, root, place)[0] != found:
                    shutil.rmtree(folder)  # it was written to meanwhile: a mixture
                    continue
                _forget_older(folder)
            os.utime(folder)
        return folder / root.rsplit("/", 1)[-1] if is_file else folder
    raise FailureError(f"{place}: changes while it is read; wait until it is written")


def _look(system: "AbstractFileSystem", root: str, place: str) -> tuple[Listing, bool]:
    """The files there; and whether the place is itself a file."""
    with told(place):
        if found := listing(system, root):
            return found, False
        if system.isfile(root):
            return {root.rsplit("/", 1)[-1]: Entry.of(system.info(root))}, True
        if not system.exists(_top(root)):
            raise NumerateError(f"{place}: no such bucket: {_top(root)}")
    raise NumerateError(f"{place}: nothing there, expected a file or a folder")


def _top(root: str) -> str:
    return root.split("/", 1)[0] or root


def check_sealed(
    system: "AbstractFileSystem", root: str, place: str, found: Listing, seals: tuple[str, ...]
) -> None:
    """Refuse what was not written to its end."""
    if seals and not found.keys() & set(seals):
        with told(place):
            is_held = system.exists(f"{root}/{HOLD}")
        writer = "it is being written, or its writer was killed" if is_held else "not written whole"
        raise NumerateError(f"{place}: incomplete: {' or '.join(seals)} is missing: {writer}")


def _fetch(
    system: "AbstractFileSystem",
    root: str,
    place: str,
    found: Listing,
    folder: Path,
    *,
    is_file: bool,
) -> None:
    """Copy all files; those that an earlier version has already are taken from there."""
    for leftover in folder.parent.glob(".partial-*"):  # of a process that was killed
        shutil.rmtree(leftover, ignore_errors=True)
    filling = Path(tempfile.mkdtemp(prefix=".partial-", dir=folder.parent))
    known = _known(folder.parent)

    def fetch(name: str) -> None:
        target = filling / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (name, *found[name]) in known:
            os.link(known[name, *found[name]], target)
            return
        with told(place if is_file else f"{place}/{name}"):
            system.get_file(root if is_file else f"{root}/{name}", str(target))
        size = target.stat().st_size
        if found[name].size not in (None, size):
            expected = f"got {size:,} bytes, expected {found[name].size:,}"
            raise FailureError(f"{place}/{name}: fetched in part: {expected}")

    try:
        all_at_once(fetch, found)
        folder.with_suffix(".json").write_text(json.dumps(found))
        filling.rename(folder)
    except BaseException:
        shutil.rmtree(filling, ignore_errors=True)
        raise


def _known(versions: Path) -> dict[tuple[str, int | None, str], Path]:
    """The files of versions that were fetched before, by name, size and mark."""
    known = {}
    for noted in versions.glob("@*.json"):
        folder = noted.with_suffix("")
        for name, (size, mark) in json.loads(noted.read_text()).items():
            if mark and (folder / name).is_file():
                known[name, size, mark] = folder / name
    return known


def _forget_older(folder: Path) -> None:
    """Somebody may still read a version that has been replaced: it is kept for a day."""
    for version in folder.parent.glob("@*"):
        old = time.time() - version.stat().st_mtime > _KEPT_SECONDS
        if version.is_dir() and version.name not in (folder.name, WORK) and old:
            shutil.rmtree(version, ignore_errors=True)
            version.with_suffix(".json").unlink(missing_ok=True)


@contextmanager
def _alone(versions: Path) -> Iterator[None]:
    """One process of this machine fetches, others wait and find it fetched."""
    versions.mkdir(parents=True, exist_ok=True)
    with (versions / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
