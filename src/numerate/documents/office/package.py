"""Documents of Office from strangers: ZIP archives of parts, mostly XML, that name each other.

Only parts that a reader asks for are inflated, and no more of them than is bounded here; macros are
among those that nobody asks for, and what lies outside the archive is never fetched.
"""

import posixpath
import re
import zipfile
import zlib
from io import BytesIO

from numerate.documents.reader import MAX_DOCUMENT
from numerate.documents.xml import Element, local_name, parse_xml
from numerate.errors import DocumentError

MAX_PARTS = 10_000
MAX_RATIO = 100
"""Of a part's size to what it is compressed to, where it is large: no text is so repetitive."""
LARGE = 1 << 20  # bytes

_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0"  # before 2007 the container of documents, now of encrypted ones
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError, KeyError)
# The header of a file in an archive, up to its name; the first such folder is the document's own,
# others may be those of a document within it.
_FOLDER = re.compile(rb"PK\x03\x04.{26}(word|xl|ppt|visio)/", re.DOTALL)


def main_folder(beginning: bytes) -> str:
    """The folder of the main parts of a document of Office, which tells its kind; "" if unknown."""
    found = _FOLDER.search(beginning) if beginning.startswith(_ZIP) else None
    return found[1].decode() if found else ""


class OfficePackage:
    """One document: `kind` says what was expected of it."""

    def __init__(self, data: bytes, name: str, kind: str) -> None:
        self.name, self.kind = name, kind
        if data.startswith(_OLE):
            if _ENCRYPTED in data:
                raise self._error("encrypted: expected a document that opens without a password")
            raise self._error(f"got a document of Office 97–2003, expected {kind}: save it as such")
        if not data.startswith(_ZIP):
            got = "no ZIP archive" if data else "an empty file"
            raise self._error(f"not {kind}: got {got}")
        try:
            self._archive = zipfile.ZipFile(BytesIO(data))
            self._parts = {part.filename: part for part in self._archive.infolist()}
        except _BROKEN as error:
            raise self._broken(error) from None
        if len(self._parts) > MAX_PARTS:
            got = f"got {len(self._parts):,} parts, expected at most {MAX_PARTS:,}"
            raise self._error(f"too large: {got}")
        self._left = MAX_DOCUMENT  # bytes that may still be inflated

    def has(self, part: str) -> bool:
        return part in self._parts

    def xml(self, part: str) -> Element:
        return parse_xml(self.read(part), f"{self.name}: {part}")

    def read(self, part: str) -> bytes:
        """Refused before it is inflated if it says that it is too large, and while it is if it has
        said too little."""
        info = self._parts.get(part)
        if info is None:
            raise self._error(f"not {self.kind}: its part {part} is missing")
        if info.flag_bits & 1:
            raise self._error("encrypted: expected a document that opens without a password")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise self._error(f"{part} is compressed in another way than {self.kind} may be")
        ratio = info.file_size / max(info.compress_size, 1)
        if info.file_size > self._left or (info.file_size > LARGE and ratio > MAX_RATIO):
            got = (
                f"got {info.file_size:,} bytes of {part}, {ratio:,.0f} times as many as compressed"
            )
            expected = f"expected at most {MAX_DOCUMENT >> 20} MiB in all, and {MAX_RATIO} times"
            raise self._error(f"too large: {got}; {expected}")
        try:
            with self._archive.open(info) as stream:
                data = stream.read(info.file_size + 1)
        except _BROKEN as error:
            raise self._broken(error) from None
        self._left -= len(data)
        return data

    def main_part(self) -> str:
        """Where the document begins."""
        for part in self.related("", "officeDocument"):
            return part
        raise self._error(f"not {self.kind}: it says of no part that it is the document")

    def related(self, part: str, kind: str) -> list[str]:
        """The parts of a kind that a part names; what lies outside is not among them."""
        return [target for other, target in self.relations(part).values() if other == kind]

    def relations(self, part: str) -> dict[str, tuple[str, str]]:
        """By its id, the kind and the name of each part that a part names."""
        folder, base = posixpath.split(part)
        home = posixpath.join(folder, "_rels", f"{base}.rels")
        if not self.has(home):
            return {}
        return {
            relation.get("Id", ""): (
                relation.get("Type", "").rpartition("/")[2],
                posixpath.normpath(posixpath.join("/", folder, relation.get("Target", "")))[1:],
            )
            for relation in self.xml(home)
            if local_name(relation) == "Relationship" and relation.get("TargetMode") != "External"
        }

    def _broken(self, error: Exception) -> DocumentError:
        return self._error(f"not {self.kind}: broken archive: {error or type(error).__name__}")

    def _error(self, reason: str) -> DocumentError:
        return DocumentError(self.name, reason)
