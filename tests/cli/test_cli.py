import subprocess
import sys
from pathlib import Path

import pytest
from tests.lm.model.plausibility.test_command import numerate


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom numerate.cli import main\nsys.argv = ['numerate', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'matplotlib', 'sklearn', 'pyarrow'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "prepare" in done.stdout


def test_prepare_and_describe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["prepare", "cardiac", "--documents", "60", "--out", str(tmp_path / "c")]
    alone = [sys.executable, "-m", "numerate", *command]
    done = subprocess.run(alone, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "60 paragraphs kept from 60 of 60 documents" in done.stdout
    status, out, err = numerate(capsys, "describe", str(tmp_path / "c"), "--vocabulary", "200")
    assert status == 0, err
    assert "oracle perplexity, numerals" in out
    assert "Most frequent numerals" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["prepare", "nowhere", "--out", "x"], "numerate: nowhere: no such file or folder\n"),
        (
            ["prepare", ".", "--out", "x", "--format", "jast"],
            "numerate: unknown format 'jast'",
        ),
        (["prepare", ".", "--out", "x", "--keep", "some"], "numerate: unknown rule for --keep 's"),
        (["prepare", "cardiac", "--out", "/proc/x"], "numerate: /proc/"),
        (["describe", "nowhere"], "numerate: nowhere: not a dataset: expected a folder with"),
    ],
)
def test_errors_are_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    status, out, err = numerate(capsys, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith(message)
    assert err.count("\n") == 1


def test_an_unknown_option_gets_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = numerate(capsys, "prepare", "cardiac", "--document", "5", "--out", "x")
    assert status == 2
    assert "--documents" in err
