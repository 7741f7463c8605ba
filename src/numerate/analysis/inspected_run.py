"""A trained run opened for a look inside: all that an exhibit asks."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from torch import Tensor

from numerate.backbones.contract import Reading, Tables, exactly
from numerate.batching import Corpus
from numerate.corpus.dataset import SPLITS, Dataset
from numerate.corpus.tokenizer import tokenize
from numerate.heads.base import Context, DigitTable, NumeralHead
from numerate.model.gap import before_numeral
from numerate.model.numeral_lm import NumeralLM
from numerate.numeral_table import NumeralTable
from numerate.perplexity import adjusted_log_probs
from numerate.runs.contents import TrainedConfig
from numerate.runs.folder import RunFolder
from numerate.vocabulary import Vocabulary

Kind = TypeVar("Kind", bound=NumeralHead)


@dataclass(frozen=True, slots=True)
class SharedDataset:
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


@dataclass(frozen=True, eq=False)
class Run:
    """One trained model, and what it says of the dev split."""

    label: str  # the model's name, with the folder's where several have one name
    folder: Path
    record: TrainedConfig
    shared: SharedDataset
    model: NumeralLM

    @property
    def name(self) -> str:
        """Of the head."""
        return self.model.config.model

    @property
    def backbone(self) -> str | None:
        """The name of the pretrained model it stands on, if there is one."""
        return self.model.backbone.title

    @property
    def head(self) -> NumeralHead:
        return self.model.head

    @property
    def open_vocabulary(self) -> bool:
        """Whether it can write any numeral."""
        return self.model.open_vocabulary

    @property
    def ranks_slowly(self) -> bool:
        """Whether a pretrained model has to read every candidate."""
        return self.head.uses_digits

    @property
    def vocabulary(self) -> Vocabulary:
        return self.model.vocabulary

    @property
    def slug(self) -> str:
        """The label as a part of a file's name."""
        return re.sub(r"[^\w+.-]+", "-", self.label).strip("-")

    @property
    def dataset(self) -> Dataset:
        return self.shared.dataset

    @property
    def corpora(self) -> dict[str, Corpus]:
        return self.shared.corpora

    @property
    def dev(self) -> Corpus:
        return self.shared.dev

    @property
    def dev_rows(self) -> np.ndarray:
        """The numerals of the dev split as rows of the corpora's table: [N]."""
        return self.dev.rows

    @cached_property
    def reading(self) -> Reading:
        """Of the dev split."""
        return self.model.read(self.dev)

    @property
    def dev_context(self) -> Context:
        """Before each numeral of the dev split: [N]."""
        return self.reading.context

    @property
    def dev_states(self) -> Tensor:
        """What the head sees there: [N, D]."""
        return self.dev_context.hidden

    def dev_log_probs(self) -> np.ndarray:
        """log p(this numeral | a numeral comes) of each of them: float64 [N]."""
        return self.model.numeral_log_probs(self.reading)

    def tables(self, candidates: NumeralTable, places: np.ndarray) -> Tables:
        """log p of every candidate before some of them."""
        return self.model.tables(self.dev_context, candidates, places)

    def at(self, place: int) -> Context:
        """Before one of them."""
        return self.dev_context[place : place + 1]

    def after(self, text: str) -> Context:
        """After a text of the user's."""
        before = before_numeral(text)
        return self.model.backbone.after([before], [tokenize(before, self.dataset.reading)])

    def table_in(self, context: Context, candidates: NumeralTable) -> Tensor:
        """log p(candidate | a numeral comes): float64 [N, C]."""
        with exactly():
            return self.head.log_prob_table(context, candidates.to(self.model.device)).double()

    def heads(self) -> dict[str, NumeralHead]:
        """The head by the run's label, and the members of a combination by their names in it."""
        members = self.head.members_by_name().items()
        return {self.label: self.head} | {f"{name} in {self.label}": m for name, m in members}

    def heads_of(self, kind: type[Kind]) -> dict[str, Kind]:
        """Those of one strategy, for exhibits that are about it."""
        return {name: head for name, head in self.heads().items() if isinstance(head, kind)}

    def digit_tables(self) -> dict[str, DigitTable]:
        """All embeddings of digits that the model has, by what they are for."""
        tables: dict[str, DigitTable] = {
            title: table
            for title, table in self.model.backbone.digit_tables().items()
            if self.head.uses_digits or not table.of_lm_digits
        }
        for name, head in self.heads().items():
            place = f" ({name.partition(' in ')[0]})" if head is not self.head else ""
            tables |= {f"{title}{place}": table for title, table in head.digit_tables().items()}
        return tables

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
            is_numeral | (is_word & (not self.model.backbone.open_words)),
            *(max(1, size) for size in self._oov),
            open_vocabulary=self.open_vocabulary,
        )
        tokens = split.counts.sum() + len(split.lengths)  # with the end of each paragraph
        return float(-(charges @ split.counts) / tokens)

    @property
    def history(self) -> list[dict[str, Any]]:
        return RunFolder(self.folder).history()
