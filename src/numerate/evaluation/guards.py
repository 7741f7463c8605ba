"""What must hold before a run is evaluated on a dataset; if not, one clear line says so."""

from pathlib import Path
from typing import Any

from numerate.corpus.dataset import Dataset
from numerate.errors import DatasetError, RunError
from numerate.model.language_model import CONFIG, read_json
from numerate.training.run import DOCUMENTS
from numerate.vocabulary import Vocabulary


def trained_record(folder: Path) -> dict[str, Any]:
    """What a run says of itself, unless it is still being trained."""
    record = read_json(folder / CONFIG)
    if record.get("state") == "training":
        raise RunError(f"{folder}: still being trained; wait, or finish it with --resume")
    if "dataset" not in record:
        raise RunError(f"{folder}: not a trained run: {CONFIG} does not name its dataset")
    return record


def open_dataset(folder: Path, record: dict[str, Any], dataset: str | Path | None) -> Dataset:
    if dataset is not None:
        return Dataset.open(dataset)
    try:
        return Dataset.open(record["dataset"]["path"])
    except DatasetError as error:
        raise DatasetError(f"{error}; if {folder}'s dataset was moved, give --dataset") from None


def refuse_training_documents(folder: Path, dataset: Dataset, split: str, ids: set[str]) -> None:
    path = folder / DOCUMENTS
    if not path.exists():
        raise RunError(f"{folder}: incomplete run: {DOCUMENTS} is missing")
    trained = read_json(path).get("train")
    if not isinstance(trained, list):
        raise RunError(f"{path}: got no list of training documents; train the run again")
    seen = sorted(ids.intersection(trained))
    if seen:
        shown = ", ".join(seen[:5]) + (", …" if len(seen) > 5 else "")
        raise RunError(
            f"{folder}: trained on {len(seen)} documents of the {split} split of "
            f"{dataset.folder}: {shown}"
        )


def refuse_foreign_vocabulary(
    folder: Path, record: dict[str, Any], dataset: Dataset, vocabulary: Vocabulary
) -> None:
    if record["dataset"]["content_hash"] == dataset.manifest["content_hash"]:
        return
    types = set(dataset.split("train").encode().types)
    known = [*vocabulary.words[2:], *vocabulary.numerals[1:]]
    found = sum(type in types for type in known)
    if found < len(known) / 2:
        raise RunError(
            f"{folder}: its vocabulary does not fit {dataset.folder}: {found} of "
            f"{len(known)} types occur there, expected at least half"
        )
