"""LSTMs as the paper uses them, over packed or padded sequences."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from numerate.numeral_table import SYMBOL_COUNT, DigitStrings
from numerate.packing import Packing


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
        outputs, _ = lstm(inputs.view(len(packing.sizes), packing.sizes[0], -1), state)
        return outputs.flatten(0, 1)  # type: ignore[no-any-return]
    outputs, _ = lstm(PackedSequence(inputs, torch.tensor(packing.sizes)), state)
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
