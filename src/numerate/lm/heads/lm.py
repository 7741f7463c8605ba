"""The language model's own digits as a strategy, adapted to a corpus where it stays frozen.

A pretrained model of tokens can write any numeral by itself. What it says of numerals comes with
the context; this head passes it on, or has a small network adapt it.
"""

from typing import Self

import torch
from torch import Tensor

from numerate.errors import NumerateError
from numerate.lm.data.numeral_table import NumeralBatch, NumeralTable
from numerate.lm.heads.base import (
    Config,
    Context,
    Digits,
    HeadOptions,
    NextNumeral,
    NumeralHead,
    TrainingNumerals,
)
from numerate.lm.heads.digit_adapter import DigitAdapter

ADAPTER_SIZE, ADAPTER_DROPOUT = 384, 0.3  # of the network that adapts digits


class LMHead(NumeralHead):
    """lm; with a state size, a network adapts its digits."""

    summary = "A pretrained language model's own digits: any numeral can be written."
    usual_member = True
    style = ("sky", "-")
    needs_digits = True
    sees_states = False

    def __init__(self, size: int, state_size: int = 0) -> None:
        super().__init__()
        self.state_size = state_size
        self.adapter: DigitAdapter | None = None
        if state_size:
            self.adapter = DigitAdapter(state_size, ADAPTER_SIZE, ADAPTER_DROPOUT)

    @classmethod
    def fit(cls, data: TrainingNumerals, size: int, options: HeadOptions) -> Self:
        """Digits are adapted unless the language model is trained itself."""
        if data.state_size is None:
            raise NumerateError(
                "head 'lm': a model from scratch has no digits of its own; it needs --backbone"
            )
        return cls(size, data.state_size) if data.frozen else cls(size)

    def config(self) -> Config:
        return {"state_size": self.state_size}

    @classmethod
    def from_config(cls, size: int, config: Config) -> Self:
        """Make it of what a run has stored, which may name a number of networks."""
        if config.get("ensemble_size", 1) > 1:
            raise NumerateError(
                f"head 'lm': got {config['ensemble_size']} networks that adapt digits, expected "
                "one; train it anew"
            )
        return cls(size, config.get("state_size", 0))

    def log_prob(self, context: Context, numerals: NumeralBatch) -> Tensor:
        return _digits(context).log_prob(numerals, self.adapter)

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
