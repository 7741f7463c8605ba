"""From the folder of a run to a model of which one asks about numbers."""

import hashlib
import sys
from pathlib import Path
from typing import Any

from numerate.corpus.dataset import Dataset
from numerate.errors import RunError
from numerate.evaluation.guards import (
    open_dataset,
    refuse_foreign_vocabulary,
    refuse_training_documents,
)
from numerate.model.language_model import CONFIG, VOCABULARY, WEIGHTS, LanguageModel, read_json
from numerate.plausibility.calibration import CALIBRATION, Calibration, calibrate
from numerate.plausibility.kept import Say, keep
from numerate.plausibility.model import NumerateModel
from numerate.plausibility.reference import REFERENCE, Reference
from numerate.plausibility.run_model import RunModel


def say_on_stderr(message: str) -> None:
    print(f"numerate: {message}", file=sys.stderr)


def load(
    path: str | Path, dataset: str | Path | None = None, say: Say = say_on_stderr
) -> NumerateModel:
    """Open a trained run. What it must know of its dataset is found out once and kept in it.

    `dataset` is where the dataset is now, if it has moved. `say` is told what takes time.
    """
    return _Run(Path(path), dataset, say).load()


class _Run:
    def __init__(self, folder: Path, dataset: str | Path | None, say: Say) -> None:
        self.folder = folder
        self.record = read_json(folder / CONFIG)
        if self.record.get("state") == "training":
            raise RunError(f"{folder}: still being trained; wait, or finish it with --resume")
        if "dataset" not in self.record:
            raise RunError(f"{folder}: not a trained run: {CONFIG} does not name its dataset")
        self.say = say
        self.given = dataset
        self.hash = self.record["dataset"]["content_hash"]
        if dataset is not None:
            self.hash = Dataset.open(dataset).manifest["content_hash"]

    def load(self) -> NumerateModel:
        model = LanguageModel.load(self.folder)
        identity = {"version": 2, "dataset": self.hash, "vocabulary": self._digest(VOCABULARY)}

        def find_out() -> dict[str, Any]:
            dataset = open_dataset(self.folder, self.record, self.given)
            refuse_foreign_vocabulary(self.folder, self.record, dataset, model.vocabulary)
            return Reference.of(dataset, model.vocabulary).record()

        reference = keep(self.folder, REFERENCE, identity, find_out, self.say)
        run = RunModel(model, Reference.read(reference))
        return NumerateModel(run, lambda: self._calibration(run))

    def _calibration(self, model: RunModel) -> Calibration:
        identity = {"version": 2, "dataset": self.hash, "weights": self._digest(WEIGHTS)}

        def find_out() -> dict[str, Any]:
            dataset = open_dataset(self.folder, self.record, self.given)
            self.say(f"calibrating {self.folder} on the dev split of {dataset.folder}, once")
            split = dataset.split("dev").read(["text", "document"])
            documents = set(split["document"].to_pylist())
            refuse_training_documents(self.folder, dataset, "dev", documents)
            return calibrate(model, split["text"].to_pylist()).record()

        return Calibration.of(keep(self.folder, CALIBRATION, identity, find_out, self.say))

    def _digest(self, name: str) -> str:
        return hashlib.sha256((self.folder / name).read_bytes()).hexdigest()
