"""Seven tiny models on a tiny corpus, trained once for all tests of what models learnt."""

from pathlib import Path

import pytest

from numerate.analysis.runs import Run, open_runs
from numerate.corpus.prepare import prepare
from numerate.model.names import MODELS
from numerate.training.options import TrainingOptions
from numerate.training.run import train


@pytest.fixture(scope="session")
def cardiac(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "cardiac"
    prepare("cardiac", folder, documents=60)
    return folder


@pytest.fixture(scope="session")
def folders(cardiac: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Trained just enough that their predictions differ from place to place."""
    parent = tmp_path_factory.mktemp("runs")
    options = TrainingOptions(epochs=4, batch_size=4, learning_rate=0.02)
    for model in MODELS:
        sizes = {"vocabulary": 200, "hidden": 6}
        train(cardiac, parent / model, model=model, device="cpu", options=options, **sizes)
    return {model: parent / model for model in MODELS}


@pytest.fixture(scope="session")
def runs(folders: dict[str, Path]) -> dict[str, Run]:
    opened = open_runs(folders.values(), device="cpu")
    return {run.label: run for run in opened}
