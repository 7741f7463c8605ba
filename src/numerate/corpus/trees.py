"""Where the files of a source lie: a folder of this machine, or one of any other file system.

Both list their files by name, whatever order the file system has them in, and open one by its name.
They can be sent to a worker, which opens files where it is.
"""

import os
import stat
from array import array
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from io import BufferedReader, BytesIO, RawIOBase
from pathlib import Path, PurePosixPath
from socket import gethostname
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from numerate.documents import is_hidden
from numerate.errors import DocumentError, SourceError
from numerate.storage.filesystems import filesystem, told

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_MARKS = ("ETag", "etag", "mtime", "LastModified", "last_modified", "updated", "created")
_BUFFER = 1 << 20  # bytes read at once
_AT_ONCE = 8  # files that are fetched


class File(NamedTuple):
    name: str  # in its tree, with / between folders
    size: int
    mark: int  # another one where it has changed


Found = Iterator[File | DocumentError]


class Tree(Protocol):
    @property
    def name(self) -> str: ...

    def exists(self) -> bool: ...

    def is_folder(self) -> bool: ...

    def open(self, name: str = "") -> BufferedReader:
        """A file of the folder; without a name, the tree itself, which then is one file."""

    def opened(self, names: list[str]) -> Iterator[BufferedReader | OSError]:
        """Files of the folder, each to be read before the next is asked for; an error of one that
        cannot be read, unless none can."""

    def beside(self, name: str) -> Path | None:
        """The folder of a file, where others may be that it takes in."""

    def lone(self) -> File:
        """The tree itself, where it is one file."""

    def files(self, wanted: Callable[[str], bool]) -> Found:
        """All files in the order of their names, and what keeps others from being read."""


@dataclass(frozen=True, slots=True)
class LocalTree:
    """Links that lead out of it are told, and followed only where asked."""

    root: Path
    follow_links: bool = False

    @property
    def name(self) -> str:
        return self.root.name

    def exists(self) -> bool:
        return self.root.exists()

    def is_folder(self) -> bool:
        return self.root.is_dir()

    def open(self, name: str = "") -> BufferedReader:
        return (self.root / name).open("rb")

    def opened(self, names: list[str]) -> Iterator[BufferedReader | OSError]:
        for name in names:
            try:
                stream = self.open(name)
            except OSError as error:
                if not self.exists():
                    raise SourceError(f"{self.root}: no such folder on {gethostname()}") from None
                yield error
                continue
            with stream:
                yield stream

    def beside(self, name: str) -> Path | None:
        return (self.root / name).parent

    def lone(self) -> File:
        status = self.root.stat()
        return File("", status.st_size, status.st_mtime_ns)

    def files(self, wanted: Callable[[str], bool]) -> Found:
        seen = {os.path.realpath(self.root)}
        stack = [self._entries("", seen)]
        while stack:
            if not stack[-1]:
                stack.pop()
                continue
            entry = stack[-1].pop()
            if isinstance(entry, DocumentError):
                yield entry
            elif entry.endswith("/"):
                stack.append(self._entries(entry, seen))
            else:
                yield from self._file(entry, wanted)

    def _entries(self, folder: str, seen: set[str]) -> list[str | DocumentError]:
        """Names in a folder, those of folders with a slash, the first at the end of the list.

        With their slashes, names of folders sort as the names of what is in them do.
        """
        try:
            with os.scandir(self.root / folder) as entries:
                names = [f"{folder}{e.name}{'/' if e.is_dir() else ''}" for e in entries]
        except OSError as error:
            if hidden(folder):
                return []
            return [DocumentError(folder.rstrip("/"), f"cannot be read: {error.strerror}")]
        names.sort()
        found: list[str | DocumentError] = []
        for name in names:
            if name.endswith("/"):
                is_link = os.path.islink(self.root / name.rstrip("/"))
                if is_link and not self.follow_links:
                    if self._leads_out(name) and not hidden(name):
                        found.append(_link_out(name.rstrip("/")))
                    continue
                if self.follow_links:
                    real = os.path.realpath(self.root / name)
                    if is_link and real in seen:
                        continue  # or a link to where it stands would never end
                    seen.add(real)
            found.append(name)
        found.reverse()
        return found

    def _file(self, name: str, wanted: Callable[[str], bool]) -> Found:
        path = self.root / name
        try:
            status = os.lstat(path)
            is_link = stat.S_ISLNK(status.st_mode)
            if is_link:
                status = os.stat(path)
        except OSError:
            if os.path.islink(path) and wanted(name):
                yield DocumentError(name, "a link that leads nowhere")
            return
        if is_link and wanted(name) and not self.follow_links and self._leads_out(name):
            yield _link_out(name)
        elif stat.S_ISREG(status.st_mode):
            yield File(name, status.st_size, status.st_mtime_ns)

    def _leads_out(self, name: str) -> bool:
        return not (self.root / name).resolve().is_relative_to(self.root.resolve())


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
            name = folder + info["name"].rstrip("/").rpartition("/")[2]
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
    mark = str(next((info[key] for key in _MARKS if info.get(key)), ""))
    digest = sha256(mark.encode()).digest()
    return File(name, info.get("size") or 0, int.from_bytes(digest[:8], "big", signed=True))


class Listing:
    """Files in order. There may be millions: 16 bytes each, and those of the name."""

    def __init__(self) -> None:
        self._names = bytearray()
        self.sizes = array("q")
        self._marks = array("q")

    def add(self, file: File) -> None:
        self._names += os.fsencode(file.name) + b"\0"
        self.sizes.append(file.size)
        self._marks.append(file.mark)

    def __len__(self) -> int:
        return len(self.sizes)

    def __iter__(self) -> Iterator[File]:
        start = 0
        for size, mark in zip(self.sizes, self._marks, strict=True):
            end = self._names.index(b"\0", start)
            yield File(os.fsdecode(bytes(self._names[start:end])), size, mark)
            start = end + 1

    def digest(self) -> str:
        """Another one, another source."""
        found = sha256(self._names)
        found.update(self.sizes)
        found.update(self._marks)
        return found.hexdigest()


def hidden(name: str) -> bool:
    """Whether it, or a folder that it is in, is not meant to be seen."""
    return any(is_hidden(part) or part == "__MACOSX" for part in PurePosixPath(name).parts)


def _link_out(name: str) -> DocumentError:
    return DocumentError(name, "a link out of the source, followed only with --follow-links")
