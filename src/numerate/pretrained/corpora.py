"""Splits as the training of heads sees them: states that were computed once, or text to read.

Both stand where `batching.Corpus` stands, so that the same loop trains all models.
"""

import numpy as np
import torch

from numerate.batching import Corpus, Encodable, shuffled_batches
from numerate.packing import move
from numerate.pretrained.head_model import PlanBatch, StateBatch
from numerate.pretrained.language_model import Layouts, PretrainedLM
from numerate.pretrained.plan import Paragraph
from numerate.pretrained.store import SplitStore


class StateCorpus(Corpus):
    """A split that a frozen language model has read already."""

    def __init__(
        self, corpus: Corpus, split: Encodable, store: SplitStore, *, detailed: bool
    ) -> None:
        super().__init__(split, corpus.vocabulary, corpus.table)
        self.targets = np.array(store.targets)
        self.own = np.array(store.numerals)
        self.rest = self.targets[self.target_is_numeral] - self.own
        self.states = store.states  # float16, on disk: only what a batch needs is read
        self.details = store.details if detailed else None

    def batches(self, size: int, generator: np.random.Generator | None = None) -> list[np.ndarray]:
        """By chance. Nothing is padded here, and where all paragraphs of a step are short each
        numeral has a larger part in it: lengths would decide what is learnt most.
        """
        return shuffled_batches(len(self), size, generator)

    def collate(self, paragraphs: np.ndarray) -> StateBatch:  # type: ignore[override]
        numerals, _ = self.numerals_in_batch(paragraphs)
        targets = self.targets_of(paragraphs)
        words = self.targets[targets[~self.target_is_numeral[targets]]]
        device = self.table.device
        return StateBatch(
            move(words, device),
            move(self.rest[numerals], device),
            move(self.own[numerals], device),
            move(self.states[numerals], device).float(),
            self.table.batch(self.rows[numerals]) if len(numerals) else None,
            self.details.gather(numerals, device) if self.details else None,
        )


class TextCorpus(Corpus):
    """A split for a language model that is trained itself: read anew at every step."""

    def __init__(
        self, corpus: Corpus, split: Encodable, paragraphs: list[Paragraph], lm: PretrainedLM
    ) -> None:
        super().__init__(split, corpus.vocabulary, corpus.table)
        self.layouts = Layouts(lm, paragraphs)

    def collate(self, paragraphs: np.ndarray) -> PlanBatch:  # type: ignore[override]
        numerals = self.numerals_of(paragraphs)
        order = np.argsort(self.rows[numerals], kind="stable")
        device = self.table.device
        return PlanBatch(
            [plan for one in self.layouts.of(paragraphs.tolist()) for plan in one.windows],
            torch.from_numpy(self.target_is_numeral[self.targets_of(paragraphs)]).to(device),
            move(order, device),
            self.table.batch(self.rows[numerals][order]) if len(numerals) else None,
        )
