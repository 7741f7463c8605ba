"""Which runs stand for what is asked of a suite, told by what they remember; nothing is trained."""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import fsspec
import pytest

from numerate.errors import RunError
from numerate.lm.backbones.pretrained.files import digest
from numerate.lm.data.dataset import MANIFEST, Dataset
from numerate.lm.data.prepare import prepare
from numerate.lm.model.run_folder import CONFIG, FORMAT, VERSION, WEIGHTS, RunFolder
from numerate.lm.reproduce import results
from numerate.lm.reproduce.choices import Plan, Task, backbone_path
from numerate.lm.train.options import TrainingOptions
from numerate.places import place_of

USUAL = {"kind": "transformer", "layers": 2, "heads": 4, "inputs": "digits"}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "cardiac"
    prepare("cardiac", folder, documents=20, processes=1)
    return folder


def remember(plan: Plan, task: Task, **changes: Any) -> None:
    """What a finished run of the task says of itself, but for the changes."""
    asked, folder = plan.settings(task), RunFolder(plan.run(task))
    place = folder.place_of(Dataset.open(plan.dataset), task.row.sight)
    trained = [*TrainingOptions.__dataclass_fields__, "vocabulary", "vectors"]
    record = {
        "format": FORMAT,
        "version": VERSION,
        "numerate": "0.5.0",
        "network": {"kind": "lstm", "layers": 1, "heads": 1, "inputs": "digits"},
        "head": {},
        "state": "finished",
        **{name: asked[name] for name in ("model", "hidden", "dropout", "sight")},
        "options": {"truncate": asked["truncate"], "members": list(asked["members"])},
        "training": {name: asked[name] for name in trained},
        "dataset": asdict(place),
    }
    folder.path.mkdir(parents=True, exist_ok=True)
    (folder.path / CONFIG).write_text(json.dumps({**record, **changes}))


def with_manifest(dataset: Path, folder: Path, change: Callable[[Any], None]) -> Path:
    """The same texts as another dataset, as far as its manifest says."""
    shutil.copytree(dataset, folder)
    manifest = json.loads((folder / MANIFEST).read_text())
    change(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest))
    return folder


def read_otherwise(manifest: Any) -> None:
    manifest["options"]["reading"]["decimal"] = "comma"


def show_otherwise(manifest: Any) -> None:
    name = manifest["splits"]["test"]["sight"]["file"]
    manifest["files"][name]["sha256"] = "0" * 64


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (read_otherwise, "reading.decimal was 'point', got 'comma'"),
        (show_otherwise, "tables was '"),
    ],
)
def test_the_same_texts_read_otherwise_or_beside_other_tables_are_other_data(
    dataset: Path, tmp_path: Path, change: Callable[[Any], None], told: str
) -> None:
    plan = Plan(dataset, tmp_path / "out", models=("grounded",))
    (task,) = plan.tasks
    remember(plan, task)
    (plan.run(task) / WEIGHTS).write_bytes(b"weights")
    assert plan.is_trained(task)
    other = replace(plan, dataset=with_manifest(dataset, tmp_path / "other", change))
    assert other.content_hash == plan.content_hash
    assert results._basis(other, task) != results._basis(plan, task)
    with pytest.raises(RunError, match=f"a run of other options or data: {told}"):
        other.is_trained(task)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"network": {"kind": "transformer", "layers": 3, "heads": 4}}, "network.layers was 3"),
        ({"network": {"kind": "transformer", "layers": 2, "heads": 2}}, "network.heads was 2"),
        ({"network": {**USUAL, "inputs": "fourier"}}, "network.inputs was 'fourier'"),
    ],
)
def test_a_run_of_another_network_is_refused(
    dataset: Path, tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    plan = Plan(dataset, tmp_path / "out", suite="grounded", models=("combination-transformer",))
    (task,) = plan.tasks
    remember(plan, task, **change)
    with pytest.raises(RunError, match=f"a run of other options or data: {told}"):
        plan.is_trained(task)
    remember(plan, task, network=USUAL)
    assert plan.is_trained(task)


def test_a_backbone_elsewhere_is_known_by_its_address_and_refused_when_it_is_another(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    there = fsspec.filesystem("memory")
    there.pipe({f"/models/tiny/{name}": b"{}" for name in ("model.safetensors", "config.json")})
    plan = Plan(
        dataset,
        tmp_path / "out",
        suite="pretrained",
        backbone="hf:memory://models/tiny",
        models=("mog",),
    )
    (task,) = plan.tasks
    path = backbone_path(task.row)
    about = {"path": place_of(path), "digest": digest(path), "start": 0}
    about |= {"layers": [8], "finetune": "none"}
    remember(plan, task, backbone=about, network=None)
    assert about["path"] == "memory://models/tiny"
    assert plan.is_trained(task)
    there.pipe("/models/tiny/model.safetensors", b"other weights")
    with pytest.raises(RunError, match="options or data: backbone_hash was"):
        plan.is_trained(task)
