"""Members of an archive, as a stream: nothing is unpacked to disk, and no damage goes unnoticed.

What is wrong with one member is its own error, and the others are still read. What is wrong with
the archive itself ends it: a stream that breaks off or whose sum is wrong, a header that is none,
a tar without its end marker or with something after it.
"""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, TypeVar, cast

from numerate.errors import DocumentError, NumerateError, one_line

TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2")
SUFFIXES = (*TAR_SUFFIXES, ".zip")
UNREADABLE = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
"""What reading a compressed file, or a member of a ZIP, raises when its bytes are damaged."""

T = TypeVar("T")
_MAX_HEADER = 1 << 20  # bytes of a long name or of extended attributes
_EXTENSIONS = (
    tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK,
)  # fmt: skip
_PATIENCE = 100  # reads past the end of a stream
_BLOCK = 512  # bytes; the end marker of a tar is two blocks of zeros
_DECOMPRESSORS: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
    b"]\0\0": lzma.open,
}


class BrokenArchiveError(Exception):
    """Nothing more can be read from the archive."""


def members(raw: io.BufferedReader, name: str) -> Iterator[tuple[str, BinaryIO | DocumentError]]:
    """Names and contents, each to be read before the next is asked for.

    `BrokenArchiveError` may also come while a content is being read.
    """
    if Path(name).suffix.lower() == ".zip":
        return _zip_members(raw)
    return _tar_members(raw)


def reason(error: BaseException) -> str:
    return one_line(error) or type(error).__name__


def _unsafe(name: str) -> DocumentError | None:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        return DocumentError(name, "path leaves the archive")
    return None


class _Stream(io.RawIOBase):
    """The bytes of a tar, or of a member: their damage is the archive's, whoever reads them."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._past_the_end = 0  # how often it was asked for more than there is

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        try:
            data = self._stream.read(len(buffer))
        except (*UNREADABLE, tarfile.TarError) as error:
            raise BrokenArchiveError(reason(error)) from None
        self._past_the_end += not data
        if self._past_the_end > _PATIENCE:  # a header that claims to have exabytes behind it
            raise BrokenArchiveError("it breaks off in the middle of a file")
        buffer[: len(data)] = data
        return len(data)


class _Header(tarfile.TarInfo):
    """`tarfile` takes anything that is no header for the end; only the end marker is one."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "_Header":
        try:
            header = super().frombuf(buf, encoding, errors)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:
            raise BrokenArchiveError(f"{error}, expected a header or the end marker") from None
        if header.type in _EXTENSIONS and header.size > _MAX_HEADER:
            raise BrokenArchiveError(f"a header that goes on for {header.size:,} bytes")
        return header


def _tar_members(raw: io.BufferedReader) -> Iterator[tuple[str, BinaryIO | DocumentError]]:
    tar: BinaryIO = raw
    for magic, opened in _DECOMPRESSORS.items():
        if raw.peek(len(magic)).startswith(magic):
            tar = opened(raw)
    stream = io.BufferedReader(_Stream(tar))
    archive = _whatever_breaks(
        lambda: tarfile.open(fileobj=stream, mode="r|", tarinfo=_Header)  # noqa: SIM115
    )
    while (member := _whatever_breaks(archive.next)) is not None:
        if member.issparse():
            yield member.name, DocumentError(member.name, "a file with holes, which is not read")
        elif member.isfile():
            content = archive.extractfile(member)
            assert content is not None  # a regular file
            readable = io.BufferedReader(_Stream(cast(BinaryIO, content)))
            yield member.name, _unsafe(member.name) or cast(BinaryIO, readable)
        # Nothing is ever extracted to disk; the list of members need not grow either.
        archive.members = []  # type: ignore[attr-defined]
    _read_to_the_end(cast(BinaryIO, archive.fileobj))


def _whatever_breaks(step: Callable[[], T]) -> T:
    """A step of a library over bytes of strangers: what it stumbles over is broken."""
    try:
        return step()
    except (BrokenArchiveError, NumerateError):  # the latter of a store that cannot be read
        raise
    except Exception as error:
        raise BrokenArchiveError(reason(error)) from None


def _read_to_the_end(stream: BinaryIO) -> None:
    """After the first block of zeros nothing but zeros; a compressed stream then has its sum."""
    zeros = 0
    while block := stream.read(1 << 16):
        if block.count(0) != len(block):
            raise BrokenArchiveError("its end marker is followed by something else")
        zeros += len(block)
    if zeros < _BLOCK:
        raise BrokenArchiveError("it breaks off in its end marker")


def _zip_members(raw: io.BufferedReader) -> Iterator[tuple[str, BinaryIO | DocumentError]]:
    with _whatever_breaks(lambda: zipfile.ZipFile(raw)) as archive:
        for member in archive.infolist():
            name = member.filename
            if member.is_dir():
                continue
            if member.flag_bits & 1:
                yield name, DocumentError(name, "encrypted")
                continue
            try:
                content = _whatever_breaks(lambda: archive.open(member))  # noqa: B023
            except BrokenArchiveError as error:  # of this member alone: the others have their own
                yield name, DocumentError(name, f"cannot be read: {error}")
                continue
            with content:
                yield name, _unsafe(name) or cast(BinaryIO, content)
