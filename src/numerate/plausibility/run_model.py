"""A run of our own as a `NumberModel`."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from numerate.batching import Corpus, bucketed_batches
from numerate.corpus.dataset import Encoded
from numerate.corpus.rules import ReadingRules
from numerate.corpus.tokenizer import Token, tokenize
from numerate.evaluation.perplexity import adjusted_log_probs, numeral_shares
from numerate.evaluation.score import BATCH_SIZE, TABLE_ROWS, Targets, coordinates, exactly
from numerate.heads.base import NumeralHead
from numerate.heads.combination import CombinationHead
from numerate.model.language_model import LanguageModel
from numerate.model.output import HierarchicalOutput
from numerate.numeral_table import NumeralTable
from numerate.plausibility.number_model import NextNumeral, Reading
from numerate.plausibility.reference import Reference
from numerate.plausibility.search import next_numeral


class Paragraphs:
    """Texts as a corpus takes them: tokenised, encoded as integers."""

    name = "text"

    def __init__(self, texts: Sequence[str], rules: ReadingRules) -> None:
        self.tokens = [tokenize(text, rules) for text in texts]
        codes: dict[str, int] = {}
        flat = [
            codes.setdefault(token.text, len(codes)) for tokens in self.tokens for token in tokens
        ]
        ends = np.cumsum([0, *map(len, self.tokens)])
        self._encoded = Encoded(list(codes), np.array(flat, dtype=np.int32), ends)

    def encode(self) -> Encoded:
        return self._encoded

    def corpus(self, model: LanguageModel) -> Corpus:
        distinct = {t.text for tokens in self.tokens for t in tokens if t.is_numeral}
        texts = sorted(distinct, key=lambda text: (-len(text), text))
        table = NumeralTable(texts, model.vocabulary.numeral_ids())
        return Corpus(self, model.vocabulary, table)


class RunModel:
    """A trained `LanguageModel`, with what is to be known of its training data."""

    paragraphs_at_once = 4 * BATCH_SIZE  # enough of each length for batches of similar ones

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
        paragraphs = Paragraphs(texts, self._reference.reading)
        corpus = paragraphs.corpus(self._model)
        targets = Targets.of(corpus)
        starts = corpus.offsets[:-1] + np.arange(len(corpus))  # of each text among the targets
        numeral_index = np.cumsum(targets.is_numeral) - 1  # of each target among the numerals
        log_probs = np.empty(len(corpus.tokens) + len(corpus))
        gates = np.empty(len(targets.rows))
        states = torch.empty(len(targets.rows), self._model.config.hidden)
        with exactly():
            for rows in bucketed_batches(corpus.lengths, BATCH_SIZE):
                batch = corpus.collate(rows)
                hidden = self._model.hidden(batch)
                steps, columns = coordinates(batch, batch.positions)
                places = starts[rows[columns]] + steps
                log_probs[places] = self._model.output.log_prob(hidden, batch).double().numpy()
                numerals = numeral_index[places[batch.word_count :]]
                before = hidden.index_select(0, batch.by_class(batch.positions)[1])
                states[torch.from_numpy(numerals)] = before
                gates[numerals] = self._model.output.numeral_gate(before).double().numpy()
        log_probs = adjusted_log_probs(
            log_probs,
            targets.is_numeral,
            targets.is_unknown,
            max(1, self._reference.oov_words),
            max(1, self._reference.oov_numerals),
            open_vocabulary=self.open_vocabulary,
        )
        return list(_readings(paragraphs.tokens, targets, log_probs, gates, states))

    def contexts(self, texts: Sequence[str]) -> Tensor:  # [N, D]
        paragraphs = Paragraphs(texts, self._reference.reading)
        corpus = paragraphs.corpus(self._model)
        states = torch.empty(len(corpus), self._model.config.hidden)
        with exactly():
            for rows in bucketed_batches(corpus.lengths, BATCH_SIZE):
                hidden = self._model.hidden(corpus.collate(rows))
                last = corpus.lengths[rows] * len(rows) + np.arange(len(rows))
                states[torch.from_numpy(rows)] = hidden[torch.from_numpy(last)]
        return states

    def log_probs(self, states: Tensor, numerals: NumeralTable) -> np.ndarray:
        if numerals is not self.candidates:
            numerals = NumeralTable(numerals.texts, self._ids)
        shares = numeral_shares(
            numerals.known, self._reference.oov_numerals, open_vocabulary=self.open_vocabulary
        )
        with exactly():
            parts = [
                self._model.output.numeral_table(part, numerals).double()
                for part in torch.split(states, TABLE_ROWS)
            ]
        return torch.cat(parts).numpy() + shares

    def shares(self, states: Tensor) -> np.ndarray:
        head = self._head()
        if not isinstance(head, CombinationHead):
            return np.zeros((len(states), 0))
        with exactly():
            shares: np.ndarray = head.log_weights(states).double().exp().numpy()
        return shares

    def next_numeral(self, state: Tensor) -> NextNumeral:
        with exactly():
            return next_numeral(self._model.output, state, self._named)

    def _head(self) -> NumeralHead | None:
        output = self._model.output
        return output.head if isinstance(output, HierarchicalOutput) else None


def _readings(
    tokens: list[list[Token]],
    targets: Targets,
    log_probs: np.ndarray,
    gates: np.ndarray,
    states: Tensor,
) -> Iterator[Reading]:
    """What was found for all texts together, text by text."""
    start = first = 0
    for text in tokens:
        end = start + len(text) + 1
        positions = np.flatnonzero(targets.is_numeral[start:end])
        numerals = slice(first, first + len(positions))
        found = log_probs[start:end]
        yield Reading(
            tokens=text,
            log_probs=found,
            positions=positions,
            numeral_log_probs=found[positions] - gates[numerals],
            gates=gates[numerals],
            states=states[numerals],
        )
        start, first = end, numerals.stop
