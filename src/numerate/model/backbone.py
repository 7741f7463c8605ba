"""Turns embeddings into hidden states."""

from torch import Tensor, nn

from numerate.heads.recurrent import new_lstm


class LSTMBackbone(nn.Module):
    """The paper's recurrent layer: one LSTM, dropout on its input and its output."""

    def __init__(self, size: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.lstm = new_lstm(size)

    def forward(self, embedded: Tensor) -> Tensor:  # [L, B, D] -> [L, B, D]
        hidden, _ = self.lstm(self.dropout(embedded))
        result: Tensor = self.dropout(hidden)
        return result
