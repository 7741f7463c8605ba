"""Datasets, runs, models, caches and documents that lie in a bucket, as users use them."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import s3fs
from tests.disks import Disk
from tests.lm.backbones.pretrained.conftest import save
from tests.lm.model.plausibility.test_command import numerate as command
from tests.processes import copy_of_this_process

import numerate
from numerate.errors import FailureError, NumerateError
from numerate.lm.backbones.pretrained.backbone import open_backbone
from numerate.lm.backbones.pretrained.language_model import PretrainedLM
from numerate.lm.backbones.pretrained.store import Store
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.prepare import prepare
from numerate.lm.model.opening import open_model
from numerate.lm.model.run_folder import CHECKPOINT, RunFolder
from numerate.lm.train import elsewhere
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.run import RunResult, train
from numerate.places import is_being_made, place_of
from numerate.storage.folder_kind import SUMS

pytest_plugins = ("tests.trained",)

TEXT = "The ejection fraction is"


def files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def remote_files(s3: s3fs.S3FileSystem, root: str) -> dict[str, str]:
    return {
        path.removeprefix(f"{root}/"): hashlib.sha256(s3.cat_file(path)).hexdigest()
        for path in s3.find(root)
        if not path.endswith(f"/{SUMS}")
    }


def train_mog(dataset: str | Path, out: str | Path, epochs: int = 1, **more: object) -> RunResult:
    options = TrainingOptions(epochs=epochs, batch_size=10)
    return train(
        dataset, out, model="mog", vocabulary=300, hidden=8, options=options, device="cpu", **more
    )


@pytest.fixture(scope="module")
def runs(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two are enough here."""
    folder, options = tmp_path_factory.mktemp("runs"), TrainingOptions(epochs=1, batch_size=10)
    choices = {"vocabulary": 300, "hidden": 8, "options": options, "device": "cpu"}
    for name in ("mog", "combination"):
        train(dataset, folder / name, model=name, **choices)
    return {name: folder / name for name in ("mog", "combination")}


@pytest.fixture
def data(dataset: Path, bucket: str, s3: s3fs.S3FileSystem) -> str:
    """A prepared dataset that somebody has copied there."""
    for path in dataset.iterdir():
        s3.put_file(str(path), f"{bucket}/data/{path.name}")
    return f"s3://{bucket}/data"


def no_leftovers(cache: Path) -> bool:
    return not [path for path in cache.rglob("*") if path.name in ("@work", "@work.ready")]


def test_a_dataset_is_the_same_wherever_it_is_prepared(
    bucket: str, s3: s3fs.S3FileSystem, machine: Path, tmp_path: Path
) -> None:
    prepare("cardiac", tmp_path / "local", documents=30)
    prepare("cardiac", f"s3://{bucket}/d", documents=30)
    assert remote_files(s3, f"{bucket}/d") == files(tmp_path / "local")
    found = Dataset.open(f"s3://{bucket}/d", verified=True)
    assert files(found.folder) == files(tmp_path / "local")
    assert repr(found).startswith(f"Dataset(s3://{bucket}/d: train 21 paragraphs")
    assert no_leftovers(machine)


def test_a_dataset_that_was_spoilt_there_is_named_by_its_address(
    data: str, bucket: str, s3: s3fs.S3FileSystem
) -> None:
    s3.pipe_file(f"{bucket}/data/dev-00000.parquet", b"PAR1 no more")
    with pytest.raises(NumerateError, match=rf"{data}/dev-00000.parquet: .*"):
        Dataset.open(data)


def test_a_run_is_trained_to_a_bucket_and_used_from_there(
    data: str, bucket: str, s3: s3fs.S3FileSystem, machine: Path, dataset: Path, tmp_path: Path
) -> None:
    place = f"s3://{bucket}/runs/mog"
    result = train_mog(data, place)
    assert (result.folder, result.state) == (place, "finished")
    assert no_leftovers(machine)
    train_mog(dataset, tmp_path / "mog")
    there, local = remote_files(s3, f"{bucket}/runs/mog"), files(tmp_path / "mog")
    same = {"model.safetensors", "vocabulary.json", "documents.json"}
    assert there.keys() == local.keys()
    assert {name: there[name] for name in same} == {name: local[name] for name in same}
    opened = open_model(place)
    assert opened.run is not None
    assert opened.run.open_dataset().manifest == Dataset.open(dataset).manifest  # where it was
    here, elsewhere = numerate.load(tmp_path / "mog"), numerate.load(place)
    assert elsewhere.predict(TEXT).top(5) == here.predict(TEXT).top(5)
    assert s3.exists(f"{bucket}/runs/mog/reference.json")  # what was found out is kept in the run
    with pytest.raises(NumerateError, match=f"^{place}: already exists; add --resume to go on, or"):
        train_mog(data, place)
    assert train_mog(data, place, resume=True).state == "finished"
    train_mog(data, place, epochs=2, force=True)
    assert RunFolder.open(place).trained().best_epoch == 2
    assert not s3.exists(f"{bucket}/runs/mog/reference.json")
    assert not s3.exists(f"{bucket}/runs/.mog.new")


class Interrupting:
    """Ends training after an epoch, as Ctrl-C or a kill does."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def on_start(self, *_: object) -> None:
        pass

    def on_step(self, *_: object) -> None:
        pass

    def on_epoch(self, record: dict[str, object]) -> None:
        raise self.error


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_training_goes_on_on_another_machine(
    error: type[BaseException],
    data: str,
    bucket: str,
    machine: Path,
    s3: s3fs.S3FileSystem,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = f"s3://{bucket}/runs/mog"
    if error is KeyboardInterrupt:
        result = train_mog(data, place, epochs=2, reporter=Interrupting(error))
        assert (result.folder, result.state) == (f"s3://{bucket}/runs/.mog.new", "interrupted")
        assert RunFolder.open(result.folder).trained().state == "interrupted"  # it can be used
    else:
        with pytest.raises(error):
            train_mog(data, place, epochs=2, reporter=Interrupting(error))
    assert no_leftovers(machine)
    assert s3.exists(f"{bucket}/runs/.mog.new/checkpoint.safetensors")
    with pytest.raises(NumerateError, match=f"^{place}: nothing there"):
        numerate.load(place)
    with pytest.raises(
        NumerateError, match=f"^{place}: a training has begun there and not ended; add"
    ):
        train_mog(data, place)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another machine"))
    result = train_mog(data, place, epochs=2, resume=True)
    assert (result.state, len(result.history)) == ("finished", 2)
    assert not s3.exists(f"{bucket}/runs/.mog.new")
    train_mog(data, f"s3://{bucket}/runs/whole", epochs=2)
    weights = [f"{bucket}/runs/{name}/model.safetensors" for name in ("mog", "whole")]
    assert s3.cat_file(weights[0]) == s3.cat_file(weights[1])  # as if nothing had happened


def test_checkpoints_are_uploaded_while_it_trains(
    data: str, bucket: str, s3: s3fs.S3FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elsewhere, "UPLOAD_SECONDS", 0.0)
    seen = []

    class Looking(Interrupting):
        def on_epoch(self, record: dict[str, object]) -> None:
            seen.append(s3.exists(f"{bucket}/runs/.mog.new/checkpoint.safetensors"))
            assert not s3.exists(f"{bucket}/runs/mog/config.json")

    train_mog(data, f"s3://{bucket}/runs/mog", epochs=3, reporter=Looking(ValueError))
    assert seen == [False, True, True]  # our reporter hears of an epoch before the store does


def test_of_two_trainings_at_once_the_second_keeps_its_checkpoints_to_itself(
    bucket: str,
    s3: s3fs.S3FileSystem,
    tmp_path: Path,
    machine: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = f"s3://{bucket}/runs/mog"
    with elsewhere._lead(place, resume=False, force=False) as first:
        for name in (CHECKPOINT, "config.json"):
            (first.folder / name).write_text("of the first")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another machine"))
        with elsewhere._lead(place, resume=False, force=False) as second:
            for name in (CHECKPOINT, "config.json"):
                (second.folder / name).write_text("of the second")
            first.keep()
            second.keep()
            told = "another training has begun to write there; this checkpoint is on this machine"
            assert told in capsys.readouterr().err.replace("\n", " ")
            for name in (CHECKPOINT, "config.json"):
                assert s3.cat_file(f"{bucket}/runs/.mog.new/{name}") == b"of the first"


@pytest.mark.parametrize("renames_over", [True, False])
def test_a_kill_during_an_upload_leaves_the_checkpoint_before(
    renames_over: bool, machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a file is there from its first byte on."""
    monkeypatch.setattr(Disk, "renames_over", renames_over)
    place = f"disk://{tmp_path}/runs/mog"

    def killed_midway() -> None:
        def put_file(self: Disk, local: str, path: str) -> None:
            Path(path).write_bytes(Path(local).read_bytes()[:1])
            os._exit(9)

        Disk.put_file = put_file
        run.keep()

    with elsewhere._lead(place, resume=False, force=False) as run:
        for checkpoint in (b"first", b"second"):
            (run.folder / CHECKPOINT).write_bytes(checkpoint)
            run.keep()
        (run.folder / CHECKPOINT).write_bytes(b"third, cut off")
        process = copy_of_this_process(killed_midway)
        process.join()
        assert process.exitcode == 9
    with elsewhere._lead(place, resume=True, force=False) as run:
        assert files(run.folder).keys() == {CHECKPOINT}
        assert (run.folder / CHECKPOINT).read_bytes() == b"second"


def test_a_finished_run_whose_bucket_has_gone_is_kept(
    dataset: Path, bucket: str, s3: s3fs.S3FileSystem, machine: Path
) -> None:
    class Removing(Interrupting):
        def on_epoch(self, record: dict[str, object]) -> None:
            s3.rm(bucket, recursive=True)

    with pytest.raises(FailureError, match=r"the finished run is kept in (.*)$") as caught:
        train_mog(dataset, f"s3://{bucket}/mog", reporter=Removing(ValueError))
    kept = Path(str(caught.value).rpartition(" kept in ")[2])
    assert kept.is_relative_to(machine)
    assert RunFolder.open(kept).trained().state == "finished"
    assert no_leftovers(machine)


def test_a_finished_run_whose_upload_is_interrupted_is_kept(
    dataset: Path, bucket: str, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(elsewhere.Upload, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train_mog(dataset, f"s3://{bucket}/mog")
    (kept,) = (machine / "numerate" / "unpublished").iterdir()
    assert RunFolder.open(kept).trained().state == "finished"


def test_launchers_with_one_cache_have_their_own_folders(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As two on one machine, or on two that share the home folders of their users."""
    place = f"s3://{bucket}/mog"
    with elsewhere._lead(place, resume=False, force=False) as run:
        (run.folder / "log.jsonl").touch()
        monkeypatch.setenv("RANK", "2")
        monkeypatch.setenv("LOCAL_RANK", "0")
        with elsewhere._follow(place, resume=False) as first:
            monkeypatch.setenv("RANK", "3")
            monkeypatch.setenv("LOCAL_RANK", "1")
            with elsewhere._follow(place, resume=False) as second:
                assert first == second != run.folder
                assert is_being_made(first / "log.jsonl")
                assert place_of(first) == place
        assert (run.folder / "log.jsonl").exists()


def test_a_run_that_was_copied_there_with_its_dataset_finds_it(
    runs: dict[str, Path], dataset: Path, bucket: str, s3: s3fs.S3FileSystem
) -> None:
    run = runs["mog"]
    s3.put(str(run), f"{bucket}/copied/runs/mog", recursive=True)
    config = json.loads((run / "config.json").read_text())
    config["dataset"] |= {"path": "/gone", "relative": "../../data"}
    s3.pipe_file(f"{bucket}/copied/runs/mog/config.json", json.dumps(config).encode())
    s3.put(str(dataset), f"{bucket}/copied/data", recursive=True)
    found = RunFolder.open(f"s3://{bucket}/copied/runs/mog").open_dataset()
    assert str(found).startswith(f"Dataset(s3://{bucket}/copied/data")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("pretrained") / "single", "single")


def test_a_pretrained_model_lies_in_a_bucket_and_its_cache_does_not(
    tiny: Path, dataset: Path, bucket: str, machine: Path, s3: s3fs.S3FileSystem
) -> None:
    s3.put(str(tiny), f"{bucket}/models/tiny", recursive=True)
    lm = PretrainedLM(open_backbone(f"s3://{bucket}/models/tiny"), start=0)
    assert lm.backbone.name == "tiny"
    assert lm.backbone.place == f"s3://{bucket}/models/tiny"
    cache = f"s3://{bucket}/states"
    for use in (Store, lambda *given: numerate.load("hf:tiny", cache=cache)):
        with pytest.raises(NumerateError, match=f"^{cache}: got an address, expected a path of"):
            use(cache, lm, Dataset.open(dataset))


def test_commands_take_addresses(
    capsys: pytest.CaptureFixture[str],
    runs: dict[str, Path],
    data: str,
    bucket: str,
    s3: s3fs.S3FileSystem,
    machine: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    run = f"s3://{bucket}/runs/combination"
    s3.put(str(runs["combination"]), f"{bucket}/runs/combination", recursive=True)
    s3.pipe_file(f"{bucket}/texts/a.md", b"Of 200 patients, 50 (30%) died.\n")
    s3.pipe_file(f"{bucket}/table.csv", b"patient,fraction\n1,55\n2,60\n3,\n")
    status, out, _ = command(capsys, "describe", data)
    assert (status, "documents" in out) == (0, True)
    picture = f"s3://{bucket}/p.svg"
    status, out, _ = command(
        capsys, "predict", run, TEXT, "--dataset", data, "--plot", picture, "--format", "json"
    )
    assert (status, len(json.loads(out)["top"])) == (0, 5)
    assert s3.cat_file(f"{bucket}/p.svg").startswith(b"<?xml")
    arguments = ["--dataset", data, "--limit", "5", "--format", "json"]
    status, out, _ = command(capsys, "evaluate", run, f"{run}:mog", *arguments)
    assert status == 0
    assert list(json.loads(out)["runs"]) == [run, f"{run}:mog"]
    assert s3.exists(f"{bucket}/runs/combination/metrics.json")
    baseline = f"s3://{bucket}/known.json"
    status, out, _ = command(capsys, "check", f"s3://{bucket}/texts", "--format", "json")
    assert status == 1
    assert f"s3://{bucket}/texts/a.md" in out
    written = ["--baseline", baseline, "--write-baseline"]
    status, _, err = command(capsys, "check", f"s3://{bucket}/texts/a.md", *written)
    assert (status, baseline in err) == (0, True)
    status, _, _ = command(capsys, "check", f"s3://{bucket}/texts/a.md", "--baseline", baseline)
    assert status == 0
    table = f"s3://{bucket}/table.csv"
    status, out, _ = command(capsys, "fill", run, table, "--dataset", data)
    assert (status, f"s3://{bucket}/table.filled.csv" in out) == (0, True)
    assert b"55" in s3.cat_file(f"{bucket}/table.filled.csv")
    status, _, err = command(capsys, "fill", run, table, "--dataset", data)
    assert (status, err) == (
        2,
        f"numerate: s3://{bucket}/table.filled.csv: exists; --force replaces it\n",
    )
    assert no_leftovers(machine)
    assert list(tmp_path.iterdir()) == [machine]  # nothing beside the cache


WRONG = [
    ("describe s3://no-such-bucket/d", "s3://no-such-bucket/d: no such bucket: no-such-bucket"),
    ("describe {b}/gone", "{b}/gone: nothing there, expected a file or a folder"),
    ("describe {b}/partial", "{b}/partial: incomplete: manifest.json or config.json is missing"),
    ("describe zz://b/d", "zz://b/d: unknown protocol zz://"),
    ("prepare cardiac --out s3://no-such-bucket/d", "s3://no-such-bucket/d: no such bucket"),
    ("prepare cardiac --documents 9 --out {b}/partial", "{b}/partial: holds what was not written"),
    ("train {d} --out s3://no-such-bucket/r --epochs 1", "s3://no-such-bucket/r: no such bucket"),
    ("train-detector {d} --out s3://no-such-bucket/r", "s3://no-such-bucket/r: no such bucket"),
    ("evaluate {b}/gone", "{b}/gone: nothing there"),
    ("predict {b}/gone text", "{b}/gone: nothing there"),
    ("check {b}/gone.md", "{b}/gone.md: nothing there"),
    (
        "check {b}/partial/dev-00000.txt --fix",
        "--fix: got {b}/partial/dev-00000.txt, expected files",
    ),
    ("check {t} --model {b}/gone", "{b}/gone: nothing there"),
    ("reproduce {d} --out {b}/r", "{b}/r: got an address, expected a path of this machine"),
    ("inspect {t} --out {b}/r", "{b}/r: got an address, expected a path of this machine"),
    ("benford {d} --out {b}/r", "{b}/r: got an address, expected a path of this machine"),
    ("serve {b}/gone --port 0", "{b}/gone: nothing there"),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_what_is_wrong_elsewhere_is_one_line(
    call: str,
    message: str,
    capsys: pytest.CaptureFixture[str],
    dataset: Path,
    bucket: str,
    s3: s3fs.S3FileSystem,
    machine: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.md").write_text("Of 200 patients, 50 (25%) died.")
    s3.pipe_file(f"{bucket}/partial/dev-00000.txt", b"half")
    places = {"b": f"s3://{bucket}", "d": dataset, "t": "t.md"}
    before = s3.find(bucket)
    status, out, err = command(capsys, *call.format(**places).split())
    assert (status, out) == (2, "")
    assert err.startswith(f"numerate: {message.format(**places)}")
    assert err.count("\n") == 1
    assert s3.find(bucket) == before
    assert {path.name for path in tmp_path.iterdir()} <= {"cache", "t.md"}
    assert no_leftovers(machine)


def test_nothing_is_needed_for_paths_of_this_machine(dataset: Path, runs: dict[str, Path]) -> None:
    """fsspec comes with torch; ours must not be what imports it, nor any store's client."""
    code = (
        "import sys; from numerate.lm.data.dataset import Dataset; import numerate.cli; "
        f"Dataset.open({str(dataset)!r}); print(sorted({{'fsspec', 's3fs', 'boto'}} & "
        "{name.split('.')[0] for name in sys.modules}))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_a_dataset_of_this_machine_may_be_an_address(
    capsys: pytest.CaptureFixture[str], dataset: Path, runs: dict[str, Path], tmp_path: Path
) -> None:
    shutil.copytree(runs["mog"], tmp_path / "a run")
    assert Dataset.open(f"file://{dataset}").folder == dataset
    lm = numerate.load(f"file://{tmp_path}/a%20run", f"file://{dataset}")
    assert lm.predict(TEXT).top(1) == numerate.load(runs["mog"]).predict(TEXT).top(1)
    status, _, _ = command(
        capsys, "prepare", "cardiac", "--documents", "9", "--out", f"file://{tmp_path}/new"
    )
    assert (status, Dataset.open(tmp_path / "new").manifest["format"]) == (0, "numerate dataset")
