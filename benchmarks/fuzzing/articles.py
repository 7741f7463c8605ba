"""Damaged JATS and LaTeXML articles, read and tokenised as `numerate prepare` does."""

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from fuzzing.kind import Setting
from numerate.documents import documents, reader_of
from numerate.documents.reader import Unit
from numerate.documents.sources import Source
from numerate.errors import DocumentError
from numerate.text.table_numbers import columns_of_texts
from numerate.text.tokenizer import tokenize

SAMPLE = Path(__file__).parents[2] / "tests" / "data" / "latexml"
MAX_ARTICLE = 400_000  # bytes; larger ones only cost time
POOL = 60  # different articles damaged, per source

Mutation = Callable[[bytearray, random.Random], None]

_TAG = re.compile(rb"<(/?)([A-Za-z][\w:.-]*)((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>")
_TEXT = re.compile(rb">[^<>]+<")
_INSERTED = (
    b"&alpha;", b"&undefined;", b"&#0;", b"&#xD800;", b"&#1114112;", b"&", b"<", b"]]>", b"\0",
    b"<!ENTITY a 'b'>", b"<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>", b"<?pi x?>",
    b"<!-- -- -->", b"<![CDATA[1,000]]>", b"9" * 10_000, b"1,000" * 5_000, b"0." + b"0" * 9_000,
    b"1e308", b" " * 50_000, b"\xff\xfe", b"\xef\xbb\xbf", "٣١²½Ⅷ５".encode(), b"_cite__ref_",
    b"-" * 20_000, b"1, " * 10_000, b"{" * 5_000, b"\\" * 5_000, b"%\n" * 5_000, b"[1" * 5_000,
)  # fmt: skip
_WRAPPERS = (
    b"sup", b"sub", b"xref", b"p", b"table-wrap", b"inline-formula", b"mml:math", b"mml:msup",
    b"mml:mfrac", b"list", b"td", b"tr", b"div", b"span", b"math", b"mrow", b"tabular", b"note",
)  # fmt: skip


def place(data: bytearray, chance: random.Random) -> int:
    return chance.randrange(len(data) + 1)


def flip_bytes(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.randint(1, 20)):
        data[chance.randrange(len(data))] = chance.randrange(256)


def delete_span(data: bytearray, chance: random.Random) -> None:
    start = place(data, chance)
    del data[start : start + chance.choice((1, 10, 100, 1000, 10_000))]


def duplicate_span(data: bytearray, chance: random.Random) -> None:
    start = place(data, chance)
    span = data[start : start + chance.choice((10, 100, 1000, 5000))]
    data[start:start] = span * chance.choice((1, 2, 20))


def truncate(data: bytearray, chance: random.Random) -> None:
    del data[place(data, chance) :]


def insert_oddity(data: bytearray, chance: random.Random) -> None:
    """Anywhere, or inside text, where the article stays well-formed more often."""
    places = [match.start() + 1 for match in _TEXT.finditer(data)]
    at = chance.choice(places) if places and chance.random() < 0.8 else place(data, chance)
    data[at:at] = chance.choice(_INSERTED)


def swap_tags(data: bytearray, chance: random.Random) -> None:
    """Give all elements of one name the name of another: well-formed, but nonsense."""
    names = sorted({match[2] for match in _TAG.finditer(data)})
    if len(names) < 2:
        return
    old, new = chance.sample(names, 2)
    data[:] = re.sub(rb"(</?)" + re.escape(old) + rb"(?=[\s/>])", rb"\1" + new, data)


def exchange_elements(data: bytearray, chance: random.Random) -> None:
    """Two leaf elements change places."""
    leaves = [match.span() for match in re.finditer(rb"<([\w:.-]+)[^<>]*>[^<>]*</\1>", data)]
    if len(leaves) < 2:
        return
    (a, b), (c, d) = sorted(chance.sample(leaves, 2))
    data[a:d] = data[c:d] + data[b:c] + data[a:b]


def change_attribute(data: bytearray, chance: random.Random) -> None:
    attributes = [match.span(1) for match in re.finditer(rb"=\"([^\"<>]*)\"", data)]
    if attributes:
        start, end = chance.choice(attributes)
        data[start:end] = chance.choice((b"", b"-1", b"200", b"table", b"T1 " * 2000, *_INSERTED))


def nest(data: bytearray, chance: random.Random) -> None:
    places = [match.start() + 1 for match in _TEXT.finditer(data)] or [place(data, chance)]
    at, name = chance.choice(places), chance.choice(_WRAPPERS)
    depth = chance.choice((2, 30, 100, 200, 1000, 20_000))
    data[at:at] = b"<%b>" % name * depth + b"7" + b"</%b>" % name * depth


MUTATIONS: tuple[Mutation, ...] = (
    flip_bytes, delete_span, duplicate_span, truncate, insert_oddity, swap_tags,
    exchange_elements, change_attribute, nest,
)  # fmt: skip


def damaged(
    data: bytes, chance: random.Random, kinds: Sequence[Mutation] = MUTATIONS
) -> tuple[bytearray, str]:
    """After one to four kinds of damage, and which these were."""
    found = bytearray(data)
    chosen = chance.choices(kinds, k=chance.randint(1, 4))
    for mutate in chosen:
        if found:
            mutate(found, chance)
    return found, ", ".join(mutate.__name__ for mutate in chosen)


class Articles:
    """Offsets are checked too: what lies between two tokens is white space."""

    share = 1.0

    def __init__(self, setting: Setting) -> None:
        self.pools = [_articles(source) for source in setting.sources or [SAMPLE]]
        if not all(self.pools):
            raise SystemExit("fuzz.py: a SOURCE without a JATS or LaTeXML article")

    def damage(self, chance: random.Random, folder: Path) -> str:
        unit = chance.choice(chance.choice(self.pools))
        data = bytearray(unit.data)
        chosen = chance.choices(MUTATIONS, k=chance.choice((1, 1, 2, 4)))
        for mutation in chosen:
            if data:
                mutation(data, chance)
        (folder / f"{unit.format}.xml").write_bytes(data)
        return f"{unit.name} after {', '.join(mutation.__name__ for mutation in chosen)}"

    def use(self, folder: Path) -> str:
        (path,) = folder.iterdir()
        outcome = "refused"
        for document in documents(Unit(path.name, path.stem, path.read_bytes())):
            if isinstance(document, DocumentError):
                assert str(document).isprintable(), f"an error of several lines: {document}"
                continue
            outcome = "read"
            columns_of_texts([document.tables])
            for paragraph in document.paragraphs:
                end = 0
                for token in tokenize(paragraph.text):
                    lost = paragraph.text[end : token.start].strip()
                    assert not lost, "text lost between two tokens"
                    end = token.end
        return outcome


def _articles(source: Path) -> list[Unit]:
    """A sample spread over the source, of articles that are read whole."""
    found = [
        unit
        for unit in Source(source, "auto").units()
        if isinstance(unit, Unit) and reader_of(unit.format).articles
        if len(unit.data) <= MAX_ARTICLE
    ]
    return found[:: -(-len(found) // POOL)] if found else []
