"""A model that a package brings is listed, opened by name, and asked where it is named."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from tests.packages import install
from typer.testing import CliRunner

import numerate
from numerate.cli import app
from numerate.errors import NumerateError, RunError
from numerate.lm.data.tensor_file import load_tensors
from numerate.lm.model.domain import Fit
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.run_folder import WEIGHTS
from numerate.lm.model.shipped.card import CARD, Corpus, Figure
from numerate.lm.model.shipped.installed import installed, is_shipped, shipped
from numerate.lm.model.shipped.pack import About, pack
from numerate.plugins import MODELS

pytestmark = pytest.mark.installed

ABOUT = About(
    "small trials, for tests",
    ["English"],
    "CC0-1.0",
    [Corpus("trials", 40, "CC0-1.0", "invented")],
    [Figure("numerals, perplexity", "trials, test", 12.5, 10.0, 15.0)],
)
GOOD = "Of 48 patients with placebo, 12 (25.0 %) were women."
BAD = "Of 48 patients with placebo, 12 (52.0 %) were women."


@pytest.fixture(scope="module")
def packed(
    grounded_runs: dict[str, Path], detector_run: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("packed") / "model"
    pack(folder, ABOUT, language_model=grounded_runs["tables"], detector=detector_run)
    return folder


@pytest.fixture
def site(packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that brings the model `trials-of-tests`; its folder."""
    place = tmp_path / "site"
    install(place, "brings-a-model", {MODELS: {"trials-of-tests": "a_package.small"}})
    shutil.copytree(packed, place / "a_package" / "small")
    monkeypatch.syspath_prepend(place)
    return place / "a_package" / "small"


@pytest.fixture
def usual(site: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, as if it were the one that comes with our package."""
    monkeypatch.setattr("numerate.proofread.models.USUAL", ("trials-of-tests",))
    return site


def run(*arguments: str) -> tuple[int, str, str]:
    found = CliRunner().invoke(app, list(arguments))
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found.exit_code, found.stdout, found.stderr


def test_weights_are_halved_and_say_nothing_of_this_machine(packed: Path) -> None:
    stored, _ = load_tensors(packed / "language-model" / WEIGHTS, "numerate model 1")
    assert torch.float16 in {tensor.dtype for tensor in stored.values()}
    assert torch.float32 not in {tensor.dtype for tensor in stored.values()}
    for path in packed.rglob("*.json"):
        assert str(packed.parent) not in path.read_text(encoding="utf-8"), path


def test_it_says_what_it_is(site: Path) -> None:
    (model,) = [one for one in installed() if one.name == "trials-of-tests"]
    assert model.folder == site
    assert model.card.figures == ABOUT.figures
    assert model.size == sum(
        path.stat().st_size for path in site.rglob("*") if path.is_file() and path.name != CARD
    )
    status, listed, _ = run("models", "--format", "json")
    record = next(one for one in json.loads(listed) if one["name"] == "trials-of-tests")
    assert (status, record["size"], record["languages"]) == (0, model.size, ["English"])
    _, shown, _ = run("models", "trials-of-tests", "--format", "markdown")
    assert "12.50 [10.00, 15.00]" in shown
    assert "language model, detector" in shown
    with pytest.raises(NumerateError, match="unknown model 'no-such-model'"):
        run("models", "no-such-model")


def test_it_is_opened_by_its_name_and_says_what_the_run_said(
    site: Path, grounded: dict[str, NumeralLM], trials: Path
) -> None:
    assert is_shipped("trials-of-tests")
    assert not is_shipped("trials")
    named, own = numerate.load("trials-of-tests"), grounded["tables"]
    text = "Of 48 patients with placebo,"
    assert named.predict(text).median() == pytest.approx(own.predict(text).median(), rel=0.1)
    assert named.predict(text).median() == numerate.load("trials-of-tests").predict(text).median()
    with pytest.raises(NumerateError, match="which comes calibrated"):
        numerate.load("trials-of-tests", trials / "data")


def test_a_run_of_that_name_goes_before_and_no_other_folder_does(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trials-of-tests").mkdir()
    assert is_shipped("trials-of-tests")
    Path("report.txt").write_text(GOOD, encoding="utf-8")
    said = ("check", "report.txt", "--model", "trials-of-tests", "--alarms", "0.05")
    assert "trials-of-tests read 3 numbers" in run(*said)[1]
    (tmp_path / "trials-of-tests" / "config.json").write_text("{}", encoding="utf-8")
    assert not is_shipped("trials-of-tests")
    with pytest.raises(RunError, match=r"trials-of-tests/config\.json"):
        run(*said)


def test_a_model_of_another_package_is_asked_only_by_name(site: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.txt"
    report.write_text(GOOD, encoding="utf-8")
    assert "trials-of-tests" in [one.name for one in installed()]
    assert run("check", str(report))[2].count("with the model articles") == 1


def test_a_project_chooses_it_by_its_name(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("numerate.toml").write_text('model = "trials-of-tests"', encoding="utf-8")
    Path("report.txt").write_text(GOOD, encoding="utf-8")
    Path("numerate.toml").write_text('model = "none"', encoding="utf-8")
    status, printed, told = run("check", "report.txt")
    assert (status, told, "trials-of-tests" in printed) == (0, "", False)
    Path("numerate.toml").write_text('model = "trials-of-tests"', encoding="utf-8")
    said = ("check", "report.txt", "--alarms", "0.05", "--min-probability", "0")
    chosen = run(*said)
    assert "; trials-of-tests read 3 numbers;" in chosen[1]
    assert chosen == run(*said, "--model", "trials-of-tests")
    assert chosen[0] == 1
    assert "none recomputes alone" not in chosen[2]


def test_what_is_said_of_other_models_costs_nothing_of_one_that_nobody_named(
    usual: Path, trials: Path, tmp_path: Path
) -> None:
    report = tmp_path / "report.txt"
    report.write_text(GOOD, encoding="utf-8")
    for options in (["--dataset", str(trials / "data")], ["--alarms", "0.0000001"]):
        status, printed, _ = run("check", str(report), *options)
        assert (status, printed.startswith("Nothing found")) == (0, True)


def test_both_parts_are_asked(site: Path) -> None:
    found = numerate.check(BAD, model="trials-of-tests")
    said = {one.kind for finding in found for one in finding.evidence}
    assert "recomputed" in said
    codes = {code for finding in (*found, *found.less_likely) for code in finding.codes}
    assert codes >= {"NUM800", "NUM900"}


def test_check_asks_the_usual_one_where_none_is_named(usual: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.txt"
    report.write_text(GOOD, encoding="utf-8")
    said = ("check", str(report), "--alarms", "0.05")
    status, printed, told = run(*said)
    assert "with the model trials-of-tests; --model none recomputes alone" in told
    assert "trials-of-tests read 3 numbers" in printed
    named = run(*said, "--model", "trials-of-tests")
    assert (status, named[0]) == (0, 0)
    assert "3 less likely not shown" in printed
    assert "Unusual" not in printed
    assert run(*said, "--min-probability", "0")[0] == 1
    status, printed, told = run("check", str(report), "--model", "none")
    assert (status, "trials-of-tests" in printed + told) == (0, False)
    _, printed, told = run("check", str(report), "--select", "NUM1")
    assert "trials-of-tests" not in printed + told


def test_what_fits_no_model_is_recomputed_alone(
    usual: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody named the model, so that what it does not know is no failure."""
    monkeypatch.setattr(Fit, "fits", property(lambda fit: False))
    report = tmp_path / "strange.txt"
    report.write_text(BAD, encoding="utf-8")
    status, printed, told = run("check", str(report), "--alarms", "0.05")
    assert f"{report}: unlike what trials-of-tests knows: recomputed alone" in told
    assert (status, "NUM101" in printed, "trials-of-tests" in printed) == (1, True, False)
    report.write_text(GOOD, encoding="utf-8")
    assert run("check", str(report), "--alarms", "0.05")[0] == 0
    assert run("check", str(report), "--alarms", "0.05", "--model", "trials-of-tests")[0] == 1


def test_a_broken_one_that_nobody_named_is_left_out(usual: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.txt"
    report.write_text(BAD, encoding="utf-8")
    card = json.loads((usual / CARD).read_text(encoding="utf-8"))
    (usual / CARD).write_text(json.dumps({**card, "detector": "none"}), encoding="utf-8")
    status, printed, told = run("check", str(report))
    assert (status, "NUM101" in printed) == (1, True)
    assert "none" in told
    (usual / CARD).write_text(json.dumps(card), encoding="utf-8")
    (usual / "detector" / "config.json").unlink()
    status, printed, told = run("check", str(report))
    assert (status, "NUM101" in printed) == (1, True)
    assert "detector/config.json cannot be read" in told
    assert "left out" in told
    _, listed, _ = run("models", "--format", "markdown")
    assert "broken" in listed


@pytest.mark.parametrize("part", ["detector/model.safetensors", "language-model/config.json"])
def test_a_file_that_has_changed_is_told(site: Path, part: str) -> None:
    path = site / part
    path.write_bytes(path.read_bytes()[:-1] + b" ")
    with pytest.raises(RunError, match=f"{part} is not the file that was shipped"):
        numerate.check(GOOD, model="trials-of-tests")
    path.unlink()
    with pytest.raises(RunError, match=f"{part} cannot be read"):
        shipped("trials-of-tests")


def test_a_broken_card_costs_only_its_model(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site / CARD).write_text("{}", encoding="utf-8")
    assert "trials-of-tests" not in [one.name for one in installed()]
    assert "got format 'none'" in capsys.readouterr().err
    shutil.rmtree(site)
    assert "trials-of-tests" not in [one.name for one in installed()]


def test_there_must_be_something_to_pack(tmp_path: Path) -> None:
    with pytest.raises(NumerateError, match="nothing to pack"):
        pack(tmp_path / "none", ABOUT)


def test_a_model_over_a_pretrained_one_is_not_packed(
    grounded_runs: dict[str, Path], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(grounded_runs["tables"], run)
    config = json.loads((run / "config.json").read_text(encoding="utf-8"))
    of_one = {"start": None, "finetune": "none", "layers": [1], "networks": 1}
    config["backbone"] = {"path": "/models/some", "digest": "0", **of_one}
    (run / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(NumerateError, match=r"stands on a pretrained model, expected a model"):
        pack(tmp_path / "packed", ABOUT, language_model=run)
    assert not (tmp_path / "packed").exists()
