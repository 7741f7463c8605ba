"""Seven tiny models on a tiny corpus, trained once for all tests of what models learnt."""

from pathlib import Path
from typing import Any

import pytest
from tests.lm.backbones.pretrained.conftest import save

from numerate.lm.data.prepare import prepare
from numerate.lm.heads.registry import paper_heads
from numerate.lm.inspect.runs import Run, open_runs
from numerate.lm.model.opening import Settings
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.over_backbone import BackboneChoice
from numerate.lm.train.run import train

BACKBONE = "SmallLM-135M-Instruct"
HEADED = ("h-softmax", "d-rnn", "mog", "combination")
LIMIT = 3  # paragraphs that runs over a pretrained model look at


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
    for model in paper_heads():
        sizes = {"vocabulary": 200, "hidden": 6}
        train(cardiac, parent / model, model=model, device="cpu", options=options, **sizes)
    return {model: parent / model for model in paper_heads()}


@pytest.fixture(scope="session")
def runs(folders: dict[str, Path]) -> dict[str, Run]:
    opened = open_runs(folders.values(), device="cpu")
    return {run.label: run for run in opened}


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """With a cache of the tests' own."""
    return Settings(cache=tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def headed_folders(
    cardiac: Path, settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Heads over a tiny random model, whose name is as long as names are."""
    parent = tmp_path_factory.mktemp("headed")
    backbone = save(parent / BACKBONE, "single")
    choice = BackboneChoice(backbone, cache=settings.cache)
    options = TrainingOptions(epochs=2, batch_size=8, learning_rate=0.01)
    for model in HEADED:
        sizes: Any = {"vocabulary": 200, "hidden": 8}
        given: Any = {"backbone": choice, "options": options, "device": "cpu"}
        train(cardiac, parent / model, model=model, **sizes, **given)
    return {model: parent / model for model in HEADED}


@pytest.fixture(scope="session")
def headed(headed_folders: dict[str, Path], settings: Settings) -> dict[str, Run]:
    """Opened together, with a few paragraphs to look at; by their models' names."""
    opened = open_runs(headed_folders.values(), device="cpu", limit=LIMIT, settings=settings)
    return {run.model.config.model: run for run in opened}


@pytest.fixture(scope="session")
def mixed(
    folders: dict[str, Path], headed_folders: dict[str, Path], settings: Settings
) -> dict[str, Run]:
    """Runs of both kinds side by side, by their labels."""
    both = [*(folders[name] for name in HEADED), *headed_folders.values()]
    opened = open_runs(both, device="cpu", limit=LIMIT, settings=settings)
    return {run.label: run for run in opened}
