"""What an audit finds, and that nothing but the documents decides it."""

import json
import os
import signal
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.documents.written_pdf import Page, pdf
from tests.lm.model.plausibility.test_command import numerate as command
from tests.processes import copy_of_this_process
from tests.proofread.audit.corpora import (
    RULES_ALONE,
    Watched,
    audited,
    documents,
    files,
    findings,
    note,
    write_notes,
)

import numerate
from numerate.documents.reader import Unit
from numerate.documents.text import TextReader
from numerate.engines import engine
from numerate.errors import NumerateError, SourceError
from numerate.proofread.audit.audit import run_audit
from numerate.proofread.audit.audited import CHECKED, FAILED, TAKEN_IN, UNREAD
from numerate.proofread.audit.auditor import Audit
from numerate.proofread.audit.findings_folder import FindingsFolder
from numerate.proofread.audit.looked_for import LookedFor
from numerate.proofread.options import CheckOptions
from numerate.storage.atomic import InUseError, locked
from numerate.storage.folder_kind import temporary_name
from numerate.storage.trees import LocalTree


@pytest.fixture(autouse=True)
def small_packets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a packet of every document, and a block of the source of every file."""
    monkeypatch.setattr("numerate.proofread.audit.packets.PACKET", 50)
    monkeypatch.setattr("numerate.documents.sources.BLOCK_PIECES", 1)


def test_every_wrong_number_is_found_at_its_place(tmp_path: Path) -> None:
    wrong = write_notes(tmp_path / "notes", 12)
    summary = audited(tmp_path / "notes", tmp_path / "out")
    found = findings(tmp_path / "out")
    assert {row["file"]: row["written"] for row in found} == wrong
    for row in found:
        text = (tmp_path / "notes" / row["file"]).read_text()
        assert text[row["start"] : row["end"]] == row["written"]
        assert (row["line"], text.splitlines()[2][row["column"] - 1 :][:2]) == (3, row["written"])
        sentence = row["sentence"]
        assert sentence[row["sentence_start"] : row["sentence_end"]] == row["written"]
        assert sentence == text.splitlines()[2]
        assert (row["code"], row["kind"], row["basis"]) == (
            "NUM101",
            "percentage-of-count",
            "recomputed",
        )
    record = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert record == summary.record()
    assert record["documents"]["checked"] == 12
    assert record["numbers"] == 12 * 4  # that of the ward, too
    assert record["kinds"][0]["findings"] == record["findings"] == len(wrong) == 4
    chances = [row["probability"] for row in record["most_certain"]]
    assert chances == sorted(chances, reverse=True)


def test_an_audit_says_what_check_says(tmp_path: Path) -> None:
    numerate.audit("examples/articles", tmp_path / "out", model="none", processes=1)
    expected = {
        (path.name, one.code, one.written, round(one.probability, 6), one.message)
        for path in Path("examples/articles").iterdir()
        for one in numerate.check(path)
        if one.probability >= 0.1
    }
    got = {
        (row["file"], row["code"], row["written"], row["probability"], row["message"])
        for row in findings(tmp_path / "out")
    }
    assert got == expected


def test_the_number_of_processes_changes_no_byte(tmp_path: Path) -> None:
    write_notes(tmp_path / "notes", 40)
    for processes in (1, 3):
        out = tmp_path / f"out-{processes}"
        audited(tmp_path / "notes", out, engine(processes=processes), block=7)
    assert files(tmp_path / "out-1") == files(tmp_path / "out-3")
    assert len(list((tmp_path / "out-1").glob("findings-*"))) == 6


def test_what_was_interrupted_goes_on_after_its_last_block(tmp_path: Path) -> None:
    write_notes(tmp_path / "notes", 20)
    (tmp_path / "notes" / "ward-005.xml").write_text("<article>", encoding="utf-8")
    whole = Watched()
    audited(tmp_path / "notes", tmp_path / "whole", whole, block=4)
    first, second = Watched(until=11), Watched()
    with pytest.raises(KeyboardInterrupt):
        audited(tmp_path / "notes", tmp_path / "out", first, block=4)
    assert not (tmp_path / "out" / "summary.json").exists()
    kept = {row["file"] for row in documents(tmp_path / "out")}
    assert len(kept) >= 8
    audited(tmp_path / "notes", tmp_path / "out", second, block=4)
    assert kept.isdisjoint(second.names)
    assert kept | set(second.names) == {path.name for path in (tmp_path / "notes").iterdir()}
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def _slowly(source: Path, out: Path) -> None:
    class Slow(Watched):
        def map(self, make: Callable[[], Audit], units):  # type: ignore[no-untyped-def]
            for result in super().map(make, units):
                time.sleep(0.02)
                yield result

    audited(source, out, Slow(), block=3)


def test_a_killed_audit_is_resumed_to_the_same_bytes(tmp_path: Path) -> None:
    write_notes(tmp_path / "notes", 30)
    out = tmp_path / "out"
    process = copy_of_this_process(_slowly, tmp_path / "notes", out)
    while not (out / "documents-00001.parquet").exists():
        assert process.is_alive()
        time.sleep(0.005)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    blocks = len(list(out.glob("documents-*")))
    second = Watched()
    audited(tmp_path / "notes", out, second, block=3)
    assert len(second.names) == 30 - 3 * blocks
    audited(tmp_path / "notes", tmp_path / "whole", block=3)
    assert files(out) == files(tmp_path / "whole")


def test_a_finished_audit_has_nothing_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_notes(tmp_path / "notes", 6)
    summary = audited(tmp_path / "notes", tmp_path / "out", block=2)
    before = files(tmp_path / "out")
    again = Watched()
    with monkeypatch.context() as patch:
        patch.setattr(LocalTree, "open", lambda *_: pytest.fail("it was read again"))
        assert audited(tmp_path / "notes", tmp_path / "out", again, block=2) == summary
    assert again.names == []
    assert files(tmp_path / "out") == before


def test_the_command_says_that_an_audit_is_finished(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_notes(tmp_path / "notes", 3)
    line = ("audit", f"{tmp_path}/notes", "--out", f"{tmp_path}/out", "--model", "none")
    status, first, cost = command(capsys, *line, "--processes", "1")
    assert (status, "finished" in cost) == (0, False)
    status, second, cost = command(capsys, *line, "--processes", "1")
    assert (status, second) == (0, first)
    assert f"out: this audit is finished and {tmp_path}/notes has not changed; --force" in cost


def test_a_source_that_has_changed_is_refused_unless_all_begins_anew(tmp_path: Path) -> None:
    write_notes(tmp_path / "notes", 6)
    with pytest.raises(KeyboardInterrupt):
        audited(tmp_path / "notes", tmp_path / "out", Watched(until=4), block=2)
    before = files(tmp_path / "out")
    write_notes(tmp_path / "notes", 3, first=6)
    told = r"notes: has changed since the audit in .*out began: 6 files of \d+ bytes then, 9 files"
    with pytest.raises(NumerateError, match=told):
        audited(tmp_path / "notes", tmp_path / "out")
    write_notes(tmp_path / "others", 1)
    with pytest.raises(NumerateError, match=r"otherwise: source .*notes, now .*others; .* --force"):
        audited(tmp_path / "others", tmp_path / "out")
    assert files(tmp_path / "out") == before
    summary = audited(tmp_path / "notes", tmp_path / "out", force=True)
    assert summary.documents[CHECKED] == 9
    (tmp_path / "notes" / "ward-000.md").write_text(note(0, 12), encoding="utf-8")
    with pytest.raises(NumerateError, match=told.replace("6", "9")):
        audited(tmp_path / "notes", tmp_path / "out")


def test_an_archive_is_gone_on_with(tmp_path: Path) -> None:
    source = tmp_path / "notes.zip"
    with zipfile.ZipFile(source, "w") as archive:
        for number in range(9):
            archive.writestr(f"{number}.md", note(number, 11))
        archive.writestr("picture.png", b"no document")
    whole = audited(source, tmp_path / "whole", block=2)
    with pytest.raises(KeyboardInterrupt):
        audited(source, tmp_path / "out", Watched(until=5), block=2)
    second = Watched()
    assert audited(source, tmp_path / "out", second, block=2) == whole
    assert len(second.names) < 9
    assert files(tmp_path / "out") == files(tmp_path / "whole")
    assert (whole.documents[CHECKED], whole.files_ignored) == (9, 1)


def test_an_audit_of_another_version_is_replaced_and_not_gone_on_with(tmp_path: Path) -> None:
    write_notes(tmp_path / "notes", 3)
    audited(tmp_path / "notes", tmp_path / "out")
    settings = tmp_path / "out" / "audit.json"
    old = settings.read_text().replace('"version": 2', '"version": 1')
    settings.write_text(old)
    with pytest.raises(NumerateError, match=r"got 'numerate audit 1', expected .*; add --force"):
        audited(tmp_path / "notes", tmp_path / "out")
    assert audited(tmp_path / "notes", tmp_path / "out", force=True).documents[CHECKED] == 3
    settings.write_text(old.replace("numerate audit", "another program"))
    with pytest.raises(NumerateError, match="got 'another program 1', expected"):
        audited(tmp_path / "notes", tmp_path / "out", force=True)


def test_a_source_is_the_same_however_its_end_is_written(tmp_path: Path) -> None:
    write_notes(tmp_path / "notes", 3)
    first = audited(tmp_path / "notes", tmp_path / "out")
    for named in (f"{tmp_path}/notes/", f"file://{tmp_path}/notes", f"{tmp_path}/./notes"):
        assert run_audit(named, tmp_path / "out", RULES_ALONE, engine()).record() == first.record()


def test_findings_in_their_own_source_are_no_part_of_it(tmp_path: Path) -> None:
    write_notes(tmp_path / "notes", 3)
    first = audited(tmp_path / "notes", tmp_path / "notes" / "findings")
    again = audited(tmp_path / "notes", tmp_path / "notes" / "findings")
    assert again.record() == first.record()
    assert (tmp_path / "notes" / "findings" / "index.html").exists()


def test_files_that_a_document_takes_in_are_parts_of_it(tmp_path: Path) -> None:
    folder, out = tmp_path / "paper", tmp_path / "out"
    folder.mkdir()
    body = "\\documentclass{article}\\begin{document}\nText of 5 words.\n\n\\input{part}\n"
    (folder / "main.tex").write_text(body + "\\end{document}\n", encoding="utf-8")
    text = "Of all, 30 of 60 (10\\%) were women.\n"
    (folder / "part.tex").write_text(text, encoding="utf-8")
    (folder / "other.tex").write_text(text, encoding="utf-8")
    for _ in range(2):
        summary = audited(folder, out, block=1)
        assert (summary.documents[CHECKED], summary.documents[TAKEN_IN]) == (2, 1)
        assert [(row["document"], row["file"], row["written"]) for row in findings(out)] == [
            ("main.tex", "part.tex", "10"),
            ("other.tex", "other.tex", "10"),
        ]
        assert summary.sums["findings"] == 2


def test_a_kill_while_parts_are_marked_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "paper"
    folder.mkdir()
    body = "\\documentclass{article}\\begin{document}\n\\input{part}\n\\input{rest}\n"
    (folder / "main.tex").write_text(body + "\\end{document}\n", encoding="utf-8")
    for name in ("part.tex", "rest.tex"):
        (folder / name).write_text("Of all, 30 of 60 (10\\%) were women.\n", encoding="utf-8")
    audited(folder, tmp_path / "whole", block=1)
    write = FindingsFolder.write_tables

    def killed(self: FindingsFolder, number: int, *rest: Any) -> None:
        write(self, number, *rest)
        if number == 1 and rest[1][0]["status"] == TAKEN_IN:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(FindingsFolder, "write_tables", killed)
        with pytest.raises(KeyboardInterrupt):
            audited(folder, tmp_path / "out", block=1)
    audited(folder, tmp_path / "out", block=1)
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def test_lines_are_documents_that_are_told_apart(tmp_path: Path) -> None:
    lines = [{"id": f"n{k}", "text": note(k, 5)} for k in range(5)]
    source = tmp_path / "notes.jsonl"
    text = "".join(json.dumps(line) + "\n" for line in lines)
    source.write_text(text + "no JSON\n", encoding="utf-8")
    summary = audited(source, tmp_path / "out")
    assert (summary.documents[CHECKED], summary.documents[UNREAD]) == (5, 1)
    assert summary.skipped[0]["document"] == "notes.jsonl:6"
    assert [row["document"] for row in findings(tmp_path / "out")] == [f"n{k}" for k in range(5)]


def test_tables_by_themselves_and_lone_files_are_read_as_check_reads_them(tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "groups.csv").write_text("Group,n = 40,n = 60\nWomen,10 (25),20 (55)\n")
    (folder / "picture.png").write_bytes(b"no document")
    (folder / "train.txt").write_text(note(0, 7) + "\n" + note(1, 7), encoding="utf-8")
    (folder / "dev.txt").write_text(note(2), encoding="utf-8")
    (folder / "test.txt").write_text(note(4), encoding="utf-8")
    summary = audited(folder, tmp_path / "out")
    assert (summary.documents[CHECKED], summary.files_ignored) == (4, 1)
    expected = {
        (path.name, one.written)
        for path in folder.glob("*.[ct][sx]*")
        for one in numerate.check(path)
    }
    assert {(row["file"], row["written"]) for row in findings(tmp_path / "out")} == expected
    summary = audited(folder / "train.txt", tmp_path / "lone")
    assert (summary.documents[CHECKED], len(findings(tmp_path / "lone"))) == (1, 2)


def test_what_cannot_be_read_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    source = tmp_path / "all.zip"
    with zipfile.ZipFile(source, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("a.md", note(0, 9))
        archive.writestr("b.docx", b"no zip")
        archive.writestr("c.txt", b"\x81 broken")
        archive.writestr("../d.md", note(1, 9))
        archive.writestr("bomb.md", b"1 " * (40 << 20))
        archive.writestr("e.md", note(2, 9))
    summary = audited(source, tmp_path / "out")
    told = {row["file"]: row["reason"] for row in summary.skipped}
    assert told.keys() == {"b.docx", "c.txt", "../d.md", "bomb.md"}
    assert "not UTF-8" in told["c.txt"]
    assert "64 MiB" in told["bomb.md"]
    assert (summary.documents[CHECKED], summary.documents[UNREAD]) == (2, 4)
    assert len(findings(tmp_path / "out")) == 2
    again = audited(source, tmp_path / "out", Watched())
    assert (again.documents[CHECKED], again.documents[UNREAD]) == (2, 4)
    page = (tmp_path / "out" / "index.html").read_text()
    assert "document too large" in page


def test_a_document_that_takes_for_ever_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_notes(tmp_path / "notes", 2)
    (tmp_path / "notes" / "slow.txt").write_text(note(5, 1), encoding="utf-8")
    (tmp_path / "notes" / "bug.txt").write_text("bug", encoding="utf-8")
    read = TextReader.read

    def slow(self: TextReader, unit: Unit):  # type: ignore[no-untyped-def]
        if unit.data == b"bug":
            raise IndexError("list index out of range")
        time.sleep(60)
        return read(self, unit)

    monkeypatch.setattr(TextReader, "read", slow)
    summary = audited(tmp_path / "notes", tmp_path / "out", timeout=0.1)
    assert (summary.documents[CHECKED], summary.documents[FAILED]) == (2, 2)
    reasons = {row["file"]: row["reason"] for row in summary.skipped}
    assert reasons["slow.txt"] == "took longer than 0.1 s"
    assert reasons["bug.txt"] == "a mistake of numerate: IndexError: list index out of range"
    monkeypatch.setattr(TextReader, "read", read)
    summary = audited(tmp_path / "notes", tmp_path / "out", force=True)
    assert (summary.documents[CHECKED], summary.documents[FAILED]) == (4, 0)


def test_a_pdf_waits_for_the_package_that_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, out = tmp_path / "notes", tmp_path / "out"
    folder.mkdir()
    page = Page().text(60, 700, "Of all, 30 of 60 (10%) were women.")
    (folder / "a.pdf").write_bytes(pdf([page]))
    with monkeypatch.context() as patch:
        for module in ("pypdfium2", "pypdfium2.raw"):
            patch.setitem(sys.modules, module, None)
        summary = audited(folder, out)
    assert (summary.documents[UNREAD], summary.documents[FAILED]) == (0, 1)
    assert "pip install 'numerate[documents]'" in summary.skipped[0]["reason"]
    summary = audited(folder, out, force=True)
    assert (summary.documents[CHECKED], summary.documents[FAILED]) == (1, 0)
    assert [row["written"] for row in findings(out)] == ["10"]


def test_another_way_of_looking_is_refused_unless_all_begins_anew(tmp_path: Path) -> None:
    write_notes(tmp_path / "notes", 3)
    out = tmp_path / "out"
    audited(tmp_path / "notes", out)
    before = files(out)
    other = LookedFor(replace(RULES_ALONE.wanted, ignore=("NUM1",)))
    with pytest.raises(NumerateError, match=r"out: was audited otherwise: codes .* add --force"):
        audited(tmp_path / "notes", out, what=other)
    assert files(out) == before
    with pytest.raises(SourceError, match="no such"):
        audited(tmp_path / "gone", out, what=other, force=True)
    assert files(out) == before
    (out / temporary_name("summary.json")).write_bytes(b"{")  # of an audit that was killed
    assert audited(tmp_path / "notes", out, what=other, force=True).sums["findings"] == 0
    assert findings(out) == []
    assert files(out).keys() == before.keys()
    assert audited(tmp_path / "notes", out, what=other).documents[CHECKED] == 3


def test_the_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    write_notes(tmp_path / "notes", 3)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("five years")
    for force in (False, True):
        with pytest.raises(NumerateError, match=r"mine: holds thesis.txt, which numerate did"):
            audited(tmp_path / "notes", tmp_path / "mine", force=force)
    assert files(tmp_path / "mine") == {"thesis.txt": b"five years"}
    with pytest.raises(NumerateError, match="is a file, expected a folder"):
        audited(tmp_path / "notes", tmp_path / "mine" / "thesis.txt")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="empty folder"):
        audited(tmp_path / "empty", tmp_path / "out")
    (tmp_path / "empty" / "picture.png").write_bytes(b"no document")
    with pytest.raises(SourceError, match="no document of a format that is read"):
        audited(tmp_path / "empty", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_second_audit_in_one_place_is_told(tmp_path: Path) -> None:
    write_notes(tmp_path / "notes", 1)
    with locked(tmp_path / "out"), pytest.raises(InUseError, match="in use by process"):
        audited(tmp_path / "notes", tmp_path / "out")


def test_a_block_that_is_lost_or_spoilt_is_told(tmp_path: Path) -> None:
    write_notes(tmp_path / "notes", 9)
    audited(tmp_path / "notes", tmp_path / "out", block=3)
    spoilt = tmp_path / "out" / "documents-00001.parquet"
    whole = spoilt.read_bytes()
    spoilt.write_bytes(whole[:-20])
    with pytest.raises(NumerateError, match=r"documents-00001.parquet: cannot be read"):
        audited(tmp_path / "notes", tmp_path / "out")
    spoilt.unlink()
    with pytest.raises(NumerateError, match=r"documents-00001.parquet is missing"):
        audited(tmp_path / "notes", tmp_path / "out")


def test_findings_can_be_elsewhere(tmp_path: Path) -> None:
    from fsspec.implementations.memory import MemoryFileSystem

    write_notes(tmp_path / "notes", 9)
    audited(tmp_path / "notes", tmp_path / "out", block=3)
    with pytest.raises(KeyboardInterrupt):
        audited(tmp_path / "notes", "memory://audits/one", Watched(until=5), block=3)
    audited(tmp_path / "notes", "memory://audits/one", block=3)
    store = MemoryFileSystem.store
    there = {
        path.removeprefix("/audits/one/"): file.getvalue()
        for path, file in store.items()
        if path.startswith("/audits/one/")
    }
    assert there == files(tmp_path / "out")


def test_blocks_of_two_audits_are_not_mixed(tmp_path: Path) -> None:
    """In a bucket nothing keeps a second audit from writing at the same time."""
    write_notes(tmp_path / "notes", 6)
    other = LookedFor(replace(RULES_ALONE.wanted, ignore=("NUM1",)))
    audited(tmp_path / "notes", tmp_path / "other", what=other, block=2)
    audited(tmp_path / "notes", tmp_path / "out", block=2)
    for name in ("documents-00001.parquet", "findings-00001.parquet"):
        block = tmp_path / "out" / name
        before = block.read_bytes()
        block.write_bytes((tmp_path / "other" / name).read_bytes())
        with pytest.raises(NumerateError, match=rf"out/{name}: is of another audit, which .*force"):
            audited(tmp_path / "notes", tmp_path / "out", block=2)
        block.write_bytes(before)


def test_configured_choices_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_notes(tmp_path / "notes", 7)
    (tmp_path / "notes" / "numerate.toml").write_text(
        '[ignore]\nfiles = ["ward-000.md"]\nnumerals = ["71"]\n'
    )
    out = str(tmp_path / "out")
    how = ("--model", "none", "--processes", "1")
    status, said, cost = command(capsys, "audit", str(tmp_path / "notes"), "--out", out, *how)
    assert status == 0
    assert "6 documents checked" in said
    assert "a minute" in cost
    assert [row["file"] for row in findings(tmp_path / "out")] == ["ward-006.md"]
    assert "NUM101" in said
    assert "index.html" in said


def test_wanted_is_what_was_looked_for() -> None:
    named = LookedFor(CheckOptions(models=("articles",)))
    assert named.asks_models
    assert not RULES_ALONE.asks_models
    assert named.record()["models"].keys() == {"articles"}
    assert (named.gpus(0.5), RULES_ALONE.gpus(0.5)) == (0.5, 0)
    with pytest.raises(NumerateError, match="no such folder, and no installed model"):
        LookedFor(CheckOptions(models=("nobody",))).record()


def test_a_large_model_is_known_by_more_than_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("numerate.proofread.audit.looked_for._LARGE", 1 << 16)
    weights = tmp_path / "run" / "model.safetensors"
    weights.parent.mkdir()
    looked_for = LookedFor(CheckOptions(models=(str(weights.parent),)))
    found = set()
    for other in (b"", b"other", b"others"):
        data = bytearray(1 << 20)
        data[(1 << 19) : (1 << 19) + len(other)] = other
        weights.write_bytes(data)
        found.add(str(looked_for.record()["models"]))
    assert len(found) == 3
