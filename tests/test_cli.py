import subprocess
import sys
from pathlib import Path

import pytest


def numerate(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "numerate", *arguments], capture_output=True, text=True, check=False
    )


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


def test_prepare_and_describe(tmp_path: Path) -> None:
    done = numerate("prepare", "cardiac", "--documents", "60", "--out", str(tmp_path / "c"))
    assert done.returncode == 0, done.stderr
    assert "60 paragraphs kept from 60 of 60 documents" in done.stdout
    done = numerate("describe", str(tmp_path / "c"), "--vocabulary", "200")
    assert done.returncode == 0, done.stderr
    assert "oracle perplexity, numerals" in done.stdout
    assert "Most frequent numerals" in done.stdout


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
def test_errors_are_one_line(arguments: list[str], message: str) -> None:
    done = numerate(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_an_unknown_option_gets_a_suggestion() -> None:
    done = numerate("prepare", "cardiac", "--document", "5", "--out", "x")
    assert done.returncode == 2
    assert "--documents" in done.stderr
