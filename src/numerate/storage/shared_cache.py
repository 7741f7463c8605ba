"""A cache that machines share: worked on in a folder here, and published when a part is complete.

What is kept there can be made again, and is the same whoever makes it. So the last to publish wins;
and a store that does not answer is told of, and is no reason to fail.
"""

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from numerate.errors import NumerateError
from numerate.places import copy_folder, is_remote, local_path, place_of
from numerate.reports.notices import say
from numerate.storage.atomic import write_file
from numerate.storage.filesystems import filesystem, told
from numerate.storage.folder_kind import FolderKind
from numerate.storage.hold import held
from numerate.storage.mirror import alone, fetch_files
from numerate.storage.publish import Upload, fingerprints
from numerate.storage.stored_files import check_bucket, listing, version_of

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

STATES = "states"  # in the place of a version


def cache_here(cache: str | Path) -> Path:
    """The folder in which a cache is worked on: itself, or one that stays on this machine."""
    return copy_folder(str(cache), STATES) if is_remote(cache) else local_path(cache)


class SharedCache:
    """A folder of a cache, of some kind; of one that is nowhere else, nothing is done.

    It is fetched where nothing is here, and where another machine has published since and there
    is nothing of ours that it does not have. Files whose names end with `marks` say what is done
    in others. They are uploaded before those, so that what they say is true there, even while
    another process goes on here.
    """

    def __init__(self, folder: Path, kind: FolderKind, marks: str) -> None:
        self.folder, self.kind, self.marks = folder, kind, marks
        self.place = place_of(folder)
        self._note = folder.with_name(f".{folder.name}.shared")  # the version it was last alike

    def fetch(self) -> None:
        if self.place is None:
            return
        with alone(self.folder.parent):
            self._fetch(*filesystem(self.place), self.place)

    def _fetch(self, system: "AbstractFileSystem", root: str, place: str) -> None:
        with told(place):
            found = listing(system, root)
        if not found:
            check_bucket(system, root, place)
        if self.kind.record not in found or not self._is_new(version_of(found)):
            return
        filling = Path(tempfile.mkdtemp(prefix=".partial-", dir=self.folder.parent))
        try:
            fetch_files(system, root, place, found, filling)
            with told(place):
                is_mixed = listing(system, root) != found
            if is_mixed:
                say(f"{place}: has changed while it was fetched, and is not used")
                return
            shutil.rmtree(self.folder, ignore_errors=True)
            filling.rename(self.folder)
        finally:
            shutil.rmtree(filling, ignore_errors=True)
        self._remember(version_of(found))

    def publish(self) -> None:
        """What is here becomes what lies there."""
        if self.place is None:
            return
        try:
            system, root = filesystem(self.place)
            with held(system, root, self.place) as hold:
                Upload(system, root, self.place, hold).replace(
                    self.folder, self.kind, first=self.marks
                )
                with told(self.place):
                    self._remember(version_of(listing(system, root)))
        except NumerateError as error:
            say(f"{error}; what was found out stays on this machine")

    def _is_new(self, version: str) -> bool:
        """Whether what lies there is not what is here, and has all of it."""
        if not (self.folder / self.kind.record).exists():
            return True
        noted, _, state = (self._note.read_text() if self._note.exists() else "").partition(" ")
        return state == self._state() and noted != version

    def _remember(self, version: str) -> None:
        write_file(self._note, f"{version} {self._state()}".encode())

    def _state(self) -> str:
        return "-".join(str(part) for pair in fingerprints(self.folder).values() for part in pair)
