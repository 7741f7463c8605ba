"""Where the files of a source lie: a folder of this machine, or one of any other file system.

Both list their files by name, whatever order the file system has them in, and open one by its name.
They can be sent to a worker, which opens files where it is.
"""

import os
import stat
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from io import BufferedReader
from pathlib import Path, PurePosixPath
from socket import gethostname
from typing import NamedTuple, Protocol

from numerate.errors import DocumentError, SourceError
from numerate.storage.regular_files import open_named

LINK_OUT = "a link out of the folder"


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
    """A folder or a file of this machine.

    Hidden files and folders are left out, and so is what is no regular file. Links that lead out
    of the folder are errors, unless `follow_links`.
    """

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
        return open_named(self.root / name)

    def opened(self, names: list[str]) -> Iterator[BufferedReader | OSError]:
        for name in names:
            try:
                if self._is_link_out(name):  # since it was listed
                    raise OSError(LINK_OUT)
                stream = self.open(name)
            except OSError as error:
                if self._is_missing():
                    raise SourceError(f"{self.root}: no such folder on {gethostname()}") from None
                yield error
                continue
            with stream:
                yield stream

    def _is_missing(self) -> bool:
        """Where a disk that others see is not mounted, there may be an empty folder instead."""
        try:
            with os.scandir(self.root) as entries:
                return next(entries, None) is None
        except OSError:
            return not self.exists()

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
                shown = [entry for entry in entries if not hidden(entry.name)]
                names = [f"{folder}{e.name}{'/' if _is_folder(e) else ''}" for e in shown]
        except OSError as error:
            return [DocumentError(folder.rstrip("/") or ".", f"cannot be read: {error.strerror}")]
        names.sort()
        found: list[str | DocumentError] = []
        for name in names:
            if name.endswith("/"):
                is_link = os.path.islink(self.root / name.rstrip("/"))
                if is_link and not self.follow_links:
                    if self._is_link_out(name):
                        found.append(DocumentError(name.rstrip("/"), LINK_OUT))
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
        if is_link and wanted(name) and self._is_link_out(name):
            yield DocumentError(name, LINK_OUT)
        elif stat.S_ISREG(status.st_mode):
            yield File(name, status.st_size, status.st_mtime_ns)

    def _is_link_out(self, name: str) -> bool:
        """Whether it is one that is not to be followed."""
        path = self.root / name
        if self.follow_links or not path.is_symlink():
            return False
        return not path.resolve().is_relative_to(self.root.resolve())


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


def is_hidden(name: str) -> bool:
    """Whether a file or a folder of this name is not meant to be seen: `.git`, or `~$paper.docx`,
    which Word keeps beside a document that is open."""
    return name.startswith((".", "~$"))


def hidden(name: str) -> bool:
    """Whether a file, or a folder that it is in, is not meant to be seen."""
    return any(is_hidden(part) or part == "__MACOSX" for part in PurePosixPath(name).parts)


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
