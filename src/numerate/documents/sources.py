"""Where documents come from: a file, a folder, an archive. Files are opened one at a time.

A source is cut into blocks, each a piece of work. Of a folder a block holds the names of files,
which whoever does the work opens; an archive, and a file too large for one piece of work, can only
be read from the beginning, so its blocks hold what was read.
"""

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, cast

from numerate.documents import suits, units
from numerate.documents.reader import Unit
from numerate.errors import DocumentError, SourceError
from numerate.places import is_remote, local_path
from numerate.storage.archives import SUFFIXES, UNREADABLE, BrokenArchiveError, members, reason
from numerate.storage.filesystems import check_address
from numerate.storage.remote_trees import RemoteTree
from numerate.storage.trees import LINK_OUT, File, Listing, LocalTree, Tree, hidden

_SPLIT_NAMES = {
    "train": ("train",),
    "dev": ("dev", "valid", "validation"),
    "test": ("test",),
}
BLOCK_PIECES = 256
SMALLEST_BLOCK, LARGEST_BLOCK = 1 << 18, 1 << 22  # bytes
BLOCKS = 64  # at least so many, where that makes them no smaller than the smallest
STREAMED = 1 << 24  # bytes of a file that is cut while it is read; compressed, an eighth


@dataclass(slots=True)
class Progress:
    """How much of the source has been worked on, in bytes as they lie on the disk."""

    total: int
    done: int = 0
    ignored: int = 0  # files of no known format


@dataclass(frozen=True, slots=True)
class Reading:
    """How files of a tree are cut into units."""

    tree: Tree
    format: str
    field: str = "text"

    def units(
        self,
        stream: BinaryIO,
        name: str,
        *,
        lone: bool = False,
        split: str | None = None,
        folder: Path | None = None,
    ) -> Iterator[Unit | DocumentError]:
        """Of one file or member, which may be compressed by itself."""
        try:
            if name.lower().endswith(".gz"):
                stream, name = cast(BinaryIO, gzip.GzipFile(fileobj=stream)), name[: -len(".gz")]
            unit = Unit(name, self.format, lone=lone, field=self.field, split=split, folder=folder)
            yield from units(stream, unit)
        except UNREADABLE as error:
            yield DocumentError(name, f"cannot be read: {reason(error)}")

    def units_of_files(self, names: list[str]) -> Iterator[Unit | DocumentError]:
        for name, stream in zip(names, self.tree.opened(names), strict=True):
            if isinstance(stream, OSError):
                yield DocumentError(name, f"cannot be read: {reason(stream)}")
            else:
                yield from self.units(stream, name, folder=self.tree.beside(name))


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive pieces of a source: files to be opened, or else what was read of them."""

    number: int
    reading: Reading | None
    files: list[str]
    read: list[Unit | DocumentError]
    size: int  # bytes
    done: int  # how far the source is worked on when this is

    def units(self) -> Iterator[Unit | DocumentError]:
        yield from self.read
        if self.reading is not None:
            yield from self.reading.units_of_files(self.files)

    def __str__(self) -> str:
        names = self.files or [getattr(piece, "name", str(piece)) for piece in self.read]
        return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"


class Source:
    """The units of work of one SOURCE, in an order that does not depend on the file system.

    What cannot be read is among them, as an error: a document, a folder, the rest of an archive,
    a link that leads out of the source, unless `follow_links`.

    Where `is_document` says of names which files are read, each of them is a document as it is: a
    lone text is not cut at blank lines, and no file says by its name which split it is for. What is
    `apart` in a folder, a folder as `findings/`, is no part of the source.
    """

    def __init__(
        self,
        place: str | Path,
        format: str,
        *,
        field: str = "text",
        follow_links: bool = False,
        is_document: Callable[[str], bool] | None = None,
        apart: str | None = None,
    ) -> None:
        check_address(place)
        tree: Tree = (
            RemoteTree(str(place).rstrip("/"))
            if is_remote(place)
            else LocalTree(local_path(place).absolute(), follow_links)
        )
        if not tree.exists():
            raise SourceError(f"{place}: no such file or folder")
        self._reading = Reading(tree, format, field)
        self._is_document = is_document
        self._apart = apart
        self._unreadable: list[DocumentError] = []
        self._listing = Listing()
        self.splits: dict[str, str] = {}
        self.progress = Progress(0)
        self._is_folder = tree.is_folder()
        if self._is_folder:
            self._list(tree, str(place))
        else:
            self._listing.add(tree.lone())
        self.progress.total = sum(self._listing.sizes)

    def _list(self, tree: Tree, place: str) -> None:
        prescribed = _PrescribedSplits(place)
        before: list[str] = []
        for found in tree.files(self._wanted):
            if self._apart and _name(found).startswith(self._apart):
                continue
            prescribed.look_at(found)
            if isinstance(found, DocumentError):
                self._unreadable.append(_with_hint(found))
            elif not self._wanted(found.name):
                self.progress.ignored += 1
            elif twin := _twin(found.name, before):
                both = f"{twin} stands beside it, expected one of them"
                self._unreadable.append(DocumentError(found.name, both))
            else:
                self._listing.add(found)
        if not self._listing and not self._unreadable and not self.progress.ignored:
            raise SourceError(f"{place}: empty folder")
        if self._is_document is None and (files := prescribed.files()):
            self._listing, self._unreadable = Listing(), []
            self.progress.ignored = 0
            for split, file in files.items():
                if isinstance(file, DocumentError):
                    self._unreadable.append(file)
                else:
                    self._listing.add(file)
                    self.splits[file.name] = split

    @property
    def files(self) -> int:
        """The number of files that are read."""
        return len(self._listing)

    def digest(self) -> str:
        """Another one where any file has changed, or can be read that could not."""
        return f"{self._listing.digest()} {list(map(str, self._unreadable))}"

    def units(self) -> Iterator[Unit | DocumentError]:
        for block in self.blocks():
            yield from block.units()
            self.progress.done = block.done

    def blocks(self) -> Iterator[Block]:
        """Their number and bounds follow from the source alone."""
        largest = min(max(self.progress.total // BLOCKS, SMALLEST_BLOCK), LARGEST_BLOCK)
        files: list[str] = []
        read: list[Unit | DocumentError] = list(self._unreadable)
        number, size, done = 0, 0, 0
        for piece, weight, so_far in self._pieces():
            is_file = isinstance(piece, str)
            full = size + weight > largest or len(files) + len(read) >= BLOCK_PIECES
            if (files or read) and (full or is_file == bool(read)):
                yield self._block(number, files, read, size, done)
                files, read, number, size = [], [], number + 1, 0
            if isinstance(piece, str):
                files.append(piece)
            else:
                read.append(piece)
            size, done = size + weight, so_far
        if files or read:
            yield self._block(number, files, read, size, done)

    def _block(
        self,
        number: int,
        files: list[str],
        read: list[Unit | DocumentError],
        size: int,
        done: int,
    ) -> Block:
        return Block(number, self._reading if files else None, files, read, size, done)

    def _pieces(self) -> Iterator[tuple[str | Unit | DocumentError, int, int]]:
        """A file or what was read of one, its bytes, and how much of the source lies behind it."""
        done = 0
        for file in self._listing:
            if self._is_streamed(file):
                for unit, position in self._streamed(file):
                    size = len(unit.data) if isinstance(unit, Unit) else 0
                    yield unit, size, done + position
            else:
                yield file.name, file.size, done + file.size
            done += file.size

    def _is_streamed(self, file: File) -> bool:
        largest = STREAMED // 8 if file.name.lower().endswith(".gz") else STREAMED
        return not self._is_folder or file.name in self.splits or file.size > largest

    def _streamed(self, file: File) -> Iterator[tuple[Unit | DocumentError, int]]:
        tree, name = self._reading.tree, file.name or self._reading.tree.name
        try:
            with tree.open(file.name) as raw:
                if not file.name and name.lower().endswith(SUFFIXES):
                    for unit in self._members(raw, name):
                        yield unit, raw.tell()
                    return
                split = self.splits.get(file.name)
                # A lone text file can only be split between its paragraphs.
                lone = self._is_document is None and (not file.name or split is not None)
                folder = tree.beside(file.name)
                cut = self._reading.units(raw, name, lone=lone, split=split, folder=folder)
                for unit in cut:
                    yield unit, raw.tell()
        except OSError as error:
            yield DocumentError(name, f"cannot be read: {reason(error)}"), 0

    def _members(self, raw: BufferedReader, archive: str) -> Iterator[Unit | DocumentError]:
        read = 0
        try:
            for name, content in members(raw, archive):
                if isinstance(content, DocumentError):
                    yield content
                elif self._wanted(name):
                    yield from self._reading.units(content, name)
                else:
                    self.progress.ignored += 1
                read += 1
        except BrokenArchiveError as error:
            lost = f"broken archive: {error}; {read:,} files were read, what follows is lost"
            yield DocumentError(archive, lost)

    def _wanted(self, name: str) -> bool:
        if hidden(name):
            return False
        return self._is_document(name) if self._is_document else suits(name, self._reading.format)


def _with_hint(error: DocumentError) -> DocumentError:
    if error.reason != LINK_OUT:
        return error
    return DocumentError(error.where, f"{LINK_OUT}, followed only with --follow-links")


def _twin(name: str, before: list[str]) -> str | None:
    """The file that is there beside its compressed form: both would be the same document.

    Names come sorted, so of those that were, it is enough to keep those that begin this one.
    """
    while before and not name.startswith(before[-1]):
        before.pop()
    plain = name[: -len(".gz")] if name.lower().endswith(".gz") else None
    found = plain if plain in before else None
    before.append(name)
    return found


class _PrescribedSplits:
    """Files `train`, `dev` and `test` at the top of a folder, if all three are there."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._found: dict[str, list[File | DocumentError]] = {s: [] for s in _SPLIT_NAMES}

    def look_at(self, file: File | DocumentError) -> None:
        for split, names in _SPLIT_NAMES.items():
            stem, _, suffix = _name(file).partition(".")
            if stem in names and suffix in ("jsonl", "txt", "jsonl.gz", "txt.gz"):
                self._found[split].append(file)

    def files(self) -> dict[str, File | DocumentError]:
        if not all(self._found.values()):
            return {}
        for split, files in self._found.items():
            if len(files) > 1:
                two = f"{_name(files[0])} and {_name(files[1])}"
                raise SourceError(f"{self._place}: two {split} files, {two}")
        return {split: files[0] for split, files in self._found.items()}


def _name(file: File | DocumentError) -> str:
    return file.where if isinstance(file, DocumentError) else file.name
