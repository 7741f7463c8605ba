"""The contract of readers as a test that anyone can run on a reader of their own.

Examples:
    >>> from numerate.documents.testing import Markup, check_reader
    >>> from numerate.documents.text import TextReader
    >>> check_reader(TextReader(), Markup("a.txt", str.encode, paragraph="{}\\n\\n".format))
"""

import random
import re
import socket
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from numerate.documents.cell_grid import MAX_AREA
from numerate.documents.document import Document
from numerate.documents.reader import MAX_DOCUMENT, Reader, Unit
from numerate.errors import DocumentError, one_line
from numerate.reports.notices import silently

Write = Callable[[str], str]

CUTS, FLIPS = 16, 24
_NUMERAL = re.compile(r"[0-9]+(?:[.,][0-9]+)*")


@dataclass(frozen=True)
class Markup:
    """How a file of a format is written. The contract writes files with it.

    A format has a paragraph, a table or both; what else it lacks is left out, and is not tested
    then. Blocks stand one after the other in a file, each with whatever ends it; pieces of a line
    are marked up within a block.
    """

    name: str  # of a file, with the suffix of the format
    file: Callable[[str], bytes]  # a whole file of blocks
    paragraph: Write | None = None  # a block of a line
    table: Callable[[list[list[str]]], str] | None = None  # a block of rows, the first its header
    superscript: Write | None = None
    subscript: Write | None = None
    runs: Mapping[str, Write] = field(default_factory=dict)
    """Pieces of a line that are read as text of it, such as emphasis."""
    notes: Mapping[str, Write] = field(default_factory=dict)
    """Pieces of a line that are read apart from it, such as footnotes."""
    boxes: Mapping[str, Write] = field(default_factory=dict)
    """The same of what leaves no trace in its line, such as text boxes."""
    blocks: Mapping[str, Write] = field(default_factory=dict)
    """Other blocks that are read, such as items of lists."""
    hidden: Mapping[str, Write] = field(default_factory=dict)
    """Pieces of a line that nobody sees: hidden text, comments, what a tracked change deletes."""
    hidden_blocks: Mapping[str, Write] = field(default_factory=dict)
    marks: Mapping[str, Write] = field(default_factory=dict)
    """Pieces of a line that show the number of something else: citations, references."""
    bombs: Mapping[str, bytes] = field(default_factory=dict)
    """Small files that would take very much memory or time."""
    fetching: Callable[[str], bytes] | None = None
    """A file that names an address wherever the format can: pictures, styles, templates."""


def check_reader(reader: Reader, markup: Markup) -> None:
    """Raise AssertionError with one line if a reader breaks the contract."""
    for name, check in CHECKS.items():
        try:
            check(reader, markup)
        except AssertionError as error:
            raise AssertionError(f"{name}: {one_line(error)}") from None


def _documents(reader: Reader, data: bytes, name: str) -> list[Document | DocumentError]:
    """What a file is read as; anything that is raised but a DocumentError breaks the contract."""
    found: list[Document | DocumentError] = []
    try:
        with silently():
            for unit in reader.units(BytesIO(data), Unit(name, "")):
                found += [unit] if isinstance(unit, DocumentError) else reader.read(unit)
            for document in found:
                if isinstance(document, Document):
                    document.read()
    except DocumentError as error:
        found.append(error)
    except RecursionError:  # which `numerate.documents` reports as such
        found.append(DocumentError(name, "elements nested too deeply"))
    except Exception as error:
        raise AssertionError(
            f"got {type(error).__name__}, expected a DocumentError: {one_line(error)}"
        ) from error
    for one in found:
        said = str(one) if isinstance(one, DocumentError) else one.name
        assert said.startswith(name), f"got {said!r}, expected it to begin with the name {name!r}"
        assert "\n" not in said, f"got several lines: {said!r}"
    return found


def _read(reader: Reader, markup: Markup, *blocks: str) -> list[Document]:
    found = []
    for one in _documents(reader, markup.file("".join(blocks)), markup.name):
        assert isinstance(one, Document), f"refused: {one}"
        found.append(one)
    return found


def _texts(documents: list[Document]) -> Iterator[str]:
    """All that was read, paragraph by paragraph and cell by cell; cells repeated over others only
    once."""
    for document in documents:
        yield from (paragraph.text for paragraph in document.paragraphs)
        for table in document.tables:
            yield from (table.label, table.caption, table.notes)
            rows = [*table.header, *table.body]
            for number, row in enumerate(rows, -len(table.header)):
                for column, cell in enumerate(row):
                    if (number, column) not in table.repeated:
                        yield cell


def _numerals(documents: list[Document]) -> Counter[str]:
    return Counter(numeral for text in _texts(documents) for numeral in _NUMERAL.findall(text))


def check_borders(reader: Reader, markup: Markup) -> None:
    """No two numbers become one that stand apart: in scripts, notes, marks, blocks and cells."""
    apart: dict[str, Write] = {**markup.notes, **markup.marks}
    apart |= {"superscript": markup.superscript} if markup.superscript else {}
    apart |= {"subscript": markup.subscript} if markup.subscript else {}
    if (line := markup.paragraph) is not None:
        for name, write in apart.items():
            found = _numerals(_read(reader, markup, line(f"Of 417{write('528')}639 dogs")))
            for numeral in ("417", "639"):
                assert found[numeral], f"{name} beside {numeral}: got {sorted(found)}"
        for name, write in {"a paragraph": line, **markup.blocks, **markup.hidden_blocks}.items():
            blocks = line("We saw 417"), write("528 of them"), line("639 we saw")
            found = _numerals(_read(reader, markup, *blocks))
            for numeral in ("417", "639"):
                assert found[numeral], f"{name} beside {numeral}: got {sorted(found)}"
    if markup.table is not None:
        found = _numerals(_read(reader, markup, markup.table(_TABLE)))
        for numeral in ("417", "528", "639", "741"):
            assert found[numeral] == 1, f"a cell with {numeral}: got {sorted(found)}"


_TABLE = [["Dog", "Age", "Size"], ["Small", "417", "528"], ["Large", "639", "741"]]


def check_completeness(reader: Reader, markup: Markup) -> None:
    """Everything that is shown is read once; what is hidden is not read, nor a mark's number."""
    numbers = iter(range(2017, 9999, 13))  # no two of them have more than a digit in common
    shown, hidden, blocks = dict[str, str](), dict[str, str](), list[str]()

    def piece(kind: dict[str, str], name: str, write: Write) -> str:
        number = f"{next(numbers)}"
        kind[number] = name
        return write(number)

    if (line := markup.paragraph) is not None:
        for name, write in {**markup.runs, **markup.notes, **markup.boxes}.items():
            blocks.append(line(f"Here is {piece(shown, name, write)} of them."))
        for name, write in {**markup.hidden, **markup.marks}.items():
            before = piece(shown, f"text before {name}", str)
            after = piece(shown, f"text after {name}", str)
            blocks.append(line(f"Here {before} is {piece(hidden, name, write)} of {after}."))
        for name, write in {"a paragraph": line, **markup.blocks}.items():
            blocks.append(write(f"Of {piece(shown, name, str)} dogs."))
        for name, write in markup.hidden_blocks.items():
            blocks.append(write(f"Of {piece(hidden, name, str)} dogs."))
    if markup.table is not None:
        cells = [[piece(shown, "a cell", str) for _ in range(2)] for _ in range(2)]
        blocks.append(markup.table([["Dog", "Age", "Size"], *(["Small", *row] for row in cells)]))
    if line is not None:
        blocks.append(line(f"At the end {piece(shown, 'the last paragraph', str)}."))
    found = _numerals(_read(reader, markup, *blocks))
    for number, name in shown.items():
        assert found[number] == 1, f"{name}: read {found[number]} times, expected once"
    for number, name in hidden.items():
        assert not found[number], f"{name}: read as a quantity, expected it to be left out"


def check_places(reader: Reader, markup: Markup) -> None:
    """Each numeral leads back to where it stands."""
    lines = [f"The {number} dogs\tand  {number + 1} cats." for number in range(417, 425, 2)]
    blocks = list(map(markup.paragraph, lines)) if markup.paragraph is not None else []
    table = [markup.table(_TABLE)] if markup.table is not None else []
    documents = _read(reader, markup, *blocks, *table)
    order = [n for d in documents for n in _NUMERAL.findall(d.text)]
    if markup.paragraph is not None:
        assert order == [str(number) for number in range(417, 425)], f"got the order {order}"
    for document in documents:
        for number, paragraph in enumerate(document.paragraphs, 1):
            for found in _NUMERAL.finditer(paragraph.text):
                start, end = document.span(paragraph, *found.span())
                place = document.source.place(start, end)
                got = place.paragraph
                assert got in (number, None), f"got paragraph {got}, expected {number}"
                if document.given is not None:
                    written = document.given[start:end]
                    assert written == found[0], f"got {written!r} there, expected {found[0]!r}"
        for one in document.tables:
            if one.source is None or document.given is None:
                continue
            for cell in one.cells():
                for found in _NUMERAL.finditer(cell.text):
                    start, end = one.source.span(cell.row, cell.column, *found.span())
                    written = document.given[start:end]
                    assert written == found[0], f"got {written!r} there, expected {found[0]!r}"


def _example(markup: Markup) -> bytes:
    """A file with everything that the format has."""
    pieces = {**markup.runs, **markup.notes, **markup.boxes, **markup.hidden, **markup.marks}
    writes: list[Write] = [str, *pieces.values()]
    writes += [write for write in (markup.superscript, markup.subscript) if write]
    blocks = []
    if (line := markup.paragraph) is not None:
        blocks = [line(f"Of 417 {write('528')} dogs.") for write in writes]
    blocks += [write("639") for write in (*markup.blocks.values(), *markup.hidden_blocks.values())]
    blocks += [markup.table(_TABLE)] if markup.table is not None else []
    return markup.file("".join(blocks))


def check_damage(reader: Reader, markup: Markup) -> None:
    """A file that is cut, empty or has other bytes is read, or refused in one line."""
    whole, chance = _example(markup), random.Random(1)
    empty = _only_read(_documents(reader, b"", markup.name))
    assert not any(one.text for one in empty), "an empty file: got text"
    for number in range(CUTS):
        _documents(reader, whole[: len(whole) * number // CUTS], markup.name)
    for _ in range(FLIPS):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        _documents(reader, bytes(damaged), markup.name)


def check_encodings(reader: Reader, markup: Markup) -> None:
    """Text in UTF-16 is the same text, or is refused."""
    whole = _example(markup)
    try:
        other = whole.decode().encode("utf-16")
    except UnicodeDecodeError:  # no text
        return
    if read := _only_read(_documents(reader, other, markup.name)):
        expected = _only_read(_documents(reader, whole, markup.name))
        assert _numerals(read) == _numerals(expected), "UTF-16: got other numbers than of UTF-8"


def _only_read(found: list[Document | DocumentError]) -> list[Document]:
    return [one for one in found if isinstance(one, Document)]


def check_determinism(reader: Reader, markup: Markup) -> None:
    """The same file is read as the same document, whatever was read before."""
    whole = _example(markup)
    once, again = (_documents(reader, whole, markup.name) for _ in range(2))
    for one, other in zip(once, again, strict=True):
        assert isinstance(one, Document), f"refused: {one}"
        assert one == other, "read twice: got two different documents"


def check_bombs(reader: Reader, markup: Markup) -> None:
    """What a small file claims to hold is bounded."""
    for name, data in markup.bombs.items():
        for one in _documents(reader, data, markup.name):
            if isinstance(one, Document):
                length, cells = len(one.text), sum(len(r) for t in one.tables for r in t.body)
                assert length <= MAX_DOCUMENT, f"{name}: got {length:,} characters"
                assert cells <= MAX_AREA, f"{name}: got {cells:,} cells"


def check_fetching(reader: Reader, markup: Markup) -> None:
    """What a file names elsewhere is neither fetched from the network nor read from a disk."""
    if markup.fetching is None:
        return
    with socket.create_server(("127.0.0.1", 0)) as server, TemporaryDirectory() as folder:
        server.setblocking(False)
        secret = Path(folder, "secret")
        secret.write_text("A secret of 864213.", encoding="utf-8")
        for address in (f"http://127.0.0.1:{server.getsockname()[1]}/a", secret.as_uri()):
            read = _only_read(_documents(reader, markup.fetching(address), markup.name))
            assert not _numerals(read)["864213"], "got the text of another file"
        try:
            server.accept()[0].close()
        except BlockingIOError:
            return
        raise AssertionError("an address that a file names was fetched")


CHECKS: Mapping[str, Callable[[Reader, Markup], None]] = MappingProxyType(
    {
        "borders": check_borders,
        "completeness": check_completeness,
        "places": check_places,
        "damage": check_damage,
        "encodings": check_encodings,
        "determinism": check_determinism,
        "bombs": check_bombs,
        "fetching": check_fetching,
    }
)
"""What the contract is made of, by name."""
