"""Batches: paragraphs of similar length or by chance, collated on the CPU, moved at once.

Nothing here looks at a tensor's values on the device, so a training step never waits.
"""

import copy
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from numerate.corpus.dataset import SPLITS, Dataset, Encoded
from numerate.numeral import is_numeral
from numerate.numeral_table import (
    DigitStrings,
    NumeralArrays,
    NumeralBatch,
    NumeralTable,
    assemble_strings,
)
from numerate.packing import flatten, move, ranges
from numerate.vocabulary import Vocabulary

UNKNOWN_ID, END_ID = 0, 1  # of <unk> and <eos> among the words
PADDED_LENGTH = 32  # padded batches have a multiple of so many steps
PADDED_NUMERALS = (0.1, 0.25)  # shares of the positions that padded batches keep for numerals


@dataclass(frozen=True, slots=True)
class Batch:
    """B paragraphs of at most L tokens, end included. Positions count through [L, B].

    Inputs are ids into the words, then <sos>, then the distinct numerals of the batch.
    In a padded batch some targets weigh nothing.
    """

    shape: tuple[int, int]  # L, B
    inputs: Tensor  # [L * B]
    input_known: Tensor | None  # [U] vocabulary ids of the distinct numerals
    input_strings: DigitStrings | None  # their digits
    positions: Tensor  # [W + N] where words are to be predicted, then where numerals are
    words: Tensor  # [W]
    numerals: NumeralBatch | None  # None where there are none
    signs: Tensor  # [W + N] −1 for words, 1 for numerals
    weights: Tensor | None  # [W + N] 1 or 0

    @property
    def word_count(self) -> int:
        return self.words.shape[0]

    @property
    def numeral_count(self) -> int:
        return self.positions.shape[0] - self.words.shape[0]

    def by_class(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """The words' part and the numerals' part of something [W + N]."""
        words, numerals = torch.split(tokens, [self.word_count, self.numeral_count])
        return words, numerals


@dataclass(frozen=True, slots=True)
class Layout:
    """The shape of a batch: all that must be known on the CPU. Equal layouts share a program."""

    shape: tuple[int, int]
    lengths: tuple[tuple[str, int], ...]  # of each array in the flat one
    digit_sizes: tuple[tuple[int, ...], tuple[int, ...]]  # of input and target numerals
    decimal_sizes: tuple[int, ...]

    @property
    def padded(self) -> bool:
        return any(name == "weights" for name, _ in self.lengths)

    def assemble(self, flat: Tensor, table: NumeralTable) -> Batch:
        names, lengths = zip(*self.lengths, strict=True)
        tensors = dict(zip(names, torch.split(flat, list(lengths)), strict=True))
        reading = {k.removeprefix("in "): t for k, t in tensors.items() if k.startswith("in ")}
        writing = {k.removeprefix("out "): t for k, t in tensors.items() if k.startswith("out ")}
        numerals = None
        if writing:
            numerals = table.assemble(writing, self.digit_sizes[1], self.decimal_sizes)
        return Batch(
            shape=self.shape,
            inputs=tensors["inputs"],
            input_known=reading.get("known"),
            input_strings=assemble_strings(reading, self.digit_sizes[0]) if reading else None,
            positions=tensors["positions"],
            words=tensors["words"],
            numerals=numerals,
            signs=tensors["signs"],
            weights=tensors.get("weights"),
        )


class Encodable(Protocol):
    """A split of a dataset, or any other paragraphs."""

    @property
    def name(self) -> str: ...

    def encode(self) -> Encoded: ...


class Corpus:
    """One split as columns of integers, with the numeral table it shares with the other splits."""

    words: np.ndarray  # [T] word ids; where a numeral stands, the unknown's
    is_numeral: np.ndarray  # [T]
    target_is_numeral: np.ndarray  # [T + P] the same with the ends, which are predicted too
    rows: np.ndarray  # [N] the numerals, as rows of the table
    offsets: np.ndarray  # [P + 1] where paragraphs begin among the tokens
    numeral_offsets: np.ndarray  # [P + 1] and among the numerals
    lengths: np.ndarray  # [P]
    sources: np.ndarray  # [P] which paragraphs of the split they are

    def __init__(self, split: Encodable, vocabulary: Vocabulary, table: NumeralTable) -> None:
        self.name = split.name
        self.vocabulary = vocabulary
        self.table = table
        encoded = split.encode()
        word_ids = vocabulary.word_ids()
        rows = {text: row for row, text in enumerate(table.texts)}
        is_type_numeral = [is_numeral(type) for type in encoded.types]
        ids = [
            rows[type] if is_number else word_ids.get(type, 0)
            for type, is_number in zip(encoded.types, is_type_numeral, strict=True)
        ]
        tokens = np.array(ids, dtype=np.int64)[encoded.codes]
        self.is_numeral = np.array(is_type_numeral, dtype=np.bool_)[encoded.codes]
        self.words = np.where(self.is_numeral, UNKNOWN_ID, tokens)
        self.rows = tokens[self.is_numeral]
        self.offsets = encoded.offsets
        self.lengths = encoded.lengths
        self.sources = np.arange(len(self.lengths))
        self.split: Encodable | None = split
        self._find_numerals()

    @classmethod
    def of_columns(
        cls,
        vocabulary: Vocabulary,
        table: NumeralTable,
        *,
        words: np.ndarray,
        is_numeral: np.ndarray,
        rows: np.ndarray,
        lengths: np.ndarray,
    ) -> "Corpus":
        """Paragraphs that are of no split."""
        corpus = cls.__new__(cls)
        corpus.name, corpus.vocabulary, corpus.table, corpus.split = "", vocabulary, table, None
        corpus.words, corpus.is_numeral, corpus.rows = words, is_numeral, rows
        corpus.lengths = lengths
        corpus.offsets = np.concatenate([[0], np.cumsum(lengths)])
        corpus.sources = np.arange(len(lengths))
        corpus._find_numerals()
        return corpus

    def _find_numerals(self) -> None:
        self.target_is_numeral = np.insert(self.is_numeral, self.offsets[1:], False)
        self.numeral_offsets = np.concatenate([[0], np.cumsum(self.is_numeral)])[self.offsets]
        owners = np.repeat(np.arange(len(self)), np.diff(self.numeral_offsets))
        self._steps = np.flatnonzero(self.is_numeral) - self.offsets[owners]  # [N] in paragraphs

    def __len__(self) -> int:
        return len(self.lengths)

    def take(self, paragraphs: np.ndarray) -> "Corpus":
        """The same with some paragraphs only; `sources` says which they were."""
        taken = copy.copy(self)
        tokens = ranges(self.offsets[paragraphs], self.offsets[paragraphs + 1])
        taken.words, taken.is_numeral = self.words[tokens], self.is_numeral[tokens]
        taken.rows = self.rows[self.numerals_of(paragraphs)]
        taken.lengths = self.lengths[paragraphs]
        taken.offsets = np.concatenate([[0], np.cumsum(taken.lengths)])
        taken.sources = self.sources[paragraphs]
        taken._find_numerals()
        return taken

    def numerals_of(self, paragraphs: np.ndarray) -> np.ndarray:
        """Places of the numerals of some paragraphs among all, in their order."""
        return ranges(self.numeral_offsets[paragraphs], self.numeral_offsets[paragraphs + 1])

    def numerals_in_batch(self, paragraphs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same in the order of a batch, equal ones side by side, and the column of each.

        The table has the longest first: what recurrent networks want.
        """
        counts = self.numeral_offsets[paragraphs + 1] - self.numeral_offsets[paragraphs]
        columns = np.repeat(np.arange(len(paragraphs)), counts)
        numerals = self.numerals_of(paragraphs)
        order = np.argsort(self.rows[numerals], kind="stable")
        return numerals[order], columns[order]

    def numeral_paragraphs(self, paragraphs: np.ndarray) -> np.ndarray:
        """Which paragraph each numeral of a batch stands in: [N]."""
        _, columns = self.numerals_in_batch(paragraphs)
        found: np.ndarray = paragraphs[columns]
        return found

    def targets_of(self, paragraphs: np.ndarray) -> np.ndarray:
        """Places of their targets among all, ends included."""
        starts = self.offsets[paragraphs] + paragraphs
        return ranges(starts, starts + self.lengths[paragraphs] + 1)

    def token_count(self, paragraphs: np.ndarray) -> int:
        """Tokens to be predicted, the ends included."""
        return int(self.lengths[paragraphs].sum()) + len(paragraphs)

    def batches(self, size: int, generator: np.random.Generator | None = None) -> list[np.ndarray]:
        """The paragraphs of an epoch, in steps of so many; shuffled with a generator."""
        return bucketed_batches(self.lengths, size, generator)

    def collate(self, paragraphs: np.ndarray) -> Batch:
        flat, layout = self.collate_arrays(paragraphs)
        return layout.assemble(move(flat, self.table.device), self.table)

    def collate_arrays(
        self, paragraphs: np.ndarray, *, padded: bool = False
    ) -> tuple[np.ndarray, Layout]:
        """A batch as one array and its layout.

        Padded, the layout is one of a few, and targets are padded with some of no weight; a
        batch with exceptionally many or long numerals is not padded even then.
        """
        lengths = self.lengths[paragraphs]
        longest = int(lengths.max()) + 1  # the end is predicted too
        if padded:
            longest = -(-longest // PADDED_LENGTH) * PADDED_LENGTH
        steps = np.arange(longest)[:, None]
        inside = steps < lengths  # [L, B]
        tokens = self.words if len(self.words) else np.array([END_ID])  # all may be empty
        places = np.minimum(self.offsets[paragraphs] + steps, len(tokens) - 1)
        words = np.where(inside, tokens[places], END_ID).reshape(-1)
        numerals, columns = self.numerals_in_batch(paragraphs)
        numeral_positions = self._steps[numerals] * len(paragraphs) + columns
        rows = self.rows[numerals]
        distinct, index = np.unique(rows, return_inverse=True)
        start = len(self.vocabulary.words)  # the id of <sos>; numerals come after it
        inputs = words.copy()
        inputs[numeral_positions] = start + 1 + index
        inputs = np.concatenate([np.full(len(paragraphs), start), inputs[: -len(paragraphs)]])
        is_word = (steps <= lengths).reshape(-1)
        is_word[numeral_positions] = False
        room = self._room(rows, longest * len(paragraphs)) if padded else 0
        if room:
            # Every position stands for a word, and there is room for a number of numerals.
            word_positions = np.arange(len(words))
            weights = np.concatenate([is_word, np.arange(room) < len(rows)])
            surplus = room - len(rows)
            rows = np.pad(rows, (0, surplus), mode="edge")
            numeral_positions = np.pad(numeral_positions, (0, surplus), mode="edge")
            distinct = np.pad(distinct, (0, room - len(distinct)), mode="edge")
        else:
            word_positions = np.flatnonzero(is_word)
        arrays = {
            "inputs": inputs,
            "positions": np.concatenate([word_positions, numeral_positions]),
            "words": words[word_positions],
            "signs": np.repeat([-1, 1], [len(word_positions), len(numeral_positions)]),
        }
        if room:
            arrays["weights"] = weights
        reading = writing = NumeralArrays({}, ())
        if len(rows):
            reading = self.table.reading_arrays(distinct, padded=room > 0)
            writing = self.table.writing_arrays(rows, padded=room > 0)
        arrays |= {f"in {name}": array for name, array in reading.arrays.items()}
        arrays |= {f"out {name}": array for name, array in writing.arrays.items()}
        layout = Layout(
            (longest, len(paragraphs)),
            tuple((name, len(array)) for name, array in arrays.items()),
            (reading.digit_sizes, writing.digit_sizes),
            writing.decimal_sizes,
        )
        return flatten(arrays), layout

    def _room(self, rows: np.ndarray, positions: int) -> int:
        """How many numerals a padded layout of so many positions has; 0: they do not fit."""
        if len(rows) == 0 or not self.table.fits_padding(rows):
            return 0
        rooms = [int(share * positions) for share in PADDED_NUMERALS]
        return next((room for room in rooms if len(rows) <= room), 0)


def load_corpora(dataset: Dataset, vocabulary: Vocabulary) -> dict[str, Corpus]:
    """All splits, over one table of the dataset's distinct numerals, the longest first."""
    types = {
        type for name in SPLITS for type in dataset.split(name).encode().types if is_numeral(type)
    }
    table = NumeralTable.of_text(types, vocabulary.numeral_ids())
    return {name: Corpus(dataset.split(name), vocabulary, table) for name in SPLITS}


def bucketed_batches(
    lengths: np.ndarray, batch_size: int, generator: np.random.Generator | None = None
) -> list[np.ndarray]:
    """Paragraphs in batches of similar length. With a generator, shuffled as a whole.

    Sorting by length with a little noise gives a paragraph different neighbours each time,
    at almost no padding; the order of the batches is random.
    """
    if generator is None:
        return _cut(np.argsort(lengths, kind="stable"), batch_size)
    noise = generator.uniform(0.95, 1.05, len(lengths))
    shuffled = generator.permutation(len(lengths))
    order = shuffled[np.argsort((lengths * noise)[shuffled], kind="stable")]
    batches = _cut(order, batch_size)
    return [batches[index] for index in generator.permutation(len(batches))]


def shuffled_batches(
    count: int, batch_size: int, generator: np.random.Generator | None = None
) -> list[np.ndarray]:
    """Paragraphs in batches by chance, or as they come."""
    order = np.arange(count) if generator is None else generator.permutation(count)
    return _cut(order, batch_size)


def _cut(order: np.ndarray, batch_size: int) -> list[np.ndarray]:
    return [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
