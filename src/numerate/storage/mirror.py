"""`here`: where something lies on this machine, fetched once, and anew where it has changed."""

import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from numerate.errors import FailureError, NumerateError
from numerate.places import (
    NEW,
    copy_folder,
    is_remote,
    local_path,
    place_of,
    version_folder,
)
from numerate.storage.atomic import write_file
from numerate.storage.filesystems import check_address, filesystem, told
from numerate.storage.regular_files import file_digest
from numerate.storage.stored_files import (
    Entry,
    Listing,
    all_at_once,
    check_bucket,
    listing,
    sums_of,
    version_of,
)

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
        of_folder, name = place.rsplit("/", 1) if is_file else (place, "")
        folder = copy_folder(of_folder, version_of(found))
        with alone(folder.parent):
            if _noted(_note(folder)) != found:  # or it is as it was fetched
                shutil.rmtree(folder, ignore_errors=True)
                _fetch(system, root, place, found, folder, is_file=is_file)
                if _look(system, root, place)[0] != found:
                    _note(folder).unlink()  # it was written to meanwhile: a mixture
                    continue
                _forget_older(folder)
            os.utime(folder)
        return folder / name
    raise FailureError(f"{place}: changes while it is read; wait until it is written")


def _look(system: "AbstractFileSystem", root: str, place: str) -> tuple[Listing, bool]:
    """The files there; and whether the place is itself a file."""
    with told(place):
        if found := listing(system, root):
            return found, False
        if system.isfile(root):
            return {root.rsplit("/", 1)[-1]: Entry.of(system.info(root))}, True
    check_bucket(system, root, place)
    raise NumerateError(f"{place}: nothing there, expected a file or a folder")


def check_sealed(
    system: "AbstractFileSystem", root: str, place: str, found: Listing, seals: tuple[str, ...]
) -> None:
    """Refuse what was not written to its end."""
    if seals and not found.keys() & set(seals):
        why = "it is being written, its writer was killed, or it is something else"
        raise NumerateError(f"{place}: incomplete: {' or '.join(seals)} is missing: {why}")


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
    try:
        known = _known(folder.parent)
        for name in found:
            if (name, *found[name]) in known:
                (filling / name).parent.mkdir(parents=True, exist_ok=True)
                with suppress(OSError):  # a file system without links: then it is fetched
                    os.link(known[name, *found[name]], filling / name)
        missing = {name: entry for name, entry in found.items() if not (filling / name).exists()}
        fetch_files(system, root, place, missing, filling, is_file=is_file)
        if not is_file:
            _check_sums(system, root, place, found, filling)
        filling.rename(folder)
        write_file(_note(folder), json.dumps(found).encode())
    except BaseException:
        shutil.rmtree(filling, ignore_errors=True)
        raise


def _check_sums(
    system: "AbstractFileSystem", root: str, place: str, found: Listing, folder: Path
) -> None:
    """Refuse a mixture of files that two processes wrote at the same time."""
    with told(place):
        sums = sums_of(system, root)
    for name in sorted(found.keys() & sums):
        if file_digest(folder / name) != sums[name]:
            raise FailureError(
                f"{place}/{name}: got another hash than that of what was published there: two "
                "processes wrote at the same time, or it was changed; write it anew with --force"
            )


def fetch_files(
    system: "AbstractFileSystem",
    root: str,
    place: str,
    found: Listing,
    folder: Path,
    *,
    is_file: bool = False,
) -> None:
    """Copy some files of a place, each as long as it is there, to a folder."""

    def fetch(name: str) -> None:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with told(place if is_file else f"{place}/{name}"):
            system.get_file(root if is_file else f"{root}/{name}", str(target))
        size = target.stat().st_size
        if found[name].size not in (None, size):
            expected = f"got {size:,} bytes, expected {found[name].size:,}"
            raise FailureError(f"{place}/{name}: fetched in part: {expected}")

    all_at_once(fetch, found)


def _note(folder: Path) -> Path:
    """Says which files of which marks a version has."""
    return folder.with_suffix(".json")


def _noted(note: Path) -> Listing:
    try:
        return {name: Entry(*entry) for name, entry in json.loads(note.read_text()).items()}
    except (FileNotFoundError, ValueError):  # none, or one that a power cut has spoilt
        return {}


def written_to(path: Path) -> None:
    """A file of a copy is to be written: after that it is of no version that is known."""
    folder = version_folder(path)
    assert folder is not None, "a copy has its place in its path"
    noted = _noted(_note(folder))
    if noted.pop(str(path.relative_to(folder)), None):
        write_file(_note(folder), json.dumps(noted).encode())


def file_here(place: str | Path) -> Path:
    """The same for a file that need not be there: then `storage.write` makes it there."""
    if is_remote(place) and not exists(place):
        folder, name = str(place).rsplit("/", 1)
        return copy_folder(folder, NEW) / name
    return here(place, seals=())


def exists(place: str | Path) -> bool:
    """Whether a file or a folder is there."""
    if isinstance(place, Path):
        place = place_of(place) or place
    if not is_remote(place):
        return local_path(place).exists()
    system, root = filesystem(place)
    with told(place):
        system.invalidate_cache()
        return bool(system.exists(root))


def read(place: str) -> bytes:
    """One file elsewhere, at once."""
    system, path = filesystem(place)
    with told(place):
        data: bytes = system.cat_file(path)
    return data


def files_in(place: str) -> list[str]:
    """The addresses of the files in a folder elsewhere, in order; none where it is a file."""
    place = place.rstrip("/")
    system, root = filesystem(place)
    found, is_file = _look(system, root, place)
    return [] if is_file else sorted(f"{place}/{name}" for name in found)


def _known(versions: Path) -> dict[tuple[str, int | None, str], Path]:
    """The files of versions that were fetched before, by name, size and mark."""
    known = {}
    for noted in versions.glob("@*.json"):
        folder = noted.with_suffix("")
        for name, entry in _noted(noted).items():
            if entry.mark and (folder / name).is_file():
                known[name, *entry] = folder / name
    return known


def _forget_older(folder: Path) -> None:
    """Somebody may still read a version that has been replaced: it is kept for a day."""
    for version in folder.parent.glob("@" + 16 * "[0-9a-f]"):
        old = time.time() - version.stat().st_mtime > _KEPT_SECONDS
        if version != folder and old:
            _note(version).unlink(missing_ok=True)
            shutil.rmtree(version, ignore_errors=True)


@contextmanager
def alone(versions: Path) -> Iterator[None]:
    """One process of this machine at a time fetches; others wait, and find it fetched."""
    versions.mkdir(parents=True, exist_ok=True)
    with (versions / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
