"""Text that is not UTF-8 is read as Windows-1252, and one line says so; its places lead back to its
bytes, and what is changed in it stays in its encoding."""

import gzip
import io
import json
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from numerate.cli import app
from numerate.documents import read_file
from numerate.documents.reader import Unit, decode_text
from numerate.documents.table_file import read_tables
from numerate.errors import DocumentError, FailureError
from numerate.lm.data.dataset import SPLITS, Dataset
from numerate.lm.data.prepare import prepare
from numerate.proofread import fixing
from numerate.proofread.fixing import Fix
from numerate.proofread.proofread import proofread
from numerate.serve.limits import Limits
from numerate.serve.opened_files import OpenedFiles

CLAIM = "At £5 – or “5 €” – 20 of 80 people (35%) walked."
NOTICE = "not UTF-8; read as Windows-1252"
OLD = CLAIM.encode("cp1252")
FILES: dict[str, tuple[bytes, list[str]]] = {  # and what is said of each
    "a.txt": (OLD, [NOTICE]),
    "a.md": (OLD, [NOTICE]),
    "README": (OLD, [NOTICE]),
    "a.tex": (b"\\documentclass{a}\\begin{document}" + OLD.replace(b"%", b"\\%"), [NOTICE]),
    "declared.tex": (
        b"\\usepackage[ansinew]{inputenc}\\begin{document}" + OLD.replace(b"%", b"\\%"),
        [],
    ),
    "a.html": (b"<html><body><p>" + OLD + b"</p></body></html>", [NOTICE]),
    "latexml.html": (
        b"<html><body><p class='ltx_p'>" + OLD + b"</p></body></html>",
        [NOTICE],
    ),
    "declared.html": (
        b'<html><head><meta charset="ISO-8859-1"></head><body><p>' + OLD + b"</p></body></html>",
        [],
    ),
    "declared.xhtml": (
        b'<?xml version="1.0" encoding="windows-1252"?><html><body><p>'
        + OLD
        + b"</p></body></html>",
        [],
    ),
    "declared.xml": (
        b'<?xml version="1.0" encoding="windows-1252"?><article><body><p>'
        + OLD
        + b"</p></body></article>",
        [],
    ),
    "a.txt.gz": (gzip.compress(OLD), [NOTICE]),
}


def notices(captured: str) -> list[str]:
    return [line.split(": ", 2)[2] for line in captured.splitlines() if line]


@pytest.mark.parametrize("name", FILES)
def test_it_is_read_and_said(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path, (data, said) = tmp_path / name, FILES[name]
    path.write_bytes(data)
    (document,) = read_file(str(path))
    assert document.text == CLAIM
    assert notices(capsys.readouterr().err) == said
    opened = OpenedFiles(models=(), tables=(), limits=Limits()).answer(name, data)
    assert [f"{name}: {one}" for one in said] == list(opened.notices)
    assert [finding.written for finding in opened.findings] == ["35"]


def test_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(OLD)))
    (document,) = read_file("-")
    assert document.text == CLAIM
    assert capsys.readouterr().err == f"numerate: stdin: {NOTICE}\n"


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a"])
def test_tables(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    separator = "\t" if name == "a.tsv" else ","
    path.write_bytes(f"Größe{separator}n\n–{separator}5\n".encode("cp1252"))
    (table,) = read_tables(path)
    assert table.header == [["Größe", "n"]]
    assert notices(capsys.readouterr().err) == [NOTICE]
    path.write_bytes(b"Gr\x81n,n\n5,5\n")
    with pytest.raises(DocumentError, match="not UTF-8: got byte 0x81 at offset 2"):
        read_tables(path)


@pytest.mark.parametrize(
    ("data", "byte"),
    [
        *((b"5 " + bytes([undefined]), undefined) for undefined in (0x81, 0x8D, 0x8F, 0x90, 0x9D)),
        (b"5 \xa3\0", 0xA3),
        (b"5 \xa3\x02", 0xA3),
        ("5 – 7 and 8 – 9".encode() + b"\xe2\x80", 0xE2),  # the end is missing
        (b"5 \xa3 and " + "£ and £".encode(), 0xA3),
    ],
)
@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.tex", "a.bin"])
def test_what_is_no_such_text_is_refused(tmp_path: Path, name: str, data: bytes, byte: int) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DocumentError) as raised:
        read_file(str(path))
    where = data.index(byte)
    if data.endswith(b"\xe2\x80"):
        where = len(data) - 2
    assert f"{path}: not UTF-8: got byte 0x{byte:02x} at offset {where}" in str(raised.value)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.ipynb", json.dumps({"cells": []}).encode() + b"\xa3"),
        ("a.jsonl", b'{"text": "\xa35"}'),
    ],
)
def test_json_is_utf_8(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DocumentError, match="not UTF-8: got byte 0xa3"):
        read_file(str(path))


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.tex", "declared.tex"])
def test_it_is_changed_in_its_own_encoding(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, (data, _) = tmp_path / name, FILES[name]
    path.write_bytes(b"\r\n" + data)
    monkeypatch.setattr("numerate.proofread.fixing.ask_on_terminal", lambda _: "y\n")
    done = CliRunner().invoke(app, ["check", str(path), "--fix"])
    assert path.read_bytes() == b"\r\n" + data.replace(b"35", b"25"), done.output
    (line,) = (one for one in done.stdout.splitlines() if "NUM101" in one)
    column = data.decode("cp1252").index("35") + 1
    assert line.startswith(f"{path}:2:{column} ")


def test_what_its_encoding_lacks_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(OLD)
    (document,) = read_file(str(path))
    checked = proofread(document)
    (finding,) = checked
    start = CLAIM.index("35")
    with pytest.raises(FailureError, match="left alone: got '−', which its encoding, cp1252"):
        fixing.apply(checked, [Fix(finding, start, start + 2, "−25")])
    assert path.read_bytes() == OLD


@pytest.mark.parametrize("lone", [True, False])
def test_it_is_prepared_and_said(
    tmp_path: Path, lone: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    paragraphs = [f"At £{number} or “{number} €”." for number in range(9)]
    if lone:
        (source / "all.txt").write_bytes("\n\n".join(paragraphs).encode("cp1252"))
    else:
        for number, text in enumerate(paragraphs):
            (source / f"{number}.txt").write_bytes(text.encode("cp1252"))
    prepare(source / "all.txt" if lone else source, tmp_path / "out", keep="all", processes=1)
    dataset = Dataset.open(tmp_path / "out")
    texts: Iterable[str] = (
        row["text"] for split in SPLITS for row in dataset.split(split).read(["text"]).to_pylist()
    )
    assert sorted(texts) == paragraphs
    said = [line for line in capfd.readouterr().err.splitlines() if "Windows-1252" in line]
    assert len(said) == (1 if lone else 9)


def test_a_mark_still_says_what_it_is() -> None:
    assert Unit("a", "text", "£5".encode("utf-16")).text() == "£5"
    assert Unit("a", "text", "£5".encode("utf-8-sig")).text() == "£5"
    with pytest.raises(DocumentError, match="not UTF-16"):
        decode_text(b"\xff\xfea", "a")
