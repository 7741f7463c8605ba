"""Where documents come from: a file, a folder, an archive. Files are opened one at a time."""

import gzip
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from numerate.corpus.readers import FORMATS, Unit, suffix_format, units
from numerate.errors import DocumentError, SourceError, one_line

_TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2")
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, OSError)
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
    """The units of work of one SOURCE, in an order that does not depend on the file system."""

    def __init__(self, path: Path, format: str) -> None:
        self.path = path
        self.format = format
        if not path.exists():
            raise SourceError(f"{path}: no such file or folder")
        self.splits = _prescribed_splits(path) if path.is_dir() else {}
        self._files = self.splits or (_walk(path) if path.is_dir() else {path: None})
        if not self._files:
            raise SourceError(f"{path}: empty folder")
        self.progress = Progress(sum(file.stat().st_size for file in self._files))

    def units(self) -> Iterator[Unit | DocumentError]:
        for file, split in self._files.items():
            done = self.progress.done
            size = file.stat().st_size
            yield from self._file_units(file, split)
            self.progress.done = done + size

    def _file_units(self, file: Path, split: str | None) -> Iterator[Unit | DocumentError]:
        lone_file = file == self.path
        name = file.name if lone_file else file.relative_to(self.path).as_posix()
        if lone_file and name.lower().endswith((*_TAR_SUFFIXES, ".zip")):
            yield from self._archive_units(file)
            return
        if not lone_file and not self._wanted(name):
            self.progress.ignored += 1
            return
        try:
            with cast(
                BinaryIO, gzip.open(file) if name.endswith(".gz") else file.open("rb")
            ) as stream:
                name = name.removesuffix(".gz")
                # A lone text file can only be split between its paragraphs.
                yield from units(
                    stream, name, self.format, lone=lone_file or bool(split), split=split
                )
        except (OSError, EOFError, zlib.error) as error:
            yield DocumentError(name, f"cannot be read: {_reason(error)}")

    def _archive_units(self, file: Path) -> Iterator[Unit | DocumentError]:
        start = self.progress.done
        try:
            with file.open("rb") as raw:
                members = _zip_members if file.suffix.lower() == ".zip" else _tar_members
                for name, stream in members(raw):
                    self.progress.done = start + raw.tell()
                    if isinstance(stream, DocumentError):
                        yield stream
                    elif self._wanted(name):
                        yield from units(stream, name, self.format)
                    else:
                        self.progress.ignored += 1
        except _BROKEN as error:
            raise SourceError(f"{file}: broken archive: {_reason(error)}") from None

    def _wanted(self, name: str) -> bool:
        if any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(name).parts):
            return False
        if self.format == "auto":
            return suffix_format(name) is not None
        return name.lower().removesuffix(".gz").endswith(FORMATS[self.format])


def _reason(error: BaseException) -> str:
    return one_line(error) or type(error).__name__


def _walk(folder: Path) -> dict[Path, str | None]:
    files: list[Path] = []
    for parent, _, names in os.walk(folder):
        files.extend(Path(parent, name) for name in names)
    return {
        file: None
        for file in sorted(files, key=lambda file: file.relative_to(folder).as_posix())
        if file.is_file()
    }


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


def _unsafe(name: str) -> DocumentError | None:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        return DocumentError(name, "path leaves the archive")
    return None


def _tar_members(raw: BinaryIO) -> Iterator[tuple[str, BinaryIO | DocumentError]]:
    with tarfile.open(fileobj=raw, mode="r|*") as archive:
        for member in archive:
            if member.isfile():
                stream = archive.extractfile(member)
                assert stream is not None  # a regular file
                yield member.name, _unsafe(member.name) or cast(BinaryIO, stream)
            # Nothing is ever extracted to disk; the list of members need not grow either.
            archive.members = []  # type: ignore[attr-defined]


def _zip_members(raw: BinaryIO) -> Iterator[tuple[str, BinaryIO | DocumentError]]:
    with zipfile.ZipFile(raw) as archive:
        for member in archive.infolist():
            if member.is_dir():
                continue
            if member.flag_bits & 1:
                yield member.filename, DocumentError(member.filename, "encrypted")
                continue
            with archive.open(member) as stream:
                yield member.filename, _unsafe(member.filename) or cast(BinaryIO, stream)
