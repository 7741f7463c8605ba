"""A format that a package outside brings, by nothing but an entry point of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.packages import install

import numerate as package
from numerate.documents import read_file
from numerate.errors import NumerateError
from numerate.lm.data.dataset import SPLITS, Dataset
from numerate.lm.data.prepare import prepare
from numerate.lm.inspect.benford import count_digits_of
from numerate.plugins import READERS, own_names

SOURCE = Path(package.__file__).parents[1]
MINUTES = """
from numerate.documents.document import Document, Paragraph
from numerate.documents.reader import Reader


class MinutesReader(Reader):
    suffixes = (".minutes",)

    def read(self, unit):
        items = unit.text().split("*")
        yield Document(unit.name, [Paragraph(item) for item in items])


class PackedReader(Reader):
    suffixes = (".packed",)
    binary = True

    def read(self, unit):
        yield Document(unit.name, [Paragraph(f"{len(unit.data)} bytes")])


class TeiReader(MinutesReader):
    suffixes = (".xml",)

    def recognises(self, beginning):
        return b"<TEI" in beginning


class Unfinished(Reader):
    suffixes = (".txt",)
"""
ENTRIES = {
    "minutes": "minutes_package:MinutesReader",
    "tei": "minutes_package:TeiReader",
    "packed": "minutes_package:PackedReader",
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path / "site")
    install(tmp_path / "site", "minutes", {READERS: ENTRIES}, minutes_package=MINUTES)
    return tmp_path / "site"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    source = tmp_path / "meetings"
    source.mkdir()
    for number in range(9):
        text = f"We were {number + 20},\nof  30. * Dues are {number}.5 a\tmonth."
        (source / f"{number}.minutes").write_text(text)
    return source


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize("processes", [1, 2])
def test_it_is_prepared(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    monkeypatch.setattr("numerate.lm.data.prepare.POOL_THRESHOLD", 100)
    manifest = prepare(folder, tmp_path / "out", processes=processes)
    assert manifest["counts"]["documents_read"] == 9
    dataset = Dataset.open(tmp_path / "out")
    stored = [row for split in SPLITS for row in dataset.split(split).read(["text"]).to_pylist()]
    assert {"text": "We were 20, of 30."} in stored
    assert {"text": "Dues are 8.5 a month."} in stored
    assert len(stored) == 18


@pytest.mark.usefixtures("site")
def test_what_is_no_text_may_begin_like_an_archive(tmp_path: Path) -> None:
    for name in ("a.packed", "a.minutes"):
        (tmp_path / name).write_bytes(b"PK\x03\x04")
    (document,) = read_file(str(tmp_path / "a.packed"))
    assert document.text == "4 bytes"
    with pytest.raises(NumerateError, match="a ZIP archive"):
        read_file(str(tmp_path / "a.minutes"))


@pytest.mark.usefixtures("site")
def test_it_is_checked_and_counted(folder: Path) -> None:
    (document,) = read_file(str(folder / "0.minutes"))
    assert document.text == "We were 20, of 30.\n\nDues are 0.5 a month."
    assert count_digits_of(str(folder / "0.minutes")).numbers == 3


def test_commands_name_it(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), str(SOURCE)]))
    monkeypatch.setenv("COLUMNS", "200")
    for command in ("prepare", "check"):
        call = [sys.executable, "-m", "numerate", command, "--help"]  # formats are found once
        shown = subprocess.run(call, capture_output=True, text=True, check=True).stdout
        shown = " ".join(shown.replace("│", " ").split())  # of a list of several lines
        assert f"auto, {', '.join(own_names(READERS))}, minutes, packed or tei." in shown


@pytest.mark.usefixtures("site")
def test_formats_of_one_suffix_are_told_by_a_look_inside(tmp_path: Path) -> None:
    for name, data, text in (
        ("tei.xml", "<TEI>5 * 6</TEI>", "<TEI>5\n\n6</TEI>"),
        ("jats.xml", "<article><body><p>5 * 6</p></body></article>", "5 * 6"),
    ):
        (tmp_path / name).write_text(data)
        (document,) = read_file(str(tmp_path / name))
        assert document.text == text


@pytest.mark.usefixtures("site")
def test_one_that_is_broken_is_left_out_unless_it_is_asked_for(
    tmp_path: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    entries = {READERS: {"half": "minutes_package:Unfinished"}}
    install(tmp_path / "more", "half-done", entries)
    monkeypatch.syspath_prepend(tmp_path / "more")
    expected = "reader 'half' of half-done: minutes_package:Unfinished lacks read"
    manifest = prepare(folder, tmp_path / "out")
    assert manifest["counts"]["documents_read"] == 9
    assert capsys.readouterr().err.count(f"numerate: {expected}; left out\n") == 1
    with pytest.raises(NumerateError) as raised:
        prepare(folder, tmp_path / "half", format="half")
    assert str(raised.value) == expected
    # Who says what a source is needs none but that reader.
    prepare(folder, tmp_path / "named", format="minutes")
    assert "left out" not in capsys.readouterr().err


@pytest.mark.usefixtures("site")
def test_two_of_one_name_are_refused(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "more", "rival", {READERS: {"minutes": "rival:Reader"}})
    monkeypatch.syspath_prepend(tmp_path / "more")
    with pytest.raises(NumerateError, match=r"reader 'minutes': minutes and rival bring one each"):
        prepare(folder, tmp_path / "out", format="minutes")
