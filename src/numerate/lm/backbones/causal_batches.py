"""What heads over a pretrained model are trained on: states read once, or text read at every step.

The corpora stand where `batching.Corpus` stands, so that the same loop trains all models.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from numerate.lm.backbones.lm_digits import BatchDigits
from numerate.lm.backbones.pretrained.language_model import Layouts, PretrainedLM
from numerate.lm.backbones.pretrained.layout import Paragraph, Plan
from numerate.lm.backbones.pretrained.memory_room import in_batches, kept_tokens
from numerate.lm.backbones.pretrained.prefix import Prefix
from numerate.lm.backbones.pretrained.scorer import ReadPrefixes, Scores
from numerate.lm.backbones.pretrained.store import SplitStore
from numerate.lm.backbones.pretrained.written_tables import Prefixes
from numerate.lm.data.batching import Corpus, Encodable, shuffled_batches
from numerate.lm.data.numeral_table import NumeralBatch
from numerate.lm.data.packing import move, move_together
from numerate.lm.data.sight.collate import Room, SeenNumbers
from numerate.lm.data.sight.corpus_sight import CorpusSight
from numerate.text.columns import SightColumns

KEPT = 8192  # tokens, and of what stands before them, that are learnt from at a time on a CPU
KEPT_A_TOKEN = 48  # bytes of a GPU's memory: see `kept_tokens`; 41 were seen


class PretrainedBatch(ABC):
    """Paragraphs as a head sees them, W words and N numerals, which may be in any order."""

    numerals: NumeralBatch | None
    weights = None  # all targets weigh the same

    @property
    @abstractmethod
    def word_count(self) -> int: ...

    @property
    @abstractmethod
    def numeral_count(self) -> int: ...

    @abstractmethod
    def read(self, lm: PretrainedLM) -> "StateBatch":
        """What the language model says of it."""

    def by_class(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        words, numerals = torch.split(tokens, [self.word_count, self.numeral_count])
        return words, numerals


@dataclass(frozen=True)
class StateBatch(PretrainedBatch):
    """Paragraphs that the language model has read."""

    words: Tensor  # float64 [W] log p
    gates: Tensor  # float64 [N] log p(a numeral comes)
    states: Tensor  # [N, S]
    digits: BatchDigits
    numerals: NumeralBatch | None
    seen: "ReadNumbers | None" = None  # the numbers in view, for who sees any

    @property
    def word_count(self) -> int:
        return self.words.shape[0]

    @property
    def numeral_count(self) -> int:
        return self.gates.shape[0]

    def read(self, lm: PretrainedLM) -> "StateBatch":
        return self


@dataclass(frozen=True, slots=True)
class ReadNumbers:
    """The E numbers in view of a batch, as the language model has read them."""

    numbers: SeenNumbers
    states: Tensor  # [E, R] after each
    read: Tensor  # bool [E] which were


@dataclass(frozen=True)
class PlanBatch(PretrainedBatch):
    """Paragraphs that the language model has yet to read, since it is being trained itself."""

    plans: list[Plan]
    is_numeral: Tensor  # bool [T]
    order: Tensor  # [N] numerals of the plans as `numerals` has them
    numerals: NumeralBatch | None
    seen: SeenNumbers | None = None
    sizes: tuple[tuple[int, int, Prefix | None], ...] = ()
    """Of each paragraph: so many numbers of tables and of its own in view, and where the former
    are written."""

    @property
    def numeral_count(self) -> int:
        return self.order.shape[0]

    @property
    def word_count(self) -> int:
        return self.is_numeral.shape[0] - self.numeral_count

    def read(self, lm: PretrainedLM) -> StateBatch:
        prefixes = lm.scorer.read_prefixes(plan.prefix for plan in self.plans)
        scores = lm.scorer.score(self.plans, prefixes)
        return StateBatch(
            scores.targets[~self.is_numeral],
            scores.gates[self.order],
            scores.states[self.order],
            BatchDigits(lm, scores.numerals[self.order], None),
            self.numerals,
            None if self.seen is None else self._read_numbers(self.seen, scores, prefixes),
        )

    def _read_numbers(
        self, seen: SeenNumbers, scores: Scores, prefixes: ReadPrefixes
    ) -> ReadNumbers:
        """Of each paragraph the numbers of its tables, then its own."""
        own = torch.split(scores.after, [count for _, count, _ in self.sizes])
        states, read = [], []
        for (tables, count, prefix), after in zip(self.sizes, own, strict=True):
            if prefix is not None:
                states.append(prefixes.numbers_of(prefix)[:tables])
                read.append(prefix.seen[:tables])
            states.append(after)
            read.append(np.ones(count, dtype=np.bool_))
        return ReadNumbers(seen, torch.cat(states), move(np.concatenate(read), scores.after.device))


class StateCorpus(Corpus):
    """A split that a frozen language model has read already."""

    def __init__(
        self, corpus: Corpus, split: Encodable, store: SplitStore, *, detailed: bool
    ) -> None:
        super().__init__(split, corpus.vocabulary, corpus.table, columns_of(corpus))
        self.lm = store.store.model
        self.number_states = store.numbers
        self.targets = np.array(store.targets)
        self.lm_log_probs = np.array(store.numerals)
        self.gates = np.array(store.gates)
        self.states = store.states  # float16, on disk: only what a batch needs is read
        self.details = store.details if detailed else None

    def batches(self, size: int, generator: np.random.Generator | None = None) -> list[np.ndarray]:
        """By chance. Nothing is padded here, and where all paragraphs of a step are short each
        numeral has a larger part in it: lengths would decide what is learnt most.
        """
        return shuffled_batches(len(self), size, generator)

    def collate(self, paragraphs: np.ndarray) -> StateBatch:  # type: ignore[override]
        numerals, columns = self.numerals_in_batch(paragraphs)
        targets = self.targets_of(paragraphs)
        words = self.targets[targets[~self.target_is_numeral[targets]]]
        device = self.table.device
        spelled = self.details.gather(numerals, device) if self.details else None
        seen = None
        if self.sight is not None and self.number_states is not None:
            numbers = in_view_of(self, self.sight, paragraphs, numerals, columns)
            states, read = self.number_states.gather(
                self.sources[paragraphs], self.sight.numbers_in_tables[paragraphs]
            )
            seen = ReadNumbers(numbers, move(states, device).float(), move(read, device))
        return StateBatch(
            move(words, device),
            move(self.gates[numerals], device),
            move(self.states[numerals], device).float(),
            BatchDigits(self.lm, move(self.lm_log_probs[numerals], device), spelled),
            self.table.batch(self.rows[numerals]) if len(numerals) else None,
            seen,
        )


class TextCorpus(Corpus):
    """A split for a language model that is trained itself: read anew at every step."""

    def __init__(
        self,
        corpus: Corpus,
        split: Encodable,
        paragraphs: list[Paragraph],
        lm: PretrainedLM,
        prefixes: Prefixes | None = None,
    ) -> None:
        super().__init__(split, corpus.vocabulary, corpus.table, columns_of(corpus))
        self.layouts = Layouts(lm, paragraphs, prefixes)
        self.prefixes = prefixes
        self._model = lm.backbone.model

    def parts(self, paragraphs: np.ndarray) -> list[np.ndarray]:
        """As many as there is memory for all that their gradients need; similar ones together."""
        sizes = [
            sum(len(plan.before) + len(plan.tokens) for plan in laid_out.windows)
            for laid_out in self.layouts.of(paragraphs.tolist())
        ]
        most = kept_tokens(self._model, KEPT_A_TOKEN, on_cpu=KEPT)
        return [paragraphs[batch] for batch in in_batches(sizes, most, waste=most)]

    def collate(self, paragraphs: np.ndarray) -> PlanBatch:  # type: ignore[override]
        numerals = self.numerals_of(paragraphs)
        order = np.argsort(self.rows[numerals], kind="stable")
        device = self.table.device
        seen, sizes = None, list[tuple[int, int, Prefix | None]]()
        if self.sight is not None:
            seen = in_view_of(self, self.sight, paragraphs, *self.numerals_in_batch(paragraphs))
            tables = self.sight.numbers_in_tables[paragraphs].tolist()
            own = np.diff(self.numeral_offsets)[paragraphs].tolist()
            before: list[Prefix | None] = [None] * len(paragraphs)
            if self.prefixes is not None:
                before = [self.prefixes[index] for index in paragraphs.tolist()]
            sizes = list(zip(tables, own, before, strict=True))
        return PlanBatch(
            [
                plan
                for laid_out in self.layouts.of(paragraphs.tolist())
                for plan in laid_out.windows
            ],
            torch.from_numpy(self.target_is_numeral[self.targets_of(paragraphs)]).to(device),
            move(order, device),
            self.table.batch(self.rows[numerals][order]) if len(numerals) else None,
            seen,
            tuple(sizes),
        )


def columns_of(corpus: Corpus) -> SightColumns | None:
    """What its paragraphs have in view, for who sees any numbers."""
    return None if corpus.sight is None else corpus.sight.columns


def in_view_of(
    corpus: Corpus,
    sight: CorpusSight,
    paragraphs: np.ndarray,
    numerals: np.ndarray,
    columns: np.ndarray,
) -> SeenNumbers:
    """The numbers in view of a batch's numerals, which stand in its paragraphs `columns`."""
    arrays = {
        "texts": paragraphs,
        "places": numerals + paragraphs[columns],
        "columns": columns,
    }
    moved = move_together(arrays, corpus.table.device)
    room = Room.of(sight, paragraphs)
    return SeenNumbers.of(sight, moved["texts"], room, moved["places"], moved["columns"])
