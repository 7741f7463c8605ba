"""The paper's network: an LSTM."""

import numpy as np
import torch
from torch import Tensor, nn

from numerate.errors import RunError
from numerate.lm.backbones.contract import Reading
from numerate.lm.backbones.scratch import ScratchBackbone
from numerate.lm.heads.recurrent import call_lstm, new_lstm


class LSTMBackbone(ScratchBackbone):
    """It goes on from its hidden states and cells, which together are all it knows."""

    second_looks = 0.3  # nearly as good as all, and three times as fast

    @staticmethod
    def check_heads(heads: int, size: int) -> None:
        if heads != 1:
            raise RunError(f"heads: got {heads} for an LSTM, which has no attention")

    def _add_network(self, size: int, layers: int, heads: int) -> None:
        self.lstm = new_lstm(size)
        self.above = nn.ModuleList(new_lstm(size) for _ in range(layers - 1))

    @property
    def _layers(self) -> list[nn.LSTM]:
        return [self.lstm, *self.above]

    def _states(self, embedded: Tensor) -> Tensor:
        states: Tensor = call_lstm(self.lstm, embedded)[0]
        for lstm in self._layers[1:]:
            states = call_lstm(lstm, self.dropout(states))[0]
        return states

    def _trace(self, embedded: Tensor) -> tuple[Tensor, Tensor]:
        """Step by step, since the fused LSTM gives the last cell only."""
        states, memory = embedded, []
        for lstm in self._layers:
            hidden = cell = embedded.new_zeros(embedded.shape[1:])
            pairs: list[tuple[Tensor, Tensor]] = []
            for step in states:
                hidden, cell = torch.lstm_cell(step, (hidden, cell), *lstm.all_weights[0])
                pairs.append((hidden, cell))
            states, cells = (torch.stack(parts) for parts in zip(*pairs, strict=True))
            memory += [states, cells]
        return states, torch.cat(memory, dim=2)

    def _go_on(self, reading: Reading, rows: np.ndarray, embedded: Tensor) -> Tensor:
        numerals = np.flatnonzero(reading.corpus.target_is_numeral)[rows]
        memory = reading.memory[torch.from_numpy(numerals).to(self.device)]  # [E, 2 · layers · D]
        starts = memory.split(embedded.shape[2], dim=1)
        for lstm, hidden, cell in zip(self._layers, starts[::2], starts[1::2], strict=True):
            embedded, _ = lstm(embedded, (hidden[None].contiguous(), cell[None].contiguous()))
        return embedded
