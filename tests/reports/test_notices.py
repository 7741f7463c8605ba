"""--quiet and --verbose: one mechanism for all commands; results and errors are always said."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from numerate.cli import app, main
from numerate.reports import notices
from numerate.reports.notices import Loudness, kept, notice_console, say, set_loudness, silently


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    yield
    set_loudness(Loudness.USUAL)


def numerate(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["numerate", *arguments])
        patch.setattr("signal.signal", lambda *_: None)
        with pytest.raises(SystemExit) as left:
            main()
    out, err = capsys.readouterr()
    return int(left.value.code or 0), out, err


@pytest.fixture
def lines(tmp_path: Path) -> str:
    """Ten good documents and many bad ones, which are skipped with notices."""
    good = "".join(f'{{"text": "we saw {n} of {n + 7}"}}\n' for n in range(10))
    (tmp_path / "lines.jsonl").write_text(good + 25 * "no JSON\n")
    return str(tmp_path / "lines.jsonl")


def test_quiet_leaves_results(
    capsys: pytest.CaptureFixture[str], lines: str, tmp_path: Path
) -> None:
    said = {}
    for name, before, after in (("usual", [], []), ("q", ["-q"], []), ("quiet", [], ["--quiet"])):
        out = ["--out", str(tmp_path / name), "--processes", "1"]
        status, printed, said[name] = numerate(capsys, *before, "prepare", lines, *out, *after)
        assert status == 0
        assert "10 paragraphs kept from 10 of 10 documents (25 skipped" in printed
    assert "skipped lines.jsonl:11: not JSON" in said["usual"]
    assert "and 5 more skipped, see" in said["usual"]
    assert (said["q"], said["quiet"]) == ("", "")


def test_quiet_leaves_errors(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = numerate(capsys, "--quiet", "describe", "nowhere")
    assert (status, out) == (2, "")
    assert err.startswith("numerate: nowhere: not a dataset")


@pytest.mark.parametrize("arguments", [["-q", "-v", "describe", "x"], ["describe", "x", "-vq"]])
def test_not_both(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    status, _, err = numerate(capsys, *arguments)
    assert (status, err) == (
        2,
        "numerate: --verbose and --quiet: got both, expected one of them\n",
    )


def test_every_command_takes_both() -> None:
    group = typer.main.get_command(app)
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        options = {option for parameter in command.params for option in parameter.opts}
        assert {"-v", "--verbose", "-q", "--quiet"} <= options, name


def test_loudness_is_chosen_anew_by_every_call(capsys: pytest.CaptureFixture[str]) -> None:
    numerate(capsys, "-v", "describe", "nowhere")
    assert notices.is_verbose()
    numerate(capsys, "describe", "nowhere")
    assert not notices.is_verbose()
    assert not notices.is_quiet()


def test_a_quiet_console_shows_and_catches_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    assert notice_console().is_terminal
    set_loudness(Loudness.QUIET)
    console = notice_console()
    say("a notice")
    with console.status("waiting"):
        print("a result")
    assert not console.is_terminal
    assert capsys.readouterr() == ("a result\n", "")


def test_what_is_kept_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """And only that of the thread that keeps it, quiet or not."""
    with kept() as lines:
        say("one")
        with silently():
            say("two")
        other = threading.Thread(target=say, args=["of another"])
        other.start()
        other.join()
    say("three")
    assert lines == ["one", "two"]
    assert capsys.readouterr().err == "numerate: of another\nnumerate: three\n"
