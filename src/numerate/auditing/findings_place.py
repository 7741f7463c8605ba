"""Where findings are kept: a folder of this machine, or one elsewhere, file by file.

A file appears whole or not at all in either, and one process at a time writes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from numerate.atomic import locked, write_file
from numerate.errors import NumerateError
from numerate.places import local_path
from numerate.storage import filesystem, is_remote, told
from numerate.storage.filesystems import check_address
from numerate.storage.hold import Hold, held
from numerate.storage.stored_files import listing, put_whole


class FindingsPlace(Protocol):
    name: str  # as the user knows it

    @contextmanager
    def held(self) -> Iterator[None]:
        """By this process alone; a second one is told."""
        ...

    def names(self) -> set[str]: ...

    def read(self, name: str) -> bytes: ...

    def write(self, name: str, data: bytes) -> None: ...

    def remove(self, name: str) -> None: ...


def findings_place(place: str | Path) -> FindingsPlace:
    check_address(place)
    return Elsewhere(str(place).rstrip("/")) if is_remote(place) else Here(place)


class Here:
    def __init__(self, place: str | Path) -> None:
        self.name = str(place)
        self._path = local_path(place)

    @contextmanager
    def held(self) -> Iterator[None]:
        if self._path.exists() and not self._path.is_dir():
            raise NumerateError(f"{self.name}: is a file, expected a folder")
        with locked(self._path):
            yield

    def names(self) -> set[str]:
        return {path.name for path in self._path.iterdir()} if self._path.is_dir() else set()

    def read(self, name: str) -> bytes:
        return (self._path / name).read_bytes()

    def write(self, name: str, data: bytes) -> None:
        self._path.mkdir(parents=True, exist_ok=True)
        write_file(self._path / name, data)

    def remove(self, name: str) -> None:
        (self._path / name).unlink(missing_ok=True)


class Elsewhere:
    def __init__(self, place: str) -> None:
        self.name = place
        self._system, self._root = filesystem(place)
        self._hold: Hold | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        with told(self.name):
            if self._system.isfile(self._root):
                raise NumerateError(f"{self.name}: is a file, expected a folder")
        with held(self._system, self._root, self.name) as self._hold:
            yield

    def names(self) -> set[str]:
        with told(self.name):
            return set(listing(self._system, self._root))

    def read(self, name: str) -> bytes:
        with told(f"{self.name}/{name}"):
            data: bytes = self._system.cat_file(f"{self._root}/{name}")
        return data

    def write(self, name: str, data: bytes) -> None:
        if self._hold is not None:
            self._hold.check()
        with told(f"{self.name}/{name}"):
            put_whole(self._system, f"{self._root}/{name}", data)

    def remove(self, name: str) -> None:
        with told(f"{self.name}/{name}"):
            self._system.rm_file(f"{self._root}/{name}")
