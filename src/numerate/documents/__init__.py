"""Documents of every format that a reader is registered for.

To add a format, in this package or in one of your own: write a `Reader`, and name it in your
`pyproject.toml` under `[project.entry-points."numerate.readers"]`.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from numerate.documents.document import Document, Paragraph
from numerate.documents.opened_file import opened_file
from numerate.documents.reader import Reader, Unit, ascii_of, whole
from numerate.documents.text import read_text
from numerate.errors import DocumentError, NumerateError, check_choice, one_line
from numerate.plugins import READERS, load, names, own_names
from numerate.reports.notices import say, silently

AUTO = "auto"
"""The format of each file by its suffix, and by a look inside where several formats share it."""
PLAIN = "text"  # what is read as such if no reader knows it
STANDARD_INPUT = "-"
BEGINNING = 65536  # bytes by which formats are told apart
_BEFORE_MARKUP = b"\xef\xbb\xbf\xff\xfe \t\r\n"  # marks of UTF-8 and UTF-16, and white space


def formats() -> list[str]:
    """What a format may be called; nothing is imported for it."""
    return [AUTO, *names(READERS)]


def reader_of(format: str) -> Reader:
    return _reader(format, load(READERS, format, Reader))


@cache
def _reader(format: str, kind: Callable[[], Reader]) -> Reader:
    try:
        return kind()
    except Exception as error:  # a plugin may fail in any way
        reason = f"{type(error).__name__}: {one_line(error)}"
        raise NumerateError(f"reader {format!r}: cannot be made: {reason}") from error


def suits(name: str, format: str = AUTO) -> bool:
    """Whether a file, by its name, is of a format; of any, if it is `auto`."""
    return bool(_formats_of(name)) if format == AUTO else _has_suffix(name, format)


def is_binary(name: str, format: str = AUTO) -> bool:
    """Whether a file of this name is read by a reader of what is no text."""
    formats = _formats_of(name) if format == AUTO else [format]
    return any(reader_of(format).binary for format in formats)


def _formats_of(name: str) -> list[str]:
    return [format for format in _working(tuple(sys.path)) if _has_suffix(name, format)]


@cache
def _working(path: tuple[str, ...]) -> list[str]:
    """All formats but those of other packages that fail, which is said once."""
    found = []
    for format in names(READERS):
        try:
            reader_of(format)
        except NumerateError as error:
            if format in own_names(READERS):
                raise
            say(f"{error}; left out")
        else:
            found.append(format)
    return found


def _has_suffix(name: str, format: str) -> bool:
    return name.lower().removesuffix(".gz").endswith(reader_of(format).suffixes)


def units(stream: BinaryIO, unit: Unit) -> Iterator[Unit | DocumentError]:
    """Cut one file into units like the empty `unit`, whose format may be `auto`."""
    if unit.format != AUTO:
        return _cut(stream, unit, unit.format)
    candidates = _formats_of(unit.name) or [PLAIN]
    if len(candidates) > 1:
        return _look_inside(stream, unit, candidates)
    return _cut(stream, unit, candidates[0])


def _look_inside(
    stream: BinaryIO, unit: Unit, candidates: list[str]
) -> Iterator[Unit | DocumentError]:
    """Cut a file whose name says too little by the reader that its beginning calls for."""
    for piece in whole(stream, unit):
        if isinstance(piece, DocumentError):
            yield piece
            continue
        chosen = _chosen(candidates, piece.data[:BEGINNING])
        yield from _cut(BytesIO(piece.data), unit, chosen)


def _chosen(candidates: list[str], beginning: bytes) -> str:
    """The first that recognises the file, else the first fallback, else the first of all.

    Candidates come in the order of `names`: ours before those of other packages, then by name.
    Fallbacks are asked last, so that a reader of special pages goes before that of all pages.
    """
    readers = {name: reader_of(name) for name in candidates}
    ordered = sorted(candidates, key=lambda name: readers[name].fallback)
    recognised = (name for name in ordered if readers[name].recognises(beginning))
    fallbacks = (name for name in ordered if readers[name].fallback)
    return next(recognised, next(fallbacks, candidates[0]))


def _cut(stream: BinaryIO, unit: Unit, format: str) -> Iterator[Unit | DocumentError]:
    return reader_of(format).units(stream, replace(unit, format=format))


def documents(
    unit: Unit, wanted: Callable[[Paragraph], bool] | None = None
) -> Iterator[Document | DocumentError]:
    """The documents of a unit, and the errors of those that cannot be read.

    Of paragraphs that are not `wanted`, such as abstracts, the text is not read.
    """
    reader = reader_of(unit.format)
    try:
        for document in reader.read(unit):
            if isinstance(document, Document):
                document.is_article = reader.articles
                document.format, document.folder = unit.format, unit.folder
                document.read(wanted)
            yield document
    except DocumentError as error:
        yield error
    except RecursionError:
        yield DocumentError(unit.name, "elements nested too deeply")


def read_file(
    path: str, format: str = AUTO, field: str = "text", data: bytes | None = None
) -> list[Document]:
    """All documents of one file, or of standard input for `-`; what cannot be read is raised.

    Where the `data` of a file are given, its name says only what it is: it is not opened, nor is
    any file beside it.

    Examples:
        >>> from numerate.documents import read_file
        >>> (article,) = read_file("examples/articles/heart.xml")
        >>> article.tables[0].label
        'Table 1'
        >>> [paragraph.tables for paragraph in article.paragraphs if paragraph.tables]
        [('t1',), ...]
    """
    check_choice("format", format, formats())
    if path == STANDARD_INPUT and data is None:
        pieces = _units_of_input(Unit("stdin", format, field=field))
        return [document for piece in pieces for document in _read_all(piece)]
    folder = Path(path).parent if data is None else None
    with opened_file(path, binary=is_binary(path, format), data=data) as stream:
        pieces = units(stream, Unit(path, format, field=field, folder=folder))
        return [document for piece in pieces for document in _read_all(piece)]


def read_again(document: Document, text: str) -> Document:
    """What it would be, had its file this text."""
    if document.format in ("", PLAIN):
        return read_text(text, document.name)
    unit = Unit(document.name, document.format, text.encode(), folder=document.folder)
    with silently():
        (again,) = documents(unit)
    if isinstance(again, DocumentError):
        raise again
    return again


def _units_of_input(unit: Unit) -> Iterator[Unit | DocumentError]:
    """Standard input has no name: its first sign tells markup, a look inside other formats."""
    for piece in whole(sys.stdin.buffer, unit):
        if isinstance(piece, DocumentError):
            yield piece
            continue
        alike = _formats_like(piece.data) if unit.format == AUTO else []
        stream = BytesIO(piece.data)
        yield from _look_inside(stream, unit, alike) if alike else units(stream, unit)


def _formats_like(data: bytes) -> list[str]:
    markup = {*_formats_of("stdin.xml"), *_formats_of("stdin.html")}
    is_markup = ascii_of(data[:BEGINNING]).lstrip(_BEFORE_MARKUP).startswith(b"<")
    return [
        name
        for name in _working(tuple(sys.path))
        if (is_markup if name in markup else reader_of(name).recognises(data[:BEGINNING]))
    ]


def _read_all(unit: Unit | DocumentError) -> Iterator[Document]:
    found = [unit] if isinstance(unit, DocumentError) else documents(unit)
    for document in found:
        if isinstance(document, DocumentError):
            raise document
        if document.given is not None and "\0" in document.given:
            offset = document.given.index("\0")
            raise DocumentError(document.name, f"not text: got a zero byte at offset {offset}")
        yield document
