"""A cache that machines share: worked on in a folder here, and published when a part is complete.

What is kept there can be made again, and is the same whoever makes it. So the last to publish wins;
and a store that does not answer is told of, and is no reason to fail.
"""

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from numerate.errors import NumerateError
from numerate.notices import say
from numerate.places import copy_folder, is_remote, local_path, place_of
from numerate.storage.filesystems import filesystem, told
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


class SharedFolder:
    """A folder of a cache, which has a `seal`; of one that is nowhere else, nothing is done.

    It is fetched where nothing is here, and where another machine has published since and there
    is nothing of ours that it does not have.
    """

    def __init__(self, folder: Path, seal: str) -> None:
        self.folder, self.seal = folder, seal
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
        if self.seal not in found or not self._is_new(version_of(found)):
            return
        filling = Path(tempfile.mkdtemp(prefix=".partial-", dir=self.folder.parent))
        try:
            fetch_files(system, root, place, found, filling)
            shutil.rmtree(self.folder, ignore_errors=True)
            filling.rename(self.folder)
        except BaseException:
            shutil.rmtree(filling, ignore_errors=True)
            raise
        self._remember(version_of(found))

    def publish(self) -> None:
        """What is here becomes what lies there."""
        if self.place is None:
            return
        try:
            system, root = filesystem(self.place)
            with held(system, root, self.place) as hold:
                Upload(system, root, self.place, hold).replace(self.folder, self.seal)
                with told(self.place):
                    self._remember(version_of(listing(system, root)))
        except NumerateError as error:
            say(f"{error}; what was found out stays on this machine")

    def _is_new(self, version: str) -> bool:
        """Whether what lies there is not what is here, and has all of it."""
        if not (self.folder / self.seal).exists():
            return True
        noted = self._note.read_text().split() if self._note.exists() else ["", ""]
        return noted != [version, self._state()] and noted[1] == self._state()

    def _remember(self, version: str) -> None:
        self._note.write_text(f"{version} {self._state()}")

    def _state(self) -> str:
        return "-".join(str(part) for pair in fingerprints(self.folder).values() for part in pair)
