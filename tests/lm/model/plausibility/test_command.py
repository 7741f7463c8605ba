"""The commands, as a user types them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from numerate.cli import main

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
        (["check-benchmark", "gone", "--model", "{run}"], "numerate: gone: not a dataset"),
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
    arguments = ["check-benchmark", str(dataset), "--model", str(runs["mog"]), "--split", "dev"]
    some = [*arguments, "--limit", "5"]
    status, out, err = numerate(capsys, *some, "--format", "markdown")
    assert status == 0
    assert "| factor 100 or 1,000 |" in out
    assert "no --softmax RUN given" in err
    note = "\nOf 5 paragraphs of the dev split only (--limit), always the same.\n"
    assert out.count(note) == out.count("\n|---") == 4
    status, out, err = numerate(
        capsys, *some, "--softmax", str(runs["softmax"]), "--format", "json"
    )
    assert "surprisal of softmax" in json.loads(out)["judges"]
    assert err == ""
    _, out, _ = numerate(capsys, *arguments)
    assert "Recall" in out
    assert "of the dev split" in out
    assert "--limit" not in out


def test_importing_the_package_is_light() -> None:
    code = "import sys, numerate; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_opening_a_run_does_not_load_the_compiler_of_torch(runs: dict[str, Path]) -> None:
    code = (
        "import sys, numerate; numerate.load(sys.argv[1]); sys.exit('torch._dynamo' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(runs["combination"])]
    assert subprocess.run(command, check=False).returncode == 0
