"""Documents in, places out."""

import io
import sys
from pathlib import Path

import pytest
from tests.documents.written_pdf import Page, pdf

from numerate.documents import read_file
from numerate.documents.document import Cell, Document, Paragraph
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
        (b"% by hand\n\\documentclass{article}\\begin{document}\\emph{5} men", ["5 men"]),
        (b"To begin,\n\\documentclass{a} with 5", ["To begin, \\documentclass{a} with 5"]),
        (pdf([Page().text(60, 700, "Of 9 men, 5 left.")]), ["Of 9 men, 5 left."]),
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
        ("a.txt", b"37 \x81\x8e", DocumentError, "not UTF-8: got byte 0x81 at offset 3"),
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


TABLED = """<article><body>
<p>Of all, <xref ref-type="table" rid="T1">Table 1</xref> has 12.</p><p>Nothing.</p>
<p>See <xref ref-type="table" rid="T1 gone">both</xref>.</p>
<table-wrap id="T1"><label>Table 1</label><table>
<thead><tr><th/><th colspan="2">Group</th></tr><tr><th>Item</th><th>a</th><th>b</th></tr></thead>
<tbody><tr><td>Age</td><td>45</td><td>4 6</td></tr><tr><td>n</td><td>7</td></tr></tbody></table>
</table-wrap></body></article>"""


def test_paragraphs_lead_to_tables_and_tables_to_cells(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(TABLED)
    document = read_document(str(path))
    first, second, third = document.paragraphs
    assert [document.tables_of(p) for p in (first, second)] == [document.tables, []]
    assert third.tables == ("T1", "gone")
    assert document.tables_of(third) == document.tables_of(first)
    (table,) = document.tables
    cells = {(cell.row, cell.column): cell for cell in table.cells()}
    assert [*cells] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    assert cells[0, 2] == table.cell(0, 2) == Cell(0, 2, "4 6", "Age", ("Group", "b"))
    assert cells[1, 1].row_header == "n"
    assert cells[0, 0].column_header == ("Item",)


def test_the_text_of_what_is_not_wanted_is_never_read() -> None:
    def refuse() -> str:
        raise AssertionError

    document = Document("a", [Paragraph(refuse), Paragraph(lambda: " in  5 ", ("T1",))])
    document.read(lambda paragraph: bool(paragraph.tables))
    assert texts(document) == ["in 5"]


def test_each_record_is_a_document(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"body": "It is 5.\\n\\nOr  6."}\n\n{"id": "x", "body": "7"}\n')
    one, other = read_file(str(path), field="body")
    assert (texts(one), texts(other)) == (["It is 5.", "Or 6."], ["7"])
    assert (one.name, one.id, other.name, other.id) == (f"{path}:1", one.name, f"{path}:3", "x")
    start = one.text.index("6")
    place = one.source.place(start, start + 1)
    assert (place.paragraph, place.line, place.start) == (2, None, 3)
    with pytest.raises(DocumentError, match=r"a\.jsonl:1: no text: got keys"):
        read_file(str(path))
