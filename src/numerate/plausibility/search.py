"""The distribution of each kind of output over the next numeral, so that it can be searched."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from numerate.heads.base import NumeralHead
from numerate.heads.combination import CombinationHead
from numerate.heads.digit_rnn import DigitRNNHead
from numerate.heads.mixture import MixtureHead
from numerate.heads.softmax import SoftmaxHead
from numerate.model.output import FlatOutput, HierarchicalOutput, OutputLayer
from numerate.numeral_table import START, NumeralTable
from numerate.plausibility.blend import Blend
from numerate.plausibility.digit_tree import DigitTree
from numerate.plausibility.known_numerals import KnownNumerals
from numerate.plausibility.number_line import FINEST, NumberLine
from numerate.plausibility.number_model import NextNumeral


def next_numeral(output: OutputLayer, state: Tensor, named: NumeralTable) -> NextNumeral:
    """In one state [1, D]; `named` are the numerals of the vocabulary."""
    if isinstance(output, FlatOutput):
        return KnownNumerals(named.texts, _row(output.numeral_table(state, named)))
    if isinstance(output, HierarchicalOutput):
        return numerals_of_head(output.head, state, named)
    raise TypeError(f"no search for {type(output).__name__}")


@dataclass(frozen=True, slots=True)
class Given:
    """The members of a combination that are no heads, and all members' numerals together."""

    members: Sequence[NextNumeral]
    score: Callable[[list[str]], np.ndarray]  # log p under the combination


def numerals_of_head(
    head: NumeralHead, state: Tensor, named: NumeralTable, given: Given | None = None
) -> NextNumeral:
    """The same for a head alone."""
    if isinstance(head, SoftmaxHead):
        return KnownNumerals(named.texts, _row(head.log_prob_table(state, named)))
    if isinstance(head, DigitRNNHead):
        return DigitTree(_DigitWriter(head, state))
    if isinstance(head, MixtureHead):
        factors = head.log_factors(state, FINEST)[0]
        return NumberLine(head.log_weights(state)[0], head.means, head.sds, factors)
    if isinstance(head, CombinationHead):
        known = dict(zip(named.texts, named.known.tolist(), strict=True))

        def score(texts: list[str]) -> np.ndarray:
            with torch.no_grad():
                return _row(head.log_prob_table(state, NumeralTable(texts, known)))

        members = [numerals_of_head(member, state, named) for member in head.heads()]
        shares = head.log_weights(state)[0].double().exp().numpy()
        if given is not None:
            return Blend(shares, [*members, *given.members], given.score)
        return Blend(shares, members, score)
    raise TypeError(f"no search for {type(head).__name__}")


def _row(log_probs: Tensor) -> np.ndarray:
    row: np.ndarray = log_probs[0].double().numpy()
    return row


class _DigitWriter:
    """The digit RNN in one state [1, D]: what `DigitTree` asks of a network."""

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
        with torch.no_grad():
            hidden, cell, following = self._head.write(hidden, cell, torch.tensor(symbols))
        return list(zip(hidden, cell, strict=True)), following.double().numpy()
