"""What a reader of a format is. Ours and those of other packages are found by entry points.

The parent process cuts files into units (cheap, streaming); workers turn units into documents.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, ClassVar

from numerate.documents.document import Document
from numerate.errors import DocumentError
from numerate.reports.notices import say

UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # the marks that it begins with
OLDER = "cp1252"  # Windows-1252, in which text is that is not in Unicode
_IN_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x19\x1b\x7f\x81\x8d\x8f\x90\x9d]")  # of Windows-1252
_OF_UTF_8 = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_ESCAPED = re.compile("[\udc80-\udcff]")
MAX_DOCUMENT = 64 << 20  # bytes of one article or text file


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of a file that one process can read alone."""

    name: str  # of the file, as the user knows it
    format: str
    data: bytes = b""
    first: int = 1  # number of its first line or paragraph
    lone: bool = False  # nothing but this file is read: its paragraphs may be documents
    field: str = "text"  # of records: which field holds the text
    split: str | None = None  # where the source prescribes it
    folder: Path | None = None  # where other files may stand that it takes in

    def text(self) -> str:
        """Decode its data as `decode_text` does."""
        return decode_text(self.data, self.name)


class Reader(ABC):
    """One format. A class of this kind is what an entry point of `numerate.readers` names."""

    suffixes: ClassVar[tuple[str, ...]] = ()  # of file names, in lower case, with the point
    articles: ClassVar[bool] = False
    """Whether its documents are: usually, paragraphs that refer to no table are left out then."""
    binary: ClassVar[bool] = False
    """Whether its files are no text, and may begin as archives and the like do."""
    fallback: ClassVar[bool] = False
    """Whether it reads the files of its suffixes that no other reader recognises."""

    def recognises(self, beginning: bytes) -> bool:
        """Tell from its first bytes whether a file is of this format.

        Only readers that share a suffix are asked, and all of them for standard input.
        """
        return False

    def units(self, stream: BinaryIO, unit: Unit) -> Iterator[Unit | DocumentError]:
        """A file cut into units, each the empty `unit` but for what it holds; here, into one."""
        return whole(stream, unit)

    @abstractmethod
    def read(self, unit: Unit) -> Iterable[Document | DocumentError]:
        """The documents of a unit. Those that cannot be read are errors among them; what concerns
        all of the unit may be raised as one."""


def whole(stream: BinaryIO, unit: Unit) -> Iterator[Unit | DocumentError]:
    data = stream.read(MAX_DOCUMENT + 1)
    if len(data) > MAX_DOCUMENT:
        reason = f"document too large: expected at most {MAX_DOCUMENT >> 20} MiB"
        yield DocumentError(unit.name, reason)
    else:
        yield replace(unit, data=data)


def decode(data: bytes, where: str, *, is_beginning: bool = True) -> str:
    """Decode UTF-8, without the mark that may stand at the beginning of a file."""
    try:
        return data.decode("utf-8-sig" if is_beginning else "utf-8")
    except UnicodeDecodeError as error:
        byte = data[error.start]
        reason = f"not UTF-8: got byte 0x{byte:02x} at offset {error.start}"
        raise DocumentError(where, reason) from None


def decode_marked(data: bytes, where: str, *, is_beginning: bool = True) -> str:
    """Decode UTF-8, or UTF-16 where its mark says so."""
    if not data.startswith(UTF_16):
        return decode(data, where, is_beginning=is_beginning)
    try:
        return data.decode("utf-16")
    except UnicodeDecodeError as error:
        raise DocumentError(where, f"not UTF-16: {error.reason}") from None


def decode_text(
    data: bytes,
    where: str,
    *,
    is_beginning: bool = True,
    say_so: Callable[[], None] | None = None,
) -> str:
    """Decode UTF-8 or UTF-16, or else Windows-1252, and say so in one line.

    What has bytes that Windows-1252 lacks, signs that no text has, or more characters in UTF-8 than
    bytes that are not, is in another encoding, binary or damaged: it is refused as not UTF-8.
    """
    try:
        return decode_marked(data, where, is_beginning=is_beginning)
    except DocumentError:
        if not is_older(data):
            raise
    if say_so is None:
        say_older(where)
    else:
        say_so()
    return data.decode(OLDER)


def say_older(where: str) -> None:
    say(f"{where}: not UTF-8; read as Windows-1252")


def is_older(data: bytes) -> bool:
    """Tell whether a text that is not UTF-8 may be in Windows-1252."""
    if data.startswith(UTF_16) or _IN_NO_TEXT.search(data):
        return False
    characters = sum(1 for _ in _OF_UTF_8.finditer(data))
    others = data.decode("utf-8", "surrogateescape")
    return sum(1 for _ in _ESCAPED.finditer(others)) > characters


def ascii_of(data: bytes) -> bytes:
    """The ASCII of a text in UTF-8 or UTF-16, which has a zero beside each of its characters."""
    return data.replace(b"\0", b"")
