"""Backbones from scratch: embeddings, a network, a softmax over words and a class gate."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from numerate.lm.backbones.contract import AFTER, Backbone, Reading, exactly
from numerate.lm.backbones.embedding import INPUTS
from numerate.lm.backbones.sight_encoder import SightEncoder
from numerate.lm.backbones.texts import Texts
from numerate.lm.backbones.words import FlatWords, GatedWords, Words
from numerate.lm.data.batching import Batch, Corpus, bucketed_batches
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.data.sight.collate import ReadSight, SeenNumbers
from numerate.lm.data.sight.view import Sight
from numerate.lm.heads.base import Context, NumeralHead
from numerate.text.vocabulary import Vocabulary

BATCH_SIZE = 50
PLACES_AT_ONCE = 2048  # numerals in other numerals' place that are read together


class ScratchBackbone(Backbone):
    """One network, dropout on its input and its output. Which network is for subclasses to say."""

    open_words = False
    records_steps = True
    texts_at_once = 4 * BATCH_SIZE  # enough of each length for batches of similar ones

    def __init__(
        self,
        size: int,
        dropout: float,
        vocabulary: Vocabulary,
        *,
        flat: bool,
        sees: bool = False,
        layers: int = 1,
        heads: int = 1,
        inputs: str = "digits",
    ) -> None:
        """`flat`: words and numerals share one softmax; `sees`: there are numbers in view."""
        super().__init__()
        self.vocabulary = vocabulary
        self.embedding = INPUTS[inputs](size, vocabulary, with_magnitude=sees)
        self.dropout = nn.Dropout(dropout)
        self._add_network(size, layers, heads)
        kind: type[Words] = FlatWords if flat else GatedWords
        self.words = kind(size, len(vocabulary.words))
        self.sight = SightEncoder(size, dropout) if sees else None

    @staticmethod
    @abstractmethod
    def check_heads(heads: int, size: int) -> None:
        """Refuse a number of attention heads that does not suit the network and its size."""

    @abstractmethod
    def _add_network(self, size: int, layers: int, heads: int) -> None:
        """Make the weights of the network, as attributes of this module."""

    @abstractmethod
    def _states(self, embedded: Tensor) -> Tensor:
        """After every token, of which none sees a later one: [L, B, D] → [L, B, D]."""

    @abstractmethod
    def _trace(self, embedded: Tensor) -> tuple[Tensor, Tensor]:
        """The same without dropout, and what else is to be remembered of every token so that the
        network can go on from there: [L, B, D] → [L, B, D], [L, B, M]."""

    @abstractmethod
    def _go_on(self, reading: Reading, rows: np.ndarray, embedded: Tensor) -> Tensor:
        """States after tokens that follow what stands before the numerals `rows` [E] of a reading
        whose memory is that of all targets, [T, M]: [S, E, D] → [S, E, D]."""

    @property
    def device(self) -> torch.device:
        return self.words.weight.device

    def hidden(self, batch: Batch) -> Tensor:  # [L * B, D]
        states = self._states(self.dropout(self.embedding(batch)))
        return self.dropout(states).flatten(0, 1)  # type: ignore[no-any-return]

    def log_prob(self, batch: Batch, head: NumeralHead) -> Tensor:
        hidden = self.hidden(batch)
        in_view = self._in_view(batch, hidden) if head.uses_sight else None
        return self.words.log_prob(hidden, batch, head, in_view)

    def contexts(self, batch: Batch) -> Context:
        hidden = self.hidden(batch)
        _, positions = batch.by_class(batch.positions)
        return Context(hidden.index_select(0, positions), self._in_view(batch, hidden))

    def _in_view(self, batch: Batch, hidden: Tensor) -> Sight | None:
        """What the numerals of a batch have in view."""
        if self.sight is None or batch.sight is None or batch.numerals is None:
            return None
        return batch.sight.with_vectors(self._vectors(batch.sight, hidden))

    def _vectors(self, numbers: SeenNumbers, hidden: Tensor) -> Tensor:
        assert self.sight is not None
        vectors: Tensor = self.sight(numbers, self.embedding.words, hidden)
        return vectors

    def read(self, corpus: Corpus, head: NumeralHead, *, going_on: bool = False) -> Reading:
        states = torch.empty(len(corpus.rows), self.words.weight.shape[1], device=self.device)
        memory: Tensor | None = None  # [T, M]
        seen = _SeenSoFar(corpus, states)

        def score(batch: Batch, rows: np.ndarray) -> Tensor:
            nonlocal memory
            if going_on:
                hidden, traced = (part.flatten(0, 1) for part in self._trace(self.embedding(batch)))
                if memory is None:
                    size = len(corpus.target_is_numeral), traced.shape[1]
                    memory = torch.empty(size, device=self.device)
                targets = torch.from_numpy(_targets(corpus, batch, rows)).to(self.device)
                memory[targets] = traced.index_select(0, batch.positions)
            else:
                hidden = self.hidden(batch)
            _, positions = batch.by_class(batch.positions)
            places = torch.from_numpy(corpus.numerals_in_batch(rows)[0]).to(self.device)
            states[places] = hidden.index_select(0, positions).float()
            if self.sight is not None and batch.sight is not None:
                seen.put(batch.sight, self._vectors(batch.sight, hidden))
            return self.words.log_prob_but_numerals(hidden, batch, head)

        log_probs = self._log_probs(corpus, score, BATCH_SIZE)
        return Reading(corpus, log_probs, Context(states, seen.before_numerals()), memory)

    def _log_probs(
        self, corpus: Corpus, score: Callable[[Batch, np.ndarray], Tensor], batch_size: int
    ) -> np.ndarray:
        """Of all targets, in the order of the corpus whatever the batches are: [T].

        `score` is given a batch and the paragraphs that it is made of.
        """
        result = np.empty(len(corpus.target_is_numeral))
        corpus.table.to(self.device)
        with exactly():
            for rows in bucketed_batches(corpus.lengths, batch_size):
                batch = corpus.collate(rows)
                found = score(batch, rows)
                result[_targets(corpus, batch, rows)] = found.double().cpu().numpy()
        return result

    def after(self, texts: Texts) -> Context:
        corpus = texts.corpus(self.vocabulary)
        states = torch.empty(len(corpus), self.words.weight.shape[1], device=self.device)
        seen = _SeenSoFar(corpus, states)
        corpus.table.to(self.device)
        with exactly():
            for rows in bucketed_batches(corpus.lengths, BATCH_SIZE):
                batch = corpus.collate(rows)
                everything = self.hidden(batch)
                if self.sight is not None and batch.sight is not None:
                    seen.put(batch.sight, self._vectors(batch.sight, everything))
                hidden = everything.view(*batch.shape, -1)
                last = torch.from_numpy(corpus.lengths[rows]).to(self.device)
                states[torch.from_numpy(rows).to(self.device)] = hidden[
                    last, torch.arange(len(rows), device=self.device)
                ]
        return Context(states, seen.at_ends())

    def following(
        self, reading: Reading, head: NumeralHead, rows: np.ndarray, numerals: Sequence[str]
    ) -> tuple[np.ndarray, np.ndarray]:
        """The network goes on from its state before the numeral, with another one instead."""
        corpus = _in_place(reading.corpus, rows, numerals)

        def score(batch: Batch, some: np.ndarray) -> Tensor:
            hidden = reading.context.hidden[torch.from_numpy(rows[some]).to(self.device)]
            embedded = self.embedding(batch)[1:]  # not from the start of a text
            following = self._go_on(reading, rows[some], embedded)
            states = torch.cat([hidden[None], following]).flatten(0, 1)
            in_view = None
            if reading.context.sight is not None:
                # What follows sees what the numeral saw.
                owners = corpus.numeral_paragraphs(some)
                in_view = reading.context.sight[torch.from_numpy(rows[owners])]
            return self.words.log_prob(states, batch, head, in_view)

        log_probs = self._log_probs(corpus, score, PLACES_AT_ONCE)
        numerals_at = corpus.offsets[:-1] + np.arange(len(corpus))
        total = np.add.reduceat(log_probs, numerals_at)
        ends = log_probs[numerals_at + corpus.lengths]  # the text goes on
        log_numerals = log_probs[numerals_at]
        return log_numerals - reading.gates[rows], total - log_numerals - ends

    def start_from_vectors(
        self, words: np.ndarray, numerals: np.ndarray, head: NumeralHead
    ) -> None:
        """Start the token embeddings, of input and output, from pretrained vectors."""
        self.embedding.start_from_vectors(words, numerals)
        with torch.no_grad():
            self.words.weight[:] = torch.from_numpy(words)
        head.start_from_vectors(dict(zip(self.vocabulary.numerals, numerals, strict=True)))

    def digit_tables(self) -> dict[str, Any]:
        return self.embedding.digit_tables()


class _SeenSoFar:
    """The vectors of the numbers in view of a corpus, as its texts are read."""

    def __init__(self, corpus: Corpus, states: Tensor) -> None:
        self._sight = corpus.sight
        count = 0 if corpus.sight is None else len(corpus.sight.rows)
        self._vectors = states.new_zeros(count, states.shape[1])

    def put(self, numbers: SeenNumbers, vectors: Tensor) -> None:
        self._vectors[numbers.found] = vectors.float()

    def before_numerals(self) -> Sight | None:
        if self._sight is None:
            return None
        return ReadSight(self._sight, self._vectors, None, self._sight.numeral_places)

    def at_ends(self) -> Sight | None:
        if self._sight is None:
            return None
        return ReadSight(self._sight, self._vectors, None, self._sight.end_places)


def _targets(corpus: Corpus, batch: Batch, rows: np.ndarray) -> np.ndarray:
    """Places of the targets of a batch, made of the paragraphs `rows`, among those of a corpus."""
    steps, columns = np.divmod(batch.positions.cpu().numpy(), batch.shape[1])
    paragraphs = rows[columns]
    found: np.ndarray = corpus.offsets[paragraphs] + paragraphs + steps
    return found


def _in_place(corpus: Corpus, rows: np.ndarray, numerals: Sequence[str]) -> Corpus:
    """Numerals in the place of those of a corpus, each with the few tokens that follow it."""
    owners = np.repeat(np.arange(len(corpus)), np.diff(corpus.numeral_offsets))[rows]
    first = np.flatnonzero(corpus.is_numeral)[rows]
    places = first[:, None] + np.arange(1 + AFTER)  # [E, 1 + AFTER]
    inside = places < corpus.offsets[owners + 1][:, None]
    places = np.minimum(places, len(corpus.words) - 1)
    among = np.cumsum(corpus.is_numeral) - 1  # of each token among the numerals
    written = np.array(corpus.table.texts, dtype=object)[corpus.rows[among[places]]]
    written[:, 0] = numerals
    is_numeral = corpus.is_numeral[places][inside]
    table = NumeralTable.of_text(written[inside][is_numeral], corpus.vocabulary.numeral_ids())
    index = {text: row for row, text in enumerate(table.texts)}
    return Corpus.of_columns(
        corpus.vocabulary,
        table,
        words=corpus.words[places][inside],
        is_numeral=is_numeral,
        rows=np.array([index[text] for text in written[inside][is_numeral]], dtype=np.int64),
        lengths=inside.sum(1),
    )
