"""A trained run opened for a look inside: all that an exhibit asks, whatever reads the text."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from numerate.batching import Corpus
from numerate.corpus.dataset import SPLITS, Dataset
from numerate.evaluation.perplexity import adjusted_log_probs
from numerate.evaluation.score import Tables, Targets
from numerate.heads.base import NumeralHead
from numerate.heads.combination import CombinationHead
from numerate.heads.softmax import NumeralEmbedding, SoftmaxHead
from numerate.model.stored import StoredModel
from numerate.numeral_table import NumeralTable
from numerate.runs.contents import TrainedConfig
from numerate.runs.folder import RunFolder
from numerate.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Bench:
    """What runs opened together share, so that what they learnt can be compared."""

    dataset: Dataset
    corpora: dict[str, Corpus]  # of the dev split perhaps only some paragraphs
    ranked: np.ndarray  # of its numerals those whose candidates are ranked: [R]

    @property
    def dev(self) -> Corpus:
        return self.corpora["dev"]

    @property
    def extent(self) -> str:
        """How much of the dev split figures are of."""
        whole = self.dataset.manifest["splits"]["dev"]["paragraphs"]
        if len(self.dev) == whole:
            return "the dev split"
        return f"{len(self.dev):,} of {whole:,} paragraphs of the dev split"

    @property
    def ranked_extent(self) -> str:
        """The same of figures for which candidates are ranked."""
        if len(self.ranked) == len(self.dev.rows):
            return self.extent
        whole = self.dataset.manifest["splits"]["dev"]["numerals"]
        return (
            f"{len(self.ranked):,} of {whole:,} numerals of the dev split, since a pretrained "
            "model ranks candidates slowly"
        )


class Situation(NamedTuple):
    """One place in a text, before a numeral."""

    hidden: Tensor  # [1, D] what the head sees there
    table: Callable[[NumeralTable], Tensor]  # → float64 [1, C] log p(candidate | a numeral comes)


class DigitTable(NamedTuple):
    """Embeddings of symbols."""

    symbols: tuple[str, ...]
    weight: Tensor  # [symbols, D]


@dataclass(frozen=True, eq=False)
class Run(ABC):
    """One trained model; how it reads text is for the two kinds of runs to say."""

    label: str  # the model's name, with the folder's where several have one name
    folder: Path
    record: TrainedConfig
    bench: Bench

    @property
    @abstractmethod
    def network(self) -> StoredModel:
        """With the configuration and the vocabulary."""

    @property
    @abstractmethod
    def backbone(self) -> str | None:
        """The name of the pretrained model it stands on, if there is one."""

    @property
    @abstractmethod
    def head(self) -> NumeralHead | None:
        """What puts a distribution on numerals; the flat softmax has no such part."""

    @property
    @abstractmethod
    def open_vocabulary(self) -> bool:
        """Whether it can write any numeral."""

    @property
    @abstractmethod
    def ranks_slowly(self) -> bool:
        """Whether a pretrained model has to read every candidate."""

    @abstractmethod
    def digit_tables(self) -> dict[str, DigitTable]:
        """Embeddings of digits outside the head, by what they are for."""

    @property
    @abstractmethod
    def dev_states(self) -> Tensor:
        """What the head sees before each numeral of the dev split: [N, D]."""

    @abstractmethod
    def dev_log_probs(self) -> np.ndarray:
        """log p(this numeral | a numeral comes) of each of them: float64 [N]."""

    @abstractmethod
    def tables(self, candidates: NumeralTable, places: np.ndarray) -> Tables:
        """log p of every candidate before some of them."""

    @abstractmethod
    def at(self, place: int) -> Situation:
        """Before one of them."""

    @abstractmethod
    def after(self, text: str) -> Situation:
        """After a text of the user's."""

    @property
    def name(self) -> str:
        """Of the model: one of the paper's seven."""
        return self.network.config.model

    @property
    def vocabulary(self) -> Vocabulary:
        return self.network.vocabulary

    @property
    def slug(self) -> str:
        """The label as a part of a file's name."""
        return re.sub(r"[^\w+.-]+", "-", self.label).strip("-")

    @property
    def dataset(self) -> Dataset:
        return self.bench.dataset

    @property
    def corpora(self) -> dict[str, Corpus]:
        return self.bench.corpora

    @property
    def dev(self) -> Corpus:
        return self.bench.dev

    @cached_property
    def dev_rows(self) -> np.ndarray:
        """The numerals of the dev split as rows of the corpora's table: [N]."""
        return Targets.of(self.dev).rows

    @property
    def numeral_embedding(self) -> NumeralEmbedding | None:
        """What a softmax over numerals scores with."""
        return self.head.embedding if isinstance(self.head, SoftmaxHead) else None

    def heads(self) -> dict[str, NumeralHead]:
        """The head by the run's label, and the members of a combination by their names in it."""
        if self.head is None:
            return {}
        found = {self.label: self.head}
        if isinstance(self.head, CombinationHead):
            members = zip(self.head.members, self.head.heads(), strict=True)
            found |= {f"{name} in {self.label}": member for name, member in members}
        return found

    @property
    def oov_numerals(self) -> int:
        """Distinct numerals of the dataset outside the vocabulary; they share one symbol."""
        return self._oov[1]

    @cached_property
    def _oov(self) -> tuple[int, int]:
        types = [type for name in SPLITS for type in self.dataset.split(name).encode().types]
        words, numerals = self.vocabulary.unknown(types)
        return len(words), len(numerals)

    def adjusted(self, dev_loss: float) -> float:
        """The loss on the dev split that training logs, in the terms of adjusted perplexity."""
        return dev_loss + self._adjustment

    @cached_property
    def _adjustment(self) -> float:
        """What unknown tokens of the dev split cost on top, in nats per token."""
        split = self.dataset.split("dev").encode()
        words, numerals = self.vocabulary.unknown(split.types)
        is_numeral = np.array([type in numerals for type in split.types], dtype=bool)
        is_word = np.array([type in words for type in split.types], dtype=bool)
        charges = adjusted_log_probs(
            np.zeros(len(split.types)),
            is_numeral,
            is_numeral | (is_word & (self.backbone is None)),  # to a pretrained model all are known
            *(max(1, size) for size in self._oov),
            open_vocabulary=self.open_vocabulary,
        )
        tokens = split.counts.sum() + len(split.lengths)  # with the end of each paragraph
        return float(-(charges @ split.counts) / tokens)

    @property
    def history(self) -> list[dict[str, Any]]:
        return RunFolder(self.folder).history()
