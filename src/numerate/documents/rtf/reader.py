"""Rich Text, as Word, LibreOffice and others save it: what stands in it once all tracked changes
are accepted.

Footnotes and endnotes come after the text, text boxes after the paragraph that they hang on. The
file is read from its beginning to its end, group by group, and nothing that it names is fetched.
"""

from collections.abc import Iterator

from numerate.documents.document import Document
from numerate.documents.office.blocks import document_of
from numerate.documents.reader import Reader, Unit
from numerate.documents.rtf.groups import Groups
from numerate.errors import DocumentError

KIND = "Rich Text (.rtf)"

_BEGINNING = b"{\\rtf"
_BEFORE = b"\xef\xbb\xbf \t\r\n\0"


class RtfReader(Reader):
    """One document a file; objects and pictures in it are never read."""

    suffixes = (".rtf",)
    binary = True

    def recognises(self, beginning: bytes) -> bool:
        return beginning.lstrip(_BEFORE).startswith(_BEGINNING)

    def read(self, unit: Unit) -> Iterator[Document]:
        if not self.recognises(unit.data[:64]):
            got = "another beginning than {\\rtf" if unit.data else "an empty file"
            raise DocumentError(unit.name, f"not {KIND}: got {got}")
        groups = Groups(unit.name)
        groups.read(unit.data.lstrip(_BEFORE))
        yield document_of(unit.name, groups.blocks())
