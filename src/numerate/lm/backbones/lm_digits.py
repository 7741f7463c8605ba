"""What a pretrained language model says of numerals by itself: `heads.base.Digits`, four times.

Before a numeral to come, of texts just read, of splits read before, of a batch in training: what
differs is where its probabilities are, and where the text is laid out.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np
import torch
from torch import Tensor

from numerate.lm.backbones.pretrained.language_model import LaidOut, ParagraphScores, PretrainedLM
from numerate.lm.backbones.pretrained.layout import Plan
from numerate.lm.backbones.pretrained.store import Progress, SplitStore
from numerate.lm.backbones.spelling.forest import Trees
from numerate.lm.data.numeral_table import NumeralBatch, NumeralTable
from numerate.lm.heads.base import NextNumeral
from numerate.lm.heads.digit_adapter import DigitAdapter, DigitBatch, NodeDetails
from numerate.lm.heads.digit_tree import DigitTree
from numerate.text.ragged import ranges

PREFIXES_AT_ONCE = 32
MOST_PREFIXES = 256  # continued for the number line: each costs a few tokens of the model
MOST_SEARCHED = 4096  # for the most probable numerals

Place = tuple[Plan, int]  # a window, and which of its numerals


class LMDigits(ABC):
    """What the language model says of numerals at N places: `heads.base.Digits`."""

    lm: PretrainedLM

    @abstractmethod
    def lm_log_probs(self) -> Tensor:
        """log p(numeral | a numeral comes) of the numerals that stand there: float64 [N]."""

    @abstractmethod
    def nodes(self) -> DigitBatch | None:
        """What it says at the nodes of their spellings, for who adapts digits."""

    @abstractmethod
    def stand_there(self, numerals: NumeralBatch) -> bool:
        """Whether these are the numerals of the text: of those it is known what the model says."""

    def place(self, index: int) -> Place:
        """One of the places, in the text as it is laid out."""
        laid_out, which = self.laid_out(index)
        return laid_out.places[which]

    def log_prob(self, numerals: NumeralBatch, adapter: DigitAdapter | None = None) -> Tensor:
        if not self.stand_there(numerals):
            return self._read_instead(numerals, adapter)
        nodes = None if adapter is None else self.nodes()
        if adapter is None or nodes is None:
            return self.lm_log_probs()
        return adapter.log_prob(self.lm_log_probs(), nodes, self.lm.scorer.classes)

    def _read_instead(self, numerals: NumeralBatch, adapter: DigitAdapter | None) -> Tensor:
        """Others than those of the text are read after it, like candidates."""
        texts = numerals.texts
        table = NumeralTable(list(dict.fromkeys(texts)))
        columns = {text: column for column, text in enumerate(table.texts)}
        which = torch.tensor([columns[text] for text in texts])
        found = LMDigits.log_prob_table(self, table, adapter)
        return found[torch.arange(len(texts)), which.to(found.device)]

    def log_prob_table(
        self, candidates: NumeralTable, adapter: DigitAdapter | None = None
    ) -> Tensor:
        """Candidates are read after the text, those of places in one window together."""
        places = [self.place(index) for index in range(len(self))]
        parts = [np.empty((0, len(candidates)))]
        for _, some in groupby(places, key=lambda place: id(place[0])):
            together = list(some)
            which = [index for _, index in together]
            parts.append(self.lm.table(together[0][0], candidates, which, adapter))
        return torch.from_numpy(np.concatenate(parts)).to(self.lm.scorer.device)

    def next_numeral(self, adapter: DigitAdapter | None = None) -> NextNumeral:
        writer = self.lm.writer(*self.place(0), adapter)
        return DigitTree(
            writer, at_once=PREFIXES_AT_ONCE, most=MOST_PREFIXES, searched=MOST_SEARCHED
        )

    def laid_out(self, index: int) -> tuple[LaidOut, int]:
        """The paragraph with one of the places, and which of its numerals it is."""
        raise ValueError("there is no paragraph around these places")

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, rows: slice | Tensor) -> "LMDigits": ...


@dataclass(frozen=True, slots=True)
class PlacedDigits(LMDigits):
    """After texts of the user's: no numeral stands there yet."""

    lm: PretrainedLM
    places: Sequence[Place]

    def lm_log_probs(self) -> Tensor:
        raise ValueError("no numeral stands there: ask for a table")

    def nodes(self) -> DigitBatch | None:
        return None

    def stand_there(self, numerals: NumeralBatch) -> bool:
        return False

    def place(self, index: int) -> Place:
        return self.places[index]

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, rows: slice | Tensor) -> "PlacedDigits":
        return replace(self, places=[self.places[row] for row in _rows(rows, len(self))])


@dataclass(frozen=True, slots=True)
class TextDigits(LMDigits):
    """Of texts that have just been read."""

    lm: PretrainedLM
    paragraphs: Sequence[LaidOut]
    scores: ParagraphScores = field(repr=False)  # of all of them, one after another
    rows: np.ndarray  # [N] numerals among all of theirs

    def lm_log_probs(self) -> Tensor:
        return torch.from_numpy(self.scores.numerals[self.rows]).to(self.lm.scorer.device)

    def nodes(self) -> DigitBatch | None:
        if not len(self.scores.node_costs):
            return None
        trees = Trees.of(tree for paragraph in self.paragraphs for tree in paragraph.trees)
        starts = np.cumsum([0, *trees.nodes.counts(trees.which)])
        nodes = ranges(starts[self.rows], starts[self.rows + 1])
        starts = np.cumsum([0, *trees.closings.counts(trees.which)])
        closings = ranges(starts[self.rows], starts[self.rows + 1])

        def tensor(array: np.ndarray, rows: np.ndarray) -> Tensor:
            return torch.from_numpy(array[rows]).to(self.lm.scorer.device)

        details = NodeDetails(
            tensor(self.scores.node_states, nodes),
            tensor(self.scores.node_masses, nodes),
            tensor(self.scores.node_costs, nodes),
            tensor(self.scores.node_closings, closings),
        )
        return DigitBatch.of(trees.take(self.rows), details)

    def stand_there(self, numerals: NumeralBatch) -> bool:
        texts = [text for laid_out in self.paragraphs for text in laid_out.paragraph.numeral_texts]
        return numerals.texts == [texts[row] for row in self.rows]

    def laid_out(self, index: int) -> tuple[LaidOut, int]:
        counts = np.cumsum([0, *(len(p.paragraph.numerals) for p in self.paragraphs)])
        row = int(self.rows[index])
        paragraph = int(np.searchsorted(counts, row, "right")) - 1
        return self.paragraphs[paragraph], row - int(counts[paragraph])

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, rows: slice | Tensor) -> "TextDigits":
        return replace(self, rows=self.rows[_rows(rows, len(self))])


@dataclass(frozen=True, slots=True)
class StoredDigits(LMDigits):
    """Of a split that has been read before; tables of candidates are cached with it."""

    lm: PretrainedLM
    split: SplitStore
    places: np.ndarray  # [N] numerals of the split
    progress: Progress | None = None

    def lm_log_probs(self) -> Tensor:
        found = np.array(self.split.numerals[self.places])
        return torch.from_numpy(found).to(self.lm.scorer.device)

    def nodes(self) -> DigitBatch | None:
        return self.split.details.gather(self.places, self.lm.scorer.device)

    def stand_there(self, numerals: NumeralBatch) -> bool:
        return numerals.texts == [self.split.numeral_texts[place] for place in self.places]

    def log_prob_table(
        self, candidates: NumeralTable, adapter: DigitAdapter | None = None
    ) -> Tensor:
        paragraphs = np.unique(np.searchsorted(self.split.numeral_starts, self.places, "right") - 1)
        table = self.split.table(candidates, paragraphs, self.progress, adapter)
        found = table[self.places].astype(np.float64)
        return torch.from_numpy(found).to(self.lm.scorer.device)

    def laid_out(self, index: int) -> tuple[LaidOut, int]:
        starts = self.split.numeral_starts
        place = int(self.places[index])
        paragraph = int(np.searchsorted(starts, place, "right")) - 1
        (laid_out,) = self.split.layouts.of([paragraph])
        return laid_out, place - int(starts[paragraph])

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, rows: slice | Tensor) -> "StoredDigits":
        return replace(self, places=self.places[_rows(rows, len(self))])


@dataclass(frozen=True, slots=True)
class BatchDigits(LMDigits):
    """Of a batch in training: what was read of it, and no way back to the text."""

    lm: PretrainedLM
    log_probs: Tensor  # float64 [N]
    spelled: DigitBatch | None  # for the digits to be adapted

    def lm_log_probs(self) -> Tensor:
        return self.log_probs

    def nodes(self) -> DigitBatch | None:
        return self.spelled

    def stand_there(self, numerals: NumeralBatch) -> bool:
        return True  # training asks for nothing else

    def __len__(self) -> int:
        return len(self.log_probs)

    def __getitem__(self, rows: slice | Tensor) -> "BatchDigits":
        if self.spelled is not None:
            raise ValueError("a batch whose digits are adapted is not cut into pieces")
        return replace(self, log_probs=self.log_probs[rows])


def _rows(rows: slice | Tensor, count: int) -> np.ndarray:
    if isinstance(rows, slice):
        return np.arange(count)[rows]
    found: np.ndarray = rows.cpu().numpy()
    return found
