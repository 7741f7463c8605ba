"""A folder of files that appear whole, here or elsewhere, as workers on any machine see it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from numerate.errors import FailureError, NumerateError, one_line
from numerate.places import is_remote, local_path
from numerate.storage.atomic import locked, write_file
from numerate.storage.filesystems import check_address, filesystem, told
from numerate.storage.folder_kind import FolderKind, strange
from numerate.storage.regular_files import open_regular, read_regular
from numerate.storage.stored_files import make_parent, put_whole

_PART = 1 << 18  # bytes that are fetched at once of a file elsewhere


@dataclass(slots=True)
class SharedFolder:
    place: str | Path  # an address, or a path of this machine
    lasting: bool = False  # what is written is there even after the machine has died

    @classmethod
    def at(cls, place: str | Path) -> "SharedFolder":
        """A lasting one, where a user says."""
        check_address(place)
        return cls(str(place).rstrip("/") if is_remote(place) else local_path(place), lasting=True)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock a folder of this machine; elsewhere there are no locks."""
        not_a_folder = NumerateError(f"{self.place}: is a file, expected a folder")
        if isinstance(self.place, Path):
            if self.place.exists() and not self.place.is_dir():
                raise not_a_folder
            with locked(self.place):
                yield
            return
        system, root = filesystem(self.place)
        with told(self.place):
            if system.isfile(root):
                raise not_a_folder
        yield

    def make(self) -> None:
        if isinstance(self.place, Path):
            self.place.mkdir(parents=True, exist_ok=True)
            return
        system, root = filesystem(self.place)
        with told(self.place):
            make_parent(system, f"{root}/any")

    def read(self, name: str) -> bytes | None:
        """None where there is no such file."""
        try:
            if isinstance(self.place, Path):
                return read_regular(self.place / name)
            system, root = filesystem(self.place)
            with told(self.place):
                try:
                    return bytes(system.cat_file(f"{root}/{name}"))
                except FileNotFoundError:
                    return None
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FailureError(f"{self.place}/{name}: cannot be read: {one_line(error)}") from None

    @contextmanager
    def opened(self, name: str) -> Iterator[BinaryIO]:
        """A file of which not all may be wanted."""
        if isinstance(self.place, Path):
            with open_regular(self.place / name) as stream:
                yield stream
            return
        system, root = filesystem(self.place)
        with told(self.place), system.open(f"{root}/{name}", "rb", block_size=_PART) as stream:
            yield cast(BinaryIO, stream)

    def write(self, name: str, data: bytes | memoryview) -> None:
        if not isinstance(self.place, Path):
            system, root = filesystem(self.place)
            with told(self.place):
                put_whole(system, f"{root}/{name}", bytes(data))
            return
        try:
            if self.lasting:
                write_file(self.place / name, bytes(data))
            else:
                (self.place / name).write_bytes(data)
        except OSError as error:
            reason = one_line(error.strerror or error)
            raise FailureError(f"{self.place}/{name}: cannot be written: {reason}") from None

    def names(self) -> list[str]:
        if isinstance(self.place, Path):
            return [path.name for path in self.place.iterdir()] if self.place.is_dir() else []
        system, root = filesystem(self.place)
        with told(self.place):
            system.invalidate_cache()
            try:
                return [path.rpartition("/")[2] for path in system.ls(root, detail=False)]
            except FileNotFoundError:
                return []

    def own(self, kind: FolderKind) -> list[str]:
        """The names of the files of a kind, and of those that were cut off while written."""
        if not isinstance(self.place, Path):
            return [name for name in self.names() if kind.holds(name)]
        if not self.place.is_dir():
            return []
        files = [one for one in os.scandir(self.place) if one.is_file(follow_symlinks=False)]
        return [one.name for one in files if kind.holds(one.name)]

    def check_own(self, kind: FolderKind) -> None:
        """Refuse a folder that holds anything but files of a kind."""
        if isinstance(self.place, Path):
            stranger = kind.stranger(self.place)
        else:
            stranger = kind.stranger_among(self.names())
        if stranger:
            raise strange(self.place, stranger)

    def remove(self, name: str) -> None:
        if isinstance(self.place, Path):
            (self.place / name).unlink(missing_ok=True)
            return
        system, root = filesystem(self.place)
        with told(self.place):
            system.rm_file(f"{root}/{name}")

    def remove_if_empty(self) -> None:
        """Remove the folder itself; an object store has none."""
        if isinstance(self.place, Path):
            with suppress(OSError):
                self.place.rmdir()
            return
        system, root = filesystem(self.place)
        with suppress(OSError, NotImplementedError):
            if system.exists(root) and not self.names():
                system.rmdir(root)
