"""The commands, as a user types them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.plausibility.test_domain import PROSE
from typer.testing import CliRunner

from numerate.cli import app, main

RIGHT = "The ejection fraction is 55 %."
WRONG = "The ejection fraction is 123456789.123 %."


def numerate(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """In this process: torch is loaded once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["numerate", *arguments])
        patch.setattr("signal.signal", lambda *_: None)
        with pytest.raises(SystemExit) as left:
            main()
    out, err = capsys.readouterr()
    return int(left.value.code or 0), out, err


@pytest.fixture
def run(runs: dict[str, Path]) -> str:
    return str(runs["combination"])


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    texts = {"right": RIGHT, "wrong": WRONG, "none": "no numeral", "empty": ""}
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
    return {name: str(tmp_path / f"{name}.txt") for name in texts}


def test_predict(capsys: pytest.CaptureFixture[str], run: str, tmp_path: Path) -> None:
    status, out, _ = numerate(capsys, "predict", run, "the volume is", "--top", "3")
    assert status == 0
    assert "probability" in out
    assert "median" in out
    assert "mixture weights: h-softmax" in out
    picture = tmp_path / "p.svg"
    status, out, _ = numerate(
        capsys, "predict", run, "the volume is ___ ml", "--format", "json", "--plot", str(picture)
    )
    record = json.loads(out)
    assert len(record["top"]) == 5
    assert record["interval"][0] <= record["median"] <= record["interval"][1]
    assert picture.read_text().startswith("<?xml")


def test_rank(capsys: pytest.CaptureFixture[str], run: str) -> None:
    status, out, _ = numerate(capsys, "rank", run, WRONG, RIGHT, "--format", "json")
    assert status == 0
    assert [claim["place"] for claim in json.loads(out)["claims"]] == [1, 0]
    status, out, _ = numerate(capsys, "rank", run, WRONG, RIGHT)
    assert out.index("55 %") < out.index("123456789")


def test_claims_are_shown_as_they_are_written(capsys: pytest.CaptureFixture[str], run: str) -> None:
    claims = ["it was 7 [sic] ml", "[/b] 7 ml at :100: [red]", "7 \x1b[2J\x9b31m\u202e ml"]
    status, output, _ = numerate(capsys, "rank", run, *claims)
    assert status == 0
    assert "it was 7 [sic] ml" in output
    assert "[/b] 7 ml at :100: [red]" in output
    assert r"7 \x1b[2J\x9b31m\u202e ml" in output


def test_check_exits_with_what_it_found(
    capsys: pytest.CaptureFixture[str], run: str, files: dict[str, str]
) -> None:
    status, out, err = numerate(capsys, "check", run, files["right"], files["none"], files["empty"])
    assert (status, out) == (0, "0 of 1 numeral flagged.\n")
    warned = [line for line in err.splitlines() if "no numeral in it, though it has text" in line]
    assert [line.split(": ")[1] for line in warned] == [files["none"]]
    status, out, _ = numerate(capsys, "check", run, files["right"], files["wrong"])
    assert status == 1
    assert f"{files['wrong']}:1:26" in out
    for format in ("json", "csv", "sarif", "html"):
        status, out, _ = numerate(capsys, "check", run, files["wrong"], "--format", format)
        assert status == 1
        assert "123456789.123" in out
    status, out, _ = numerate(capsys, "check", run, files["right"], "--all", "--format", "csv")
    assert status == 0
    assert out.count("\n") == 2


def test_check_warns_of_an_article_in_which_nothing_is_found(
    capsys: pytest.CaptureFixture[str], run: str, tmp_path: Path
) -> None:
    odd = tmp_path / "odd.xml"
    odd.write_text("<article><body><para>Of 40 patients, 7 left.</para></body></article>")
    status, _, err = numerate(capsys, "check", run, str(odd))
    assert status == 0
    assert "odd.xml: no numeral in it, though it has text" in err


def test_check_tells_a_text_of_another_kind(
    capsys: pytest.CaptureFixture[str], run: str, tmp_path: Path
) -> None:
    """It is no all-clear, even where nothing is flagged; who knows better says so."""
    prose = tmp_path / "prose.txt"
    prose.write_text(PROSE.replace("1873", "18"))
    status, out, _ = numerate(capsys, "check", run, str(prose))  # calibrated, if it is not yet
    assert status == 1
    assert out.startswith(f"{prose} is unlike what the model was trained on: ")
    arguments = ("check", run, str(prose), "--format", "json")
    status, out, err = numerate(capsys, *arguments)
    record = json.loads(out)
    assert (status, record["flagged"]) == (1, 0)
    assert record["documents"][0]["domain"]["fits"] is False
    assert err.startswith(f"numerate: {prose} is unlike")
    assert err.count("\n") == 1
    status, out, err = numerate(capsys, *arguments, "--force-domain")
    assert (status, err) == (0, "")
    assert json.loads(out)["documents"][0]["domain"]["forced"]


def test_figures_are_behind_verbose(
    capsys: pytest.CaptureFixture[str], run: str, files: dict[str, str]
) -> None:
    _, out, _ = numerate(capsys, "check", run, files["wrong"])
    _, verbose, _ = numerate(capsys, "check", run, files["wrong"], "--verbose")
    assert "nats" not in out
    assert "nats" in verbose


def test_check_reads_standard_input(
    run: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    done = CliRunner().invoke(app, ["check", run, "-"], input=WRONG)
    assert done.exit_code == 1
    assert "stdin:1:26" in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "{run}", "gone.txt"], "numerate: gone.txt: no such file"),
        (["check", "{run}", "."], "numerate: .: a folder, expected a file"),
        (["check", "{run}", "{right}", "--alarms", "2"], "numerate: alarms: got 2.0, expected bet"),
        (["check", "{run}", "{right}", "--format", "jsn"], "numerate: unknown format 'jsn': did y"),
        (["check", "gone", "{right}"], "numerate: gone: not a run: config.json is missing"),
    ],
)
def test_check_keeps_errors_apart_from_findings(
    capsys: pytest.CaptureFixture[str],
    run: str,
    files: dict[str, str],
    arguments: list[str],
    message: str,
) -> None:
    filled = [argument.format(run=run, right=files["right"]) for argument in arguments]
    status, out, err = numerate(capsys, *filled)
    assert status == 2
    assert out == ""
    assert err.startswith(message)
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["predict", "{run}", ""], "numerate: text: got none"),
        (["predict", "{run}", "a ___ b ___"], "numerate: text: got 2 gaps"),
        (["predict", "{run}", "a", "--top", "0"], "numerate: number of numerals: got 0"),
        (["predict", "{run}", "a", "--interval", "1"], "numerate: level: got 1.0"),
        (["predict", "{run}", "a", "--plot", "a.gif"], "numerate: unknown kind of picture 'gif'"),
        (["rank", "{run}", "nothing"], "numerate: claim 1: no numeral in 'nothing'"),
        (["rank", "{run}", "5", "--by", "word"], "numerate: unknown way to rank 'word'"),
        (["check-benchmark", "{run}", "gone"], "numerate: gone: not a dataset"),
    ],
)
def test_other_commands_exit_alike(
    capsys: pytest.CaptureFixture[str], run: str, arguments: list[str], message: str
) -> None:
    status, _, err = numerate(capsys, *(argument.format(run=run) for argument in arguments))
    assert status == 2
    assert err.startswith(message)


def test_benchmark(
    capsys: pytest.CaptureFixture[str], runs: dict[str, Path], dataset: Path
) -> None:
    arguments = ["check-benchmark", str(runs["mog"]), str(dataset), "--split", "dev"]
    some = [*arguments, "--limit", "5"]
    status, out, err = numerate(capsys, *some, "--format", "markdown")
    assert status == 0
    assert "| factor 1,000 |" in out
    assert "no --softmax RUN given" in err
    assert out.count("\nOf 5 paragraphs of the dev split only (--limit), always the same.\n") == 2
    status, out, err = numerate(
        capsys, *some, "--softmax", str(runs["softmax"]), "--format", "json"
    )
    assert "surprisal of softmax" in json.loads(out)["detectors"]
    assert err == ""
    _, out, _ = numerate(capsys, *arguments)
    assert "Recall" in out
    assert "right numerals of the dev split" in out
    assert "--limit" not in out


def test_importing_the_package_is_light() -> None:
    import subprocess
    import sys

    code = "import sys, numerate; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_reader_that_leaves_is_no_error(run: str, files: dict[str, str]) -> None:
    call = [sys.executable, "-m", "numerate", "check", run, files["wrong"], "--format", "html"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()  # as `head` does
        assert b"pipe" not in process.stderr.read().lower()


@pytest.mark.parametrize("format", ["terminal", "json", "csv", "sarif", "html"])
@pytest.mark.parametrize(("text", "expected"), [(RIGHT, 0), (WRONG, 1)])
def test_check_of_a_file_whose_name_is_no_utf8(
    capfdbinary: pytest.CaptureFixture[bytes],
    run: str,
    tmp_path: Path,
    format: str,
    text: str,
    expected: int,
) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\x1b[31m.txt")
    Path(path).write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["numerate", "check", run, path, "--format", format])
        patch.setattr("signal.signal", lambda *_: None)
        sys.stdout.reconfigure(errors="strict")  # type: ignore[union-attr]  # as outside of tests
        with pytest.raises(SystemExit) as left:
            main()
    out, _ = capfdbinary.readouterr()
    assert left.value.code == expected
    out.decode("utf-8")
    assert format in {"csv", "html"} or b"\x1b[31m" not in out
