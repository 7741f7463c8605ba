"""Documents of Office that are broken, locked, or made to do harm: one line each."""

import re
import struct
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.office import DATA, REPORT, cell, paragraph, replaced, row, table, word

import numerate
from numerate.cli import main
from numerate.documents import documents
from numerate.documents.document import Document
from numerate.documents.office.package import OfficePackage
from numerate.documents.reader import MAX_DOCUMENT, Unit
from numerate.errors import DocumentError

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 504
MAIN = "word/document.xml"


def bomb(size: int) -> bytes:
    """A document that says of itself how large it is."""
    inside = b" " * size
    return replaced(REPORT, {MAIN: b"<w:document>" + inside})


def lying(data: bytes, name: str, size: int) -> bytes:
    """The same, with another size in the directory of the archive."""
    at = data.index(name.encode(), data.index(b"PK\x01\x02")) - 46
    return data[: at + 24] + struct.pack("<I", size) + data[at + 28 :]


def locked(data: bytes) -> bytes:
    """The same, with the sign of a password on every part."""
    return re.sub(
        rb"(PK\x01\x02.{4})(.)", lambda m: m[1] + bytes([m[2][0] | 1]), data, flags=re.DOTALL
    )


def with_method(method: int) -> bytes:
    made = BytesIO()
    with zipfile.ZipFile(BytesIO(REPORT)) as old, zipfile.ZipFile(made, "w", method) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    return made.getvalue()


FAR = [row(properties='<w:gridBefore w:val="1000"/>')] * 5000
WIDE = cell("5", '<w:gridSpan w:val="1000"/><w:vMerge w:val="restart"/>')
GOES_ON = ["<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr></w:tc></w:tr>"] * 199
HIGH = table(row(WIDE, "6"), *GOES_ON)
ENTITIES = '<!DOCTYPE w [<!ENTITY a "9"><!ENTITY b "&a;&a;">]>'
BAD = {
    "empty": (b"", "not a Word document (.docx): got an empty file"),
    "text": (b"Nothing", "not a Word document (.docx): got no ZIP archive"),
    "encrypted": (OLE + "EncryptedPackage".encode("utf-16-le"), "encrypted: expected a document"),
    "old": (OLE, "got a document of Office 97–2003, expected a Word document (.docx)"),
    "locked": (locked(REPORT), "encrypted: expected a document that opens without a password"),
    "cut": (REPORT[:4000], "not a Word document (.docx): broken archive: File is not a zip file"),
    "no parts": (replaced(REPORT, {"_rels/.rels": None}), "it says of no part that it is the docu"),
    "no main part": (replaced(REPORT, {MAIN: None}), "its part word/document.xml is missing"),
    "no XML": (replaced(REPORT, {MAIN: "Nothing"}), "a.docx: word/document.xml: not well-formed"),
    "other XML": (replaced(REPORT, {MAIN: "<html/>"}), "got root <html> of word/document.xml"),
    "a bomb": (bomb(MAX_DOCUMENT + 1), "too large: got 67,108,877 bytes of word/document.xml"),
    "a small bomb": (bomb(5 << 20), "times as many as compressed; expected at most 64 MiB in all"),
    "one that lies": (lying(bomb(9 << 20), MAIN, 2000), "broken archive: Bad CRC-32"),
    "another method": (with_method(zipfile.ZIP_BZIP2), "is compressed in another way"),
    "entities": (replaced(REPORT, {MAIN: ENTITIES + "<w>&b;</w>"}), "declares XML entities"),
    "rows that begin far away": (
        word(table(*FAR, row("5", "6"))),
        "expected at most 1,000,000 cells",
    ),
    "large cells in many tables": (word(HIGH * 25), "expected at most 1,000,000 cells in its"),
    "deep": (word("<w:ins>" * 300 + "</w:ins>" * 300), "not well-formed XML: Excessive depth"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_document_is_one_line(kind: str) -> None:
    data, reason = BAD[kind]
    (error,) = documents(Unit("a.docx", "docx", data))
    assert isinstance(error, DocumentError)
    assert reason in str(error)
    assert str(error).isprintable()


def test_many_parts() -> None:
    made = BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for number in range(10_001):
            archive.writestr(str(number), "")
    with pytest.raises(DocumentError, match="got 10,001 parts, expected at most 10,000"):
        OfficePackage(made.getvalue(), "a.docx", "a document")


def test_parts_together_are_bounded_too() -> None:
    """Each is small enough, and not more repetitive than text may be."""
    part = bytes(range(256)) * (1 << 12)
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("a", part)
    package = OfficePackage(archive.getvalue(), "a.docx", "a document")
    for _ in range(MAX_DOCUMENT // len(part)):
        package.read("a")
    with pytest.raises(DocumentError, match="too large"):
        package.read("a")


def test_nothing_outside_is_fetched_and_no_macro_is_read() -> None:
    """Styles that lie elsewhere, a part above the root, a picture by its address, a macro."""
    relation = '<Relationship Id="r{}" Type="http://x/{}" Target="{}" {}/>'
    outside = 'TargetMode="External"'
    relations = "".join(
        [
            relation.format(1, "styles", "https://example.org/styles.xml", outside),
            relation.format(2, "styles", "file:///etc/passwd", outside),
            relation.format(3, "footnotes", "../../../word/footnotes.xml", ""),
            relation.format(4, "vbaProject", "vbaProject.bin", ""),
            relation.format(5, "image", "https://example.org/a.png", outside),
        ]
    )
    chunk = '<w:altChunk r:id="r1" xmlns:r="urn:r"/>'
    data = replaced(
        word(paragraph("Of 9, 3.") + chunk),
        {
            "word/_rels/document.xml.rels": f"<Relationships>{relations}</Relationships>",
            "word/vbaProject.bin": b"\0macro",
        },
    )
    (document,) = documents(Unit("a.docm", "docx", data))
    assert isinstance(document, Document)
    assert document.text == "Of 9, 3."


@given(st.data())
@settings(max_examples=60)
def test_damaged_documents_are_read_or_refused(data: st.DataObject) -> None:
    """Whole archives with bytes changed, and parts with pieces cut out of their XML."""
    damaged = bytearray(REPORT)
    if data.draw(st.booleans()):
        for _ in range(data.draw(st.integers(1, 8))):
            damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    else:
        with zipfile.ZipFile(BytesIO(REPORT)) as archive:
            name = data.draw(st.sampled_from(sorted(archive.namelist())))
            part = archive.read(name)
        at = data.draw(st.integers(0, len(part)))
        end = data.draw(st.integers(at, len(part)))
        damaged = bytearray(replaced(REPORT, {name: part[:at] + part[end:]}))
    for found in documents(Unit("a.docx", "docx", bytes(damaged))):
        assert isinstance(found, Document) or str(found).isprintable()


def test_in_a_folder_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("papers").mkdir()
    for name, data in {
        "bomb.docx": BAD["a bomb"][0],
        "locked.docm": BAD["encrypted"][0],
        "report.docx": REPORT,
        "~$report.docx": b"who has it open",
        "revised.docx": (DATA / "office/revised.docx").read_bytes(),
    }.items():
        Path("papers", name).write_bytes(data)
    monkeypatch.setattr("sys.argv", ["numerate", "check", "papers"])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    assert ended.value.code == 1
    assert shown.out.count("papers/report.docx: ") == 3
    assert [one.partition(": ")[2].partition(": ")[0] for one in shown.err.splitlines()[:2]] == [
        "papers/bomb.docx", "papers/locked.docm",
    ]  # fmt: skip


def test_a_document_brings_the_tables_of_another(tmp_path: Path) -> None:
    path = tmp_path / "tables.docx"
    path.write_bytes(REPORT)
    assert [table.label for table in numerate.read_tables(path)] == ["Table 1", "Table 2"]
