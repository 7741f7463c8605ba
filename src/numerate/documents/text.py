"""Plain text: blank lines separate paragraphs."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import BinaryIO

from numerate.documents import lines
from numerate.documents.document import Document, Paragraph
from numerate.documents.markdown.code import code_and_comments
from numerate.documents.pipe_tables import pipe_tables, placed_tables, tables_named
from numerate.documents.reader import Reader, Unit, decode_text
from numerate.errors import DocumentError
from numerate.reports.notices import say

_BETWEEN_BLOCKS = re.compile(rb"\n[ \t\r]*\n")


class TextReader(Reader):
    suffixes = (".txt", ".text")

    def units(self, stream: BinaryIO, unit: Unit) -> Iterator[Unit | DocumentError]:
        """A lone file is cut between paragraphs, and never held whole in memory."""
        return _blocks(stream, unit) if unit.lone else super().units(stream, unit)

    def read(self, unit: Unit) -> Iterator[Document | DocumentError]:
        if not unit.lone:
            yield read_text(unit.text(), unit.name)
            return
        # Cut before decoding: one paragraph in a wrong encoding must not cost its neighbours.
        say_so = cache(lambda: say(f"{unit.name}: not UTF-8 in part; read as Windows-1252"))
        for index, block in enumerate(_BETWEEN_BLOCKS.split(unit.data)):
            name = f"{unit.name}:{unit.first}#{index}"
            try:
                beginning = unit.first == 1 and not index
                text = decode_text(block, name, is_beginning=beginning, say_so=say_so)
            except DocumentError as error:
                yield error
            else:
                for paragraph in text_paragraphs(text):
                    # Nobody sees its tables, but they are stored, and counted.
                    tables = list(pipe_tables(paragraph.as_given))
                    paragraph.holds = tuple(table.id for table in tables)
                    yield Document(name, [paragraph], tables)


def read_text(text: str, name: str = "text") -> Document:
    """Text as it stands in a file, or as somebody typed it, and the tables of Markdown in it."""
    code, comments = code_and_comments(text, name)
    no_text = sorted([*code, *comments])
    paragraphs, placed = list(text_paragraphs(text)), list(placed_tables(text, no_text))
    begins, tables = [at for at, _ in placed], [table for _, table in placed]
    if tables:
        for paragraph in paragraphs:
            given, start = paragraph.as_given, paragraph.at
            inside = slice(bisect_left(begins, start), bisect_left(begins, start + len(given)))
            paragraph.holds = tuple(table.id for table in tables[inside])
            if not paragraph.holds:  # what a table says is not about it
                paragraph.tables = tables_named(given, tables)
    return Document(name, paragraphs, tables, given=text, code=code, comments=comments)


def text_paragraphs(text: str) -> Iterator[Paragraph]:
    start, end = None, 0
    for line in text.splitlines(keepends=True):
        if not line.isspace():
            start = end if start is None else start
        elif start is not None:
            yield Paragraph(text[start:end], at=start)
            start = None
        end += len(line)
    if start is not None:
        yield Paragraph(text[start:], at=start)


def _blocks(stream: BinaryIO, unit: Unit) -> Iterator[Unit | DocumentError]:
    block: list[bytes] = []
    size = 0  # of the block
    length = 0  # of the paragraph being read
    start = 1
    number = 0
    for number, line in enumerate(lines.bounded_lines(stream), 1):
        if line is None:
            yield lines.too_long(unit.name, "paragraph", number)
            line = b"\n"
        blank = not line.strip()
        length = 0 if blank else length + len(line)
        if length > lines.MAX_RECORD:
            yield lines.too_long(unit.name, "paragraph", number)
            block, size, length, start = [], 0, 0, number + 1
            continue
        block.append(line)
        size += len(line)
        if blank and size >= lines.BLOCK:
            yield replace(unit, data=b"".join(block), first=start)
            block, size, start = [], 0, number + 1
    if block:
        yield replace(unit, data=b"".join(block), first=start)
