"""Where documents come from: a file, a folder, an archive. Files are opened one at a time."""

import gzip
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from numerate.corpus.archives import SUFFIXES, UNREADABLE, BrokenArchiveError, members, reason
from numerate.documents import is_hidden, suits, units
from numerate.documents.reader import Unit
from numerate.errors import DocumentError, SourceError

_SPLIT_NAMES = {
    "train": ("train",),
    "dev": ("dev", "valid", "validation"),
    "test": ("test",),
}


@dataclass(slots=True)
class Progress:
    """How much of the source has been read, in bytes as they lie on the disk."""

    total: int
    done: int = 0
    ignored: int = 0  # files of no known format


class Source:
    """The units of work of one SOURCE, in an order that does not depend on the file system.

    What cannot be read is among them, as an error: a document, a folder, the rest of an archive,
    a link that leads out of the source, unless `follow_links`.

    Where `is_document` says of names which files are read, each of them is a document as it is: a
    lone text is not cut at blank lines, and no file says by its name which split it is for.
    """

    def __init__(
        self,
        path: Path,
        format: str,
        *,
        field: str = "text",
        follow_links: bool = False,
        is_document: Callable[[str], bool] | None = None,
    ) -> None:
        self.path = path
        self.format = format
        self._field = field
        self._follow_links = follow_links
        self._is_document = is_document
        if not path.exists():
            raise SourceError(f"{path}: no such file or folder")
        self._unreadable: list[DocumentError] = []
        cut = path.is_dir() and is_document is None
        self.splits = _prescribed_splits(path) if cut else {}
        self._files = self.splits or (self._walk() if path.is_dir() else {path: None})
        if not self._files and not self._unreadable:
            raise SourceError(f"{path}: empty folder")
        self.progress = Progress(sum(map(_size, self._files)))

    def units(self) -> Iterator[Unit | DocumentError]:
        yield from self._unreadable
        for file, split in self._files.items():
            done = self.progress.done
            yield from self._file_units(file, split)
            self.progress.done = done + _size(file)

    def _file_units(self, file: Path, split: str | None) -> Iterator[Unit | DocumentError]:
        lone_file = file == self.path
        name = file.name if lone_file else self._name(file)
        if lone_file and name.lower().endswith(SUFFIXES):
            yield from self._archive_units(file)
        elif not lone_file and not self._wanted(name):
            self.progress.ignored += 1
        elif not lone_file and self._leads_out(file):
            yield _link_out(name)
        else:
            try:
                with file.open("rb") as stream:
                    # A lone text file can only be split between its paragraphs.
                    lone = self._is_document is None and (lone_file or bool(split))
                    yield from self._units(stream, name, lone=lone, split=split, file=file)
            except OSError as error:
                yield DocumentError(name, f"cannot be read: {reason(error)}")

    def _archive_units(self, file: Path) -> Iterator[Unit | DocumentError]:
        start, read = self.progress.done, 0
        try:
            with file.open("rb") as raw:
                for name, content in members(raw, file.name):
                    self.progress.done = start + raw.tell()
                    if isinstance(content, DocumentError):
                        yield content
                    elif self._wanted(name):
                        yield from self._units(content, name)
                    else:
                        self.progress.ignored += 1
                    read += 1
        except BrokenArchiveError as error:
            lost = f"broken archive: {error}; {read:,} files were read, what follows is lost"
            yield DocumentError(file.name, lost)

    def _units(
        self,
        stream: BinaryIO,
        name: str,
        *,
        lone: bool = False,
        split: str | None = None,
        file: Path | None = None,
    ) -> Iterator[Unit | DocumentError]:
        """Of one file or member, which may be compressed by itself."""
        try:
            if name.lower().endswith(".gz"):
                stream, name = cast(BinaryIO, gzip.GzipFile(fileobj=stream)), name[: -len(".gz")]
            folder = file and file.parent
            unit = Unit(name, self.format, lone=lone, field=self._field, split=split, folder=folder)
            yield from units(stream, unit)
        except UNREADABLE as error:
            yield DocumentError(name, f"cannot be read: {reason(error)}")

    def _walk(self) -> dict[Path, str | None]:
        files: list[Path] = []
        seen = {self.path.resolve()}
        folders = os.walk(self.path, onerror=self._note, followlinks=self._follow_links)
        for parent, subfolders, names in folders:
            files.extend(Path(parent, name) for name in names)
            for folder in [Path(parent, name) for name in subfolders]:
                if folder.is_symlink():
                    if folder.resolve() in seen:  # or a link to where it stands would never end
                        subfolders.remove(folder.name)
                    elif self._leads_out(folder) and not _hidden(self._name(folder)):
                        self._unreadable.append(_link_out(self._name(folder)))
                seen.add(folder.resolve())
        return {file: None for file in sorted(files, key=self._name) if self._exists(file)}

    def _exists(self, file: Path) -> bool:
        """Whether it is a file at all; a link that leads nowhere is told."""
        if file.is_symlink() and not file.exists() and self._wanted(self._name(file)):
            self._unreadable.append(DocumentError(self._name(file), "a link that leads nowhere"))
        return file.is_file()

    def _note(self, error: OSError) -> None:
        folder = self._name(Path(error.filename))
        if not _hidden(folder):
            self._unreadable.append(DocumentError(folder, f"cannot be read: {error.strerror}"))

    def _name(self, file: Path) -> str:
        return file.relative_to(self.path).as_posix()

    def _leads_out(self, path: Path) -> bool:
        if self._follow_links or not path.is_symlink():
            return False
        return not path.resolve().is_relative_to(self.path.resolve())

    def _wanted(self, name: str) -> bool:
        if _hidden(name):
            return False
        return self._is_document(name) if self._is_document else suits(name, self.format)


def _hidden(name: str) -> bool:
    return any(is_hidden(part) or part == "__MACOSX" for part in PurePosixPath(name).parts)


def _link_out(name: str) -> DocumentError:
    return DocumentError(name, "a link out of the source, followed only with --follow-links")


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:  # gone since: that is told when it is opened
        return 0


def _prescribed_splits(folder: Path) -> dict[Path, str | None]:
    """Files `train`, `dev` and `test` in the folder, if all three are there."""
    found: dict[Path, str | None] = {}
    for split, names in _SPLIT_NAMES.items():
        candidates = [
            folder / (name + suffix)
            for name in names
            for suffix in (".jsonl", ".txt", ".jsonl.gz", ".txt.gz")
        ]
        files = [file for file in candidates if file.is_file()]
        if not files:
            return {}
        if len(files) > 1:
            raise SourceError(f"{folder}: two {split} files, {files[0].name} and {files[1].name}")
        found[files[0]] = split
    return found
