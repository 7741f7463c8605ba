"""Files as bytes: what is compressed is read through, and what no reader can read is told."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, BytesIO, RawIOBase
from pathlib import Path
from typing import BinaryIO, cast

from numerate.errors import DocumentError, SourceError, one_line
from numerate.storage.regular_files import open_named

_GZIP = b"\x1f\x8b"
_RTF = b"{\\rtf"
_NO_TEXT = {
    b"PK\x03\x04": "a ZIP archive, or a document that is one",
    b"%PDF": "a PDF",
    b"\xd0\xcf\x11\xe0": "an old document of Office, or one with a password",
    _RTF: "an RTF document",
}
_SAVED_AS = {
    ".doc": ".docx", ".pages": ".docx", ".ods": ".xlsx", ".xls": ".xlsx",
    ".xlsb": ".xlsx", ".odp": ".pdf", ".ppt": ".pdf", ".pptx": ".pdf", ".epub": ".html",
}  # fmt: skip


def _expected(path: Path) -> str:
    """What programs that write such files can write instead, where that is read."""
    if instead := _SAVED_AS.get(path.suffix.lower()):
        return f"it saved as {instead}"
    return "text or a suffix that says what it is"


@contextmanager
def opened_file(
    path: str | Path, *, binary: bool = False, data: bytes | None = None
) -> Iterator[BinaryIO]:
    """Raises one line for what is no file, for what is broken while it is read, and, unless it may
    be `binary`, for what is no text. Where its `data` are given, no file is looked for."""
    if data is None and Path(path).is_dir():
        raise SourceError(f"{path}: a folder, expected a file")
    try:
        with open_named(path) if data is None else _held(data) as stream:
            beginning = stream.peek(8)  # a pipe cannot be read twice
            for sign, kind in _NO_TEXT.items():
                if beginning.startswith(sign) and not binary:
                    expected = "a name in .rtf" if sign == _RTF else _expected(Path(path))
                    raise DocumentError(str(path), f"got {kind}, expected {expected}")
            if beginning.startswith(_GZIP):
                with gzip.GzipFile(fileobj=stream) as inside:
                    yield cast(BinaryIO, inside)
            else:
                yield stream
    except FileNotFoundError:
        raise SourceError(f"{path}: no such file") from None
    except (OSError, EOFError, zlib.error) as error:
        raise SourceError(f"{path}: cannot be read: {one_line(error)}") from None


def _held(data: bytes) -> BufferedReader:
    return BufferedReader(cast(RawIOBase, BytesIO(data)))
