"""One document, read as `prepare` and `check` read it."""

from numerate.documents import documents
from numerate.documents.document import Document
from numerate.documents.reader import Unit
from numerate.errors import DocumentError
from numerate.lm.data.keep import Keep


def read_one(format: str, data: bytes, name: str, keep: Keep = Keep.ALL) -> Document:
    (document,) = documents(Unit(name, format, data), keep.wants)
    if isinstance(document, DocumentError):
        raise document
    return document
