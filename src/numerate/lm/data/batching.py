"""Batches: paragraphs of similar length or by chance, collated on the CPU or on the device.

On a CPU nothing is padded. On a GPU a corpus lives on the device, and paragraphs are laid out
there in one of a few shapes. Nothing looks at a value on the device, so a step never waits.
"""

import copy
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from numerate.lm.data.dataset import SPLITS, Dataset, Encoded, Split
from numerate.lm.data.numeral_table import (
    PADDED_STEPS,
    DigitStrings,
    NumeralArrays,
    NumeralBatch,
    NumeralTable,
)
from numerate.lm.data.packing import move_together
from numerate.lm.data.sight.collate import Room, SeenNumbers
from numerate.lm.data.sight.corpus_sight import CorpusSight, OwnTokens
from numerate.numeral import is_numeral
from numerate.text.columns import SightColumns
from numerate.text.ragged import ranges
from numerate.text.vocabulary import Vocabulary

UNKNOWN_ID, END_ID = 0, 1  # of <unk> and <eos> among the words
PADDED_LENGTH = 32  # padded batches have a multiple of so many steps


@dataclass(frozen=True, slots=True)
class Batch:
    """B paragraphs of at most L tokens, end included. Positions count through [L, B].

    Inputs are ids into the words, then <sos>, then the numerals that are read.
    In a padded batch some targets weigh nothing.
    """

    shape: tuple[int, int]  # L, B
    inputs: Tensor  # [L * B]
    numerals_read: DigitStrings | None  # each at least once
    positions: Tensor  # [W + N] where words are to be predicted, then where numerals are
    words: Tensor  # [W]
    numerals: NumeralBatch | None  # [N]; None where there are none
    signs: Tensor  # [W + N] −1 for words, 1 for numerals
    weights: Tensor | None  # [W + N] whether they count; None: all do
    sight: SeenNumbers | None  # the numbers in view of its numerals, where the model sees any

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
    """The shape of a padded batch, all that the CPU must know. Equal ones share a program."""

    length: int  # L
    size: int  # B
    room: int  # N, for numerals
    steps: tuple[int, int]  # for the symbols and the decimals of each
    sight: Room | None  # for the numbers in view


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
    steps: np.ndarray  # [N] where they stand in their paragraphs
    offsets: np.ndarray  # [P + 1] where paragraphs begin among the tokens
    numeral_offsets: np.ndarray  # [P + 1] and among the numerals
    lengths: np.ndarray  # [P]
    sources: np.ndarray  # [P] which paragraphs of the split they are

    def __init__(
        self,
        split: Encodable,
        vocabulary: Vocabulary,
        table: NumeralTable,
        columns: SightColumns | None = None,
    ) -> None:
        """`columns` are the tables in view, if the model sees any numbers at all."""
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
        self._types, self._codes = encoded.types, encoded.codes
        self._find_numerals()
        self._see(columns)

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
        corpus._see(None)
        return corpus

    def _find_numerals(self) -> None:
        self.target_is_numeral = np.insert(self.is_numeral, self.offsets[1:], False)
        self.numeral_offsets = np.concatenate([[0], np.cumsum(self.is_numeral)])[self.offsets]
        self._numeral_counts = np.diff(self.numeral_offsets)
        owners = np.repeat(np.arange(len(self)), self._numeral_counts)
        self.steps = np.flatnonzero(self.is_numeral) - self.offsets[owners]
        self._padded_steps = np.zeros(len(self), dtype=np.int64)
        np.maximum.at(self._padded_steps, owners, self.table.padded_steps()[self.rows])
        self._moved: dict[tuple[torch.device, str], Tensor] = {}

    def _see(self, columns: SightColumns | None) -> None:
        self.sight: CorpusSight | None = None
        if columns is not None:
            numerals = np.flatnonzero(self.is_numeral)
            rows, offsets = self.rows, self.numeral_offsets
            own = OwnTokens(self._types, self._codes, self.offsets, numerals, rows, offsets)
            self.sight = CorpusSight(columns, own, self.table, self.vocabulary)

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def _start(self) -> int:
        """The id of <sos>; those of the numerals that are read come after it."""
        return len(self.vocabulary.words)

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
        if self.sight is not None:
            taken._codes = self._codes[tokens]
            taken._see(self.sight.columns.take(paragraphs))
        return taken

    def seeing(self, columns: SightColumns | None) -> "Corpus":
        """The same with other tables in view; `columns` are of as many paragraphs, and all their
        numerals are in the table."""
        seeing = copy.copy(self)
        seeing._see(columns)
        return seeing

    def numerals_of(self, paragraphs: np.ndarray) -> np.ndarray:
        """Places of the numerals of some paragraphs among all, in their order."""
        return ranges(self.numeral_offsets[paragraphs], self.numeral_offsets[paragraphs + 1])

    def numerals_in_batch(self, paragraphs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same in the order of a batch, equal ones side by side, and the column of each.

        The table has the longest first: what recurrent networks want.
        """
        columns = np.repeat(np.arange(len(paragraphs)), self._numeral_counts[paragraphs])
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

    def parts(self, paragraphs: np.ndarray) -> list[np.ndarray]:
        """What is learnt from at a time of the paragraphs of one step: here all of it."""
        return [paragraphs]

    def collate(self, paragraphs: np.ndarray) -> Batch:
        """A batch without padding, made on the CPU and moved at once."""
        lengths = self.lengths[paragraphs]
        longest = int(lengths.max()) + 1  # the end is predicted too
        steps = np.arange(longest)[:, None]
        inside = steps < lengths  # [L, B]
        tokens = self.words if len(self.words) else np.array([END_ID])  # all may be empty
        places = np.minimum(self.offsets[paragraphs] + steps, len(tokens) - 1)
        words = np.where(inside, tokens[places], END_ID).reshape(-1)
        numerals, columns = self.numerals_in_batch(paragraphs)
        numeral_positions = self.steps[numerals] * len(paragraphs) + columns
        rows = self.rows[numerals]
        distinct, index = np.unique(rows, return_inverse=True)
        inputs = words.copy()
        inputs[numeral_positions] = self._start + 1 + index
        inputs = np.concatenate([np.full(len(paragraphs), self._start), inputs[: -len(paragraphs)]])
        is_word = (steps <= lengths).reshape(-1)
        is_word[numeral_positions] = False
        word_positions = np.flatnonzero(is_word)
        reading = writing = NumeralArrays({})
        if len(rows):
            reading, writing = self.table.reading_arrays(distinct), self.table.writing_arrays(rows)
        arrays = {
            "inputs": inputs,
            "positions": np.concatenate([word_positions, numeral_positions]),
            "words": words[word_positions],
            "signs": np.repeat([-1, 1], [len(word_positions), len(numeral_positions)]),
            **{f"in {name}": array for name, array in reading.arrays.items()},
            **{f"out {name}": array for name, array in writing.arrays.items()},
        }
        if self.sight is not None:
            arrays |= {"texts": paragraphs, "places": numerals + paragraphs[columns]}
            arrays |= {"place texts": columns}
        moved = move_together(arrays, self.table.device)
        seen = None
        if self.sight is not None:
            room = Room.of(self.sight, paragraphs)
            seen = SeenNumbers.of(
                self.sight, moved["texts"], room, moved["places"], moved["place texts"]
            )
        read = {name: moved[f"in {name}"] for name in reading.arrays}
        written = {name: moved[f"out {name}"] for name in writing.arrays}
        return Batch(
            shape=(longest, len(paragraphs)),
            inputs=moved["inputs"],
            numerals_read=self.table.read(reading, read) if len(rows) else None,
            positions=moved["positions"],
            words=moved["words"],
            numerals=self.table.written(writing, written) if len(rows) else None,
            signs=moved["signs"],
            weights=None,
            sight=seen,
        )

    def layout(self, paragraphs: np.ndarray) -> Layout:
        """How these paragraphs are laid out when they are padded: in one of a few shapes.

        There is room for as many numerals as the corpus has at so many positions, or twice as
        many, and so on.
        """
        longest = int(self.lengths[paragraphs].max()) + 1
        longest = -(-longest // PADDED_LENGTH) * PADDED_LENGTH
        positions = longest * len(paragraphs)
        numerals = int(self._numeral_counts[paragraphs].sum())
        room = -(-len(self.rows) * positions // len(self.target_is_numeral))
        while room < numerals:
            room *= 2
        steps = PADDED_STEPS[int(self._padded_steps[paragraphs].max())]
        seen = Room.of(self.sight, paragraphs, padded=True) if self.sight and numerals else None
        return Layout(longest, len(paragraphs), room if numerals else 0, steps, seen)

    def collate_padded(self, paragraphs: Tensor, layout: Layout) -> Batch:
        """A padded batch, made where the paragraphs' numbers [B] are: on the device.

        Every position stands for a word, and there is room for a number of numerals; what is no
        target weighs nothing. No shape depends on a value, so that all of it can be recorded.
        """
        device, size, positions = paragraphs.device, layout.size, layout.length * layout.size
        steps = torch.arange(layout.length, device=device)[:, None]
        lengths = self.on_device("lengths")[paragraphs]
        tokens = self.on_device("words") if len(self.words) else lengths.new_tensor([END_ID])
        places = (self.on_device("offsets")[paragraphs] + steps).clamp_(max=len(tokens) - 1)
        words = torch.where(steps < lengths, tokens[places], END_ID).flatten()
        counts = (steps <= lengths).flatten()
        # What is read is what was predicted a step before; there is a place beyond the end for
        # what has none.
        read = torch.cat([words.new_full((size,), self._start), words, words[:1]])
        numerals = seen = None
        word_positions = torch.arange(positions, device=device)
        targets = word_positions
        signs = words.new_full((positions + layout.room,), -1)
        if layout.room:
            index = torch.arange(layout.room, device=device)
            starts = self.on_device("numeral_offsets")[paragraphs]
            ends = (self.on_device("numeral_offsets")[paragraphs + 1] - starts).cumsum(0)  # [B]
            is_one = index < ends[-1]
            index = torch.where(is_one, index, 0)  # the surplus repeats the first
            columns = torch.searchsorted(ends, index, right=True)
            before = F.pad(ends[:-1], (1, 0))
            found = (starts - before)[columns] + index
            numerals = self.table.padded_batch(self.on_device("rows")[found], layout.steps)
            targets = self.on_device("steps")[found] * size + columns  # [N]
            aside = torch.where(is_one, targets, positions)
            read.scatter_(0, aside + size, self._start + 1 + index)
            counts = F.pad(counts, (0, 1)).index_fill(0, aside, False)[:-1]
            counts = torch.cat([counts, is_one])
            targets = torch.cat([word_positions, targets])
            signs[positions:] = 1
            if self.sight is not None and layout.sight is not None:
                places = found + paragraphs[columns]
                seen = SeenNumbers.of(self.sight, paragraphs, layout.sight, places, columns, is_one)
        return Batch(
            shape=(layout.length, size),
            inputs=read[:positions],
            numerals_read=numerals,
            positions=targets,
            words=words,
            numerals=numerals,
            signs=signs,
            weights=counts,
            sight=seen,
        )

    def on_device(self, column: str) -> Tensor:
        """One of the arrays as a tensor where the table is; moved once."""
        device = self.table.device
        if (device, column) not in self._moved:
            self._moved[device, column] = torch.from_numpy(getattr(self, column)).to(device)
        return self._moved[device, column]


def load_corpora(
    dataset: Dataset, vocabulary: Vocabulary, sight: str = "none"
) -> dict[str, Corpus]:
    """All splits, over one table of the dataset's distinct numerals, the longest first.

    `sight` is how far the model sees.
    """
    splits = {name: dataset.split(name) for name in SPLITS}
    types = {type for split in splits.values() for type in split.encode().types if is_numeral(type)}
    seen = {name: columns_in_view(split, sight) for name, split in splits.items()}
    for columns in seen.values():
        types.update(columns.numerals if columns is not None else ())
    table = NumeralTable.of_text(types, vocabulary.numeral_ids())
    return {name: Corpus(splits[name], vocabulary, table, seen[name]) for name in SPLITS}


def columns_in_view(split: Split, sight: str) -> SightColumns | None:
    """The tables in view of the paragraphs of a split, if a model sees any numbers at all."""
    return None if sight == "none" else split.sight(sight)


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
