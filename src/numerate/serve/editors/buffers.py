"""What an editor has open, read as `check` reads files: what the buffer says, not the disk."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pygls.uris import to_fs_path

from numerate.documents import documents
from numerate.documents.document import Document
from numerate.documents.reader import Unit
from numerate.documents.text import read_text
from numerate.errors import DocumentError, NumerateError
from numerate.reports.notices import silently

_LATEX, _MARKDOWN, _TEXT = "latex", "markdown", "text"
FORMATS = {
    "latex": _LATEX, "tex": _LATEX, "plaintex": _LATEX,
    "markdown": _MARKDOWN, "quarto": _MARKDOWN, "rmd": _MARKDOWN, "rmarkdown": _MARKDOWN,
    "pandoc": _MARKDOWN,
    "plaintext": _TEXT, "text": _TEXT, "txt": _TEXT, "restructuredtext": _TEXT, "rst": _TEXT,
}  # fmt: skip
"""By the names that editors have for languages."""
SUFFIXES = {
    ".tex": _LATEX, ".ltx": _LATEX, ".latex": _LATEX,
    ".md": _MARKDOWN, ".markdown": _MARKDOWN, ".mkd": _MARKDOWN, ".qmd": _MARKDOWN,
    ".rmd": _MARKDOWN,
    ".txt": _TEXT, ".text": _TEXT, ".rst": _TEXT,
}  # fmt: skip
"""For editors that have no name for it."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """One version of one text; nothing of it ever changes."""

    uri: str
    version: int
    text: str
    language: str = ""

    @property
    def path(self) -> Path | None:
        """None: it has not been saved yet."""
        parts = urlsplit(self.uri)
        if parts.scheme != "file":
            return None
        path = to_fs_path(self.uri)
        return None if path is None else Path(path)

    @property
    def name(self) -> str:
        return str(self.path or unquote(urlsplit(self.uri).path) or self.uri)

    @property
    def folder(self) -> Path:
        """Where its configuration is looked for."""
        return self.path.parent if self.path else Path()

    @property
    def format(self) -> str | None:
        """None: not of a kind that is checked."""
        known = FORMATS.get(self.language.lower())
        return known or SUFFIXES.get(Path(self.name).suffix.lower())

    def read(self) -> Document:
        """Offsets of the document are those of the text."""
        if self.format is None:
            raise NumerateError(f"{self.name}: {self.language or 'its language'} is not checked")
        # Neither half a character nor a mark of the encoding may move what follows it.
        text = self.text.encode("utf-8", "replace").decode().replace("\ufeff", " ", 1)
        if self.format == _TEXT:
            return read_text(text, self.name)
        folder = self.path.parent if self.path else None
        unit = Unit(self.name, self.format, text.encode(), folder=folder)
        with silently():  # a formula that is half written is no news
            (document,) = documents(unit)
        if isinstance(document, DocumentError):
            raise document
        return document
