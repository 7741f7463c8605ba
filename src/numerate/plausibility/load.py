"""From the folder of a run to a model of which one asks about numbers."""

from pathlib import Path

from numerate.corpus.dataset import Dataset
from numerate.errors import RunError
from numerate.evaluation.guards import open_dataset
from numerate.model.language_model import CONFIG, LanguageModel, read_json
from numerate.plausibility.calibration import Calibration, calibrate
from numerate.plausibility.model import NumerateModel
from numerate.plausibility.reference import Reference
from numerate.plausibility.run_model import RunModel


def load(path: str | Path, dataset: str | Path | None = None) -> NumerateModel:
    """Open a trained run. What it must know of its dataset is found out once and kept in it."""
    folder = Path(path)
    record = read_json(folder / CONFIG)
    if record.get("state") == "training":
        raise RunError(f"{folder}: still being trained; wait, or finish it with --resume")
    model = LanguageModel.load(folder)
    opened = open_dataset(folder, record, dataset)
    run = RunModel(model, Reference.of(opened, model.vocabulary))
    return NumerateModel(run, lambda: _calibrated(run, opened))


def _calibrated(model: RunModel, dataset: Dataset) -> Calibration:
    return calibrate(model, dataset.split("dev").read(["text"])["text"].to_pylist())
