"""What cannot be read costs `check` nothing else: all findings are reported, then the errors."""

import json
import os
import socket
from pathlib import Path

import pytest
from tests.lm.model.plausibility.test_command import numerate
from tests.proofread.papers import RIGHT, TABLE, WRONG
from tests.proofread.test_reports import SARIF

from numerate.config import CHECK_FORMATS

NONE = ("--model", "none")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("wrong.md").write_text(WRONG)
    Path("right.md").write_text(RIGHT)
    Path("table.md").write_text(TABLE)
    Path("broken.xml").write_text("<article>")
    Path("empty").mkdir()
    return tmp_path


UNREAD = ("broken.xml", "gone.md", "empty")


@pytest.mark.parametrize("name", UNREAD)
def test_findings_of_the_others_are_reported_and_then_the_error(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    for files in ((name, "wrong.md"), ("wrong.md", name)):
        status, out, err = numerate(capsys, "check", *files, *NONE)
        assert status == 2
        assert out.startswith("wrong.md:1:40 NUM301 ")
        assert "1 finding, 1 file not read; " in out
        assert err.count("\n") == 1
        assert err.startswith(f"numerate: {name}: ")
    status, out, err = numerate(capsys, "check", "right.md", name, *NONE)
    assert (status, err.count("\n")) == (2, 1)
    assert out.startswith("Nothing found, 1 file not read; ")


def test_every_file_that_cannot_be_read_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = numerate(capsys, "check", *UNREAD, "gone.md", *NONE)
    assert (status, out) == (2, "")
    assert [line.split(": ")[1] for line in err.splitlines()] == list(UNREAD)


@pytest.mark.parametrize("format", [one for one in CHECK_FORMATS if one != "terminal"])
def test_every_format_stays_whole(capsys: pytest.CaptureFixture[str], format: str) -> None:
    assert numerate(capsys, "check", "broken.xml", "--format", format, *NONE)[:2] == (2, "")
    files = ("broken.xml", "wrong.md")
    status, out, err = numerate(capsys, "check", *files, "--format", format, *NONE)
    assert status == 2
    assert err.splitlines()[-1].startswith("numerate: broken.xml: not well-formed XML")
    if format == "json":
        record = json.loads(out)
        assert len(record["findings"]) == 1
        assert [line.split(":")[0] for line in record["unread"]] == ["broken.xml"]
    elif format == "sarif":
        record = json.loads(out)
        SARIF.validate(record)
        (run,) = record["runs"]
        assert len(run["results"]) == 1
        assert run["invocations"][0]["executionSuccessful"] is False
        (notice,) = run["invocations"][0]["toolExecutionNotifications"]
        assert notice["message"]["text"].startswith("broken.xml: not well-formed")
    elif format == "html":
        assert out.rstrip().endswith("</html>")
        assert "broken.xml: not well-formed" in out
    else:
        assert out.count("\n") == 2


def test_a_table_that_cannot_be_read_costs_nothing_else(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("gone.csv", "empty", "wrong.md"):  # without a table in it
        tables = ("--table", name, "--table", "table.md")
        status, out, err = numerate(capsys, "check", "wrong.md", *tables, *NONE)
        assert status == 2
        assert "wrong.md:1:40 NUM301 " in out
        assert "table.md:3:21 NUM301 " in out
        assert err.startswith(f"numerate: {name}: ")
        assert err.count("\n") == 1


def test_a_configuration_that_is_broken_concerns_its_own_folder(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("a").mkdir()
    Path("a/b.md").write_text(WRONG)
    Path("a/numerate.toml").write_text("model = ")
    status, out, err = numerate(capsys, "check", "wrong.md", "a/b.md", *NONE)
    assert status == 2
    assert out.startswith("wrong.md:1:40 NUM301 ")
    assert "numerate.toml: not TOML" in err


def test_fixes_are_offered_for_what_was_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("numerate.proofread.fixing.ask_on_terminal", lambda _: "y\n")
    status, _, err = numerate(capsys, "check", "gone.md", "wrong.md", "--fix", *NONE)
    assert status == 2
    assert "numerate: gone.md: no such file\n" in err
    assert Path("wrong.md").read_text() == WRONG.replace("0.36", "0.04")


def known(path: str = "known.json") -> list[str]:
    return [one["file"] for one in json.loads(Path(path).read_text())["findings"]]


def test_a_baseline_keeps_what_is_known_of_files_that_cannot_be_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("other.md").write_text(WRONG)
    baseline = ("--baseline", "known.json")
    files = ("check", "wrong.md", "other.md", *NONE, *baseline)
    assert numerate(capsys, *files, "--write-baseline")[0] == 0
    Path("other.md").write_bytes(b"\xff\x00")
    status, out, err = numerate(capsys, *files, "--write-baseline")
    assert (status, out) == (2, "")
    first, second = err.splitlines()
    assert first.endswith("2 findings known now: 0 added, 2 kept, 0 dropped")
    assert second.startswith("numerate: other.md: not UTF-8")
    assert sorted(known()) == ["other.md", "wrong.md"]
    status, out, _ = numerate(capsys, *files)
    assert status == 2
    assert out.startswith("Nothing found, 1 file not read, 1 known from the baseline; ")


def test_a_baseline_forgets_nothing_while_a_table_is_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("n.csv").write_text("Sign,Placebo,Drug\nHeart rate (SD),97.5 (12.14),88.1 (11.2)\n")
    Path("n.md").write_text(f"After a week, heart rate was 79.5 (12.14) with placebo.\n\n{WRONG}")
    command = ("check", "n.md", "--table", "n.csv", "--baseline", "known.json", *NONE)
    assert numerate(capsys, *command, "--write-baseline")[0] == 0
    before = sorted(known())
    assert len(before) == 2
    Path("n.csv").rename("gone.csv")
    assert numerate(capsys, *command, "--write-baseline")[0] == 2
    assert sorted(known()) == before
    Path("gone.csv").rename("n.csv")
    assert numerate(capsys, *command)[0] == 0


def test_a_baseline_written_again_counts_a_file_that_is_taken_in_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("main.tex").write_text("\\begin{document}\\input{part}\\end{document}")
    Path("part.tex").write_text("That 42 of 120 (53\\%) did.\n")
    command = ("check", "main.tex", *NONE, "--baseline", "known.json", "--write-baseline")
    for _ in range(2):
        assert numerate(capsys, *command)[0] == 0
        assert known() == ["part.tex"]


@pytest.mark.parametrize("kind", ["a named pipe", "a socket"])
def test_what_is_no_file_is_refused_at_once(capsys: pytest.CaptureFixture[str], kind: str) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        if kind == "a socket":
            listening.bind("odd.md")
        else:
            os.mkfifo("odd.md")
        message = f"odd.md: cannot be read: got {kind}, expected a file"
        status, out, err = numerate(capsys, "check", "odd.md", "wrong.md", *NONE)
        assert (status, "NUM301" in out) == (2, True)
        assert err == f"numerate: {message}\n"
        for arguments in (
            ("check", "right.md", *NONE, "--table", "odd.md"),
            ("check", "right.md", *NONE, "--baseline", "odd.md"),
            ("compare", "odd.md", "--source", "right.md"),
            ("compare", "right.md", "--source", "odd.md"),
            ("prepare", "odd.md", "--out", "out"),
        ):
            status, _, err = numerate(capsys, *arguments)
            assert (status, f"got {kind}, expected a file" in err) == (2, True), arguments
        status, _, err = numerate(capsys, "check", ".", *NONE)  # in a folder it is passed over
        assert "odd.md" not in err


def test_a_pipe_of_the_shell_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    reading, writing = os.pipe()
    os.write(writing, WRONG.encode())
    os.close(writing)
    status, out, _ = numerate(capsys, "check", f"/dev/fd/{reading}", *NONE)
    os.close(reading)
    assert (status, out.startswith(f"/dev/fd/{reading}:1:40 NUM301 ")) == (1, True)
    assert numerate(capsys, "check", os.devnull, *NONE)[0] == 0


def test_links_that_lead_out_of_a_folder_are_not_followed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("a/deep").mkdir(parents=True)
    Path("a/right.md").write_text(RIGHT)
    Path("a/inner.md").symlink_to("right.md")
    Path("a/out.md").symlink_to("../wrong.md")
    Path("a/folder").symlink_to("../empty")
    Path("a/deep/loop").symlink_to("..")
    status, out, err = numerate(capsys, "check", "a", *NONE)
    assert (status, "NUM301" in out) == (2, False)
    assert err.splitlines() == [
        f"numerate: a/{name}: a link out of the folder; name it to have it read"
        for name in ("folder", "out.md")
    ]
    assert numerate(capsys, "check", "a/out.md", *NONE)[0] == 1  # what is named is followed
    Path("numerate.toml").write_text("[ignore]\nfiles = ['out.md', 'folder']")
    assert numerate(capsys, "check", "a", *NONE)[0] == 0


def test_a_folder_that_cannot_be_listed_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "a/locked"):
        Path(name).mkdir()
        Path(name, "right.md").write_text(RIGHT)
    scandir = os.scandir

    def guarded(path: str | Path) -> object:
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    status, out, err = numerate(capsys, "check", "a", *NONE)
    assert (status, out.startswith("Nothing found, 1 file not read; ")) == (2, True)
    assert err == "numerate: a/locked: cannot be read: Permission denied\n"
