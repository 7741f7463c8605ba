"""Composition: an LSTM that writes a numeral digit by digit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from numerate.lm.data.numeral_table import (
    END,
    START,
    SYMBOL_COUNT,
    SYMBOLS,
    NumeralBatch,
    NumeralTable,
)
from numerate.lm.heads.base import Context, DigitTable, NextNumeral, NumeralHead
from numerate.lm.heads.categorical import linear_log_prob
from numerate.lm.heads.digit_tree import DigitTree
from numerate.lm.heads.recurrent import new_lstm, run_lstm

STATES_AT_ONCE = 1 << 18  # hidden states a table holds at a time


class DigitRNNHead(NumeralHead):
    """d-rnn. Its first hidden state is the model's state; its alphabet has 12 symbols only."""

    summary = "First word or numeral, then the numeral digit by digit: any numeral can be written."
    paper_row = 5
    style = ("green", "-")
    usual_member = True

    def __init__(self, size: int) -> None:
        super().__init__()
        self.inputs = nn.Embedding(SYMBOL_COUNT, size)
        self.lstm = new_lstm(size)
        self.outputs = nn.Parameter(torch.randn(SYMBOL_COUNT, size).div_(size**0.5))

    def log_prob(self, context: Context, numerals: NumeralBatch) -> Tensor:
        inputs = self.inputs.weight.index_select(0, numerals.previous)
        outputs = run_lstm(self.lstm, inputs, numerals.digits, context.hidden)
        return numerals.digits.sum(linear_log_prob(outputs, self.outputs, numerals.symbols))

    def log_prob_table(self, context: Context, candidates: NumeralTable) -> Tensor:
        """Through the tree of prefixes: a prefix common to many candidates is scored once."""
        levels = list(_prefix_levels(candidates))
        widest = max(len(level.symbols) for level in levels)
        rows = max(1, STATES_AT_ONCE // widest)
        parts = torch.split(context.hidden, rows)
        return torch.cat([self._score_tree(part, levels) for part in parts])

    def next_numeral(self, context: Context) -> NextNumeral:
        return DigitTree(_Writer(self, context.hidden))

    def digit_tables(self) -> dict[str, DigitTable]:
        return {
            "written before": DigitTable((*SYMBOLS, "start"), self.inputs.weight),
            "to be written": DigitTable((*SYMBOLS, "end"), self.outputs),
        }

    def write(self, hidden: Tensor, cell: Tensor, symbols: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """One symbol more in each of P states: the new states, log p of what follows [P, 12].

        The first symbol is START, in the state of the model with a cell of zeros.
        """
        inputs = self.inputs.weight.index_select(0, symbols)[None]
        _, (hidden, cell) = self.lstm(inputs, (hidden[None], cell[None]))
        return hidden[0], cell[0], F.log_softmax(hidden[0] @ self.outputs.T, dim=1)

    def _score_tree(self, hidden: Tensor, levels: list["PrefixLevel"]) -> Tensor:
        """Prefixes come first and gates apart, so that all is contiguous."""
        count, size = hidden.shape
        weights = dict(self.lstm.named_parameters())
        recurrent = weights["weight_hh_l0"].view(4, size, size).transpose(1, 2)
        bias = weights["bias_ih_l0"] + weights["bias_hh_l0"]
        from_symbol = F.linear(self.inputs.weight, weights["weight_ih_l0"], bias)
        from_symbol = from_symbol.view(SYMBOL_COUNT, 4, 1, size)
        state = hidden[None]  # [1, N, D] at the root
        cell = torch.zeros_like(state)
        log_prob = hidden.new_zeros(1, count)  # of each prefix
        leaves, places = [], []
        previous = np.zeros(1, dtype=np.int64)  # the row of `state` that each prefix continues
        for level in levels:
            inputs, parents, symbols, ends, inner, before = (
                torch.from_numpy(array).to(hidden.device)
                for array in (
                    level.inputs,
                    level.parents,
                    level.symbols,
                    level.ends,
                    level.inner,
                    previous,
                )
            )
            symbol = from_symbol[inputs]  # [P, 4, 1, D]
            gates = (state.flatten(0, 1) @ recurrent).view(4, len(state), count, size)
            i, f, g, o = (gates[k].index_select(0, before) + symbol[:, k] for k in range(4))
            cell = torch.sigmoid(f) * cell.index_select(0, before)
            cell = cell + torch.sigmoid(i) * torch.tanh(g)  # [P, N, D]
            state = torch.sigmoid(o) * torch.tanh(cell)
            following = F.log_softmax(state @ self.outputs.T, dim=2)  # [P, N, 12]
            log_prob = log_prob[parents] + following[parents, :, symbols]  # [next, N]
            leaves.append(log_prob[ends])
            places.append(level.candidates)
            log_prob = log_prob[inner]
            continued, previous = np.unique(level.parents[level.inner], return_inverse=True)
            kept = torch.from_numpy(continued).to(hidden.device)
            state, cell = state[kept], cell[kept]
        order = torch.from_numpy(np.argsort(np.concatenate(places))).to(hidden.device)
        return torch.cat(leaves)[order].T  # [N, C]; leaves are in the order in which they end


class _Writer:
    """The network in one state [1, D]: what `DigitTree` asks of one that writes digits."""

    def __init__(self, head: DigitRNNHead, state: Tensor) -> None:
        self._head = head
        self._state = state

    def start(self) -> tuple[tuple[Tensor, Tensor], np.ndarray]:
        states, following = self._write(self._state, torch.zeros_like(self._state), [START])
        return states[0], following[0]

    def write(
        self, states: Sequence[tuple[Tensor, Tensor]], symbols: Sequence[int]
    ) -> tuple[list[tuple[Tensor, Tensor]], np.ndarray]:
        hidden, cell = map(torch.stack, zip(*states, strict=True))
        return self._write(hidden, cell, symbols)

    def _write(
        self, hidden: Tensor, cell: Tensor, symbols: Sequence[int]
    ) -> tuple[list[tuple[Tensor, Tensor]], np.ndarray]:
        written = torch.tensor(symbols, device=hidden.device)
        with torch.no_grad():
            hidden, cell, following = self._head.write(hidden, cell, written)
        return list(zip(hidden, cell, strict=True)), following.double().cpu().numpy()


@dataclass(frozen=True, slots=True)
class PrefixLevel:
    """One step of the tree: the prefixes of one length, and the symbols that may follow."""

    inputs: np.ndarray  # [P] last symbol of each prefix
    parents: np.ndarray  # [E] prefix each edge leaves
    symbols: np.ndarray  # [E] symbol of each edge
    ends: np.ndarray  # edges that end a candidate
    candidates: np.ndarray  # the candidates they end
    inner: np.ndarray  # edges that lead to a longer prefix


def _prefix_levels(table: NumeralTable) -> Iterator[PrefixLevel]:
    if len(set(table.texts)) != len(table):
        raise ValueError("candidates must be distinct")
    alive = np.arange(len(table))
    prefix = np.zeros(len(table), dtype=np.int64)  # of each living candidate
    inputs = np.array([START])
    step = 0
    while len(alive):
        edge_key = prefix * SYMBOL_COUNT + table.symbols[alive, step]
        edges, edge_of = np.unique(edge_key, return_inverse=True)
        parents, symbols = np.divmod(edges, SYMBOL_COUNT)
        is_end = symbols == END
        ended = is_end[edge_of]
        inner = np.flatnonzero(~is_end)
        position = np.cumsum(~is_end) - 1  # of an inner edge among the next prefixes
        last = np.argsort(edge_of[ended])  # edges are in order; their candidates follow it
        yield PrefixLevel(
            inputs, parents, symbols, np.flatnonzero(is_end), alive[ended][last], inner
        )
        prefix = position[edge_of[~ended]]
        alive = alive[~ended]
        inputs = symbols[inner]
        step += 1
