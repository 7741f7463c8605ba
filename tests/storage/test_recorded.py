"""Addresses that a stranger's files name are opened only where you have sent numerate yourself."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import s3fs
from tests.lm.backbones.pretrained.conftest import save
from tests.lm.model.plausibility.test_command import numerate as command
from tests.strange_places import ADDRESSES, asked

import numerate
from numerate.config import find_configuration
from numerate.errors import NumerateError, RunError
from numerate.lm.data.prepare import prepare
from numerate.lm.model.opening import Settings, open_model
from numerate.lm.model.run_folder import RunFolder
from numerate.lm.model.shipped.card import Corpus
from numerate.lm.model.shipped.pack import About, pack
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.over_backbone import BackboneChoice
from numerate.lm.train.run import train
from numerate.places import copy_folder
from numerate.storage import recorded
from numerate.storage.atomic import write_file

pytest_plugins = ("tests.trained",)

__all__ = ["asked"]
TEXT, ADDRESS = "The ejection fraction is 55 %.", "trap://evil/data"
CHOICES: dict[str, Any] = {
    "vocabulary": 100,
    "hidden": 4,
    "options": TrainingOptions(epochs=1, batch_size=10),
    "device": "cpu",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset, a run, a pretrained model, and a run that stands on it."""
    home = tmp_path_factory.mktemp("home")
    prepare("cardiac", home / "data", documents=30, processes=1)
    train(home / "data", home / "run", model="mog", **CHOICES)
    tiny = save(home / "tiny", "single")
    over = BackboneChoice(tiny, cache=home / "states")
    train(home / "data", home / "over", model="mog", backbone=over, **CHOICES)
    (home / "text.md").write_text(TEXT)
    (home / "table.csv").write_text("patient,fraction\n1,55\n2,60\n3,\n")
    return home


@pytest.fixture
def spoilt(home: Path, tmp_path: Path) -> Callable[..., Path]:
    """Copies a run, and writes something else into its configuration."""

    def copy(name: str, part: str, **change: object) -> Path:
        run = tmp_path / name
        shutil.copytree(home / name, run)
        for found_out in (*run.glob("reference.json"), *run.glob("calibration*.json")):
            found_out.unlink()
        config = json.loads((run / "config.json").read_text())
        config |= {part: config[part] | change} if isinstance(config[part], dict) else change
        (run / "config.json").write_text(json.dumps(config))
        return run

    return copy


def commands(run: Path, home: Path, out: Path) -> dict[str, list[str]]:
    """All that open a run."""
    at, text, table = str(run), str(home / "text.md"), str(home / "table.csv")
    return {
        "evaluate": ["evaluate", at, "--limit", "2"],
        "predict": ["predict", at, "The ejection fraction is", "--top", "1"],
        "rank": ["rank", at, TEXT, "The ejection fraction is 56 %."],
        "fill": ["fill", at, table],
        "calibrate": ["calibrate", at],
        "check": ["check", text, "--model", at],
        "serve": ["serve", at, "--port", "0"],
        "inspect": ["inspect", at, "--out", str(out / "report")],
        "check-benchmark": ["check-benchmark", str(home / "data"), "--model", at],
        "audit": ["audit", text, "--out", str(out / "findings"), "--model", at],
    }


# With a dataset of your own, or none, these never look for the run's.
WITHOUT_ITS_DATASET = ("check-benchmark",)


def test_the_runs_are_fit_for_every_command(home: Path, tmp_path: Path) -> None:
    """Else the tests below would see nothing but refusals."""
    for name in ("run", "over"):
        found = numerate.load(home / name).predict(TEXT.replace("55", "___"))
        assert found.top(1)


@pytest.mark.parametrize("name", list(commands(Path(), Path(), Path())))
def test_the_address_of_a_dataset_is_not_opened(
    name: str,
    spoilt: Callable[..., Path],
    home: Path,
    tmp_path: Path,
    asked: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = spoilt("run", "dataset", path=ADDRESS, relative=None)
    status, _, err = command(capsys, *commands(run, home, tmp_path)[name])
    assert asked == []
    if name not in WITHOUT_ITS_DATASET:
        assert status != 0
        assert f"{run}: names {ADDRESS}" in err.replace("\n", " ")
        assert f"--dataset {ADDRESS}" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("name", list(commands(Path(), Path(), Path())))
def test_the_address_of_a_pretrained_model_is_not_opened(
    name: str,
    spoilt: Callable[..., Path],
    home: Path,
    tmp_path: Path,
    asked: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = spoilt("over", "backbone", path=ADDRESS)
    status, _, err = command(capsys, *commands(run, home, tmp_path)[name])
    assert asked == []
    assert status != 0
    assert f"{run}: names {ADDRESS}" in err
    assert f"pass --backbone hf:{ADDRESS}" in err.replace("\n", " ")


@pytest.mark.parametrize("name", list(commands(Path(), Path(), Path())))
def test_every_command_opens_the_pretrained_model_that_you_name(
    name: str,
    spoilt: Callable[..., Path],
    home: Path,
    tmp_path: Path,
    asked: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = spoilt("over", "backbone", path=ADDRESS)
    line = [*commands(run, home, tmp_path)[name], "--backbone", f"hf:{ADDRESS}"]
    status, _, err = command(capsys, *line)
    assert status != 0
    if name == "audit":  # its worker asks, which does not know what a test has registered
        assert "unknown protocol trap://" in err
    else:
        assert asked == ["trap://"]
        assert "a stranger's address was opened" in err.replace("\n", " ")


@pytest.mark.parametrize("moved", [ADDRESS, "/nowhere/tiny"])
def test_a_run_uses_its_pretrained_model_where_you_say_it_is(
    moved: str,
    spoilt: Callable[..., Path],
    home: Path,
    asked: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    run, said = spoilt("over", "backbone", path=moved), "The ejection fraction is"
    status, out, err = command(capsys, "predict", str(run), said, "--backbone", f"hf:{home}/tiny")
    assert (status, err.count("names ")) == (0, 0)
    assert out == command(capsys, "predict", str(home / "over"), said)[1]
    lm = numerate.load(run, backbone=f"hf:{home}/tiny")
    expected = numerate.load(home / "over").predict(said).top(3)
    assert lm.predict(said).top(3) == expected
    assert asked == []


def test_another_pretrained_model_than_the_runs_is_refused(
    spoilt: Callable[..., Path], home: Path, tmp_path: Path
) -> None:
    run, other = spoilt("over", "backbone", path="/nowhere/tiny"), save(tmp_path / "b", "glued")
    with pytest.raises(RunError, match="b: not the pretrained model this run was made with"):
        numerate.load(run, backbone=f"hf:{other}")
    with pytest.raises(NumerateError, match="nowhere: does not exist"):
        numerate.load(run, backbone="hf:nowhere")
    with pytest.raises(NumerateError, match="backbone: got 'tiny', expected hf:PATH"):
        numerate.load(run, backbone="tiny")
    # Of runs that are opened together, others may stand on another one.
    assert numerate.load(home / "over", backbone=f"hf:{other}").predict("It is").top(1)


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_kind_of_address_is_opened(
    address: str, spoilt: Callable[..., Path], tmp_path: Path, asked: list[str]
) -> None:
    for name, part in (("run", "dataset"), ("over", "backbone")):
        run = spoilt(name, part, path=address, **({"relative": None} if part == "dataset" else {}))
        with pytest.raises(
            NumerateError, match=r"names .* an address that is opened only if you name it"
        ):
            numerate.load(run)
    assert asked == []


def test_a_relative_path_that_leads_out_of_its_bucket_is_not_opened(
    spoilt: Callable[..., Path], asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run = spoilt("run", "dataset", path="/gone", relative="../../evil/data")
    copy = copy_folder("trap://lab/run", "0123456789abcdef")
    shutil.copytree(run, copy)
    with pytest.raises(NumerateError, match=r"/gone: not a dataset"):
        RunFolder(copy).open_dataset()
    assert asked == []


def test_a_cache_is_neither_asked_nor_written_to(
    spoilt: Callable[..., Path],
    asked: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run = spoilt("over", "cache", cache=ADDRESS)
    assert numerate.load(run).predict("The ejection fraction is").top(1)
    assert asked == []


def test_a_report_does_not_lead_to_runs_elsewhere(
    home: Path, tmp_path: Path, asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor does a folder of `reproduce`, which adds to its report in the same way."""
    memory = {"format": "numerate report", "version": 1, "runs": [ADDRESS]}
    write_file(
        tmp_path / "report.json", json.dumps(memory | {"contexts": [], "figures": []}).encode()
    )
    out = ["--out", str(tmp_path), "--limit", "2"]
    status, _, err = command(capsys, "inspect", str(home / "run"), *out)
    assert status == 0
    assert f"run numerate inspect {ADDRESS}" in err.replace("\n", " ")
    assert asked == []


PROJECT = [
    ["check", "text.md"],
    ["predict", "The ejection fraction is"],
    ["rank", TEXT, "It is 56 %."],
    ["fill", "table.csv"],
    ["serve", "--port", "0"],
    ["audit", "text.md", "--out", "findings"],
]


@pytest.mark.parametrize("prefix", ["", "hf:"])
@pytest.mark.parametrize("arguments", PROJECT, ids=lambda call: call[0])
def test_the_model_of_a_strangers_project_is_not_fetched(
    arguments: list[str],
    prefix: str,
    home: Path,
    tmp_path: Path,
    asked: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("text.md", "table.csv"):
        shutil.copy(home / name, tmp_path / name)
    (tmp_path / "numerate.toml").write_text(f'model = "{prefix}{ADDRESS}"\n')
    monkeypatch.chdir(tmp_path)
    status, _, err = command(capsys, *arguments)
    assert asked == []
    assert status == 2
    assert f"names {ADDRESS}" in err
    assert "command line" in err


def test_another_model_may_be_named_instead(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "numerate.toml").write_text(f'model = "{ADDRESS}"\n')
    (tmp_path / "text.md").write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    status, _, err = command(capsys, "check", "text.md", "--model", "none")
    assert (status, "names" in err) == (0, False)


@pytest.mark.parametrize("key", ["baseline"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_no_other_key_of_a_project_may_be_an_address(
    key: str, address: str, tmp_path: Path, asked: list[str]
) -> None:
    (tmp_path / "numerate.toml").write_text(f'{key} = "{address}"\n')
    with pytest.raises(NumerateError, match="expected a file of this machine"):
        find_configuration(tmp_path)
    assert asked == []


def test_packing_does_not_open_one(
    spoilt: Callable[..., Path], tmp_path: Path, asked: list[str]
) -> None:
    run = spoilt("run", "dataset", path=ADDRESS, relative=None)
    about = About("small", ["English"], "CC0", [Corpus("cardiac", 30, "CC0")])
    with pytest.raises(NumerateError, match=rf"names {ADDRESS}"):
        pack(tmp_path / "packed", about, language_model=run)
    assert asked == []


def test_you_may_name_the_pretrained_model_of_a_run(
    spoilt: Callable[..., Path], asked: list[str]
) -> None:
    """As `reproduce` does, which was given it."""
    run = spoilt("over", "backbone", path=ADDRESS)
    with pytest.raises(NumerateError, match="a stranger's address was opened"):
        open_model(run, device="cpu", settings=Settings(backbone=f"hf:{ADDRESS}"))
    assert asked == ["trap://"]


def test_the_same_bucket_is_opened(
    bucket: str, s3: s3fs.S3FileSystem, home: Path, spoilt: Callable[..., Path]
) -> None:
    s3.put(str(home / "data"), f"{bucket}/data", recursive=True)
    s3.put(str(home / "tiny"), f"{bucket}/tiny", recursive=True)
    for name, part, key in (("run", "dataset", "data"), ("over", "backbone", "tiny")):
        change = {"relative": None} if part == "dataset" else {}
        run = spoilt(name, part, path=f"s3://{bucket}/{key}", **change)
        s3.put(str(run), f"{bucket}/runs/{name}", recursive=True)
        given = {} if part == "dataset" else {"dataset": home / "data"}
        found = numerate.load(f"s3://{bucket}/runs/{name}", **given)
        assert found.predict("The ejection fraction is").top(1)
        with pytest.raises(NumerateError, match=f"names s3://{bucket}/{key}"):
            numerate.load(run, **given)


def origins() -> Iterator[tuple[str, str, bool]]:
    yield "s3://lab/runs/a", "s3://lab/data", True
    yield "S3://lab/runs/a", "s3://lab/data", True
    yield "https://lab.org/a", "https://lab.org/b", True
    yield "s3://lab/runs/a", "/data", True
    yield "s3://lab/runs/a", "../data", True
    yield "/runs/a", "/data", True
    yield "s3://lab/runs/a", "s3://lab.evil/data", False
    yield "s3://lab/runs/a", "s3://evil/lab/data", False
    yield "s3://lab/runs/a", "gs://lab/data", False
    yield "https://lab.org/a", "http://lab.org/b", False
    yield "https://lab.org/a", "https://lab.org:81/b", False
    yield "https://lab.org/a", "https://lab.org@evil.org/b", False
    yield "https://lab.org/a", "https://lab.org\\@evil.org/b", False
    yield "https://lab.org/a", "https://evil.org#https://lab.org/", False
    yield "s3://lab/runs/a", "simplecache::s3://lab/data", False
    yield "s3://lab/runs/a", "s3://lab/x::http://evil.org/y", False
    yield "/runs/a", "file:///data", False


@pytest.mark.parametrize(("folder", "place", "is_opened"), list(origins()))
def test_one_rule_decides(folder: str, place: str, is_opened: bool) -> None:
    if is_opened:
        assert recorded(place, folder, "…") == place
    else:
        with pytest.raises(NumerateError, match="is opened only if you name it"):
            recorded(place, folder, "…")
