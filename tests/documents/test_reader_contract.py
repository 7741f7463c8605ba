"""Every reader keeps one contract: nothing glues, nothing is lost, places lead back, marks are no
quantities, what is hidden is not read, bombs are bounded, and nothing is fetched."""

import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.documents.markups import MARKUPS

from numerate.documents import reader_of
from numerate.documents.document import Document, Paragraph, Table
from numerate.documents.reader import Reader, Unit
from numerate.documents.testing import CHECKS, Markup, check_reader
from numerate.plugins import READERS, own_names


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", MARKUPS)
def test_readers_keep_the_contract(name: str, check: str) -> None:
    format, markup = MARKUPS[name]
    CHECKS[check](reader_of(format), markup)


class Broken(Reader):
    """A format of lines, whose `*5*` is hidden; each kind of it breaks the contract in a way."""

    suffixes = (".lines",)
    hidden = r"\*.*?\*"

    def paragraphs(self, unit: Unit) -> list[Paragraph]:
        return [Paragraph(line) for line in re.sub(self.hidden, "", unit.text()).splitlines()]

    def read(self, unit: Unit) -> Iterator[Document]:
        yield Document(unit.name, self.paragraphs(unit))


class Gluing(Broken):
    def read(self, unit: Unit) -> Iterator[Document]:
        yield Document(unit.name, [Paragraph("".join(p.as_given for p in self.paragraphs(unit)))])


class Losing(Broken):
    def read(self, unit: Unit) -> Iterator[Document]:
        found = [one for one in self.paragraphs(unit) if "At the end" not in one.as_given]
        yield Document(unit.name, found)


class Showing(Broken):
    hidden = "nothing"


class Misplaced(Broken):
    def read(self, unit: Unit) -> Iterator[Document]:
        found = [Paragraph(one.given, at=3) for one in self.paragraphs(unit)]
        yield Document(unit.name, found, given=unit.text())


class Failing(Broken):
    def read(self, unit: Unit) -> Iterator[Document]:
        unit.data.decode("ascii")
        return super().read(unit)


class Forgetful(Broken):
    count = 0

    def read(self, unit: Unit) -> Iterator[Document]:
        self.count += 1
        more = [Paragraph("a" * self.count)] if unit.data else []
        yield Document(unit.name, [*self.paragraphs(unit), *more])


class Exploding(Broken):
    def read(self, unit: Unit) -> Iterator[Document]:
        cells = [["5"] * 2000] * 2000 if "bomb" in unit.text() else []
        yield Document(unit.name, self.paragraphs(unit), [Table("1", "", "", [], cells)])


class Fetching(Broken):
    def read(self, unit: Unit) -> Iterator[Document]:
        for port in re.findall("http://127.0.0.1:([0-9]+)", unit.text()):
            socket.create_connection(("127.0.0.1", int(port))).close()
        return super().read(unit)


class Opening(Broken):
    def read(self, unit: Unit) -> Iterator[Document]:
        named = [Path(name) for name in re.findall(r"file://(\S+)", unit.text())]
        texts = [path.read_text(encoding="utf-8") for path in named if path.is_file()]
        yield Document(unit.name, [*self.paragraphs(unit), *map(Paragraph, texts)])


class Nameless(Broken):
    def read(self, unit: Unit) -> Iterator[Document]:
        yield Document("a document", self.paragraphs(unit))


LINES = Markup(
    "a.lines",
    str.encode,
    paragraph="{}\n".format,
    hidden={"starred": "*{}*".format},
    bombs={"many": b"bomb"},
    fetching=lambda address: f"See {address} now".encode(),
)


def test_a_reader_that_keeps_the_contract() -> None:
    check_reader(Broken(), LINES)


@pytest.mark.parametrize(
    ("reader", "reason"),
    [
        (Gluing, "borders: a paragraph beside 417: got ["),
        (Losing, "completeness: the last paragraph: read 0 times, expected once"),
        (Showing, "completeness: starred: read as a quantity, expected it to be left out"),
        (Misplaced, "places: got "),
        (Failing, "got UnicodeDecodeError, expected a DocumentError"),
        (Forgetful, "determinism: read twice: got two different documents"),
        (Exploding, "bombs: many: got 4,000,000 cells"),
        (Fetching, "fetching: an address that a file names was fetched"),
        (Opening, "fetching: got the text of another file"),
        (Nameless, "expected it to begin with the name 'a.lines'"),
    ],
)
def test_the_contract_finds_what_breaks_it(reader: type[Reader], reason: str) -> None:
    with pytest.raises(AssertionError, match=re.escape(reason)):
        check_reader(reader(), LINES)


def test_every_format_is_tested() -> None:
    assert {format for format, _ in MARKUPS.values()} == set(own_names(READERS))
