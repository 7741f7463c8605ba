"""Which reader has a file depends on the file alone: not on the order in which an installer, a
wheel or a checkout lists the readers, nor on what other packages bring."""

import io
import random
import sys
import zipfile
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path

import pytest
from tests.documents.office import REPORT, replaced
from tests.documents.samples import CLAIM, SAMPLES
from tests.packages import install

from numerate import documents, plugins
from numerate.documents import formats, read_file, reader_of
from numerate.documents.document import Document
from numerate.errors import DocumentError
from numerate.lm.heads.registry import head_names, members_with_sight, paper_heads, usual_members
from numerate.lm.model.shipped.installed import installed
from numerate.plugins import HEADS, MODELS, READERS, names

OWN = sorted(names(READERS))
SHARING = ["jats", "latexml", "page"]  # readers that have a suffix in common
PYPROJECT = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
Reorder = Callable[[str, list[str]], None]


@pytest.fixture
def reorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reorder]:
    """Let the entry points of a group be declared in another order."""

    def forget() -> None:
        for known in (plugins._declared, plugins._load, documents._working):
            known.cache_clear()

    def declare(group: str, order: list[str]) -> None:
        title = f'[project.entry-points."{group}"]\n'
        before, _, rest = PYPROJECT.partition(title)
        section, between, after = rest.partition("\n\n")
        lines = {line.split(" = ")[0].strip('"'): line for line in section.splitlines()}
        assert sorted(lines) == sorted(order)
        file = tmp_path / "pyproject.toml"
        shuffled = "\n".join(lines[name] for name in order)
        file.write_text(before + title + shuffled + between + after, encoding="utf-8")
        monkeypatch.setattr(plugins, "_CHECKOUT", file)
        forget()

    yield declare
    monkeypatch.undo()
    forget()


def orders() -> Iterator[list[str]]:
    others = [name for name in OWN if name not in SHARING]
    for some in permutations(SHARING):
        yield [*some, *others]
    for seed in range(6):
        yield random.Random(seed).sample(OWN, len(OWN))


def read_one(path: Path) -> Document:
    (document,) = read_file(str(path))
    return document


@pytest.mark.parametrize("order", list(orders()), ids=" ".join)
def test_the_order_of_readers_changes_nothing(
    tmp_path: Path, reorder: Reorder, order: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = formats()
    reorder(READERS, order)
    assert formats() == listed
    for name, (format, data) in SAMPLES.items():
        path = tmp_path / name
        path.write_bytes(data)
        document = read_one(path)
        assert document.format == format, name
        (as_named,) = read_file(str(path), format)
        assert document == as_named
        if name in ("a.txt", "a.md", "bare.html", "a.jsonl", "a.ipynb"):
            continue  # of no format that a beginning tells
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        (piped,) = read_file("-")
        assert piped.format == format, name
        assert piped.text == document.text


@pytest.mark.parametrize("name", [name for name in SAMPLES if name != "a.xlsx"])
def test_the_same_is_read_in_every_format(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(SAMPLES[name][1])
    text = read_one(path).text.removeprefix("Walks\n\n")
    changed = "use LaTeXML, whose <p class=ltx_p> is plain"
    assert text.replace(changed, "walked") == CLAIM


def test_no_two_of_ours_recognise_one_file() -> None:
    for name, (format, data) in SAMPLES.items():
        claiming = [one for one in OWN if reader_of(one).recognises(data)]
        assert claiming in ([format], []), name


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.xml", b"<tei><p>5</p></tei>", "not a JATS article: got root <tei>, expected <article>"),
        (
            "a.xml",
            b"<html><body/></html>",
            "not a JATS article: got root <html>, expected <article>",
        ),
        (
            "a.xml",
            b'<article xmlns="http://docbook.org/ns/docbook"/>',
            "not a JATS article: got root <article> of http://docbook.org/ns/docbook, "
            "expected <article>",
        ),
        ("a.xml", b"", "not well-formed XML: "),
    ],
)
def test_a_file_of_no_format_goes_to_the_fallback_of_its_suffix(
    tmp_path: Path, reorder: Reorder, name: str, data: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    for order in (OWN, OWN[::-1]):
        reorder(READERS, order)
        with pytest.raises(DocumentError) as raised:
            read_file(str(path))
        assert str(raised.value).startswith(f"{path}: {message}")


RIVALS = """
from numerate.documents.document import Document, Paragraph
from numerate.documents.reader import Reader


class Rival(Reader):
    suffixes = (".html", ".xml")

    def recognises(self, beginning):
        return b"Walks" in beginning or b"<article" in beginning or b"ltx_" in beginning

    def read(self, unit):
        yield Document(unit.name, [Paragraph("5 of a rival")])


class Second(Rival):
    pass
"""


@pytest.mark.parametrize("names", [("another", "zoo"), ("zoo", "another")])
def test_of_several_claims_ours_goes_first_and_a_fallback_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, str]
) -> None:
    """A fallback reads what nobody else claims; of others' claims the first name decides."""
    first, second = names
    entries = {first: f"rivals_{first}:Rival", second: f"rivals_{first}:Second"}
    install(tmp_path / "site", "rivals", {READERS: entries}, **{f"rivals_{first}": RIVALS})
    monkeypatch.syspath_prepend(tmp_path / "site")
    for name, expected in (
        ("a.html", "another"),
        ("latexml.html", "latexml"),
        ("a.xml", "another"),
        ("latexml.xml", "latexml"),
        ("bare.html", "page"),
    ):
        (tmp_path / name).write_bytes(SAMPLES[name][1])
        assert read_one(tmp_path / name).format == expected, name


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_heads_and_models_changes_nothing(reorder: Reorder, seed: int) -> None:
    def chosen() -> list[object]:
        return [
            head_names(),
            paper_heads(),
            usual_members(with_digits=True),
            usual_members(with_digits=False),
            members_with_sight(),
            [model.name for model in installed()],
        ]

    before = chosen()
    for group in (HEADS, MODELS):
        reorder(group, random.Random(seed).sample(names(group), len(names(group))))
        assert chosen() == before


def test_a_workbook_within_a_document_of_word_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is stored as it is, so that its parts are named among those of the document."""
    made = io.BytesIO(replaced(REPORT, {}))
    with zipfile.ZipFile(made, "a", zipfile.ZIP_STORED) as package:
        package.writestr("word/embeddings/sheet.xlsx", SAMPLES["a.xlsx"][1])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(made))
    made.seek(0)
    (document,) = read_file("-")
    assert document.format == "docx"
