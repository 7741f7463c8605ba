"""A plugin for tests of models: one thread, since small models want no more, and small runs.

Test modules name it in `pytest_plugins`; a `conftest.py` imports it in `pytest_configure`.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from tests.trials import write_trials

import numerate
from numerate.detector.small import SmallOptions
from numerate.lm.data.prepare import prepare
from numerate.lm.heads.registry import paper_heads
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.train.detector_fitting import FittingOptions
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.run import train
from numerate.lm.train.train_detector import train_detector

OPTIONS = TrainingOptions(epochs=2, batch_size=10)


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session", autouse=True)
def few_documents_suffice() -> Iterator[None]:
    """Dev splits of tests are small: intervals are calibrated on them all the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("numerate.lm.model.conformal.DOCUMENTS", 1)
        yield


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "cardiac"
    prepare("cardiac", folder, documents=120, seed=1, processes=1)
    return folder


@pytest.fixture(scope="session")
def runs(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    for name in paper_heads():
        train(
            dataset,
            folder / name,
            model=name,
            vocabulary=300,
            hidden=16,
            options=OPTIONS,
            device="cpu",
        )
    return {name: folder / name for name in paper_heads()}


@pytest.fixture(scope="session")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Articles whose numbers stand in tables, and their dataset beside them in `data`."""
    folder = tmp_path_factory.mktemp("trials")
    write_trials(folder / "articles", 60)
    prepare(folder / "articles", folder / "data", seed=1, processes=1)
    return folder


@pytest.fixture(scope="session")
def grounded_runs(trials: Path) -> dict[str, Path]:
    """A run that sees the tables of a paragraph, and one that sees all of a document."""
    for sight in ("tables", "document"):
        train(
            trials / "data",
            trials / sight,
            model="grounded",
            sight=sight,
            vocabulary=100,
            hidden=16,
            options=TrainingOptions(epochs=8 if sight == "tables" else 1, batch_size=10),
            device="cpu",
        )
    return {sight: trials / sight for sight in ("tables", "document")}


@pytest.fixture(scope="session")
def grounded(grounded_runs: dict[str, Path]) -> dict[str, NumeralLM]:
    return {sight: numerate.load(run) for sight, run in grounded_runs.items()}


@pytest.fixture(scope="session")
def detector_run(trials: Path) -> Path:
    """A small detector that has learnt to compare a text with its table."""
    train_detector(
        trials / "data",
        trials / "detector",
        network=SmallOptions(hidden=16, dropout=0.0),
        vocabulary=200,
        options=FittingOptions(epochs=25, batch_size=6, learning_rate=0.01),
        device="cpu",
    )
    return trials / "detector"


@pytest.fixture(scope="session")
def models(runs: dict[str, Path]) -> dict[str, NumeralLM]:
    return {name: numerate.load(run) for name, run in runs.items()}
