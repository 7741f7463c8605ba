"""`--table FILE`: what commands print with it, and what they say of files that are no tables."""

import csv
import io
import json
from pathlib import Path

import pytest
from tests.lm.model.plausibility.test_command import numerate
from tests.trials import TABLE

AGE = "Mean age was 573 years with placebo and 61.5 years with treatment (_ref_)."
ROWS = [*TABLE.header, *TABLE.body]


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "baseline.csv"
    path.write_text("\n".join(",".join(row) for row in ROWS), encoding="utf-8")
    return str(path)


@pytest.fixture
def run(grounded_runs: dict[str, Path]) -> str:
    return str(grounded_runs["tables"])


def test_predict_prints_where_its_mass_comes_from(
    capsys: pytest.CaptureFixture[str], run: str, table: str, tmp_path: Path
) -> None:
    status, out, _ = numerate(capsys, "predict", run, "Mean age was", "--table", table)
    assert status == 0
    told = out[out.index("from numbers in view:") :].splitlines()
    assert told[1].startswith("  baseline, Age (years), Placebo: 57.3 (0.")
    other = tmp_path / "other.md"
    other.write_text("| a | b |\n|---|---|\n| 7 | 8 |\n", encoding="utf-8")
    both = ("--table", table, "--table", str(other), "--format", "json")
    _, out, _ = numerate(capsys, "predict", run, "Mean age was", *both)
    numbers = [n for source in json.loads(out)["sources"] for n in source["numbers"]]
    assert {number["table"] for number in numbers} == {0, 1}
    assert {number["label"] for number in numbers if number["table"] == 0} == {"baseline"}
    _, out, _ = numerate(capsys, "predict", run, "Mean age was")
    assert "from numbers in view" not in out


def test_rank_sees_the_table(capsys: pytest.CaptureFixture[str], run: str, table: str) -> None:
    claims = ("Mean age was 57.4 years", "Mean age was 57.3 years")
    _, out, _ = numerate(capsys, "rank", run, *claims, "--table", table, "--format", "json")
    assert json.loads(out)["claims"][0]["text"] == claims[1]


def test_findings_carry_the_sources_of_what_was_expected(
    capsys: pytest.CaptureFixture[str], run: str, table: str, tmp_path: Path
) -> None:
    text = tmp_path / "text.txt"
    text.write_text(AGE, encoding="utf-8")
    options = ("--table", table, "--alarms", "0.2", "--min-probability", "0")
    command = ("check", str(text), "--model", run, *options)
    status, out, _ = numerate(capsys, *command, "--format", "json")
    assert status == 1
    finding = json.loads(out)["findings"][0]
    expected = "baseline, Age (years), Placebo: 57.3 (0."
    source = next(one for one in finding["evidence"] if one["said"].startswith(expected))
    (place,) = source["places"]
    assert (place["table"], place["table_row"], place["table_column"]) == (0, 1, 1)
    assert place["text"] == finding["suggestion"]["text"] == "57.3"
    _, out, _ = numerate(capsys, *command, "--format", "csv")
    row = next(csv.DictReader(io.StringIO(out)))
    assert source["said"] in row["evidence"]
    _, out, _ = numerate(capsys, *command)
    assert source["said"] in " ".join(out.split())
    for format in ("sarif", "html"):
        status, out, _ = numerate(capsys, *command, "--format", format)
        assert (status, bool(out)) == (1, True)


def test_tables_of_an_article_are_seen_without_being_given(
    capsys: pytest.CaptureFixture[str], run: str, trials: Path, tmp_path: Path
) -> None:
    article = (trials / "articles" / "trial-007.xml").read_text(encoding="utf-8")
    right = article.split("Mean age was ")[1].split()[0]
    path = tmp_path / "wrong.xml"
    wrong = right.replace(".", "")
    path.write_text(article.replace(f"was {right} years", f"was {wrong} years"), encoding="utf-8")
    options = ("--alarms", "0.2", "--min-probability", "0", "--format", "json")
    command = ("check", str(path), "--model", run, *options)
    _, out, _ = numerate(capsys, *command)
    finding = next(f for f in json.loads(out)["findings"] if f["written"] == wrong)
    expected = f"Table 1, Age (years), Placebo: {right} ("
    source = next(one for one in finding["evidence"] if one["said"].startswith(expected))
    assert source["places"][0]["text"] == right


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (None, "no such file"),
        (b"", "empty, expected a table"),
        (b"PK\x03\x04", "got a ZIP archive, or a document"),
        (b"a,b\n1,2,3", "got 3 cells, expected 2 as in the first row"),
    ],
)
@pytest.mark.parametrize("command", ["predict", "rank", "check"])
def test_what_is_no_table_is_one_line(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    content: bytes | None,
    line: str,
    command: str,
) -> None:
    path, text = tmp_path / "t.csv", tmp_path / "a.txt"
    text.write_text(AGE, encoding="utf-8")
    if content is not None:
        path.write_bytes(content)
    asked = [str(text)] if command == "check" else ["nowhere", AGE]
    status, out, err = numerate(capsys, command, *asked, "--table", str(path))
    assert (status, bool(out)) == (2, command == "check")  # which reports the text all the same
    assert err.startswith(f"numerate: {path}")
    assert line in err
    assert err.count("\n") == 1


def test_a_model_that_sees_no_tables_says_so(
    capsys: pytest.CaptureFixture[str], runs: dict[str, Path], table: str, tmp_path: Path
) -> None:
    text = tmp_path / "a.txt"
    text.write_text(AGE, encoding="utf-8")
    mog = str(runs["mog"])
    for command in ("predict", "rank"):
        status, out, err = numerate(capsys, command, mog, AGE, "--table", table)
        assert (status, out) == (2, "")
        assert err.startswith("numerate: tables: mog sees none; expected a model with tables in")
        assert err.count("\n") == 1
    _, _, err = numerate(capsys, "check", str(text), "--model", mog, "--table", table)
    assert "mog sees no tables: they are for the rules alone" in err


def test_numbers_that_are_too_many_to_see_are_told(
    capsys: pytest.CaptureFixture[str], run: str, tmp_path: Path
) -> None:
    path = tmp_path / "large.csv"
    path.write_text("a,b\n" + "1,2\n" * 2100, encoding="utf-8")
    status, _, err = numerate(capsys, "predict", run, "Mean age was", "--table", str(path))
    assert status == 0
    assert err == "numerate: tables: 104 of 4,200 numbers are out of view, the last ones\n"


def test_serve_refuses_a_table_before_anything_is_loaded(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "none.csv"
    status, _, err = numerate(capsys, "serve", "nowhere", "--port", "0", "--table", str(path))
    assert (status, err) == (2, f"numerate: {path}: no such file\n")
