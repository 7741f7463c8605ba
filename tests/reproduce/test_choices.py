"""Which runs stand for what is asked of a suite, told by what they remember; nothing is trained."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import fsspec
import pytest

from numerate.corpus.dataset import Dataset
from numerate.corpus.prepare import prepare
from numerate.errors import RunError
from numerate.places import place_of
from numerate.pretrained.files import digest
from numerate.reproduce.choices import Plan, Task, backbone_path
from numerate.runs.folder import CONFIG, FORMAT, VERSION, RunFolder
from numerate.training.options import TrainingOptions


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
        "head": {},
        "state": "finished",
        **{name: asked[name] for name in ("model", "hidden", "dropout", "sight")},
        "options": {"truncate": asked["truncate"], "members": list(asked["members"])},
        "training": {name: asked[name] for name in trained},
        "dataset": asdict(place),
    }
    folder.path.mkdir(parents=True)
    (folder.path / CONFIG).write_text(json.dumps({**record, **changes}))


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
    about = {"path": place_of(path), "digest": digest(path), "start": 0, "finetune": "none"}
    remember(plan, task, backbone=about, network=None)
    assert about["path"] == "memory://models/tiny"
    assert plan.is_trained(task)
    there.pipe("/models/tiny/model.safetensors", b"other weights")
    with pytest.raises(RunError, match="a run with another backbone_hash: was"):
        plan.is_trained(task)
