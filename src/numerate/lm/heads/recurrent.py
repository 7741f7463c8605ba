"""LSTMs as the paper uses them, over packed or padded sequences."""

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from numerate.lm.data.numeral_table import SYMBOL_COUNT, DigitStrings
from numerate.lm.data.packing import Packing


def new_lstm(size: int) -> nn.LSTM:
    """An LSTM whose forget gates start open: a total bias of 1.0."""
    lstm = nn.LSTM(size, size)
    forget = slice(size, 2 * size)
    with torch.no_grad():
        for name, parameter in lstm.named_parameters():
            if name.startswith("bias"):
                parameter.zero_()
            if name == "bias_ih_l0":
                parameter[forget] = 1.0
    return lstm


def call_lstm(
    lstm: nn.LSTM, inputs: Tensor | PackedSequence, state: tuple[Tensor, Tensor] | None = None
) -> Any:
    """The same as `lstm(inputs, state)`, in mixed precision on any processor.

    The fused LSTM of some processors knows no shortened floats: there the plain one is called.
    """
    data = inputs.data if isinstance(inputs, PackedSequence) else inputs
    if data.device.type != "cpu" or not torch.is_autocast_enabled("cpu"):
        return lstm(inputs, state)
    set_flags: Callable[[bool], tuple[bool, ...]] = torch.backends.mkldnn.set_flags
    usual, *_ = set_flags(is_fused(torch.get_autocast_dtype("cpu")))
    try:
        return lstm(inputs, state)
    finally:
        set_flags(usual)


@cache
def is_fused(dtype: torch.dtype) -> bool:
    """Whether this processor's fused LSTM computes in such floats."""
    with torch.no_grad(), torch.autocast("cpu", dtype=dtype):
        try:
            nn.LSTM(2, 2)(torch.zeros(1, 1, 2))
        except RuntimeError:
            return False
    return True


def run_lstm(
    lstm: nn.LSTM, inputs: Tensor, packing: Packing, start: Tensor | None = None
) -> Tensor:
    """Run over inputs [S, D] laid out as `packing` says: the outputs [S, D].

    `start` [N, D] is the first hidden state of each sequence; the cell starts at zero.
    """
    state = None
    if start is not None:
        hidden = packing.sort(start).unsqueeze(0)
        state = (hidden, torch.zeros_like(hidden))
    if packing.padded:
        outputs, _ = call_lstm(lstm, inputs.view(len(packing.sizes), packing.sizes[0], -1), state)
        return outputs.flatten(0, 1)  # type: ignore[no-any-return]
    outputs, _ = call_lstm(lstm, PackedSequence(inputs, torch.tensor(packing.sizes)), state)
    return outputs.data  # type: ignore[no-any-return]


class DigitEncoder(nn.Module):
    """A numeral's embedding from its digits: the last state of an LSTM that reads them."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.symbols = nn.Embedding(SYMBOL_COUNT, size)
        self.lstm = new_lstm(size)

    def forward(self, numerals: DigitStrings) -> Tensor:  # [N, D]
        inputs = self.symbols.weight.index_select(0, numerals.symbols)
        outputs = run_lstm(self.lstm, inputs, numerals.digits)
        return outputs.index_select(0, numerals.digits.ends)
