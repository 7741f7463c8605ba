"""Small trained runs, one of every model, that the tests of this folder share."""

from pathlib import Path

import pytest

import numerate
from numerate.corpus.prepare import prepare
from numerate.model.names import MODELS
from numerate.plausibility.model import NumerateModel
from numerate.training.options import TrainingOptions
from numerate.training.run import train

OPTIONS = TrainingOptions(epochs=1, batch_size=16)


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plausibility") / "cardiac"
    prepare("cardiac", folder, documents=120, seed=1, processes=1)
    return folder


@pytest.fixture(scope="session")
def runs(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    for name in MODELS:
        train(
            dataset,
            folder / name,
            model=name,
            vocabulary=150,
            hidden=16,
            options=OPTIONS,
            device="cpu",
        )
    return {name: folder / name for name in MODELS}


@pytest.fixture(scope="session")
def models(runs: dict[str, Path]) -> dict[str, NumerateModel]:
    return {name: numerate.load(run) for name, run in runs.items()}
