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
from tests.pretrained.conftest import shaken

from numerate.corpus.dataset import Dataset
from numerate.corpus.prepare import prepare
from numerate.engines import engine
from numerate.numeral_table import NumeralTable
from numerate.pretrained import store as stores
from numerate.pretrained.backbone import open_backbone
from numerate.pretrained.block_reader import Readers
from numerate.pretrained.language_model import PretrainedLM
from numerate.pretrained.store import Store
from numerate.spelling.best_first import Beside

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
    assert not psutil.Process().children(recursive=True)
