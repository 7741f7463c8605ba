"""From scratch: vectors of the numbers in view, by what they are and by what their headers say."""

import numpy as np
import torch
from torch import Tensor, nn

from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.data.sight.collate import SeenNumbers

LEADING = 3  # digits that are told apart
EXPONENTS = (-4, 9)  # of the first digit; those beyond count as the last ones
DECIMALS = 5  # precisions that are told apart
MAGNITUDES = 10 * LEADING + EXPONENTS[1] - EXPONENTS[0] + 1 + DECIMALS + 2


def magnitudes(table: NumeralTable) -> Tensor:
    """What numerals are on the number line: float32 [T, MAGNITUDES].

    The first digits, the exponent and the precision, one of each; the logarithm; whether it is 0.
    """
    values = table.values
    positive = values > 0
    logs = np.log10(np.where(positive, values, 1.0))
    low, high = EXPONENTS
    exponents = np.floor(logs + 1e-12).astype(np.int64)
    scaled = np.where(positive, values / 10.0 ** exponents.astype(np.float64), 0.0)
    parts = []
    for place in range(LEADING):
        digits = np.floor(scaled * 10.0**place + 1e-9).astype(np.int64) % 10
        parts.append(np.eye(10)[digits] * positive[:, None])
    parts.append(np.eye(high - low + 1)[exponents.clip(low, high) - low] * positive[:, None])
    parts.append(np.eye(DECIMALS)[table.precisions.clip(max=DECIMALS - 1)])
    parts.append(np.stack([logs / high, ~positive], axis=1))
    return torch.from_numpy(np.concatenate(parts, axis=1).astype(np.float32)).to(table.device)


class Magnitude(nn.Module):
    """An embedding of numerals by what they are on the number line."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.project = nn.Linear(MAGNITUDES, size)

    def forward(self, table: NumeralTable, rows: Tensor) -> Tensor:  # [N, D]
        known = table.constant(self, None, magnitudes)
        projected: Tensor = self.project(known.index_select(0, rows))
        return projected


class SightEncoder(nn.Module):
    """A number of a table: its magnitude, and the words of its row, its column and the caption.

    A numeral of the text itself: its magnitude, and the state of the network that has read it.
    """

    def __init__(self, size: int, dropout: float) -> None:
        super().__init__()
        self.magnitude = Magnitude(size)
        self.headers = nn.Linear(size, 3 * size, bias=False)  # as row, column, caption
        self.read = nn.Linear(size, size, bias=False)
        self.in_text = nn.Parameter(torch.zeros(size))
        self.dropout = nn.Dropout(dropout)

    def forward(self, numbers: SeenNumbers, words: Tensor, hidden: Tensor) -> Tensor:
        """`words` [V + 1, D] are the network's embeddings, the last of no word; `hidden`
        [L * B, D] its states before every token and the end: [E, D]."""
        known = numbers.bags < words.shape[0] - 1  # [G, HEADER_WORDS]
        embedded = words.index_select(0, numbers.bags.flatten()).view(*known.shape, -1)
        total = (embedded * known[:, :, None]).sum(1)
        bags = total / known.sum(1, keepdim=True).clamp(min=1)  # [G, D]
        rows, columns, captions = self.headers(self.dropout(bags)).chunk(3, dim=1)
        of_table = (
            rows.index_select(0, numbers.row_bags)
            + columns.index_select(0, numbers.column_bags)
            + captions.index_select(0, numbers.captions)
        )
        count = numbers.texts.shape[0]
        after = (numbers.steps + 1) * count + numbers.columns  # the state after the numeral
        own = (numbers.order >= 0)[:, None]
        of_text = self.in_text + self.read(hidden).index_select(0, after)
        what = self.magnitude(numbers.corpus.table, numbers.rows)
        vectors: Tensor = self.dropout(torch.tanh(what + torch.where(own, of_text, of_table)))
        return vectors
