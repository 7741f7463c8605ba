"""Documents to be checked: text as it stands in a file, or the paragraphs of an article."""

import re
import sys
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path

from numerate.corpus.document import Document
from numerate.corpus.readers import FORMATS, MAX_DOCUMENT, Unit, documents, sniff, suffix_format
from numerate.corpus.readers.lines import decode
from numerate.errors import DocumentError, SourceError, check_choice
from numerate.plausibility.paragraphs import iter_paragraphs

STANDARD_INPUT = "-"
CHECKED_FORMATS = ("auto", "text", "jats", "latexml")
_BETWEEN = "\n\n"  # paragraphs of an article


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands. Lines and columns are those of a text file, from 1."""

    paragraph: int  # from 1
    line: int | None
    column: int | None
    start: int  # offsets: into the text of the file, or of the article's paragraph
    end: int


class CheckedDocument:
    """One document as one text, and the way back from an offset to a place in the file."""

    def __init__(self, name: str, text: str, *, is_file: bool) -> None:
        self.name = name
        self.text = text
        self._is_file = is_file  # whether the text is that of the file itself
        self.has_text = not is_file or bool(text.strip())  # even if nothing of an article was read
        parts = list(iter_paragraphs(text))
        self._starts = [start for start, _ in parts]
        self.paragraphs = [part for _, part in parts]
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]  # where each begins

    @classmethod
    def of_article(cls, name: str, article: Document) -> "CheckedDocument":
        text = _BETWEEN.join(paragraph.text for paragraph in article.paragraphs)
        return cls(name, text, is_file=False)

    def paragraph_at(self, offset: int) -> int:
        """The index of the paragraph that an offset lies in."""
        return bisect_right(self._starts, offset) - 1

    def start_of(self, paragraph: int) -> int:
        return self._starts[paragraph]

    def place(self, start: int, end: int) -> Place:
        paragraph = self.paragraph_at(start)
        if not self._is_file:
            offset = self._starts[paragraph]
            return Place(paragraph + 1, None, None, start - offset, end - offset)
        line = bisect_right(self._lines, start)
        return Place(paragraph + 1, line, start - self._lines[line - 1] + 1, start, end)


def read_document(path: str, format: str = "auto") -> CheckedDocument:
    """A file, or standard input for `-`. Its format is known by its suffix, or by its beginning."""
    check_choice("format", format, CHECKED_FORMATS)
    if path == STANDARD_INPUT:
        name, data = "stdin", sys.stdin.buffer.read(MAX_DOCUMENT + 1)
    else:
        name, data = path, _read_file(Path(path))
    if len(data) > MAX_DOCUMENT:
        raise DocumentError(name, f"too large: expected at most {MAX_DOCUMENT >> 20} MiB")
    if format == "auto":
        format = _format_of(name, data)
    if format == "text":
        text = decode(data, name)
        if "\0" in text:
            offset = text.index("\0")
            raise DocumentError(name, f"not text: got a zero byte at offset {offset}")
        return CheckedDocument(name, text, is_file=True)
    (article,) = documents(Unit(name, format, data))
    if isinstance(article, DocumentError):
        raise article
    return CheckedDocument.of_article(name, article)


def _read_file(path: Path) -> bytes:
    if path.is_dir():
        raise SourceError(f"{path}: a folder, expected a file")
    try:
        with path.open("rb") as stream:
            return stream.read(MAX_DOCUMENT + 1)
    except FileNotFoundError:
        raise SourceError(f"{path}: no such file") from None


def _format_of(name: str, data: bytes) -> str:
    """Of names that say nothing, standard input's among them, markup is told by its first sign."""
    if name.lower().endswith(FORMATS["text"]):
        return "text"
    is_markup = suffix_format(name) in {"jats", "latexml"} or (
        name == "stdin" and data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
    )
    return sniff(data[:65536]) if is_markup else "text"
