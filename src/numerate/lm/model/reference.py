"""What the use of a run must know of the data it was trained on, kept in the run.

With it, a run is used without its dataset: the grid of candidate numerals, the sizes of the sets
of unknown types, and how text was cut into tokens.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from numerate.errors import DatasetError, RunError
from numerate.lm.data.batching import Corpus, load_corpora
from numerate.lm.data.dataset import SPLITS, Dataset
from numerate.lm.model.candidates import candidate_numerals, plain_candidates
from numerate.numeral import is_numeral
from numerate.storage.records import misfit, typed
from numerate.text.reading_rules import ReadingRules
from numerate.text.tokenizer import DEFAULT_RULES
from numerate.text.vocabulary import Vocabulary

FREQUENT = 500


@dataclass(frozen=True, slots=True)
class Reference:
    reading: ReadingRules
    oov_words: int
    oov_numerals: int
    candidates: tuple[str, ...]
    median: float  # of the training numbers

    @classmethod
    def read(cls, record: dict[str, Any]) -> "Reference":
        """Raises RunError over what is no reference."""
        if wrong := misfit(record, cls):
            raise RunError(wrong)
        found = typed(cls, record)
        if not found.candidates or not all(map(is_numeral, found.candidates)):
            raise RunError("candidates: expected numerals")
        return found

    @property
    def oov(self) -> tuple[int, int]:
        return self.oov_words, self.oov_numerals

    def record(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, dataset: Dataset, vocabulary: Vocabulary, frequent: int = FREQUENT) -> "Reference":
        """`frequent`: so many training numerals in the grid beside the candidates of evaluation."""
        corpora = load_corpora(dataset, vocabulary)
        train = corpora["train"]
        if not len(train.rows):
            raise DatasetError(f"{dataset.folder}: no numeral in the train split, so no candidates")
        oov_words, oov_numerals = oov_sizes(dataset, vocabulary)
        numbers = train.table.values[train.rows]
        return cls(
            reading=dataset.reading,
            oov_words=oov_words,
            oov_numerals=oov_numerals,
            candidates=tuple(
                dict.fromkeys([*candidate_numerals(train).texts, *_frequent(train, frequent)])
            ),
            median=float(np.median(numbers)),
        )

    @classmethod
    def plain(cls) -> "Reference":
        """Of no dataset: numerals of all sizes."""
        candidates = plain_candidates()
        return cls(DEFAULT_RULES, 0, 0, candidates, float(np.median(list(map(float, candidates)))))


def oov_sizes(
    dataset: Dataset, vocabulary: Vocabulary, splits: Sequence[str] = SPLITS
) -> tuple[int, int]:
    """How many words and how many numerals outside the vocabulary share one symbol each."""
    types = (type for name in splits for type in dataset.split(name).encode().types)
    words, numerals = vocabulary.unknown(types)
    return len(words), len(numerals)


def _frequent(train: Corpus, count: int) -> list[str]:
    """The most frequent training numerals as they are written.

    The candidates of evaluation have few decimals: 1.71 is none where most numerals have one.
    """
    counts = np.bincount(train.rows, minlength=len(train.table))
    texts = train.table.texts
    ranked = sorted(np.flatnonzero(counts), key=lambda row: (-counts[row], texts[row]))
    return [texts[row] for row in ranked[:count]]
