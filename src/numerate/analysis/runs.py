"""Trained runs opened for a look inside: models, dataset, and states before the dev numerals."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from numerate.batching import Corpus, load_corpora
from numerate.corpus.dataset import SPLITS, Dataset
from numerate.errors import DatasetError, RunError
from numerate.evaluation.guards import (
    open_dataset,
    refuse_foreign_vocabulary,
    refuse_training_documents,
    trained_record,
)
from numerate.evaluation.score import Targets, numeral_states
from numerate.heads.base import NumeralHead
from numerate.heads.combination import CombinationHead
from numerate.model.device import usable_device
from numerate.model.language_model import LanguageModel
from numerate.model.output import HierarchicalOutput
from numerate.training.loop import LOG


@dataclass(frozen=True, eq=False)
class Run:
    """One trained model. Runs opened together share the dataset and its corpora."""

    label: str  # the model's name, with the folder's where several have one name
    folder: Path
    record: dict[str, Any]  # config.json
    model: LanguageModel
    dataset: Dataset
    corpora: dict[str, Corpus]

    @property
    def name(self) -> str:
        return self.model.config.model

    @property
    def slug(self) -> str:
        """The label as a part of a file's name."""
        return re.sub(r"[^\w+.-]+", "-", self.label).strip("-")

    @property
    def dev(self) -> Corpus:
        return self.corpora["dev"]

    @cached_property
    def dev_states(self) -> Tensor:
        """The hidden state before each numeral of the dev split: [N, D]."""
        return numeral_states(self.model, self.dev)

    @cached_property
    def dev_rows(self) -> np.ndarray:
        """The numerals of the dev split as rows of the corpora's table: [N]."""
        return Targets.of(self.dev).rows

    @property
    def head(self) -> NumeralHead | None:
        """What puts a distribution on numerals; the flat softmax has no such part."""
        output = self.model.output
        return output.head if isinstance(output, HierarchicalOutput) else None

    def heads(self) -> dict[str, NumeralHead]:
        """The head by the run's label, and the members of a combination by their names in it."""
        if self.head is None:
            return {}
        found = {self.label: self.head}
        if isinstance(self.head, CombinationHead):
            members = zip(self.head.members, self.head.heads(), strict=True)
            found |= {f"{name} in {self.label}": member for name, member in members}
        return found

    @cached_property
    def oov_numerals(self) -> int:
        """Distinct numerals of the dataset outside the vocabulary; they share one symbol."""
        types = [type for name in SPLITS for type in self.dataset.split(name).encode().types]
        return len(self.model.vocabulary.unknown(types)[1])

    @property
    def history(self) -> list[dict[str, Any]]:
        """One record per epoch."""
        path = self.folder / LOG
        if not path.exists():
            raise RunError(f"{self.folder}: incomplete run: {LOG} is missing")
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def open_runs(
    folders: Iterable[str | Path],
    dataset: str | Path | None = None,
    device: str | None = None,
) -> list[Run]:
    """Open runs of one dataset and one vocabulary, so that what they learnt can be compared."""
    paths = [Path(folder) for folder in folders]
    if not paths:
        raise RunError("runs: got none, expected at least one folder")
    for index, path in enumerate(paths):
        if path.resolve() in [other.resolve() for other in paths[:index]]:
            raise RunError(f"{path}: given twice")
    records = [trained_record(path) for path in paths]
    models = [LanguageModel.load(path) for path in paths]
    target = usable_device(device)
    opened = open_dataset(paths[0], records[0], dataset)
    _refuse_strangers(paths, records, models, opened if dataset is not None else None)
    ids = set(opened.split("dev").read(["document"])["document"].to_pylist())
    corpora = load_corpora(opened, models[0].vocabulary)
    corpora["train"].table.to(target)
    for path, record in zip(paths, records, strict=True):
        refuse_training_documents(path, opened, "dev", ids)
        refuse_foreign_vocabulary(path, record, opened, models[0].vocabulary)
    if not (corpora["dev"].tokens < 0).any():
        raise DatasetError(f"{opened.folder}: no numeral in the dev split to look at")
    labels = _labels([model.config.model for model in models], paths)
    return [
        Run(
            label=label,
            folder=path,
            record=record,
            model=model.to(target),
            dataset=opened,
            corpora=corpora,
        )
        for label, path, record, model in zip(labels, paths, records, models, strict=True)
    ]


def _labels(names: list[str], paths: list[Path]) -> list[str]:
    """Names of models; with the folder, or if need be its whole path, where one comes twice."""
    wheres = [path.name for path in paths]
    both = list(zip(names, wheres, strict=True))
    labels = []
    for name, where, path in zip(names, wheres, paths, strict=True):
        if names.count(name) == 1:
            labels.append(name)
        else:
            labels.append(f"{name} ({where if both.count((name, where)) == 1 else path})")
    return labels


def _refuse_strangers(
    paths: list[Path],
    records: list[dict[str, Any]],
    models: list[LanguageModel],
    given: Dataset | None,
) -> None:
    for path, record, model in zip(paths[1:], records[1:], models[1:], strict=True):
        hashes = [found.get("dataset", {}).get("content_hash") for found in (records[0], record)]
        if given is None and hashes[0] != hashes[1]:
            raise RunError(f"{paths[0]} and {path}: trained on different datasets")
        if model.vocabulary != models[0].vocabulary:
            raise RunError(f"{paths[0]} and {path}: different vocabularies")
