"""What a backbone is asked: a model of text, to which only which numeral comes is left open."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from numerate.lm.backbones.pretrained.block_reader import Readers
from numerate.lm.backbones.pretrained.store import Progress
from numerate.lm.backbones.texts import Texts
from numerate.lm.data.batching import Corpus
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.base import Context, NumeralHead

AFTER = 3  # tokens after a numeral that say whether it suits them: its unit, and a little more
Tables = Iterator[tuple[np.ndarray, Tensor]]
"""Places among the numerals asked for, and log p of every candidate there: [n], [n, C]."""


@dataclass(frozen=True, slots=True)
class Targets:
    """What is to be predicted in a corpus, ends included: [T] each."""

    is_numeral: np.ndarray
    is_unknown: np.ndarray
    paragraphs: np.ndarray
    rows: np.ndarray  # of the numerals, in the table of the corpus: [N]

    @classmethod
    def of(cls, corpus: Corpus) -> "Targets":
        is_numeral = corpus.target_is_numeral
        is_unknown = np.insert(corpus.words, corpus.offsets[1:], 1) == 0
        is_unknown[is_numeral] = corpus.table.known[corpus.rows] == 0
        paragraphs = np.repeat(np.arange(len(corpus)), corpus.lengths + 1)
        return cls(is_numeral, is_unknown, paragraphs, corpus.rows)

    def knowing_words(self) -> "Targets":
        """The same for a model to which no word is unknown."""
        return replace(self, is_unknown=self.is_unknown & self.is_numeral)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a backbone makes of a corpus: T targets, N of them numerals."""

    corpus: Corpus
    log_probs: np.ndarray  # [T] log p of words and ends; of a numeral, that one comes
    context: Context  # before each numeral: [N]
    memory: Any = None  # what the backbone goes on with from there: its own business

    @property
    def gates(self) -> np.ndarray:
        """log p(a numeral comes) before each numeral: [N]."""
        found: np.ndarray = self.log_probs[self.corpus.target_is_numeral]
        return found


class Backbone(nn.Module, ABC):
    """Reads text. Words, and whether a numeral comes, are its own; numerals are the head's."""

    open_words: bool  # whether no word is unknown to it
    records_steps: bool  # whether a GPU may record a training step and replay it
    tunes: bool = False  # whether it was trained before, and is trained further
    title: str | None = None  # of a pretrained model, for tables
    packages: tuple[str, ...] = ("torch",)  # whose versions a run shall remember
    texts_at_once: int  # how many it reads well together: more take more memory, and are no faster
    second_looks: float  # the share of numerals that `following` is asked about in a check

    @property
    @abstractmethod
    def device(self) -> torch.device: ...

    @abstractmethod
    def log_prob(self, batch: Any, head: NumeralHead) -> Tensor:
        """log p of a training batch's targets, words first: [W + N]."""

    @abstractmethod
    def contexts(self, batch: Any) -> Context:
        """Before the numerals of a training batch: [N]."""

    def pretrained_parameters(self) -> Iterable[nn.Parameter]:
        """Of a model that it reads with, trained further or not."""
        return ()

    def reads_anew(self, corpus: Corpus) -> bool:
        """Whether none of it is remembered from before."""
        return True

    @abstractmethod
    def read(self, corpus: Corpus, head: NumeralHead, *, going_on: bool = False) -> Reading:
        """All of a corpus; `going_on`, so that `following` can be asked."""

    @abstractmethod
    def after(self, texts: Texts) -> Context:
        """After exactly each text, white space at its end included: [N]."""

    @abstractmethod
    def following(
        self, reading: Reading, head: NumeralHead, rows: np.ndarray, numerals: Sequence[str]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Other numerals [E] written where the numerals `rows` [E] of a reading stand.

        log p(numeral | what stands before, a numeral comes), and log p(the next `AFTER` tokens |
        what stands before, the numeral), fewer at the end of the text: [E] each, unadjusted.
        """

    @abstractmethod
    def digit_tables(self) -> dict[str, Any]:
        """Embeddings of digits outside the head, by what they are for."""

    def parameter_groups(self, head: NumeralHead) -> list[dict[str, Any]]:
        """What is trained, and by which part of the learning rate."""
        return [{"params": [*self.parameters(), *head.parameters()], "scale": 1.0}]

    def unstored(self) -> set[str]:
        """Names of a model's tensors that are not its own to store."""
        return set()

    def use(
        self,
        dataset: Dataset,
        cache: Path | None,
        progress: Progress | None,
        beside: Sequence["Backbone"] = (),
        *,
        detailed: bool = False,
        readers: Readers | None = None,
    ) -> None:
        """Texts of a dataset are to be read: who reads slowly remembers what it said of them,
        together with those `beside` it, some of which may need it `detailed`; `readers` may read
        in its place."""

    def best(
        self, reading: Reading, head: NumeralHead, candidates: NumeralTable
    ) -> np.ndarray | None:
        """The likeliest candidate before each numeral [N], where that takes less than a table."""
        return None


class _LongFloats:
    """cuDNN's LSTM shortens floats by default; not while anyone, in whatever thread, is inside."""

    def __init__(self) -> None:
        self._lock, self._inside, self._usual = Lock(), 0, True

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._usual = torch.backends.cudnn.allow_tf32
                torch.backends.cudnn.allow_tf32 = False
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                torch.backends.cudnn.allow_tf32 = self._usual


_LONG_FLOATS = _LongFloats()


@contextmanager
def exactly() -> Iterator[None]:
    """Without gradients, and with floats as long as they are."""
    with torch.no_grad(), _LONG_FLOATS:
        yield
