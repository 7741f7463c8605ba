"""`numerate benford` on every kind of source, as a user calls it."""

import csv
import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.lm.model.plausibility.test_command import numerate

from numerate.lm.data.dataset import SPLITS, Dataset
from numerate.lm.inspect.benford import count_digits_of, print_benford
from numerate.lm.inspect.significant_digits import significant_digit_shares
from numerate.numeral import is_numeral
from numerate.reports.look import wrapped
from numerate.text.reading_rules import ReadingRules


def first_digits(source: Path | str) -> dict[int, int]:
    counts = count_digits_of(str(source)).counts[0]
    return {digit: int(count) for digit, count in enumerate(counts) if count}


def test_a_list_has_signs_exponents_and_separators(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("-1.5e-7\n+2,000\n.5\n3.\n\n0\n 7 \n1e5\n")
    assert first_digits(path) == {1: 2, 2: 1, 3: 1, 5: 1, 7: 1}
    assert count_digits_of(str(path)).numbers == 7


def test_text_is_tokenised(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Aged 54 years, 1.75 m; FEV1 was 2,000 ml.\n\nScore 0.05, then 0.\n")
    assert first_digits(path) == {1: 1, 2: 1, 5: 2}


def test_json_lines_are_read_by_field(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lines.jsonl.gz"
    lines = [
        json.dumps({"body": "It was 37.5 degrees."}),
        "not json",
        json.dumps({"body": "8 of 9"}),
    ]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    status, out, err = numerate(capsys, "benford", str(path), "--field", "body", "--format", "csv")
    assert status == 0
    assert "skipped lines.jsonl:2: not JSON" in err
    shares = {
        int(row["digit"]): float(row["share"])
        for row in csv.DictReader(io.StringIO(out))
        if row["of"] == path.name and row["place"] == "first"
    }
    assert {digit for digit, share in shares.items() if share} == {3, 8, 9}


def test_a_dataset_is_counted_over_all_splits(cardiac: Path) -> None:
    expected = dict.fromkeys(range(1, 10), 0)
    for name in SPLITS:
        for tokens in Dataset.open(cardiac).split(name).read(["tokens"])["tokens"].to_pylist():
            for token in filter(is_numeral, tokens):
                digits = token.replace(".", "").lstrip("0")
                if digits:
                    expected[int(digits[0])] += 1
    assert first_digits(cardiac) == {digit: count for digit, count in expected.items() if count}


@pytest.fixture
def written_to_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Powers of two, one a line."""
    numbers = "\n".join(str(2**n) for n in range(300)).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(numbers)))


@pytest.mark.usefixtures("written_to_stdin")
def test_standard_input_and_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = numerate(capsys, "benford", "-", "--out", str(tmp_path / "out"))
    assert (status, err) == (0, "")
    assert "300 numbers in standard input" in out
    assert "close" in out  # powers of two follow the law
    for kind in ("png", "svg", "csv"):
        assert (tmp_path / "out" / f"significant-digits.{kind}").stat().st_size > 0


def test_a_name_is_no_formula_in_a_figure(tmp_path: Path) -> None:
    """What stands between dollars would be set as mathematics, or refused."""
    path = tmp_path / "$^$.txt"
    path.write_text("12 345 6.7", encoding="utf-8")
    svg = significant_digit_shares([count_digits_of(str(path))]).save(tmp_path)
    assert "<!-- $^$.txt -->" in svg
    assert wrapped("run $_$", 1) == r"run \$_\$"


def test_few_numbers_get_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The rarest digit is 9: 5 / log10(10/9) = 109.3 numbers at the first place."""
    path = tmp_path / "n.txt"
    for count, few in [(109, "first digit of 109 numbers, "), (110, "")]:
        path.write_text("7\n" * (count - 58) + "72\n" * 58)
        print_benford(str(path), None, format="csv")
        expected = f"for the {few}second digit of 58 numbers: expected counts"
        assert expected in capsys.readouterr().err
    path.write_text("723\n" * 110)
    print_benford(str(path), None, format="table")
    assert capsys.readouterr().err == ""


def test_it_needs_no_torch(tmp_path: Path) -> None:
    (tmp_path / "n.txt").write_text("12\n34\n")
    code = (
        "import sys; sys.argv = ['numerate', 'benford', sys.argv[1]]\n"
        "from numerate.cli import app\n"
        "app(standalone_mode=False)\n"
        "assert 'torch' not in sys.modules\n"
    )
    call = [sys.executable, "-c", code, str(tmp_path / "n.txt")]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "n.txt: no number in it"),
        ("no numbers here\n", "n.txt: no number in it"),
        ("0\n0.0\n", "n.txt: no number but zero in it"),
        (None, "n.txt: no such file or folder"),
    ],
)
def test_bad_sources_get_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, message: str
) -> None:
    path = tmp_path / "n.txt"
    if content is not None:
        path.write_text(content)
    status, _, err = numerate(capsys, "benford", str(path))
    assert status == 2
    assert err.startswith("numerate: ")
    assert err.rstrip().endswith(message)
    assert err.count("\n") == 1


def test_an_unknown_format_is_told_what_it_meant(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = numerate(capsys, "benford", "-", "--format", "latx")
    assert (status, err.count("\n")) == (2, 1)
    assert "did you mean latex?" in err


def test_text_is_cut_by_the_rules_that_are_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "befund.txt"
    path.write_text("Im Mittel 74,5 bei 1.234,5 und IL-6\n")
    comma = count_digits_of(str(path), rules=ReadingRules("comma"))
    assert (comma.numbers, comma.counts[2, 3], comma.counts[2, 5]) == (2, 1, 1)
    split = count_digits_of(str(path), rules=ReadingRules("comma", split_names=True))
    assert (split.numbers, split.counts[0, 6]) == (3, 1)
    given = ("benford", str(path), "--decimal")
    status, out, _ = numerate(capsys, *given, "comma", "--split-names", "--format", "markdown")
    assert (status, "of 3 numbers in befund.txt" in out) == (0, True)
    status, _, err = numerate(capsys, *given, "dot")
    assert status
    assert "unknown decimal mark 'dot': expected one of point, comma" in err
