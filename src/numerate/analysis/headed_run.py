"""A head over a pretrained model, opened for a look inside."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from numerate.analysis.run import DigitTable, Run, Situation
from numerate.evaluation.head_on_states import HeadOnStates
from numerate.evaluation.score import Tables, Targets, exactly
from numerate.heads.base import NumeralHead
from numerate.numeral_table import SYMBOLS, NumeralTable
from numerate.plausibility.gap import before_numeral
from numerate.plausibility.pretrained_model import plan_before_numeral
from numerate.pretrained.head_model import LM, HeadModel
from numerate.pretrained.language_model import PretrainedLM
from numerate.pretrained.plan import Plan

Place = tuple[Plan, int]  # a planned window, and which of its numerals


@dataclass(frozen=True, eq=False)
class HeadedRun(Run):
    """States come from the store; the member `lm` reads every candidate after the text itself."""

    reader: HeadOnStates

    @property
    def network(self) -> HeadModel:
        return self.reader.run.head

    @property
    def backbone(self) -> str:
        return self._lm.backbone.name

    @property
    def head(self) -> NumeralHead:
        return self.network.head

    @property
    def open_vocabulary(self) -> bool:
        return self.network.open_vocabulary

    @property
    def ranks_slowly(self) -> bool:
        return self.network.needs_lm

    @property
    def _lm(self) -> PretrainedLM:
        return self.reader.run.lm

    def digit_tables(self) -> dict[str, DigitTable]:
        """Those of the pretrained model, which has no end of a numeral."""
        model: Any = self._lm.backbone.model
        ids = torch.tensor([self._lm.tokens.pieces[symbol] for symbol in SYMBOLS])

        def digits(embedding: Any) -> DigitTable:
            return DigitTable(tuple(SYMBOLS), embedding.weight[ids.to(embedding.weight.device)])

        reads, writes = model.get_input_embeddings(), model.get_output_embeddings()
        found = {"read at the input": digits(reads)}
        if self.network.needs_lm and writes.weight is not reads.weight:
            found[f"to be written ({LM})"] = digits(writes)
        return found

    @cached_property
    def dev_states(self) -> Tensor:
        return self.reader.hidden(self.dev)

    def dev_log_probs(self) -> np.ndarray:
        return self.reader.numeral_log_probs(self.dev)

    def tables(self, candidates: NumeralTable, places: np.ndarray) -> Tables:
        return self.reader.tables(self.dev, candidates, places)

    def at(self, place: int) -> Situation:
        states = self.reader.states(self.dev, np.array([place]))
        return self._situation(states, lambda: self._place_of(place))

    def after(self, text: str) -> Situation:
        plan = plan_before_numeral(self._lm, before_numeral(text), self.dataset.reading)
        with exactly():
            states = self._lm.scorer.score([plan]).states.float()
        return self._situation(states, lambda: (plan, 0))

    def _situation(self, states: Tensor, place: Callable[[], Place]) -> Situation:
        """From the language model's states [1, S]; where the text is planned if need be."""

        def table(candidates: NumeralTable) -> Tensor:
            plan, which = place()
            return torch.from_numpy(self.reader.run.table_of(states, plan, candidates, [which]))

        with exactly():
            return Situation(self.network.project(states), table)

    def _place_of(self, numeral: int) -> Place:
        """The window with a numeral of the dev split."""
        targets = Targets.of(self.dev)
        owners = targets.paragraphs[targets.is_numeral]  # [N]
        index = numeral - int(np.searchsorted(owners, owners[numeral]))
        source = self.dev.sources[owners[numeral]]
        (laid_out,) = self.reader.store.split(self.dev.name).layouts.of([source])
        return laid_out.places[index]
