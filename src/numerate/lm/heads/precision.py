"""How many decimals a numeral has."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from numerate.lm.data.packing import Packing
from numerate.lm.heads.recurrent import new_lstm, run_lstm


class PrecisionLSTM(nn.Module):
    """p(r): after each decimal, one more or the end."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.inputs = nn.Parameter(torch.randn(2, size).div_(size**0.5))  # start, decimal
        self.lstm = new_lstm(size)
        self.end = nn.Parameter(torch.zeros(size))

    def log_prob(self, hidden: Tensor, packing: Packing) -> Tensor:  # [N]
        count, total = packing.sizes[0], sum(packing.sizes)
        inputs = torch.cat(
            [self.inputs[:1].expand(count, -1), self.inputs[1:].expand(total - count, -1)]
        )
        scores = run_lstm(self.lstm, inputs, packing, hidden) @ self.end  # [S]
        # The last element of a numeral is its end; every other is one more decimal.
        signs = 2 * packing.last - 1
        return packing.sum(F.logsigmoid(signs * scores))

    def log_prob_table(self, hidden: Tensor, largest: int) -> Tensor:  # [N, largest + 1]
        scores = self.end_scores(hidden, largest)
        more = F.pad(F.logsigmoid(-scores).cumsum(1)[:, :-1], (1, 0))
        return more + F.logsigmoid(scores)

    def end_scores(self, hidden: Tensor, largest: int) -> Tensor:
        """Log odds of the end after 0, 1, … decimals, if there are so many: [N, largest + 1]."""
        count = hidden.shape[0]
        inputs = torch.cat([self.inputs[:1], self.inputs[1:].expand(largest, -1)])
        inputs = inputs[:, None].expand(-1, count, -1)  # [steps, N, D]
        start = hidden[None].contiguous()
        outputs, _ = self.lstm(inputs, (start, torch.zeros_like(start)))
        return (outputs @ self.end).T  # type: ignore[no-any-return]
