"""A pretrained language model as a `NumberModel`, as it comes or with one of our heads.

It reads text as it stands, so the white space before a numeral matters: whoever has a text without
one at its end, as people type it, adds what a writer would leave (`before_numeral` in `gap.py`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from numerate.corpus.dataset import Dataset
from numerate.corpus.rules import ReadingRules
from numerate.corpus.tokenizer import Token, tokenize
from numerate.evaluation.perplexity import numeral_shares
from numerate.evaluation.score import exactly
from numerate.heads.combination import CombinationHead
from numerate.heads.digit_adapter import DigitAdapter
from numerate.numeral_table import NumeralTable
from numerate.plausibility.digit_tree import DigitTree
from numerate.plausibility.number_model import AFTER, NextNumeral, Reading
from numerate.plausibility.reference import Reference
from numerate.plausibility.search import Given, numerals_of_head
from numerate.pretrained.backbone_run import BackboneRun
from numerate.pretrained.language_model import LaidOut, ParagraphScores, PretrainedLM
from numerate.pretrained.plan import Paragraph, Plan
from numerate.pretrained.store import SplitStore, Store

PREFIXES_AT_ONCE = 32
MOST_PREFIXES = 256  # continued for the number line: each costs a few tokens of the model
MOST_SEARCHED = 4096  # for the most probable numerals


@dataclass(slots=True)
class Context:
    """A place before a numeral: one of those in a planned window."""

    plan: Plan
    index: int
    state: Tensor | None = None  # [1, S] the language model's there, once it has been read


def plan_before_numeral(lm: PretrainedLM, text: str, rules: ReadingRules) -> Plan:
    """A window whose one numeral comes after exactly this text."""
    some_numeral = Token("0", len(text), len(text) + 1, True)  # only its place counts
    tokens = [*tokenize(text, rules), some_numeral]
    return lm.lay_out_before(Paragraph.of(text + "0", tokens), len(tokens) - 1)


def _contexts(laid_out: LaidOut, states: np.ndarray) -> list[Context]:
    """Of the numerals of a paragraph: [N, S] → N."""
    rows = [torch.from_numpy(state[None]) for state in states]
    return [Context(*place, state) for place, state in zip(laid_out.places, rows, strict=True)]


class ParagraphScorer(Protocol):
    """What scores paragraphs: a language model, or a head over it."""

    def score(self, paragraphs: Sequence[LaidOut]) -> list[ParagraphScores]: ...


class PretrainedModel:
    """A pretrained language model as it comes. States are lists of `Context`."""

    members: tuple[str, ...] = ()
    open_vocabulary = True
    paragraphs_at_once = 8  # some seconds of a small model on two cores
    second_looks = 0.1  # each costs some hundred tokens
    reads_details = False  # whether what it says of a numeral needs more than the state before it

    def __init__(
        self, lm: PretrainedLM, reference: Reference, scorer: ParagraphScorer | None = None
    ) -> None:
        self._lm = lm
        self._scorer = scorer or lm
        self._rules = reference.reading
        self.candidates = NumeralTable(reference.candidates)

    @property
    def name(self) -> str:
        return self._lm.backbone.name

    def join(self, states: Sequence[list[Context]]) -> list[Context]:
        return [context for some in states for context in some]

    def tokens(self, text: str) -> list[Token]:
        return tokenize(text, self._rules)

    def read(self, texts: Sequence[str]) -> list[Reading]:
        if not texts:
            return []
        tokens = [self.tokens(text) for text in texts]
        paragraphs = [Paragraph.of(*pair) for pair in zip(texts, tokens, strict=True)]
        laid_out = self._lm.lay_out(paragraphs)
        rows = zip(texts, tokens, self._scorer.score(laid_out), laid_out, strict=True)
        return [self._reading(*row) for row in rows]

    def _reading(
        self, text: str, tokens: list[Token], scores: ParagraphScores, laid_out: LaidOut
    ) -> Reading:
        positions = np.flatnonzero([token.is_numeral for token in tokens])
        charges = self._charges(NumeralTable([tokens[place].text for place in positions]))
        log_probs = scores.targets.copy()
        log_probs[positions] += charges
        return Reading(
            text=text,
            tokens=tokens,
            log_probs=log_probs,
            positions=positions,
            numeral_log_probs=scores.numerals + charges,
            gates=scores.gates,
            states=_contexts(laid_out, scores.states),
        )

    def stored_readings(self, split: SplitStore, paragraphs: np.ndarray) -> Iterator[Reading]:
        """Of paragraphs that have been read before: nothing is read again."""
        chosen = [split.paragraphs[index] for index in paragraphs]
        numerals = [p.written[place] for p in chosen for place in sorted(p.numerals)]
        found = self.stored_log_probs(split, paragraphs, numerals)
        counts = [len(paragraph.numerals) for paragraph in chosen]
        rows = zip(
            paragraphs,
            chosen,
            np.split(found, np.cumsum(counts)[:-1]),
            split.layouts.of(paragraphs.tolist()),
            strict=True,
        )
        for index, paragraph, log_probs, laid_out in rows:
            positions = np.array(sorted(paragraph.numerals), dtype=np.int64)
            places = slice(*split.numeral_starts[index : index + 2])
            gates = np.array(split.gates[places])
            targets = np.array(split.targets[slice(*split.target_starts[index : index + 2])])
            targets[positions] = gates + log_probs
            yield Reading(
                text=paragraph.text,
                tokens=paragraph.tokens(),
                log_probs=targets,
                positions=positions,
                numeral_log_probs=log_probs,
                gates=gates,
                states=_contexts(laid_out, split.states[places].astype(np.float32)),
            )

    def in_place(
        self, reading: Reading, rows: np.ndarray, numerals: Sequence[str]
    ) -> tuple[np.ndarray, np.ndarray]:
        result = np.empty((2, len(rows)))
        for row in np.unique(rows):
            mine = np.flatnonzero(rows == row).tolist()
            table = NumeralTable(list(dict.fromkeys(numerals[index] for index in mine)))
            columns = {text: column for column, text in enumerate(table.texts)}
            (log_probs,) = self.log_probs(reading.states[row : row + 1], table)
            after = self._after(reading, int(row), table.texts)
            which = [columns[numerals[index]] for index in mine]
            result[:, mine] = log_probs[which], after[which]
        return result[0], result[1]

    def _after(self, reading: Reading, row: int, numerals: list[str]) -> np.ndarray:
        """log p(the next tokens | what stands before, the numeral, which has ended): [C].

        Of a numeral's spellings the tokenizer's own is read, and of what follows too.
        """
        place = int(reading.positions[row])
        last = min(place + AFTER, len(reading.tokens) - 1)
        if last == place or not self._lm.scorer.takes_masks:  # without masks it would take too long
            return np.zeros(len(numerals))
        text = reading.text[reading.tokens[place].end : reading.tokens[last].end]
        context = reading.states[row]
        return self._lm.follows(context.plan, context.index, numerals, text)

    def contexts(self, texts: Sequence[str]) -> list[Context]:
        plans = [plan_before_numeral(self._lm, text, self._rules) for text in texts]
        return [Context(plan, 0) for plan in plans]

    def log_probs(self, states: list[Context], numerals: NumeralTable) -> np.ndarray:
        known = self._known(numerals)
        windows = groupby(states, key=lambda context: id(context.plan))
        parts = [np.empty((0, len(known)))]
        for _, some in windows:
            contexts = list(some)
            which = [context.index for context in contexts]
            parts.append(self._table(contexts, which, known))
        table: np.ndarray = np.concatenate(parts) + self._charges(known)
        return table

    def _table(
        self, contexts: list[Context], which: list[int], numerals: NumeralTable
    ) -> np.ndarray:
        """log p(numeral | a numeral comes) in contexts of one window: [N, C]."""
        return self._lm.table(contexts[0].plan, numerals, which)

    def next_numeral(self, state: list[Context]) -> NextNumeral:
        return self._spelled(state[0])

    def _spelled(self, context: Context, adapter: DigitAdapter | None = None) -> DigitTree:
        """The digits that the language model writes."""
        writer = self._lm.writer(context.plan, context.index, adapter)
        return DigitTree(
            writer, at_once=PREFIXES_AT_ONCE, most=MOST_PREFIXES, searched=MOST_SEARCHED
        )

    def shares(self, states: list[Context]) -> np.ndarray:
        return np.zeros((len(states), 0))

    def stored_log_probs(
        self, split: SplitStore, paragraphs: np.ndarray, numerals: Sequence[str]
    ) -> np.ndarray:
        """log p(numeral | a numeral comes next) of the N numerals of paragraphs read before."""
        found: np.ndarray = np.array(split.numerals[split.numerals_of(paragraphs)])
        return found

    def _known(self, numerals: NumeralTable) -> NumeralTable:
        return numerals

    def _charges(self, numerals: NumeralTable) -> np.ndarray:
        """What numerals outside a closed vocabulary pay for being one of many: [C]."""
        return np.zeros(len(numerals))


class HeadedModel(PretrainedModel):
    """A head that was trained over a pretrained model."""

    def __init__(self, run: BackboneRun, reference: Reference) -> None:
        super().__init__(run.lm, reference, run)
        self._run = run
        self._head = run.head.head
        self._ids = run.head.vocabulary.numeral_ids()
        self._oov_numerals = reference.oov_numerals
        self._named = NumeralTable(run.head.vocabulary.numerals[1:], self._ids)
        self.candidates = self._known(self.candidates)
        self.open_vocabulary = run.head.open_vocabulary
        self.reads_details = run.reads_details
        self.members = self._head.names if isinstance(self._head, CombinationHead) else ()

    @property
    def name(self) -> str:
        return self._run.name

    def store(self, cache: Path | None, dataset: Dataset) -> Store:
        """What the language model says of a dataset, kept on disk."""
        return self._run.store(cache, dataset)

    def shares(self, states: list[Context]) -> np.ndarray:
        if not isinstance(self._head, CombinationHead):
            return super().shares(states)
        with exactly():
            weights = [self._head.log_weights(self._hidden(context)) for context in states]
            shares: np.ndarray = torch.cat(weights).double().exp().numpy()
        return shares

    def next_numeral(self, state: list[Context]) -> NextNumeral:
        (context,) = state

        def score(texts: list[str]) -> np.ndarray:
            row: np.ndarray = self.log_probs(state, NumeralTable(texts))[0]
            return row

        given = None
        if isinstance(self._head, CombinationHead):
            given = Given([self._spelled(context, self._run.head.adapter)], score)
        with exactly():
            return numerals_of_head(self._head, self._hidden(context), self._named, given)

    def stored_log_probs(
        self, split: SplitStore, paragraphs: np.ndarray, numerals: Sequence[str]
    ) -> np.ndarray:
        table = self._known(NumeralTable(numerals))
        places, rows = split.numerals_of(paragraphs), np.arange(len(table))
        with exactly():
            found = self._run.stored_log_probs(split, places, table, rows)
        charged: np.ndarray = found + self._charges(table)
        return charged

    def _table(
        self, contexts: list[Context], which: list[int], numerals: NumeralTable
    ) -> np.ndarray:
        states = torch.cat([self._state(context) for context in contexts])
        return self._run.table_of(states, contexts[0].plan, numerals, which)

    def _hidden(self, context: Context) -> Tensor:  # [1, D]
        """What the head sees."""
        hidden: Tensor = self._run.head.project(self._state(context))
        return hidden

    def _state(self, context: Context) -> Tensor:  # [1, S]
        if context.state is None:
            with exactly():
                states = self._lm.scorer.score([context.plan]).states
            context.state = states[[context.index]].float()
        return context.state

    def _known(self, numerals: NumeralTable) -> NumeralTable:
        return NumeralTable(numerals.texts, self._ids)

    def _charges(self, numerals: NumeralTable) -> np.ndarray:
        known = self._known(numerals).known
        return numeral_shares(known, self._oov_numerals, open_vocabulary=self.open_vocabulary)
