"""Runs that do not belong together, or cannot be opened, are refused in one line."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.lm.inspect.conftest import LIMIT

from numerate.errors import DatasetError, NumerateError, RunError
from numerate.lm.data.batching import load_corpora
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.prepare import prepare
from numerate.lm.inspect.runs import Run, open_runs
from numerate.lm.model.opening import Settings
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.run import train

QUICK = TrainingOptions(epochs=1)


def test_states_are_those_before_the_numerals(runs: dict[str, Run]) -> None:
    run = runs["mog"]
    corpora = load_corpora(run.shared.dataset, run.model.vocabulary)
    expected = []
    with torch.no_grad():
        for paragraph in range(len(corpora["dev"])):
            batch = corpora["dev"].collate(np.array([paragraph]))
            hidden = run.model.backbone.hidden(batch)
            steps = sorted(batch.positions[batch.word_count :].tolist())
            expected += [hidden[step] for step in steps]
    torch.testing.assert_close(run.dev_states, torch.stack(expected))


def test_a_name_that_comes_twice_gets_its_folder(folders: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(folders["mog"], tmp_path / "other")
    labels = [run.label for run in open_runs([folders["mog"], tmp_path / "other"])]
    assert labels == ["mog (mog)", "mog (other)"]
    shutil.copytree(folders["mog"], tmp_path / "mog")
    opened = open_runs([folders["mog"], tmp_path / "mog"])
    assert [run.label for run in opened] == [f"mog ({folders['mog']})", f"mog ({tmp_path / 'mog'})"]
    assert all("/" not in run.slug and " " not in run.slug for run in opened)


def left_out(named: Path, remembered: Path, dataset: Path | None = None) -> str:
    """Why a remembered run is not opened beside one that is named, which is."""
    heard: list[str] = []
    (run,) = open_runs([named], dataset, remembered=[remembered], leave_out=heard.append)
    assert run.folder == named
    (line,) = heard
    return line


def test_runs_of_other_vocabularies_are_refused(
    folders: dict[str, Path], cardiac: Path, tmp_path: Path
) -> None:
    train(cardiac, tmp_path / "small", model="mog", vocabulary=50, hidden=4, options=QUICK)
    with pytest.raises(RunError, match="different vocabularies"):
        open_runs([folders["mog"], tmp_path / "small"])
    line = left_out(folders["mog"], tmp_path / "small")
    assert line == f"{folders['mog']} and {tmp_path / 'small'}: different vocabularies"


def test_runs_of_other_datasets_are_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    prepare("cardiac", tmp_path / "data", documents=40, seed=2)
    train(
        tmp_path / "data", tmp_path / "other", model="mog", hidden=4, options=QUICK, vocabulary=200
    )
    with pytest.raises(RunError, match="trained on different datasets"):
        open_runs([folders["mog"], tmp_path / "other"])
    assert left_out(folders["mog"], tmp_path / "other").endswith("trained on different datasets")


def test_a_run_still_training_is_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(folders["mog"], tmp_path / "run")
    config = tmp_path / "run" / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "state": "training"}))
    with pytest.raises(RunError, match="still being trained"):
        open_runs([tmp_path / "run"])


def test_a_dataset_that_moved_can_be_given(
    folders: dict[str, Path], cardiac: Path, tmp_path: Path
) -> None:
    shutil.copytree(folders["mog"], tmp_path / "run")
    config = tmp_path / "run" / "config.json"
    record = json.loads(config.read_text())
    record["dataset"] |= {"path": str(tmp_path / "gone"), "relative": "../gone"}
    config.write_text(json.dumps(record))
    with pytest.raises(DatasetError, match="has moved, pass --dataset"):
        open_runs([tmp_path / "run"])
    (run,) = open_runs([tmp_path / "run"], dataset=cardiac)
    assert run.shared.dataset.folder == Dataset.open(cardiac).folder


def test_nothing_and_twice_are_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(NumerateError, match="got none"):
        open_runs([])
    with pytest.raises(NumerateError, match="given twice"):
        open_runs([folders["mog"], folders["mog"]])
    with pytest.raises(NumerateError, match="not a run"):
        open_runs([tmp_path])


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ({"backbone": {}}, "backbone.path is missing"),
        ({"state": "training"}, "still being trained"),
        ({"digest": "0" * 64}, "not the pretrained model this run was made with"),
    ],
)
def test_a_remembered_run_may_have_lost_what_it_needs(
    folders: dict[str, Path],
    headed_folders: dict[str, Path],
    tmp_path: Path,
    damage: dict[str, Any],
    reason: str,
) -> None:
    run = tmp_path / "run"
    shutil.copytree(headed_folders["mog"], run)
    record = json.loads((run / "config.json").read_text())
    record["backbone"] |= {name: value for name, value in damage.items() if name == "digest"}
    record |= {name: value for name, value in damage.items() if name != "digest"}
    (run / "config.json").write_text(json.dumps(record))
    line = left_out(folders["mog"], run)
    assert line.startswith(str(run))
    assert reason in line
    with pytest.raises(NumerateError, match=reason):
        open_runs([folders["mog"], run])
    with pytest.raises(NumerateError, match="got none that opens"):
        open_runs([], remembered=[run], leave_out=print)


def test_a_remembered_run_may_have_lost_what_it_was_trained_on(
    folders: dict[str, Path], cardiac: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(folders["mog"], run)
    (run / "documents.json").unlink()
    assert left_out(folders["mog"], run) == f"{run}: incomplete run: documents.json is missing"
    with pytest.raises(RunError, match="is missing"):
        open_runs([folders["mog"], run])
    record = json.loads((run / "config.json").read_text())
    del record["dataset"]
    (run / "config.json").write_text(json.dumps(record))
    assert "does not name its dataset" in left_out(folders["mog"], run, cardiac)
    with pytest.raises(RunError, match="does not name its dataset"):
        open_runs([folders["mog"], run], cardiac)


@pytest.mark.parametrize(
    ("log", "reason"), [(None, "is missing"), ("{'epoch': 1}", "cannot be read")]
)
def test_a_remembered_run_may_have_lost_its_log(
    folders: dict[str, Path], tmp_path: Path, log: str | None, reason: str
) -> None:
    run = tmp_path / "run"
    shutil.copytree(folders["mog"], run)
    (run / "log.jsonl").unlink()
    if log is not None:
        (run / "log.jsonl").write_text(log)
    assert reason in left_out(folders["mog"], run)
    with pytest.raises(RunError, match=reason):
        open_runs([folders["mog"], run])


def test_runs_over_one_model_share_the_cache_that_any_of_them_remembers(
    headed_folders: dict[str, Path],
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "usual"))
    forgetful = tmp_path / "forgetful"
    shutil.copytree(headed_folders["h-softmax"], forgetful)
    record = json.loads((forgetful / "config.json").read_text())
    (forgetful / "config.json").write_text(json.dumps({**record, "cache": None}))
    both = [forgetful, headed_folders["mog"]]

    def caches(settings: Settings | None = None) -> set[Path]:
        opened = open_runs(both, device="cpu", limit=LIMIT, settings=settings)
        stores = [run.model.backbone.store for run in opened]
        return {store.folder.parents[1] for store in stores}

    assert caches() == {settings.cache}
    assert not (tmp_path / "usual").exists()
    assert caches(Settings(cache=tmp_path / "given")) == {tmp_path / "given"}
    both.pop()
    assert caches() == {tmp_path / "usual" / "numerate"}
