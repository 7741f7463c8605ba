"""Folders that are filled on this machine and then published, the file with their record last.

An object store renames nothing, so a place elsewhere is not replaced in one step: its record goes
first, then come the files, then the new record. `here` refuses a folder without its record.

Nor has a store locks. So the hashes of all files go up before the record, and `here` refuses a
folder whose files have others: two writers at the same time cannot make a mixture that is read.
"""

import json
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from uuid import uuid4

from numerate.errors import FailureError, NumerateError
from numerate.places import (
    WRITER,
    as_named,
    copy_folder,
    default_cache,
    is_being_made,
    is_remote,
    local_path,
    place_of,
    work_of,
)
from numerate.reports.notices import warn
from numerate.storage.atomic import InUseError, locked, new_folder, write_file
from numerate.storage.filesystems import check_address, filesystem, told
from numerate.storage.folder_kind import SUMS, FolderKind, strange, written_as
from numerate.storage.mirror import written_to
from numerate.storage.regular_files import file_digest
from numerate.storage.stored_files import (
    all_at_once,
    appearing_whole,
    check_bucket,
    listing,
    make_parent,
    put_whole,
    sums_of,
)

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

UNFINISHED = ".numerate-unfinished"  # lies where an upload has begun, and has not ended


@contextmanager
def published(place: str | Path, kind: FolderKind, *, force: bool = False) -> Iterator[Path]:
    """A folder to fill; when the block ends without error, it is what lies at the place.

    On this machine that is `atomic.new_folder`. Elsewhere the files are uploaded when the block
    ends, the record last. An existing place is refused without `force`, and with it unless all
    that is there is of this kind; it is touched only when all that replaces it has been made.
    """
    if not is_remote(place):
        check_address(place)
        with new_folder(local_path(place), kind=kind, force=force) as folder:
            yield folder
        return
    place = str(place).rstrip("/")
    system, root = filesystem(place)
    with work_folder(place) as folder:
        check_free(system, root, place, kind, force=force)
        upload = Upload(system, root, place)
        upload.mark()  # whoever may not write there is told so now
        try:
            yield folder
        except BaseException:
            with suppress(NumerateError):
                upload.unmark()
            raise
        with kept_unless_sent(folder, place):
            check_free(system, root, place, kind, force=force)  # others may have been faster
            upload.replace(folder, kind)


@contextmanager
def kept_unless_sent(folder: Path, place: str, what: str = "what was made") -> Iterator[None]:
    """What cannot be brought to its place is kept on this machine, and it is told where."""
    try:
        yield
    except BaseException as error:
        name = f"{time.strftime('%Y-%m-%d-%H%M%S')}-{uuid4().hex[:8]}"
        kept = default_cache() / "unpublished" / name
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(folder, kept)
        where = f"{what} is kept in {kept}"
        if isinstance(error, NumerateError):
            raise FailureError(f"{error}; {where}") from None
        warn(f"{place}: not published; {where}")  # Ctrl-C, say
        raise


@contextmanager
def work_folder(place: str, launch: int = 0) -> Iterator[Path]:
    """An empty folder of this machine, in which is made what is to lie elsewhere.

    One process of this machine has it; of several that were launched together, each has its own.
    """
    folder = work_of(place, launch)
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(copy_folder(place, f"{WRITER}{launch or ''}")))
        except InUseError as error:
            raise InUseError(as_named(str(error))) from None
        shutil.rmtree(folder, ignore_errors=True)  # of a process that was killed
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def check_free(
    system: "AbstractFileSystem", root: str, place: str, kind: FolderKind, *, force: bool
) -> None:
    """Refuse a place where something lies that may not be replaced.

    A place without the record of its kind is free only if an upload there was cut off.
    """
    with told(place):
        found = listing(system, root)
        if not found and system.isfile(root):
            raise NumerateError(f"{place}: is a file, expected a folder")
    if not found:
        check_bucket(system, root, place)
        return
    seal = kind.record
    if not force:
        what = "already exists" if seal in found else "holds what was not written whole"
        raise NumerateError(f"{place}: {what}; choose another place or add --force")
    if seal not in found:
        with told(place):
            is_ours = system.exists(f"{root}/{UNFINISHED}")
        if not is_ours:
            raise NumerateError(
                f"{place}: {seal} is missing, so it is not replaced; choose another place"
            )
    else:
        with TemporaryDirectory(prefix="numerate-") as temporary:
            with told(place):
                (Path(temporary) / seal).write_bytes(system.cat_file(f"{root}/{seal}"))
            if fault := kind.fault(Path(temporary)):
                raise NumerateError(
                    f"{place}: {fault}, so it is not replaced; choose another folder"
                )
    if stranger := kind.stranger_among(found):
        raise strange(place, stranger)


class Upload:
    """Files on their way to a place."""

    def __init__(self, system: "AbstractFileSystem", root: str, place: str) -> None:
        self.store, self.root, self.place = system, root, place

    def replace(self, folder: Path, kind: FolderKind) -> None:
        """Make the files of a folder those of the place, and remove others of the kind there."""
        seal, names = kind.record, files_of(folder)
        sums = json.dumps({name: file_digest(folder / name) for name in names})
        self.mark()
        with told(self.place):
            old = {name for name in listing(self.store, self.root) if kind.holds(name)}
            if seal in old:
                self.store.rm_file(f"{self.root}/{seal}")
        try:
            self.put(folder, [name for name in names if name != seal], in_place=True)
            self.remove(old - set(names))
            self._check_sizes(folder, names, seal)
            with told(self.place):
                put_whole(self.store, f"{self.root}/{SUMS}", sums.encode())
                put_whole(self.store, f"{self.root}/{seal}", (folder / seal).read_bytes())
        except BaseException:
            with suppress(NumerateError), told(self.place):  # what stays has no seal, but the mark
                self.remove(listing(self.store, self.root).keys() & (old | set(names)))
                with suppress(FileNotFoundError):
                    self.store.rm_file(f"{self.root}/{SUMS}")
                self.unmark()
            raise
        with suppress(NumerateError):  # beside a seal it says nothing
            self.unmark()

    def mark(self) -> None:
        """Note that an upload has begun, by which what it leaves is known to be ours."""
        path = f"{self.root}/{UNFINISHED}"
        with told(self.place):
            make_parent(self.store, path)
            self.store.pipe_file(path, b"")

    def unmark(self) -> None:
        """Note that the upload has ended."""
        with told(self.place):
            self.store.rm_file(f"{self.root}/{UNFINISHED}")

    def put(self, folder: Path, names: Iterable[str], *, in_place: bool = False) -> None:
        """Each file stays as it was until the new one is whole; `in_place`, where nobody opens the
        folder meanwhile, it need not."""

        def put(name: str) -> None:
            path = f"{self.root}/{name}"
            with told(f"{self.place}/{name}"):
                make_parent(self.store, path)
                with nullcontext(path) if in_place else appearing_whole(self.store, path) as part:
                    self.store.put_file(str(folder / name), part)

        all_at_once(put, names)

    def remove(self, names: Iterable[str]) -> None:
        with told(self.place):
            for name in names:
                self.store.rm_file(f"{self.root}/{name}")

    def check_own(self, kind: FolderKind) -> None:
        """Refuse a place with files that are not of this kind."""
        with told(self.place):
            found = listing(self.store, self.root)
        if stranger := kind.stranger_among(found):
            raise strange(self.place, stranger)

    def clear(self, kind: FolderKind) -> None:
        """Remove the files of this kind, also those that were cut off while they were written."""
        with told(self.place):
            self.store.invalidate_cache()
            if not self.store.exists(self.root):
                return
            hidden = [path.rpartition("/")[2] for path in self.store.ls(self.root, detail=False)]
            names = [*listing(self.store, self.root), *filter(written_as, hidden)]
            self.remove(filter(kind.holds, names))
            with suppress(OSError, NotImplementedError):  # a folder that is not empty, or none
                self.store.rmdir(self.root)

    def _check_sizes(self, folder: Path, names: list[str], seal: str) -> None:
        with told(self.place):
            found = listing(self.store, self.root)
        for name in names:
            got, size = found.get(name), (folder / name).stat().st_size
            if name != seal and (got is None or got.size not in (None, size)):
                came = "nothing" if got is None else f"{got.size:,} bytes"
                raise FailureError(f"{self.place}/{name}: got {came} there, expected {size:,}")


def fingerprints(folder: Path) -> dict[str, tuple[int, int]]:
    """By which it is told whether a file has changed."""
    stats = {name: (folder / name).stat() for name in files_of(folder)}
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in stats.items()}


def files_of(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def write(place: str | Path, data: bytes) -> None:
    """Replace one file, wherever it is, in one step.

    A file of a copy is replaced where the copy is of, too.
    """
    elsewhere = str(place) if is_remote(place) else None
    if isinstance(place, Path) and not is_being_made(place):
        elsewhere = place_of(place)
    if elsewhere is not None:
        system, path = filesystem(elsewhere)
        with told(elsewhere):
            make_parent(system, path)
            _without_sum(system, path)
            put_whole(system, path, data)
    if elsewhere is None:
        check_address(place)
        write_file(local_path(place), data)
    elif isinstance(place, Path) and place.parent.is_dir():
        written_to(place)
        write_file(place, data)


def _without_sum(system: "AbstractFileSystem", path: str) -> None:
    """Leave a file that is written by itself out of the hashes of what was published with it."""
    root, _, name = path.rpartition("/")
    sums = sums_of(system, root)
    if sums.pop(name, None):
        put_whole(system, f"{root}/{SUMS}", json.dumps(sums).encode())
