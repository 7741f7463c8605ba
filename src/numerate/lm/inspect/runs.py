"""Trained runs opened together: of one dataset and one vocabulary, so that they can be compared."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch

from numerate.errors import DatasetError, NumerateError, RunError, printable
from numerate.lm.backbones.contract import Targets
from numerate.lm.backbones.tables_in_view import named_columns
from numerate.lm.data.batching import Corpus, load_corpora
from numerate.lm.data.dataset import Dataset, order_of_sampling, some_paragraphs
from numerate.lm.inspect.inspected_run import Run, SharedDataset
from numerate.lm.model.device import usable_device
from numerate.lm.model.opening import Opened, Settings, open_model
from numerate.lm.model.reference import oov_sizes
from numerate.lm.model.run_contents import TrainedConfig
from numerate.lm.model.run_folder import RUN, RunFolder
from numerate.lm.model.stored import StoredModel
from numerate.places import name_of
from numerate.storage.atomic import recover
from numerate.text.columns import LEVELS
from numerate.text.vocabulary import Vocabulary

__all__ = ["Run", "open_runs"]

T = TypeVar("T")

READ = 200  # paragraphs of the dev split that a pretrained model reads
RANKED = {"cpu": 120, "cuda": 4000}  # numerals whose candidates one ranks, a second or two each


def open_runs(
    folders: Iterable[str | Path],
    dataset: str | Path | None = None,
    device: str | None = None,
    *,
    limit: int | None = None,
    settings: Settings | None = None,
    remembered: Iterable[Path] = (),
    leave_out: Callable[[str], None] = print,
) -> list[Run]:
    """Open runs of one dataset and one vocabulary, also over pretrained models.

    `limit` takes so many paragraphs of the dev split, always the same: by default all, or
    `READ` where a pretrained model has to read them. `settings` are for these. Runs that are
    only `remembered` may have lost what they need: `leave_out` hears, a line each, which and why.
    """
    optional = list(remembered)
    paths = [*(Path(folder) for folder in folders), *optional]
    for index, path in enumerate(paths):
        if path.resolve() in [other.resolve() for other in paths[:index]]:
            raise RunError(f"{path}: given twice")

    def those_that_open(paths: Iterable[Path], opener: Callable[[Path], T]) -> dict[Path, T]:
        found = {}
        for path in paths:
            try:
                found[path] = opener(path)
            except NumerateError as error:
                if path not in optional:
                    raise
                leave_out(str(error) if str(path) in str(error) else f"{path}: {error}")
        if not found:
            raise RunError("runs: got none that opens, expected at least one folder")
        return found

    settings = settings or Settings()
    target = usable_device(device)
    known = those_that_open(paths, _About.read)
    first, one = next(iter(known.items()))
    opened = RunFolder(first).open_dataset(dataset)

    def opens(path: Path) -> _About:
        about = known[path]
        _refuse_another_kind(first, one, path, about, one_dataset=dataset is None)
        stored = RunFolder(path)
        # Read now, so that a report fails before anything of it is made.
        stored.history(), stored.environment(), stored.metrics()
        return about

    abouts = those_that_open(known, opens)
    beside: list[Opened] = []

    def load(path: Path) -> Opened:
        """Of runs over one frozen model, that model is loaded once."""
        beside.append(open_model(path, device=target, settings=settings, beside=beside))
        return beside[-1]

    loaded = those_that_open(abouts, load)
    fitting = those_that_open(loaded, lambda path: loaded[path].on(opened, "dev"))
    models = {path: loaded[path] for path in fitting}
    shared = _shared(opened, one.vocabulary, list(models.values()), target, limit)
    labels = _labels([found.model.name for found in models.values()], list(models))
    return [
        Run(label, path, abouts[path].record, shared, found.model)
        for label, (path, found) in zip(labels, models.items(), strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _About:
    """What is known of a run before its model is loaded."""

    record: TrainedConfig
    vocabulary: Vocabulary

    @classmethod
    def read(cls, path: Path) -> "_About":
        recover(path, RUN)
        if not os.path.isdir(path):
            raise RunError(f"{path}: cannot be found, expected the folder of a run")
        return cls(RunFolder(path).trained(), StoredModel.read(path).vocabulary)


def _shared(
    dataset: Dataset,
    vocabulary: Vocabulary,
    models: Sequence[Opened],
    device: torch.device,
    limit: int | None,
) -> SharedDataset:
    """The corpora, with no more of the dev split than pretrained models can be asked about.

    All are over one table of numerals; each model reads the paragraphs with its own view.
    """
    levels = sorted({opened.model.config.sight for opened in models}, key=LEVELS.index)
    loaded = load_corpora(dataset, vocabulary, levels[-1])  # whose table has all numerals
    corpora = {name: corpus.seeing(None) for name, corpus in loaded.items()}
    corpora["train"].table.to(device)
    whole = corpora["dev"]
    if limit is None and any(opened.lm for opened in models):
        limit = READ
    some = some_paragraphs(len(whole), limit)
    in_view = {level: named_columns(dataset, "dev", level) for level in levels}
    seen = {level: whole.seeing(columns).take(some) for level, columns in in_view.items()}
    corpora["dev"] = whole.take(some)
    count = len(corpora["dev"].rows)
    if not count:
        where = "the dev split" if limit is None else f"{len(corpora['dev'])} dev paragraphs"
        raise DatasetError(f"{dataset.folder}: no numeral in {where} to look at")
    ranked = np.arange(count)
    if any(opened.model.head.uses_digits for opened in models):
        ranked = _some_numerals(corpora["dev"], whole, RANKED.get(device.type, RANKED["cpu"]))
    return SharedDataset(dataset, corpora, ranked, whole, oov_sizes(dataset, vocabulary), seen)


def _some_numerals(dev: Corpus, whole: Corpus, most: int) -> np.ndarray:
    """Places of the numerals of whole paragraphs that together have at most so many: [R].

    The first paragraph with any is there even if it has more.
    """
    targets = Targets.of(dev)
    owners = dev.sources[targets.paragraphs[targets.is_numeral]]  # [N]
    order = order_of_sampling(len(whole))[: len(dev)]
    reached = np.cumsum(np.bincount(owners, minlength=len(whole))[order])
    size = max(np.searchsorted(reached, most, "right"), np.argmax(reached > 0) + 1)
    return np.flatnonzero(np.isin(owners, order[:size]))


def _labels(names: list[str], paths: list[Path]) -> list[str]:
    """Names of models; with the folder, or if need be its whole path, where one comes twice."""
    wheres = [name_of(path) for path in paths]
    both = list(zip(names, wheres, strict=True))
    labels = []
    for name, where, path in zip(names, wheres, paths, strict=True):
        if names.count(name) == 1:
            labels.append(name)
        else:
            is_enough = both.count((name, where)) == 1
            labels.append(f"{name} ({where if is_enough else printable(path)})")
    return labels


def _refuse_another_kind(
    first: Path, one: _About, path: Path, other: _About, *, one_dataset: bool
) -> None:
    """A run has the vocabulary of the first one, and with `one_dataset` its dataset."""
    hashes = [about.record.dataset.content_hash for about in (one, other)]
    if one_dataset and hashes[0] != hashes[1]:
        raise RunError(f"{first} and {path}: trained on different datasets")
    if other.vocabulary != one.vocabulary:
        raise RunError(f"{first} and {path}: different vocabularies")
