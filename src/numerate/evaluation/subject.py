"""What can be evaluated: a run of our own, a pretrained model, a head over a pretrained model."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from numerate.batching import Corpus
from numerate.corpus.dataset import Dataset
from numerate.errors import NumerateError
from numerate.evaluation.guards import refuse_foreign_vocabulary, refuse_training_documents
from numerate.evaluation.head_on_states import HeadOnStates
from numerate.evaluation.member import keep_member, split_reference
from numerate.evaluation.score import TABLE_ROWS, Tables, numeral_tables, token_log_probs
from numerate.model.language_model import LanguageModel
from numerate.numeral_table import NumeralTable
from numerate.pretrained.backbone import PREFIX, open_backbone, parse_reference
from numerate.pretrained.backbone_run import BackboneRun
from numerate.pretrained.language_model import PretrainedLM
from numerate.pretrained.store import Progress, Store, default_cache
from numerate.runs.folder import RunFolder
from numerate.vocabulary import Vocabulary

VOCABULARY = 1000  # of a pretrained model, which has none: it only makes the candidates


@dataclass(frozen=True, slots=True)
class Subject:
    """A model against a dataset, and what figures are made of."""

    name: str
    folder: Path  # of the run; the reference of a member or a pretrained model
    dataset: Dataset
    vocabulary: Vocabulary
    open_words: bool
    open_numerals: bool
    log_probs: Callable[[Corpus], np.ndarray]  # log p of every target: float64 [T]
    tables: Callable[[Corpus, NumeralTable], Tables]
    # The likeliest candidate before each numeral [N], where that takes less than a table.
    best: Callable[[Corpus, NumeralTable], np.ndarray | None] = lambda corpus, candidates: None


@dataclass(frozen=True, slots=True)
class Settings:
    """What pretrained models need beyond a path."""

    cache: Path | None = None
    vocabulary: Vocabulary | int | None = None  # that of the run they stand beside, or a size
    trust_remote_code: bool = False
    progress: Progress | None = None


def open_subject(
    reference: str | Path,
    dataset: str | Path | None,
    split: str,
    device: torch.device,
    settings: Settings,
) -> Subject:
    """`hf:PATH`, a run or `RUN:MEMBER`, and the dataset it shall be evaluated on."""
    path = parse_reference(str(reference))
    if path is not None:
        return _pretrained(path, dataset, device, settings)
    folder, member = split_reference(reference)
    stored = RunFolder.open(folder)
    record = stored.trained()
    if record.backbone is not None:
        run = BackboneRun.load(folder, device, trust_remote_code=settings.trust_remote_code)
        vocabulary, name = run.head.vocabulary, run.name
    else:
        model = LanguageModel.load(folder).to(device)
        vocabulary, name = model.vocabulary, model.config.model
    if member is not None:
        keep_member(run.head if record.backbone is not None else model, member, folder)
        name = f"{name}: {member}"
    opened = stored.open_dataset(dataset)
    ids = opened.split(split).read(["document"])["document"].to_pylist()
    refuse_training_documents(folder, opened, split, set(ids))
    refuse_foreign_vocabulary(folder, record, opened, vocabulary)
    if record.backbone is not None:
        return _over_backbone(run, name, Path(reference), opened, settings)
    return Subject(
        name=name,
        folder=Path(reference),
        dataset=opened,
        vocabulary=vocabulary,
        open_words=False,
        open_numerals=model.output.open_vocabulary,
        log_probs=lambda corpus: token_log_probs(model, corpus),
        tables=lambda corpus, candidates: numeral_tables(model, corpus, candidates),
    )


def _pretrained(
    path: Path, dataset: str | Path | None, device: torch.device, settings: Settings
) -> Subject:
    if dataset is None:
        raise NumerateError(f"hf:{path}: a pretrained model has no dataset of its own: --dataset")
    opened = Dataset.open(dataset)
    backbone = open_backbone(path, device=device, trust_remote_code=settings.trust_remote_code)
    lm = PretrainedLM(backbone)
    store = Store(settings.cache or default_cache(), lm, opened)
    vocabulary = settings.vocabulary
    if not isinstance(vocabulary, Vocabulary):
        encoded = opened.split("train").encode()
        size = min(VOCABULARY if vocabulary is None else vocabulary, len(encoded.types))
        vocabulary = Vocabulary.build(encoded.types, encoded.counts, size)

    def log_probs(corpus: Corpus) -> np.ndarray:
        split = store.split(corpus.name)
        split.fill(corpus.sources, settings.progress)
        return np.array(split.targets[split.targets_of(corpus.sources)])

    def tables(corpus: Corpus, candidates: NumeralTable) -> Tables:
        split = store.split(corpus.name)
        table = split.table(candidates, corpus.sources, settings.progress)
        places = split.numerals_of(corpus.sources)
        for begin in range(0, len(places), TABLE_ROWS):
            some = np.arange(begin, min(begin + TABLE_ROWS, len(places)))
            yield some, torch.from_numpy(table[places[some]].astype(np.float64))

    def best(corpus: Corpus, candidates: NumeralTable) -> np.ndarray | None:
        split = store.split(corpus.name)
        if split.has_table(candidates, corpus.sources):
            return None
        found = split.best(
            candidates, lambda plan, _: lm.best(plan, candidates), corpus.sources, settings.progress
        )
        return np.asarray(found[split.numerals_of(corpus.sources)])

    return Subject(
        name=backbone.name,
        folder=Path(f"{PREFIX}{path}"),
        dataset=opened,
        vocabulary=vocabulary,
        open_words=True,
        open_numerals=True,
        log_probs=log_probs,
        tables=tables,
        best=best,
    )


def _over_backbone(
    run: BackboneRun, name: str, reference: Path, dataset: Dataset, settings: Settings
) -> Subject:
    reader = HeadOnStates(run, run.store(settings.cache, dataset), settings.progress)
    return Subject(
        name=name,
        folder=reference,
        dataset=dataset,
        vocabulary=run.head.vocabulary,
        open_words=True,
        open_numerals=run.head.open_vocabulary,
        log_probs=reader.log_probs,
        tables=reader.tables,
        best=reader.best,
    )
