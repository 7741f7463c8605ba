"""A model that was trained from scratch, opened for a look inside."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from numerate.analysis.run import DigitTable, Run, Situation
from numerate.corpus.tokenizer import tokenize
from numerate.evaluation.score import TABLE_ROWS, Tables, exactly, numeral_states
from numerate.heads.base import NumeralHead
from numerate.heads.softmax import NumeralEmbedding
from numerate.model.language_model import LanguageModel
from numerate.model.output import FlatOutput, HierarchicalOutput
from numerate.numeral_table import SYMBOLS, NumeralTable
from numerate.plausibility.run_model import Texts

_STAND_IN = "0"  # after a typed context: a state is that before a numeral
_NUMERALS = 2048  # scored at a time


@dataclass(frozen=True, eq=False)
class OwnRun(Run):
    """One of the seven models: all that follows, follows from its hidden states."""

    model: LanguageModel

    @property
    def backbone(self) -> None:
        return None

    @property
    def network(self) -> LanguageModel:
        return self.model

    @property
    def head(self) -> NumeralHead | None:
        output = self.model.output
        return output.head if isinstance(output, HierarchicalOutput) else None

    @property
    def open_vocabulary(self) -> bool:
        return self.model.output.open_vocabulary

    @property
    def ranks_slowly(self) -> bool:
        return False

    @property
    def numeral_embedding(self) -> NumeralEmbedding | None:
        output = self.model.output
        return output.numerals if isinstance(output, FlatOutput) else super().numeral_embedding

    def digit_tables(self) -> dict[str, DigitTable]:
        weight = self.model.embedding.encoder.symbols.weight
        return {"read at the input": DigitTable((*SYMBOLS, "end"), weight)}

    @cached_property
    def dev_states(self) -> Tensor:
        return numeral_states(self.model, self.dev)

    def dev_log_probs(self) -> np.ndarray:
        assert self.head is not None, "a flat softmax is not asked"
        parts = []
        with exactly():
            for begin in range(0, len(self.dev_rows), _NUMERALS):
                cut = slice(begin, begin + _NUMERALS)
                numerals = self.dev.table.batch(self.dev_rows[cut])
                parts.append(self.head.log_prob(self.dev_states[cut], numerals).double().cpu())
        return torch.cat(parts).numpy()

    def tables(self, candidates: NumeralTable, places: np.ndarray) -> Tables:
        with exactly():
            for begin in range(0, len(places), TABLE_ROWS):
                some = torch.from_numpy(places[begin : begin + TABLE_ROWS])
                states = self.dev_states[some.to(self.dev_states.device)]
                yield np.arange(begin, begin + len(some)), self._table(states, candidates)

    def at(self, place: int) -> Situation:
        return self._situation(self.dev_states[place : place + 1])

    def after(self, text: str) -> Situation:
        tokens = tokenize(f"{text} {_STAND_IN}", self.dataset.reading)
        corpus = Texts.of([tokens]).corpus(self.model)
        corpus.table.to(self.dev.table.device)
        return self._situation(numeral_states(self.model, corpus)[-1:])

    def _situation(self, hidden: Tensor) -> Situation:
        def table(candidates: NumeralTable) -> Tensor:
            with exactly():
                return self._table(hidden, candidates)

        return Situation(hidden, table)

    def _table(self, hidden: Tensor, candidates: NumeralTable) -> Tensor:
        return self.model.output.numeral_table(hidden, candidates).double()
