"""Files as bytes: what is compressed is read through, and what no reader can read is told."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from numerate.errors import DocumentError, SourceError, one_line

_GZIP = b"\x1f\x8b"
_NOT_READ = {
    b"PK\x03\x04": "a ZIP archive, a workbook or a Word document",
    b"%PDF": "a PDF",
    b"\xd0\xcf\x11\xe0": "an old document of Office",
    b"{\\rtf": "an RTF document",
}
EXPECTED = "text, Markdown, HTML, CSV, or an article as XML"


@contextmanager
def opened_file(path: str | Path) -> Iterator[BinaryIO]:
    """Raises one line for what is no file, and for what is broken while it is read."""
    if Path(path).is_dir():
        raise SourceError(f"{path}: a folder, expected a file")
    try:
        with Path(path).open("rb") as stream:
            beginning = stream.peek(8)  # a pipe cannot be read twice
            for sign, kind in _NOT_READ.items():
                if beginning.startswith(sign):
                    raise DocumentError(
                        str(path), f"got {kind}, which is not read yet; expected {EXPECTED}"
                    )
            if beginning.startswith(_GZIP):
                with gzip.GzipFile(fileobj=stream) as inside:
                    yield cast(BinaryIO, inside)
            else:
                yield stream
    except FileNotFoundError:
        raise SourceError(f"{path}: no such file") from None
    except (OSError, EOFError, zlib.error) as error:
        raise SourceError(f"{path}: cannot be read: {one_line(error)}") from None
