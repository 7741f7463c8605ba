"""Documents in, places out."""

import io
import sys
from pathlib import Path

import pytest

from numerate.documents import read_file
from numerate.documents.document import Document
from numerate.documents.text import read_text
from numerate.errors import DocumentError, NumerateError, SourceError

JATS = (
    '<article xmlns:xlink="http://www.w3.org/1999/xlink"><body>'
    "<sec><title>Results</title><p>We saw 12 <italic>patients</italic> aged 45.</p>"
    "<p>All 7 left.</p></sec></body></article>"
)
LATEXML = Path(__file__).parents[1] / "data" / "latexml" / "parser.xml"


def read_document(path: str, format: str = "auto") -> Document:
    (document,) = read_file(path, format)
    return document


def texts(document: Document) -> list[str]:
    return [paragraph.text for paragraph in document.paragraphs]


def test_paragraphs_know_where_they_stand() -> None:
    text = "\n\n one 1\ntwo 2  \n \t\n\nthree 3\n"
    document = read_text(text)
    assert texts(document) == ["one 1 two 2", "three 3"]
    assert [text[start:end] for start, end in document.source.spans] == ["one 1\ntwo 2", "three 3"]
    assert texts(read_text("")) == []
    assert texts(read_text(" \n\n \n")) == []
    assert [len(part) for part in texts(read_text("x" * 10**6))] == [10**6]
    assert texts(read_text("\r\n\r\n a\r\nb\r\n\r\nc"))[1] == "c"


def test_a_place_is_found_by_counting() -> None:
    text = "1\r\n\r\n22 a\n\n\n 3 4"
    document = read_text(text)
    for offset in [at for at, character in enumerate(text) if character.isdigit()]:
        lines = text[:offset].split("\n")
        place = document.source.place(offset, offset + 1)
        assert (place.line, place.column) == (len(lines), len(lines[-1]) + 1)


def test_lines_and_columns_of_a_text(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("\ufeffOne 1.\n\nTwo lines,\nwith 22 in it.\n", encoding="utf-8")
    document = read_document(str(path))
    start = document.text.index("22")
    place = document.source.place(start, start + 2)
    assert (place.paragraph, place.line, place.column) == (2, 4, 6)
    assert document.text[place.start : place.end] == "22"
    first = document.source.place(4, 5)
    assert (first.paragraph, first.line, first.column) == (1, 1, 5)


@pytest.mark.parametrize("suffix", [".xml", ".nxml"])
def test_an_article_has_paragraphs(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_text(JATS)
    document = read_document(str(path))
    assert texts(document) == ["We saw 12 patients aged 45.", "All 7 left."]
    start = document.text.index("7")
    place = document.source.place(start, start + 1)
    assert (place.paragraph, place.line, place.column) == (2, None, None)
    assert texts(document)[1][place.start : place.end] == "7"


def test_latexml_is_told_from_jats() -> None:
    document = read_document(str(LATEXML))
    assert len(document.paragraphs) > 3
    assert read_document(str(LATEXML), "latexml").text == document.text


@pytest.mark.parametrize(
    ("data", "paragraphs"),
    [
        (b"plain 5 text", ["plain 5 text"]),
        (JATS.encode(), ["We saw 12 patients aged 45.", "All 7 left."]),
    ],
)
def test_standard_input(
    monkeypatch: pytest.MonkeyPatch, data: bytes, paragraphs: list[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    document = read_document("-")
    assert document.name == "stdin"
    assert texts(document) == paragraphs


def test_unknown_suffixes_are_text(tmp_path: Path) -> None:
    path = tmp_path / "README"
    path.write_text("<p>5</p>")
    assert read_document(str(path)).text == "<p>5</p>"


@pytest.mark.parametrize(
    ("name", "data", "error", "message"),
    [
        ("a.txt", b"caf\xe9 5", DocumentError, "not UTF-8: got byte 0xe9 at offset 3"),
        ("a.bin", b"ab\0cd", DocumentError, "not text: got a zero byte at offset 2"),
        ("a.xml", b"<article><body>", DocumentError, "a.xml: "),
        ("a.xml", b"<html5", DocumentError, "a.xml: "),
    ],
)
def test_what_cannot_be_read_is_told(
    tmp_path: Path, name: str, data: bytes, error: type[NumerateError], message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(error, match=message):
        read_document(str(path))


def test_no_file_and_no_folder(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="a folder, expected a file"):
        read_document(str(tmp_path))
    with pytest.raises(SourceError, match="no such file"):
        read_document(str(tmp_path / "gone"))
    with pytest.raises(NumerateError, match="unknown format 'jast'"):
        read_document(str(tmp_path / "gone"), "jast")


def test_an_empty_document_has_no_paragraphs() -> None:
    assert read_text(" \n").paragraphs == []
