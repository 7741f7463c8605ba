"""What must hold before a run is evaluated on a dataset; if not, one clear line says so."""

from pathlib import Path

from numerate.corpus.dataset import Dataset
from numerate.errors import RunError
from numerate.runs.contents import TrainedConfig
from numerate.runs.folder import RunFolder
from numerate.vocabulary import Vocabulary


def refuse_training_documents(folder: Path, dataset: Dataset, split: str, ids: set[str]) -> None:
    seen = sorted(ids.intersection(RunFolder(folder).trained_documents()))
    if seen:
        shown = ", ".join(seen[:5]) + (", …" if len(seen) > 5 else "")
        raise RunError(
            f"{folder}: trained on {len(seen)} documents of the {split} split of "
            f"{dataset.folder}: {shown}"
        )


def refuse_foreign_vocabulary(
    folder: Path, record: TrainedConfig, dataset: Dataset, vocabulary: Vocabulary
) -> None:
    if record.dataset.content_hash == dataset.manifest["content_hash"]:
        return
    types = set(dataset.split("train").encode().types)
    known = [*vocabulary.words[2:], *vocabulary.numerals[1:]]
    found = sum(type in types for type in known)
    if found < len(known) / 2:
        raise RunError(
            f"{folder}: its vocabulary does not fit {dataset.folder}: {found} of "
            f"{len(known)} types occur there, expected at least half"
        )
