"""Turns embeddings into hidden states."""

import torch
from torch import Tensor, nn

from numerate.heads.recurrent import call_lstm, new_lstm


class LSTMBackbone(nn.Module):
    """The paper's recurrent layer: one LSTM, dropout on its input and its output."""

    def __init__(self, size: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.lstm = new_lstm(size)

    def forward(self, embedded: Tensor) -> Tensor:  # [L, B, D] -> [L, B, D]
        hidden, _ = call_lstm(self.lstm, self.dropout(embedded))
        result: Tensor = self.dropout(hidden)
        return result

    def trace(self, embedded: Tensor) -> tuple[Tensor, Tensor]:  # [L, B, D] -> [L, B, D] twice
        """Hidden states and cells: together they are all it knows, so that it can go on from any.

        Step by step, since the fused LSTM gives the last cell only; without dropout.
        """
        hidden = cell = embedded.new_zeros(embedded.shape[1:])
        states: list[tuple[Tensor, Tensor]] = []
        weights = self.lstm.all_weights[0]
        for step in embedded:
            hidden, cell = torch.lstm_cell(step, (hidden, cell), *weights)
            states.append((hidden, cell))
        return torch.stack([pair[0] for pair in states]), torch.stack([pair[1] for pair in states])

    def go_on(self, embedded: Tensor, hidden: Tensor, cell: Tensor) -> Tensor:
        """The same as `forward`, from where a trace was: [B, D] each, without dropout."""
        states, _ = self.lstm(embedded, (hidden[None].contiguous(), cell[None].contiguous()))
        result: Tensor = states
        return result
