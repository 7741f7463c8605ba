"""`numerate check` in a project that has chosen run, alarms, format and what it ignores."""

import json
from pathlib import Path

import pytest
from tests.plausibility.test_command import WRONG, numerate


@pytest.fixture
def project(tmp_path: Path, runs: dict[str, Path]) -> Path:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "wrong.txt").write_text(WRONG)
    configure(tmp_path, runs)
    return tmp_path


def configure(folder: Path, runs: dict[str, Path], more: str = "") -> None:
    run = json.dumps(str(runs["combination"]))
    (folder / "numerate.toml").write_text(f"run = {run}\nalarms = 0.2\nformat = 'json'\n{more}")


def test_the_nearest_configuration_is_that_of_the_document(
    capsys: pytest.CaptureFixture[str], project: Path, runs: dict[str, Path]
) -> None:
    wrong = str(project / "texts" / "wrong.txt")
    status, out, _ = numerate(capsys, "check", wrong)
    record = json.loads(out)
    assert (status, record["alarms"], record["flagged"]) == (1, 0.2, 1)
    # What is typed goes first, and RUN FILE is what it was.
    mog = str(runs["mog"])
    status, out, _ = numerate(capsys, "check", mog, wrong, "--alarms", "0.1", "--format", "csv")
    assert status == 1
    assert out.startswith("file,")


@pytest.mark.parametrize(
    ("ignored", "flagged", "numerals", "said"),
    [
        ("numerals = ['123456789.123']", 0, 1, "1 flagged but ignored"),
        ("patterns = ['fraction is [0-9.]+ %']", 0, 1, "1 flagged but ignored"),
        ("patterns = ['fraction is [0-9]+']", 1, 1, ""),  # not the whole numeral
        ("files = ['texts/*']", 0, 0, "wrong.txt: not checked, as "),
    ],
)
def test_what_is_ignored_is_not_reported(
    capsys: pytest.CaptureFixture[str],
    project: Path,
    runs: dict[str, Path],
    ignored: str,
    flagged: int,
    numerals: int,
    said: str,
) -> None:
    configure(project, runs, f"[ignore]\n{ignored}")
    status, out, err = numerate(capsys, "check", str(project / "texts" / "wrong.txt"))
    record = json.loads(out)
    assert (status, record["flagged"], record["numerals"]) == (flagged, flagged, numerals)
    assert len(record["findings"]) == flagged
    assert said in err


@pytest.mark.parametrize(("files", "documents"), [("[]", 2), ("['wrong.txt']", 0)])
def test_a_file_may_be_named_twice(
    capsys: pytest.CaptureFixture[str],
    project: Path,
    runs: dict[str, Path],
    files: str,
    documents: int,
) -> None:
    configure(project, runs, f"[ignore]\nfiles = {files}")
    wrong = str(project / "texts" / "wrong.txt")
    status, out, _ = numerate(capsys, "check", wrong, wrong)
    assert (status, json.loads(out)["flagged"]) == (int(documents > 0), documents)


def test_predict_and_rank_take_the_run_of_the_working_folder(
    capsys: pytest.CaptureFixture[str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "texts")
    assert numerate(capsys, "predict", "the volume is")[0] == 0
    assert numerate(capsys, "rank", "it is 5", "it is 7")[0] == 0
    status, _, err = numerate(capsys, "predict", "the", "volume", "is")
    assert status == 2
    assert err.startswith("numerate: got 3 texts, expected one, in quotation marks")
