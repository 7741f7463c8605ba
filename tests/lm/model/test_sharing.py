"""A model that is shared says what it says here, without its dataset, and what it is."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.lm.backbones.pretrained.conftest import save

import numerate
from numerate.errors import DatasetError, NumerateError
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.over_backbone import BackboneChoice

TEXT = "The ejection fraction is 61 % with volumes of 150 and 9000 mL."
KINDS = ("scratch", "over")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset, a run from scratch and a head over a pretrained model, the first evaluated."""
    folder = tmp_path_factory.mktemp("home")
    numerate.prepare("cardiac", folder / "cardiac", documents=60)
    choice = BackboneChoice(save(folder / "tiny", "single"), cache=folder / "cache")
    options = TrainingOptions(epochs=1, batch_size=8, seed=7)
    for kind, backbone in zip(KINDS, (None, choice), strict=True):
        numerate.train(
            folder / "cardiac", folder / kind, model="combination", vocabulary=200, hidden=6,
            backbone=backbone, options=options, device="cpu",
        )  # fmt: skip
    numerate.evaluate(folder / "scratch").save()
    return folder


@pytest.fixture(scope="module", params=KINDS)
def shared(request: pytest.FixtureRequest, home: Path) -> tuple[NumeralLM, Path]:
    """A model, and the folder it was saved to."""
    model = numerate.load(home / request.param)
    out = home / "out" / request.param
    out.parent.mkdir(exist_ok=True)
    model.save_pretrained(out, licence="CC-BY-4.0")
    return model, out


def test_it_says_the_same_without_its_run_and_its_dataset(
    shared: tuple[NumeralLM, Path], tmp_path: Path
) -> None:
    model, out = shared
    moved = tmp_path / "moved"
    shutil.copytree(out, moved)
    again = NumeralLM.from_pretrained(moved, device="cpu")
    assert again.name == model.name
    for name, tensor in again.weights().items():
        assert torch.equal(tensor, model.weights()[name]), name
    before, after = (lm.predict("The ejection fraction is") for lm in (model, again))
    assert before.top(5) == after.top(5)
    alarms = model.checker.usual_alarms
    one, other = (numerate.check(TEXT, lm, alarms=alarms) for lm in (model, again))
    assert list(one) == list(other)
    assert sorted(path.name for path in moved.iterdir()) == sorted(
        path.name for path in out.iterdir()
    ), "nothing had to be found out again"


def test_the_folder_does_not_tell_of_this_machine(
    shared: tuple[NumeralLM, Path], home: Path
) -> None:
    _, out = shared
    config = json.loads((out / "config.json").read_text())
    assert config["dataset"]["path"] == "cardiac"
    assert "cache" not in config
    config.pop("backbone", None)  # which has to be found
    said = json.dumps(config) + (out / "README.md").read_text()
    assert str(home) not in said


def test_the_card_has_the_facts_of_the_run(home: Path, shared: tuple[NumeralLM, Path]) -> None:
    model, out = shared
    card = (out / "README.md").read_text(encoding="utf-8")
    record = json.loads((out / "config.json").read_text())
    documents = json.loads((out / "documents.json").read_text())["train"]
    assert card.startswith("---\nlibrary_name: numerate\n")
    assert "license: cc-by-4.0\n" in card
    assert f"Trained on {len(documents)} documents of `cardiac`" in card
    assert record["dataset"]["content_hash"] in card
    assert "| seed | 7 |" in card
    assert "| sight | none |" in card
    assert f"| members | {', '.join(model.members)} |" in card
    assert "Of this model: CC-BY-4.0." in card
    if record.get("backbone"):
        assert "stands on `tiny`, which is not in this folder" in card
        assert record["backbone"]["digest"] in card
        assert "Not evaluated yet" in card
    else:
        figure = json.loads((home / "scratch" / "metrics.json").read_text())["perplexity"]
        row = next(line for line in card.splitlines() if line.startswith("| adjusted"))
        shown = [float(cell.replace(",", "")) for cell in row.split("|")[2:5]]
        assert shown == pytest.approx([figure[kind]["app"] for kind in figure], rel=1e-3)


def test_a_dataset_of_the_same_name_is_another(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numerate.load(home / "scratch").save_pretrained(tmp_path / "out")
    (tmp_path / "out" / "calibration.json").unlink()
    numerate.prepare("cardiac", tmp_path / "cardiac", documents=30)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatasetError, match=r"^cardiac: not the dataset that .* pass --dataset$"):
        _ = numerate.load("out").checker.calibration
    monkeypatch.chdir(home)
    assert len(numerate.load(tmp_path / "out").checker.calibration.strangeness)


def test_what_was_learnt_since_is_saved(home: Path, tmp_path: Path) -> None:
    model = numerate.load(home / "scratch")
    with torch.no_grad():
        model.backbone.words.gate.add_(1.0)
    model.save_pretrained(tmp_path / "changed")
    again = numerate.load(tmp_path / "changed")
    np.testing.assert_array_equal(
        again.backbone.words.gate.detach(), model.backbone.words.gate.detach()
    )
    card = (tmp_path / "changed" / "README.md").read_text()
    assert "whoever shares it says so" in card
    assert "Not evaluated yet" in card
    for name in ("metrics.json", "calibration.json"):
        assert not (tmp_path / "changed" / name).exists(), "that is of other weights"


def test_what_cannot_be_saved_is_told_and_leaves_nothing(home: Path, tmp_path: Path) -> None:
    member = numerate.load(f"{home / 'scratch'}:d-rnn")
    bare = numerate.load(f"hf:{home / 'tiny'}", cache=home / "cache")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "notes.txt").touch()
    for model, out, message in (
        (member, "new", "a member is saved with its combination"),
        (bare, "new", "a pretrained model as it comes"),
        (numerate.load(home / "scratch"), "taken", "already exists"),
    ):
        with pytest.raises(NumerateError, match=message):
            model.save_pretrained(tmp_path / out)
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
