"""The same texts with other tables are another dataset, for whoever sees tables."""

from pathlib import Path

import pytest
from tests.lm.backbones.pretrained.conftest import save
from tests.lm.train.test_run import Recorder
from tests.trials import write_trials

import numerate
from numerate.errors import RunError
from numerate.lm.backbones.pretrained.backbone import open_backbone
from numerate.lm.backbones.pretrained.language_model import PretrainedLM
from numerate.lm.backbones.pretrained.store import Store
from numerate.lm.data.dataset import Dataset
from numerate.lm.model.run_folder import RunFolder, digest_of_tables
from numerate.lm.train.options import TrainingOptions

ARTICLES = 24


def prepared(folder: Path, caption: str) -> Dataset:
    for article in write_trials(folder / "articles", ARTICLES).iterdir():
        said = article.read_text(encoding="utf-8").replace("Patients at baseline.", caption)
        article.write_text(said, encoding="utf-8")
    numerate.prepare(str(folder / "articles"), folder / "data")
    return Dataset.open(folder / "data")


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> tuple[Dataset, Dataset]:
    """Of the same texts; only captions of tables differ."""
    home = tmp_path_factory.mktemp("captions")
    one, other = prepared(home / "one", "At baseline."), prepared(home / "other", "At the end.")
    assert one.manifest["content_hash"] == other.manifest["content_hash"]
    return one, other


def trained(dataset: Dataset, out: Path, sight: str, **choices) -> RunFolder:
    options = TrainingOptions(epochs=2, batch_size=10)
    numerate.train(
        dataset.folder, out, model="grounded", sight=sight, vocabulary=90, hidden=8,
        options=options, device="cpu", **choices,
    )  # fmt: skip
    return RunFolder(out)


def test_the_same_source_has_the_same_tables(datasets, tmp_path: Path) -> None:
    again = prepared(tmp_path, "At baseline.")
    assert digest_of_tables(again) == digest_of_tables(datasets[0]) != digest_of_tables(datasets[1])


def test_a_cache_is_of_the_tables_that_were_read(datasets, tmp_path: Path) -> None:
    lm = PretrainedLM(open_backbone(save(tmp_path / "tiny", "single")), start=0)
    folders = {
        level: {Store(tmp_path, lm, dataset, level).folder for dataset in datasets}
        for level in ("none", "paragraph", "tables", "document")
    }
    counts = {level: len(found) for level, found in folders.items()}
    assert counts == {"none": 1, "paragraph": 1, "tables": 2, "document": 2}


@pytest.mark.parametrize("sight", ["paragraph", "tables"])
def test_a_run_is_of_the_tables_that_it_saw(datasets, tmp_path: Path, sight: str) -> None:
    """A run that sees none takes one dataset for the other, also in its calibration."""
    one, other = datasets
    run = trained(one, tmp_path / "run", sight)
    assert run.is_its_own(one)
    assert run.is_its_own(other) == (sight == "paragraph")
    _ = numerate.load(run.path, one.folder).checker.calibration
    known = (run.path / "calibration.json").read_bytes()
    _ = numerate.load(run.path, other.folder).checker.calibration
    assert (known == (run.path / "calibration.json").read_bytes()) == (sight == "paragraph")
    if sight == "paragraph":
        trained(other, run.path, sight, resume=True)
    else:
        with pytest.raises(RunError, match="finished with other options: tables was"):
            trained(other, run.path, sight, resume=True)


def test_a_checkpoint_goes_on_with_its_own_tables_alone(datasets, tmp_path: Path) -> None:
    one, other = datasets
    trained(one, tmp_path / "run", "tables", reporter=Recorder(interrupt_after=6))
    with pytest.raises(RunError, match="checkpoint of another run: tables was"):
        trained(other, tmp_path / "run", "tables", resume=True)
