"""A run of our own as a `NumberModel`."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from numerate.batching import Batch, Corpus, bucketed_batches
from numerate.corpus.dataset import Encoded
from numerate.corpus.tokenizer import Token, tokenize
from numerate.evaluation.perplexity import adjusted_log_probs, numeral_shares
from numerate.evaluation.score import BATCH_SIZE, TABLE_ROWS, Targets, coordinates, exactly
from numerate.heads.base import NumeralHead
from numerate.heads.combination import CombinationHead
from numerate.model.language_model import LanguageModel
from numerate.model.output import HierarchicalOutput
from numerate.numeral import is_numeral
from numerate.numeral_table import NumeralTable
from numerate.plausibility.number_model import AFTER, NextNumeral, Reading
from numerate.plausibility.reference import Reference
from numerate.plausibility.search import next_numeral

PLACES_AT_ONCE = 2048  # numerals in other numerals' place that are read together


class Texts:
    """Texts as a corpus takes them: encoded as integers."""

    name = "text"

    def __init__(self, encoded: Encoded) -> None:
        self._encoded = encoded

    @classmethod
    def of(cls, tokens: list[list[Token]]) -> "Texts":
        codes: dict[str, int] = {}
        flat = [codes.setdefault(token.text, len(codes)) for some in tokens for token in some]
        ends = np.cumsum([0, *map(len, tokens)])
        return cls(Encoded(list(codes), np.array(flat, dtype=np.int32), ends))

    @classmethod
    def in_place(cls, reading: Reading, rows: np.ndarray, numerals: Sequence[str]) -> "Texts":
        """Numerals in the place of those of a reading, each with the few tokens that follow it."""
        types = list(dict.fromkeys([*numerals, *(token.text for token in reading.tokens)]))
        codes = {text: code for code, text in enumerate(types)}
        tokens = np.array([codes[token.text] for token in reading.tokens], dtype=np.int32)
        places = reading.positions[rows][:, None] + np.arange(1 + AFTER)  # [E, 1 + AFTER]
        inside = places < len(tokens)
        written = tokens[np.minimum(places, len(tokens) - 1)]
        written[:, 0] = [codes[text] for text in numerals]
        return cls(Encoded(types, written[inside], np.cumsum([0, *inside.sum(1)])))

    def encode(self) -> Encoded:
        return self._encoded

    def corpus(self, model: LanguageModel) -> Corpus:
        types = filter(is_numeral, self._encoded.types)
        numerals = sorted(types, key=lambda text: (-len(text), text))
        table = NumeralTable(numerals, model.vocabulary.numeral_ids())
        return Corpus(self, model.vocabulary, table)


class RunModel:
    """A trained `LanguageModel`, with what is to be known of its training data."""

    paragraphs_at_once = 4 * BATCH_SIZE  # enough of each length for batches of similar ones
    second_looks = 0.3  # nearly as good as all, and three times as fast

    def __init__(self, model: LanguageModel, reference: Reference) -> None:
        self._model = model.eval()
        self._reference = reference
        self._ids = model.vocabulary.numeral_ids()
        self.candidates = NumeralTable(reference.candidates, self._ids)
        self._named = NumeralTable(model.vocabulary.numerals[1:], self._ids)

    @property
    def name(self) -> str:
        return self._model.config.model

    @property
    def open_vocabulary(self) -> bool:
        return self._model.output.open_vocabulary

    @property
    def members(self) -> tuple[str, ...]:
        head = self._head()
        return tuple(head.members) if isinstance(head, CombinationHead) else ()

    def join(self, states: Sequence[Tensor]) -> Tensor:
        return torch.cat(list(states))

    def tokens(self, text: str) -> list[Token]:
        return tokenize(text, self._reference.reading)

    def read(self, texts: Sequence[str]) -> list[Reading]:
        tokens = [self.tokens(text) for text in texts]
        corpus = Texts.of(tokens).corpus(self._model)
        targets = Targets.of(corpus)
        numeral_index = np.cumsum(targets.is_numeral) - 1  # of each target among the numerals
        gates = np.empty(len(targets.rows))
        states = self._no_states(len(targets.rows))

        def trace(batch: Batch, places: np.ndarray, rows: np.ndarray) -> Tensor:
            hidden, cells = self._model.backbone.trace(self._model.embedding(batch))
            both = torch.stack([hidden, cells], dim=2).flatten(0, 1)  # [L * B, 2, D]
            before = both.index_select(0, batch.by_class(batch.positions)[1])
            numerals = numeral_index[places[batch.word_count :]]
            states[torch.from_numpy(numerals)] = before
            gates[numerals] = self._model.output.numeral_gate(before[:, 0]).double().numpy()
            return both[:, 0]

        log_probs = self._score(corpus, targets, trace, BATCH_SIZE)
        return list(_readings(texts, tokens, targets, log_probs, gates, states))

    def _score(
        self,
        corpus: Corpus,
        targets: Targets,
        hidden_of: Callable[[Batch, np.ndarray, np.ndarray], Tensor],
        batch_size: int,
    ) -> np.ndarray:
        """log p of every target, adjusted: [T]. States come from the batch, the places of its
        targets among all, and its rows of the corpus."""
        log_probs = np.empty(len(corpus.words) + len(corpus))
        starts = corpus.offsets[:-1] + np.arange(len(corpus))  # of each text among the targets
        with exactly():
            for rows in bucketed_batches(corpus.lengths, batch_size):
                batch = corpus.collate(rows)
                steps, columns = coordinates(batch, batch.positions)
                places = starts[rows[columns]] + steps
                hidden = hidden_of(batch, places, rows)
                log_probs[places] = self._model.output.log_prob(hidden, batch).double().numpy()
        return adjusted_log_probs(
            log_probs,
            targets.is_numeral,
            targets.is_unknown,
            max(1, self._reference.oov_words),
            max(1, self._reference.oov_numerals),
            open_vocabulary=self.open_vocabulary,
        )

    def in_place(
        self, reading: Reading, rows: np.ndarray, numerals: Sequence[str]
    ) -> tuple[np.ndarray, np.ndarray]:
        """The network goes on from its state before the numeral, with another one instead."""
        corpus = Texts.in_place(reading, rows, numerals).corpus(self._model)

        def go_on(batch: Batch, places: np.ndarray, some: np.ndarray) -> Tensor:
            hidden, cell = reading.states[torch.from_numpy(rows[some])].unbind(1)
            embedded = self._model.embedding(batch)[1:]  # not from the start of a text
            following = self._model.backbone.go_on(embedded, hidden, cell)
            return torch.cat([hidden[None], following]).flatten(0, 1)

        log_probs = self._score(corpus, Targets.of(corpus), go_on, PLACES_AT_ONCE)
        numerals_at = corpus.offsets[:-1] + np.arange(len(corpus))
        total = np.add.reduceat(log_probs, numerals_at)
        ends = log_probs[numerals_at + corpus.lengths]  # the text goes on
        log_numerals = log_probs[numerals_at]
        return log_numerals - reading.gates[rows], total - log_numerals - ends

    def contexts(self, texts: Sequence[str]) -> Tensor:  # [N, 2, D]
        corpus = Texts.of([self.tokens(text) for text in texts]).corpus(self._model)
        states = self._no_states(len(corpus))
        with exactly():
            for rows in bucketed_batches(corpus.lengths, BATCH_SIZE):
                both = self._model.backbone.trace(self._model.embedding(corpus.collate(rows)))
                last = torch.from_numpy(corpus.lengths[rows]), torch.arange(len(rows))
                states[torch.from_numpy(rows)] = torch.stack([part[last] for part in both], dim=1)
        return states

    def _no_states(self, count: int) -> Tensor:  # [N, 2, D] hidden states and cells
        return torch.empty(count, 2, self._model.config.hidden)

    def log_probs(self, states: Tensor, numerals: NumeralTable) -> np.ndarray:
        if numerals is not self.candidates:
            numerals = NumeralTable(numerals.texts, self._ids)
        shares = numeral_shares(
            numerals.known, self._reference.oov_numerals, open_vocabulary=self.open_vocabulary
        )
        with exactly():
            parts = [
                self._model.output.numeral_table(part, numerals).double()
                for part in torch.split(states[:, 0], TABLE_ROWS)
            ]
        return torch.cat(parts).numpy() + shares

    def shares(self, states: Tensor) -> np.ndarray:
        head = self._head()
        if not isinstance(head, CombinationHead):
            return np.zeros((len(states), 0))
        with exactly():
            shares: np.ndarray = head.log_weights(states[:, 0]).double().exp().numpy()
        return shares

    def next_numeral(self, state: Tensor) -> NextNumeral:
        with exactly():
            return next_numeral(self._model.output, state[:, 0], self._named)

    def _head(self) -> NumeralHead | None:
        output = self._model.output
        return output.head if isinstance(output, HierarchicalOutput) else None


def _readings(
    texts: Sequence[str],
    tokens: list[list[Token]],
    targets: Targets,
    log_probs: np.ndarray,
    gates: np.ndarray,
    states: Tensor,
) -> Iterator[Reading]:
    """What was found for all texts together, text by text."""
    start = first = 0
    for text, cut in zip(texts, tokens, strict=True):
        end = start + len(cut) + 1
        positions = np.flatnonzero(targets.is_numeral[start:end])
        numerals = slice(first, first + len(positions))
        found = log_probs[start:end]
        yield Reading(
            text=text,
            tokens=cut,
            log_probs=found,
            positions=positions,
            numeral_log_probs=found[positions] - gates[numerals],
            gates=gates[numerals],
            states=states[numerals],
            unknown=targets.is_unknown[start : end - 1],
        )
        start, first = end, numerals.stop
