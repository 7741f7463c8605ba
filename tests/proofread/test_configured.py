"""`numerate check` in a project that has chosen model, alarms, format and what it ignores."""

import json
from pathlib import Path

import pytest
from tests.lm.model.plausibility.test_command import WRONG, numerate

pytest_plugins = ("tests.trained",)

ALL = ("--min-probability", "0")


@pytest.fixture
def project(tmp_path: Path, runs: dict[str, Path]) -> Path:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "wrong.txt").write_text(WRONG)
    configure(tmp_path, runs)
    return tmp_path


def configure(
    folder: Path, runs: dict[str, Path], more: str = "", min_probability: float = 0
) -> None:
    """A model that was calibrated on so few numerals is never sure."""
    run = json.dumps(str(runs["combination"]))
    usual = f"model = {run}\nalarms = 0.2\nformat = 'json'\nmin-probability = {min_probability}"
    (folder / "numerate.toml").write_text(f"{usual}\n{more}")


def test_the_nearest_configuration_is_that_of_the_document(
    capsys: pytest.CaptureFixture[str], project: Path, runs: dict[str, Path]
) -> None:
    wrong = str(project / "texts" / "wrong.txt")
    status, out, _ = numerate(capsys, "check", wrong)
    record = json.loads(out)
    assert (status, record["alarms"], len(record["findings"])) == (1, 0.2, 1)
    # What is typed goes first.
    typed = ("--model", str(runs["mog"]), "--alarms", "0.1", "--format", "csv")
    status, out, _ = numerate(capsys, "check", wrong, *typed)
    assert status == 1
    assert out.startswith("file,")


@pytest.mark.parametrize(
    ("ignored", "found", "documents", "said"),
    [
        ("[ignore]\nnumerals = ['123456789.123']", 0, 1, "1 found but ignored"),
        ("[ignore]\npatterns = ['fraction is [0-9.]+ %']", 0, 1, "1 found but ignored"),
        ("[ignore]\npatterns = ['fraction is [0-9]+']", 1, 1, ""),  # not the whole numeral
        ("[ignore]\nfiles = ['texts/*']", 0, 0, "wrong.txt: not checked, as "),
        ("[ignore]\ncodes = ['NUM9']", 0, 1, ""),
        ("select = ['NUM3']", 0, 1, ""),
    ],
)
def test_what_is_ignored_is_not_reported(
    capsys: pytest.CaptureFixture[str],
    project: Path,
    runs: dict[str, Path],
    ignored: str,
    found: int,
    documents: int,
    said: str,
) -> None:
    configure(project, runs, ignored)
    status, out, err = numerate(capsys, "check", str(project / "texts" / "wrong.txt"))
    record = json.loads(out)
    assert (status, len(record["findings"])) == (found, found)
    assert len(record["documents"]) == documents
    assert said in err


def test_a_baseline_is_configured(
    capsys: pytest.CaptureFixture[str], project: Path, runs: dict[str, Path]
) -> None:
    configure(project, runs, "baseline = 'known.json'")
    wrong = str(project / "texts" / "wrong.txt")
    assert numerate(capsys, "check", wrong, "--write-baseline")[0] == 0
    assert (project / "known.json").is_file()
    assert numerate(capsys, "check", wrong)[0] == 0
    status, out, _ = numerate(capsys, "check", wrong, "--baseline", "none", *ALL)
    assert (status, len(json.loads(out)["findings"])) == (1, 1)


def test_a_configured_model_is_switched_off(
    capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    wrong = str(project / "texts" / "wrong.txt")
    status, out, _ = numerate(capsys, "check", wrong, "--model", "none")
    assert (status, json.loads(out)["models"]) == (0, [])


def test_less_likely_findings_are_counted(
    capsys: pytest.CaptureFixture[str], project: Path, runs: dict[str, Path]
) -> None:
    """What the model says at 20 % alarms is hardly ever an error; a configuration may want it."""
    wrong = str(project / "texts" / "wrong.txt")
    configure(project, runs, min_probability=0.9)
    status, out, _ = numerate(capsys, "check", wrong)
    record = json.loads(out)
    assert (status, record["findings"]) == (0, [])
    assert (record["less_likely"], record["min_probability"]) == (1, 0.9)
    assert record["summary"].startswith("Nothing found, 1 less likely not shown; ")
    status, out, _ = numerate(capsys, "check", wrong, "--format", "terminal")
    first, _ = out.splitlines()
    assert status == 0
    assert first.endswith(" --min-probability 0 shows those that are less likely.")
    status, out, _ = numerate(capsys, "check", wrong, *ALL)
    (found,) = json.loads(out)["findings"]
    assert (status, found["probability"] < 0.9) == (1, True)
    for wanted in ("-0.1", "1.1", "nan"):
        status, _, err = numerate(capsys, "check", wrong, "--min-probability", wanted)
        assert (status, err.count("\n")) == (2, 1)


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
    assert (status, len(json.loads(out)["findings"])) == (int(documents > 0), documents)


def test_predict_and_rank_take_the_model_of_the_working_folder(
    capsys: pytest.CaptureFixture[str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "texts")
    assert numerate(capsys, "predict", "the volume is")[0] == 0
    assert numerate(capsys, "rank", "it is 5", "it is 7")[0] == 0
    status, _, err = numerate(capsys, "predict", "the", "volume", "is")
    assert status == 2
    assert err.startswith("numerate: got 3 texts, expected one, in quotation marks")
