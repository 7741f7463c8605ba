"""PDF: the text layer, as paragraphs and tables, with the page that each stands on."""

from collections.abc import Iterator

from numerate.documents.document import Document
from numerate.documents.reader import Reader, Unit


class PdfReader(Reader):
    """One document a file. What reads it is imported once there is one: arrays take their time."""

    suffixes = (".pdf",)
    binary = True

    def recognises(self, beginning: bytes) -> bool:
        return b"%PDF-" in beginning[:1024]

    def read(self, unit: Unit) -> Iterator[Document]:
        from numerate.documents.pdf.document import read_pdf

        yield read_pdf(unit)
