"""A folder of another file system as a tree of files: an object store, say."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from io import BufferedReader, BytesIO, RawIOBase
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from numerate.storage.filesystems import filesystem, told
from numerate.storage.stored_files import Entry
from numerate.storage.trees import File, Found, is_hidden

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_BUFFER = 1 << 20  # bytes read at once
_AT_ONCE = 8  # files that are fetched


@dataclass(frozen=True, slots=True)
class RemoteTree:
    """A folder of a file system that fsspec knows, named by its address. Such have no links."""

    address: str

    @property
    def name(self) -> str:
        return PurePosixPath(self._system()[1]).name

    def _system(self) -> tuple["AbstractFileSystem", str]:
        return filesystem(self.address)

    def exists(self) -> bool:
        system, root = self._system()
        with told(self.address):
            return bool(system.exists(root))

    def is_folder(self) -> bool:
        system, root = self._system()
        with told(self.address):
            return not system.isfile(root)

    def open(self, name: str = "") -> BufferedReader:
        system, root = self._system()
        with told(self.address):
            file = system.open(f"{root}/{name}" if name else root, "rb")
        return BufferedReader(_Stream(file, self.address), _BUFFER)

    def opened(self, names: list[str]) -> Iterator[BufferedReader | OSError]:
        """Several are fetched at once: each takes its time to come, and they are small."""
        system, root = self._system()

        def fetch(name: str) -> bytes | OSError:
            with told(self.address):
                try:
                    return bytes(system.cat_file(f"{root}/{name}"))
                except FileNotFoundError as error:
                    if system.exists(root):
                        return error
                    raise

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for found in pool.map(fetch, names):
                yield found if isinstance(found, OSError) else BufferedReader(_held(found))

    def beside(self, name: str) -> Path | None:
        return None

    def lone(self) -> File:
        system, root = self._system()
        with told(self.address):
            return _entry(system.info(root), "")

    def files(self, wanted: Callable[[str], bool]) -> Found:
        """Folder by folder: no more than one folder's entries, and those above it, are held."""
        system, root = self._system()
        stack = [self._entries(system, root, "")]
        while stack:
            if not stack[-1]:
                stack.pop()
                continue
            file = stack[-1].pop()
            if file.name.endswith("/"):
                stack.append(self._entries(system, root, file.name))
            else:
                yield file

    def _entries(self, system: "AbstractFileSystem", root: str, folder: str) -> list[File]:
        place = f"{root}/{folder}".rstrip("/")
        with told(self.address):
            found = system.ls(place, detail=True)
        entries = []
        for info in found:
            last = info["name"].rstrip("/").rpartition("/")[2]
            if is_hidden(last):
                continue
            name = folder + last
            if info["type"] == "directory":
                entries.append(File(f"{name}/", 0, 0))
            elif info["name"].strip("/") != place.strip("/"):  # some list the folder itself
                entries.append(_entry(info, name))
        entries.sort(reverse=True)
        return entries


class _Stream(RawIOBase):
    """A file elsewhere. What the store refuses concerns the whole source, so that no trouble of a
    network looks like a document, or an archive, that breaks off."""

    def __init__(self, file: Any, address: str) -> None:
        self._file, self._address = file, address

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        with told(self._address):
            data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        with told(self._address):
            return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def _held(data: bytes) -> RawIOBase:
    return cast(RawIOBase, BytesIO(data))


def _entry(info: dict[str, Any], name: str) -> File:
    found = Entry.of(info)
    digest = sha256(found.mark.encode()).digest()
    return File(name, found.size or 0, int.from_bytes(digest[:8], "big", signed=True))
