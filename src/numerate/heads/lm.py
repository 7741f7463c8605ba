"""The language model's own digits as a strategy, adapted to a corpus where it stays frozen.

A pretrained model of tokens can write any numeral by itself. What it says of numerals comes with
the context; this head passes it on, or has an ensemble of small networks adapt it.
"""

from typing import Self

import torch
from torch import Tensor

from numerate.errors import NumerateError
from numerate.heads.base import (
    Config,
    Context,
    Digits,
    HeadOptions,
    NextNumeral,
    NumeralHead,
    TrainingNumerals,
)
from numerate.heads.digit_adapter import DigitAdapter
from numerate.numeral_table import NumeralBatch, NumeralTable

ADAPTER_SIZE, ADAPTER_DROPOUT = 384, 0.3  # of each network that adapts digits


class LMHead(NumeralHead):
    """lm; without an ensemble, the pretrained model as it comes."""

    summary = "A pretrained language model's own digits: any numeral can be written."
    usual_member = True
    style = ("sky", "-")
    needs_digits = True
    sees_states = False

    def __init__(self, size: int, ensemble_size: int = 0, state_size: int = 0) -> None:
        super().__init__()
        self.ensemble_size, self.state_size = ensemble_size, state_size
        self.adapter: DigitAdapter | None = None
        if ensemble_size:
            self.adapter = DigitAdapter(state_size, ADAPTER_SIZE, ADAPTER_DROPOUT, ensemble_size)

    @classmethod
    def fit(cls, data: TrainingNumerals, size: int, options: HeadOptions) -> Self:
        """Digits are adapted unless the language model is trained itself."""
        if data.state_size is None:
            raise NumerateError(
                "head 'lm': a model from scratch has no digits of its own; it needs --backbone"
            )
        return cls(size, options.ensemble_size, data.state_size) if data.frozen else cls(size)

    def config(self) -> Config:
        return {"ensemble_size": self.ensemble_size, "state_size": self.state_size}

    def log_prob(self, context: Context, numerals: NumeralBatch) -> Tensor:
        """By itself too, every network of an ensemble learns from every numeral."""
        if not self.training or self.ensemble_size < 2:
            return _digits(context).log_prob(numerals, self.adapter)
        together, each = self.log_prob_of_each(context, numerals)
        alone = each.sum(1)
        return together + (alone - alone.detach())

    def log_prob_of_each(self, context: Context, numerals: NumeralBatch) -> tuple[Tensor, Tensor]:
        """Of several networks, each learns by itself; the mean of their distributions is what
        counts."""
        return _digits(context).log_prob_of_each(numerals, self.adapter)

    def log_prob_table(self, context: Context, candidates: NumeralTable) -> Tensor:
        return _digits(context).log_prob_table(candidates, self.adapter)

    def next_numeral(self, context: Context) -> NextNumeral:
        return _digits(context).next_numeral(self.adapter)

    def beside_digits(
        self, context: Context, candidates: NumeralTable
    ) -> tuple[Tensor, Tensor] | None:
        weight = torch.ones(len(context), dtype=torch.float64, device=context.hidden.device)
        return weight, weight.new_zeros(len(context), len(candidates))

    def digit_adapter(self) -> DigitAdapter | None:
        return self.adapter


def _digits(context: Context) -> Digits:
    if context.digits is None:
        raise ValueError("context: got no digits of a language model, which this head passes on")
    return context.digits
