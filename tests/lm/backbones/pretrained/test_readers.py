"""Workers that read for the store: the same bytes, whoever reads and whoever dies on the way."""

import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.lm.backbones.pretrained.conftest import shaken

from numerate.cli.train_command import train_with_progress
from numerate.engines import engine
from numerate.errors import BackboneError, FailureError, NumerateError
from numerate.lm.backbones.causal import CausalBackbone
from numerate.lm.backbones.pretrained import store as stores
from numerate.lm.backbones.pretrained.backbone import open_backbone
from numerate.lm.backbones.pretrained.block_reader import Readers
from numerate.lm.backbones.pretrained.language_model import PretrainedLM
from numerate.lm.backbones.pretrained.store import Store
from numerate.lm.backbones.spelling.best_first import Beside
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.data.prepare import prepare
from numerate.lm.model.opening import Settings, open_model
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.over_backbone import BackboneChoice
from numerate.lm.train.run import train

CANDIDATES = NumeralTable(["5", "7", "60", "120"])


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("readers") / "cardiac"
    prepare("cardiac", folder, documents=20, seed=3, tables=True)
    return Dataset.open(folder)


@pytest.fixture
def lm(tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> PretrainedLM:
    """With as many threads wherever it reads."""
    monkeypatch.setenv("OMP_NUM_THREADS", str(torch.get_num_threads()))
    return PretrainedLM(open_backbone(tiny_models["single"]), start=0)


class Sent:
    """An engine whose work, units and results travel as between processes, though it is this."""

    def map(self, make: Callable[[], Any], units: Iterable[Any]) -> Iterator[Any]:
        work = pickle.loads(pickle.dumps(make))()
        for unit in units:
            yield pickle.loads(pickle.dumps(work(pickle.loads(pickle.dumps(unit)))))


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*.npy"))}


class Adapting(torch.nn.Module):
    """A head as the store knows it."""

    def __init__(self, lm: PretrainedLM) -> None:
        super().__init__()
        self.adapter = shaken(lm)

    def digit_adapter(self) -> torch.nn.Module:
        return self.adapter


def beside(numerals: np.ndarray) -> Beside:
    draw = np.random.default_rng(numerals)
    return Beside(draw.random(len(numerals)), draw.random((len(numerals), len(CANDIDATES))))


@pytest.mark.parametrize("sight", ["none", "tables"])
def test_all_that_is_stored_is_the_same_where_it_travels(
    sight: str, tmp_path: Path, lm: PretrainedLM, dataset: Dataset
) -> None:
    for name, readers in {"here": None, "sent": Readers(Sent())}.items():
        split = Store(tmp_path / name, lm, dataset, sight, readers).split("test")
        split.fill(detailed=True)
        split.table(CANDIDATES)
        split.table(CANDIDATES, adapter=shaken(lm))
        split.best(CANDIDATES, beside, head=Adapting(lm))  # type: ignore[arg-type]
        assert split.done.all()
    here, sent = content(tmp_path / "here"), content(tmp_path / "sent")
    assert len(here) >= 16
    assert here == sent


def test_two_processes_interrupted_and_one_that_goes_on(
    tmp_path: Path, lm: PretrainedLM, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "PARAGRAPHS", {"cpu": 3})
    Store(tmp_path / "one", lm, dataset).split("train").fill(detailed=True)

    def interrupt(_what: str, done: int, _of: int) -> None:
        if done >= 6:
            raise KeyboardInterrupt

    two = Readers(engine(processes=2))
    split = Store(tmp_path / "two", lm, dataset, readers=two).split("train")
    with pytest.raises(KeyboardInterrupt):
        split.fill(progress=interrupt, detailed=True)
    assert split.done.sum() == 6
    assert split.done[:6].all()
    assert not multiprocessing.active_children()
    Store(tmp_path / "two", lm, dataset).split("train").fill(detailed=True)
    assert content(tmp_path / "one") == content(tmp_path / "two")


def test_a_worker_of_a_cluster_may_die(
    tmp_path: Path, lm: PretrainedLM, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    psutil = pytest.importorskip("psutil")
    monkeypatch.setattr(stores, "PARAGRAPHS", {"cpu": 1})
    Store(tmp_path / "one", lm, dataset).split("test").fill()
    killed: list[int] = []

    def kill(_what: str, done: int, _of: int) -> None:
        if done >= 2 and not killed:
            below = psutil.Process().children(recursive=True)
            worker = next(child for child in below if child.name().startswith("ray::Worker"))
            killed.append(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)

    ray = Readers(engine("ray", processes=2))
    split = Store(tmp_path / "ray", lm, dataset, readers=ray).split("test")
    split.fill(progress=kill)
    assert killed
    assert split.done.all()
    assert content(tmp_path / "one") == content(tmp_path / "ray")
    assert not [child for child in psutil.Process().children(True) if "ray" in child.name()]


def reading_elsewhere(
    cache: Path, lm: PretrainedLM, dataset: Dataset, device: str | None = None
) -> None:
    Store(cache, lm, dataset, readers=Readers(Sent(), device)).split("dev").fill()


def test_a_worker_without_the_model_says_so(
    tmp_path: Path, make_tiny: Callable[..., Path], dataset: Dataset
) -> None:
    folder = make_tiny()
    lm = PretrainedLM(open_backbone(folder), start=0)
    folder.rename(tmp_path / "moved")
    with pytest.raises(BackboneError, match=r"^worker on \S+: .*model: does not exist"):
        reading_elsewhere(tmp_path, lm, dataset)


def test_a_worker_with_another_model_says_so(
    tmp_path: Path, make_tiny: Callable[..., Path], dataset: Dataset
) -> None:
    lm = PretrainedLM(open_backbone(make_tiny()), start=0)
    make_tiny(num_hidden_layers=1)
    with pytest.raises(BackboneError, match=r"^worker on \S+: .*another model than here: its hash"):
        reading_elsewhere(tmp_path, lm, dataset)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
    ],
)
def test_want_of_memory_is_one_line(
    error: Exception,
    tmp_path: Path,
    lm: PretrainedLM,
    dataset: Dataset,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def score(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(PretrainedLM, "score", score)
    with pytest.raises(FailureError, match=r"^worker on \S+: .*: not enough memory on cpu; what"):
        reading_elsewhere(tmp_path, lm, dataset)
    with pytest.raises(FailureError, match=r"^/.*: not enough memory on cpu; what"):
        Store(tmp_path, lm, dataset).split("dev").fill()


def test_other_mistakes_stay_what_they_are(
    tmp_path: Path, lm: PretrainedLM, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def score(*_: object, **__: object) -> None:
        raise RuntimeError("shapes do not match")

    monkeypatch.setattr(lm, "score", score)
    with pytest.raises(RuntimeError, match="shapes do not match"):
        Store(tmp_path, lm, dataset).split("dev").fill()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_worker_without_the_device_says_so(
    tmp_path: Path, lm: PretrainedLM, dataset: Dataset
) -> None:
    with pytest.raises(NumerateError, match=r"^worker on \S+: device 'cuda' cannot be used: "):
        reading_elsewhere(tmp_path, lm, dataset, "cuda")


def test_what_a_run_has_tuned_is_opened_elsewhere(
    tmp_path: Path,
    tiny_models: dict[str, Path],
    dataset: Dataset,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", str(torch.get_num_threads()))
    run, options = tmp_path / "run", TrainingOptions(epochs=1, batch_size=8, learning_rate=0.1)
    tuned = BackboneChoice(tiny_models["single"], "lora")
    train(dataset.folder, run, model="lm", vocabulary=50, backbone=tuned, options=options)
    for name, readers in {"here": None, "sent": Readers(Sent())}.items():
        opened = open_model(run, device="cpu", settings=Settings(tmp_path / name, readers=readers))
        opened.on(dataset.folder, "test")
        backbone = opened.model.backbone
        assert isinstance(backbone, CausalBackbone)
        assert backbone.store is not None
        backbone.store.split("test").fill()
    bare = PretrainedLM(open_backbone(tiny_models["single"]), backbone.lm.start)
    Store(tmp_path / "bare", bare, dataset).split("test").fill()
    assert content(tmp_path / "here") == content(tmp_path / "sent") != content(tmp_path / "bare")


@pytest.mark.parametrize(
    ("chosen", "reason"),
    [
        (("ray", None, 2, "cuda:1"), r"^device cuda:1: got a number, .* expected cuda$"),
        (("rya", None, None, None), "unknown engine 'rya': did you mean ray"),
        (("local", "auto", None, None), "address auto: only for --engine ray"),
        (("local", None, -1, None), "processes: got -1"),
    ],
)
def test_readers_that_make_no_sense(chosen: tuple[Any, ...], reason: str) -> None:
    with pytest.raises(NumerateError, match=reason):
        Readers.chosen(*chosen)


def test_one_process_is_this_one() -> None:
    assert Readers.chosen("local", None, None, "cuda:1") is None
    assert Readers.chosen("local", None, 1, None) is None


@pytest.mark.parametrize(
    ("backbone", "finetune", "reason"),
    [
        ("lstm", "none", "got backbone lstm, expected a pretrained one"),
        ("hf:model", "lora", "finetune lora: read anew at every step"),
    ],
)
def test_training_that_reads_nothing_ahead_takes_no_readers(
    backbone: str, finetune: str, reason: str, tmp_path: Path, dataset: Dataset
) -> None:
    with pytest.raises(NumerateError, match=reason):
        train_with_progress(
            dataset.folder,
            tmp_path / "run",
            model="mog",
            options=TrainingOptions(),
            tensorboard=False,
            backbone=backbone,
            finetune=finetune,
            readers=Readers(),
        )
    assert not (tmp_path / "run").exists()
