"""Readers of source formats. A unit of work is a piece of a file that one process can read alone.

The parent process cuts files into units (cheap, streaming); workers turn units into
documents. To add a format: write a module here, then add it to `FORMATS`, `units` and
`documents`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO

from numerate.corpus.document import Document
from numerate.corpus.readers import lines
from numerate.corpus.readers.jats import read_jats
from numerate.corpus.readers.latexml import read_latexml
from numerate.errors import DocumentError

MAX_DOCUMENT = 64 << 20  # bytes of one article or text file
FORMATS = {
    "text": (".txt", ".text", ".md"),
    "jsonl": (".jsonl", ".ndjson"),
    "jats": (".xml", ".nxml"),
    "latexml": (".xml", ".html", ".htm", ".xhtml"),
}


@dataclass(frozen=True, slots=True)
class Unit:
    name: str  # of the file, as the user knows it
    format: str
    data: bytes
    first: int = 1  # number of its first line or paragraph
    lone: bool = False  # text only: every paragraph is a document of its own
    split: str | None = None  # where the source prescribes it


def suffix_format(name: str) -> str | None:
    """The format by file name; `xml` and `html` need a look inside (see `sniff`)."""
    suffix = PurePosixPath(name.lower().removesuffix(".gz")).suffix
    for format, suffixes in FORMATS.items():
        if suffix in suffixes:
            return format
    return None


_ROOT = re.compile(rb"<(?:[A-Za-z][\w.-]*:)?([A-Za-z][\w.-]*)[\s/>]")


def sniff(head: bytes) -> str:
    """JATS or LaTeXML, by the first element of an XML or HTML file."""
    root = _ROOT.search(head.replace(b"\0", b""))  # UTF-16 has a zero beside every ASCII character
    return "latexml" if root and root.group(1).lower() in {b"document", b"html"} else "jats"


def units(
    stream: BinaryIO, name: str, format: str, *, lone: bool = False, split: str | None = None
) -> Iterator[Unit | DocumentError]:
    """Cut one file into units. `format` is a key of FORMATS or `auto`."""
    if format == "auto":
        format = suffix_format(name) or "text"
        if format in {"jats", "latexml"}:
            yield from _whole(stream, name, None, split)
            return
    if format == "jsonl":
        yield from _json_blocks(stream, name, split)
    elif format == "text" and lone:
        yield from _paragraph_blocks(stream, name, split)
    else:
        yield from _whole(stream, name, format, split)


def _whole(
    stream: BinaryIO, name: str, format: str | None, split: str | None
) -> Iterator[Unit | DocumentError]:
    data = stream.read(MAX_DOCUMENT + 1)
    if len(data) > MAX_DOCUMENT:
        reason = f"document too large: expected at most {MAX_DOCUMENT >> 20} MiB"
        yield DocumentError(name, reason)
    else:
        yield Unit(name, format or sniff(data[:65536]), data, split=split)


def _json_blocks(stream: BinaryIO, name: str, split: str | None) -> Iterator[Unit | DocumentError]:
    block: list[bytes] = []
    size = 0
    number = 0
    for number, line in enumerate(lines.bounded_lines(stream), 1):
        if line is None:
            yield lines.too_long(name, "line", number)
            line = b"\n"  # keeps the numbering of what follows
        block.append(line)
        size += len(line)
        if size >= lines.BLOCK:
            yield Unit(name, "jsonl", b"".join(block), number - len(block) + 1, split=split)
            block, size = [], 0
    if block:
        yield Unit(name, "jsonl", b"".join(block), number - len(block) + 1, split=split)


def _paragraph_blocks(
    stream: BinaryIO, name: str, split: str | None
) -> Iterator[Unit | DocumentError]:
    block: list[bytes] = []
    size = 0  # of the block
    length = 0  # of the paragraph being read
    start = 1
    number = 0
    for number, line in enumerate(lines.bounded_lines(stream), 1):
        if line is None:
            yield lines.too_long(name, "paragraph", number)
            line = b"\n"
        blank = not line.strip()
        length = 0 if blank else length + len(line)
        if length > lines.MAX_RECORD:
            yield lines.too_long(name, "paragraph", number)
            block, size, length, start = [], 0, 0, number + 1
            continue
        block.append(line)
        size += len(line)
        if blank and size >= lines.BLOCK:
            yield Unit(name, "text", b"".join(block), start, lone=True, split=split)
            block, size, start = [], 0, number + 1
    if block:
        yield Unit(name, "text", b"".join(block), start, lone=True, split=split)


def documents(
    unit: Unit, *, field: str = "text", only_table_refs: bool = False
) -> Iterator[Document | DocumentError]:
    """The documents of a unit, and the errors of those that cannot be read."""
    try:
        if unit.format == "jsonl":
            yield from _json_documents(unit, field)
        elif unit.format == "text":
            yield from _text_documents(unit)
        else:
            read = read_jats if unit.format == "jats" else read_latexml
            yield read(unit.data, unit.name, only_table_refs=only_table_refs)
    except DocumentError as error:
        yield error
    except RecursionError:
        yield DocumentError(unit.name, "elements nested too deeply")


def _json_documents(unit: Unit, field: str) -> Iterator[Document | DocumentError]:
    for number, line in enumerate(unit.data.split(b"\n"), unit.first):
        if line.strip():
            try:
                yield lines.parse_json_line(line, f"{unit.name}:{number}", field)
            except DocumentError as error:
                yield error


def _text_documents(unit: Unit) -> Iterator[Document | DocumentError]:
    if not unit.lone:
        yield Document(unit.name, lines.split_paragraphs(lines.decode(unit.data, unit.name)))
        return
    # Cut before decoding: one paragraph in a wrong encoding must not cost its neighbours.
    where = f"{unit.name}:{unit.first}"
    for index, block in enumerate(re.split(rb"\n[ \t\r]*\n", unit.data)):
        try:
            for paragraph in lines.split_paragraphs(lines.decode(block, f"{where}#{index}")):
                yield Document(f"{where}#{index}", [paragraph])
        except DocumentError as error:
            yield error
