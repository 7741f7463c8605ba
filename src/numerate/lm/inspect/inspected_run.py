"""A trained run opened for a look inside: all that an exhibit asks."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from torch import Tensor

from numerate.lm.backbones.contract import Reading, Tables, exactly
from numerate.lm.backbones.texts import Texts
from numerate.lm.data.batching import Corpus
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.data.sight.corpus_sight import CorpusSight
from numerate.lm.heads.base import Context, DigitTable, NumeralHead
from numerate.lm.inspect.traced import Traced, trace
from numerate.lm.model.gap import before_numeral
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.run_contents import TrainedConfig
from numerate.lm.model.run_folder import RunFolder
from numerate.text.columns import SightColumns
from numerate.text.tokenizer import tokenize

Kind = TypeVar("Kind", bound=NumeralHead)


@dataclass(frozen=True, slots=True)
class SharedDataset:
    """What runs opened together share, so that what they learnt can be compared."""

    dataset: Dataset
    corpora: dict[str, Corpus]  # of the dev split perhaps only some paragraphs
    ranked: np.ndarray  # of its numerals those whose candidates are ranked: [R]
    whole_dev: Corpus
    oov: tuple[int, int]  # words and numerals of the dataset outside the vocabulary
    dev_in_view: dict[str, Corpus]  # the same paragraphs, by how far a model sees

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
    def slug(self) -> str:
        """The label as a part of a file's name."""
        return re.sub(r"[^\w+.-]+", "-", self.label).strip("-")

    @cached_property
    def reading(self) -> Reading:
        """Of the dev split, with what the model has in view."""
        return self.model.read(self.shared.dev_in_view[self.model.config.sight])

    @property
    def sight(self) -> CorpusSight | None:
        """The numbers in view of the dev split, if the model sees any."""
        return self.reading.corpus.sight

    @cached_property
    def traced(self) -> Traced:
        """Where the numerals of the dev split come from, of a model that sees numbers."""
        return trace(self.model, self.reading)

    @property
    def dev_states(self) -> Tensor:
        """What the head sees before each numeral of the dev split: [N, D]."""
        return self.reading.context.hidden

    def dev_log_probs(self) -> np.ndarray:
        """log p(this numeral | a numeral comes) of each of them: float64 [N]."""
        return self.model.numeral_log_probs(self.reading)

    def tables(self, candidates: NumeralTable, places: np.ndarray) -> Tables:
        """log p of every candidate before some of them."""
        return self.model.tables(self.reading.context, candidates, places)

    def at(self, place: int) -> Context:
        """Before one of them."""
        return self.reading.context[place : place + 1]

    def after(self, text: str) -> Context:
        """After a text of the user's, with no table in view."""
        before = before_numeral(text)
        tokens = tokenize(before, self.shared.dataset.reading)
        in_view = None if self.model.config.sight == "none" else SightColumns.nothing(1)
        return self.model.backbone.after(Texts([before], [tokens], in_view))

    def table_in(self, context: Context, candidates: NumeralTable) -> Tensor:
        """log p(candidate | a numeral comes): float64 [N, C]."""
        with exactly():
            numerals = candidates.to(self.model.device)
            return self.model.head.log_prob_table(context, numerals).double()

    def heads(self) -> dict[str, NumeralHead]:
        """The head by the run's label, and the members of a combination by their names in it."""
        head = self.model.head
        members = head.members_by_name().items()
        return {self.label: head} | {f"{name} in {self.label}": m for name, m in members}

    def heads_of(self, kind: type[Kind]) -> dict[str, Kind]:
        """Those of one strategy, for exhibits that are about it."""
        return {name: head for name, head in self.heads().items() if isinstance(head, kind)}

    def digit_tables(self) -> dict[str, DigitTable]:
        """All embeddings of digits that the model has, by what they are for."""
        tables: dict[str, DigitTable] = {
            title: table
            for title, table in self.model.backbone.digit_tables().items()
            if self.model.head.uses_digits or not table.of_lm_digits
        }
        for name, head in self.heads().items():
            place = f" ({name.partition(' in ')[0]})" if head is not self.model.head else ""
            tables |= {f"{title}{place}": table for title, table in head.digit_tables().items()}
        return tables

    def adjusted(self, dev_loss: float) -> float:
        """The loss on the dev split that training logs, in the terms of adjusted perplexity."""
        return dev_loss + self._adjustment

    @cached_property
    def _adjustment(self) -> float:
        """What unknown tokens of the dev split cost on top, in nats per token."""
        targets = self.model.targets(self.shared.whole_dev)
        return -float(self.model.charges(targets, self.shared.oov).mean())

    @property
    def history(self) -> list[dict[str, Any]]:
        return RunFolder(self.folder).history()
