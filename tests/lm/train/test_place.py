"""A run replaces only what is ours, when it is complete, and has one writer at a time."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from numerate.errors import DatasetError, NumerateError
from numerate.lm.data.prepare import prepare
from numerate.lm.model.opening import open_stored
from numerate.lm.model.run_folder import RunFolder, writing_folder
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.run import RunResult, train
from numerate.storage.atomic import InUseError, locked
from numerate.storage.folder_kind import FolderKind


@pytest.fixture(scope="module")
def cardiac(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "cardiac"
    prepare("cardiac", folder, documents=40, processes=1)
    return folder


@pytest.fixture(scope="module")
def trained(cardiac: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "run"
    quick(cardiac, folder)
    return folder


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    """A run that a test may spoil, with a seed of 1."""
    return shutil.copytree(trained, tmp_path / "run")


def quick(dataset: Path, out: Path, seed: int = 1, **changes: Any) -> RunResult:
    options = TrainingOptions(epochs=2, batch_size=20, seed=seed)
    sizes: Any = {"model": "h-softmax", "vocabulary": 100, "hidden": 4, "device": "cpu"}
    return train(dataset, out, options=options, **{**sizes, **changes})


class Stop:
    """Interrupts training, as Ctrl-C does, at the end of an epoch; or looks at the folder."""

    def __init__(self, folder: Path, interrupt: bool = True) -> None:
        self.folder, self.interrupt = folder, interrupt
        self.seen: list[dict[str, bytes]] = []

    def on_start(self, options: TrainingOptions, tokens: int, epoch: int) -> None: ...

    def on_step(self, epoch: int, tokens: int, loss: float | None) -> None: ...

    def on_epoch(self, record: dict[str, Any]) -> None:
        self.seen.append(contents(self.folder))
        if self.interrupt:
            raise KeyboardInterrupt


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def seed_of(run: Path) -> object:
    return RunFolder(run).config().training["seed"]


def assert_tidy(folder: Path) -> None:
    """Nothing of ours is left beside the run."""
    assert [path.name for path in folder.parent.iterdir() if path.name.startswith(".")] == []


def test_a_run_is_replaced_when_the_new_one_is_complete(cardiac: Path, run: Path) -> None:
    before = contents(run)
    watch = Stop(run, interrupt=False)
    result = quick(cardiac, run, seed=2, force=True, reporter=watch)
    assert watch.seen == [before, before]
    assert (result.folder, result.state, seed_of(run)) == (run, "finished", 2)
    assert_tidy(run)


def test_an_interrupt_leaves_the_run_before_and_can_be_resumed(
    cardiac: Path, run: Path, tmp_path: Path
) -> None:
    before = contents(run)
    result = quick(cardiac, run, seed=2, force=True, reporter=Stop(run))
    assert (result.state, result.folder) == ("interrupted", writing_folder(run))
    assert result.folder != run
    assert contents(run) == before
    result = quick(cardiac, run, seed=2, resume=True)
    assert (result.folder, result.state, seed_of(run)) == (run, "finished", 2)
    assert_tidy(run)
    quick(cardiac, tmp_path / "straight", seed=2)
    weights = [
        (folder / "model.safetensors").read_bytes() for folder in (run, tmp_path / "straight")
    ]
    assert weights[0] == weights[1]


def test_an_attempt_that_is_given_up_is_begun_anew(cardiac: Path, run: Path) -> None:
    quick(cardiac, run, seed=2, force=True, reporter=Stop(run))
    quick(cardiac, run, seed=3, force=True)
    assert seed_of(run) == 3
    assert_tidy(run)


def test_a_kill_between_two_renamings_loses_nothing(
    cardiac: Path, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if killed there: the first renaming is done, then nothing more."""

    class Killed(BaseException):
        pass

    def kill(*_: object, **__: object) -> bool:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(FolderKind, "remove", kill)  # of the old run
        with pytest.raises(Killed):
            quick(cardiac, run, seed=2, force=True)
    (old,) = run.parent.glob(".run.old-*")
    run.rename(run.parent / old.name.replace("old", "new"))  # as before the second renaming
    assert not run.exists()
    assert RunFolder.open(run).config().training["seed"] == 2
    open_stored(run)
    assert_tidy(run)


@pytest.mark.parametrize(
    "config",
    [
        '{"architectures": ["LlamaForCausalLM"], "model_type": "llama"}',
        '{"format": "numerate dataset", "version": 1}',
        "[]",
        "{",
        None,
    ],
)
@pytest.mark.parametrize("how", ["force", "resume"])
def test_a_folder_that_is_not_ours_is_left_alone(
    cardiac: Path, tmp_path: Path, config: str | None, how: str
) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"irreplaceable")
    if config is not None:
        (folder / "config.json").write_text(config)
    before = contents(folder)
    with pytest.raises(NumerateError, match="run"):
        quick(cardiac, folder, **{how: True})
    assert contents(folder) == before
    assert_tidy(folder)


def test_a_file_of_the_user_in_a_run_is_not_removed(cardiac: Path, run: Path) -> None:
    (run / "notes.txt").write_text("irreplaceable")
    before = contents(run)
    with pytest.raises(NumerateError, match=r"run: holds notes\.txt, which numerate did not write"):
        quick(cardiac, run, force=True)
    assert contents(run) == before
    quick(cardiac, run, resume=True)  # which removes nothing
    assert (run / "notes.txt").exists()


def test_a_file_of_the_user_that_comes_meanwhile_is_not_removed(cardiac: Path, run: Path) -> None:
    class Meanwhile(Stop):
        def on_epoch(self, record: dict[str, Any]) -> None:
            (run / "notes.txt").write_text("irreplaceable")

    with pytest.raises(NumerateError, match=r"holds notes\.txt"):
        quick(cardiac, run, seed=2, force=True, reporter=Meanwhile(run))
    assert seed_of(run) == 1
    assert (run / "notes.txt").exists()
    assert seed_of(writing_folder(run)) == 2, "the new run is not lost either"
    (run / "notes.txt").unlink()
    quick(cardiac, run, seed=2, resume=True)
    assert seed_of(run) == 2


@pytest.mark.parametrize("how", ["force", "resume"])
def test_one_process_at_a_time(cardiac: Path, run: Path, how: str) -> None:
    before = contents(run)
    with locked(run), pytest.raises(InUseError, match=rf"in use by process {os.getpid()} on "):
        quick(cardiac, run, **{how: True})
    assert contents(run) == before


def test_a_run_that_is_being_trained_is_locked(cardiac: Path, tmp_path: Path) -> None:
    class Second(Stop):
        def on_epoch(self, record: dict[str, Any]) -> None:
            with pytest.raises(InUseError, match="in use by process"):
                quick(cardiac, self.folder, resume=True)
            self.seen.append({})

    watch = Second(tmp_path / "run")
    assert quick(cardiac, tmp_path / "run", reporter=watch).state == "finished"
    assert len(watch.seen) == 2
    assert_tidy(tmp_path / "run")


def test_a_killed_end_does_not_pass_for_finished(
    cardiac: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed while the weights are written: the state must not say that they are there."""

    def kill(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("numerate.lm.model.stored.save_tensors", kill)
    with pytest.raises(KeyboardInterrupt):
        quick(cardiac, tmp_path / "run")
    assert RunFolder(tmp_path / "run").config().state == "training"
    monkeypatch.undo()
    assert quick(cardiac, tmp_path / "run", resume=True).state == "finished"
    open_stored(tmp_path / "run")


@pytest.mark.parametrize("written", [0, 1, 2])
@pytest.mark.parametrize("how", [None, "resume", "force"])
def test_a_kill_among_the_first_files_leaves_a_folder_that_training_takes(
    cardiac: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int, how: str | None
) -> None:
    """As if killed there: of so many files that are whole, and one that is not, nothing is lost."""

    class Killed(BaseException):
        pass

    replace, left = os.replace, written

    def kill(*paths: Any) -> None:
        nonlocal left
        if not left:
            raise Killed
        left -= 1
        replace(*paths)

    folder = tmp_path / "run"
    with monkeypatch.context() as patched:
        patched.setattr("numerate.storage.atomic.os.replace", kill)
        patched.setattr(Path, "unlink", lambda *_, **__: None)
        with pytest.raises(Killed):
            quick(cardiac, folder)
    assert len(contents(folder)) == written + 1
    if how is None and written:
        with pytest.raises(NumerateError, match="already exists; add --resume to go on"):
            quick(cardiac, folder)
    else:
        assert quick(cardiac, folder, **({how: True} if how else {})).state == "finished"
        assert open_stored(folder)
        unwritten = [name for name in contents(folder) if name.startswith(".")]
        assert len(unwritten) == (how == "resume" and written > 0)


def test_a_file_that_is_named_almost_as_one_of_ours_is_left_alone(
    cardiac: Path, tmp_path: Path
) -> None:
    theirs = tmp_path / ".config.json.0123abcd-0123abcd"
    theirs.write_text("irreplaceable")
    with pytest.raises(NumerateError, match="already exists"):
        quick(cardiac, tmp_path)
    with pytest.raises(NumerateError, match=r"config\.json is missing"):
        quick(cardiac, tmp_path, resume=True)
    assert theirs.exists()


def test_a_run_finds_its_dataset_from_anywhere(
    cardiac: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    shutil.copytree(cardiac, home / "data" / "cardiac")
    monkeypatch.chdir(home)
    quick(Path("data/cardiac"), Path("runs/one"))
    stored = json.loads((home / "runs" / "one" / "config.json").read_text())["dataset"]
    assert stored["path"] == str(home / "data" / "cardiac")
    assert stored["relative"] == "../../data/cardiac"
    monkeypatch.chdir("/")
    assert RunFolder(home / "runs" / "one").open_dataset().folder == home / "data" / "cardiac"
    moved = tmp_path / "moved"
    home.rename(moved)  # both together
    assert RunFolder(moved / "runs" / "one").open_dataset().folder == moved / "data" / "cardiac"
    shutil.copytree(moved / "data" / "cardiac", home / "data" / "cardiac")
    (moved / "runs" / "one").rename(tmp_path / "one")  # the run alone
    assert RunFolder(tmp_path / "one").open_dataset().folder == home / "data" / "cardiac"


def test_of_two_datasets_the_one_with_the_same_content_is_meant(
    cardiac: Path, run: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    prepare("cardiac", other, documents=40, seed=2, processes=1)
    record = json.loads((run / "config.json").read_text())
    record["dataset"]["relative"] = "../other"
    (run / "config.json").write_text(json.dumps(record))
    assert RunFolder(run).open_dataset().folder == cardiac
    record["dataset"]["path"] = str(tmp_path / "gone")
    (run / "config.json").write_text(json.dumps(record))
    assert RunFolder(run).open_dataset().folder == other


def test_the_same_texts_cut_by_other_rules_are_another_dataset(
    cardiac: Path, run: Path, tmp_path: Path
) -> None:
    """As after an upgrade, or with `--split-names`: the hash of the texts is the same."""
    other = shutil.copytree(cardiac, tmp_path / "other")
    manifest = json.loads((other / "manifest.json").read_text())
    manifest["options"]["reading"]["split_names"] = True
    (other / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(DatasetError, match="other: cut into tokens by other rules than"):
        RunFolder(run).open_dataset(other)
