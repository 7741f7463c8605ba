"""Reads a report token by token and knows the exact probability of what comes next.

Two things are hidden from a reader: the diagnosis, and which of several templates that begin
alike is being followed. The first is summed over here, the second in the grammar's tables.
Reports are written by drawing from the very probabilities that are claimed.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable
from functools import cache

from numerate.lm.data.cardiac.attributes import PRIOR, Vector
from numerate.lm.data.cardiac.chart import Chart
from numerate.lm.data.cardiac.grammar import Grammar
from numerate.lm.data.cardiac.graph import END, SLOT, Node
from numerate.lm.data.cardiac.measurements import SLOTS
from numerate.lm.data.cardiac.slots import Slot, Uniform, pick
from numerate.lm.data.cardiac.wording import RULES


@cache
def grammar() -> Grammar:
    """Built once, on first use."""
    return Grammar(RULES, SLOTS)


class Oracle:
    """Where in the grammar the tokens so far have led, the slots that they `filled`, what they
    put on the chart, and `belief`, p(diagnosis | tokens so far)."""

    def __init__(self, start: Node | None = None) -> None:
        self.chart = Chart()
        self.belief: Vector = PRIOR
        self.filled: dict[Slot, str] = {}
        self._go(start or grammar().start)

    def _go(self, node: Node) -> None:
        self.node = node
        self._table = node.table(self.chart)

    @property
    def slot(self) -> Slot | None:
        """What may fill the next place, where it is not a matter of wording alone."""
        return self._table.slot

    def distribution(self) -> dict[str, float]:
        """The probability of every token that may come next; that of `END` is the end's."""
        table = self._table
        totals = dict(zip(table.labels, (table.weights @ self.belief).tolist(), strict=True))
        if table.slot is not None:
            del totals[SLOT]
            joint = table.weights[table.row[SLOT]] * self.belief
            for token, likelihood in table.slot.table(self.chart).items():
                totals[token] = float(joint @ likelihood)
        return {token: total for token, total in totals.items() if total > 0.0}

    def draw(self, uniform: Uniform) -> str:
        """A token from `distribution`, without listing what a slot admits."""
        table = self._table
        if len(table.labels) == 1:
            row = 0
        elif table.same:
            row = bisect_right(table.cumulative, uniform() * table.cumulative[-1])
        else:
            row = pick((table.weights @ self.belief).tolist(), uniform)
        label = table.labels[row]
        if label == SLOT and table.slot is not None:
            return table.slot.draw(self.chart, table.weights[row] * self.belief, uniform)
        return label

    def advance(self, token: str) -> float:
        """Read one token (or `END`) and return its log-probability given those before it."""
        table = self._table
        if token in table.plain:
            self._go(table.following[token])
            return table.plain[token]
        label, joint = token, self.belief
        if table.slot is not None and (fits := table.slot.probability(self.chart, token)).any():
            if token in table.row:
                raise RuntimeError(f"ambiguous grammar: {token!r} is a word and fills a slot")
            label, joint = SLOT, joint * fits
        if label in table.row:
            joint = joint * table.weights[table.row[label]]
        total = float(joint.sum()) if label in table.row else 0.0
        if total <= 0.0:
            raise ValueError(f"not a report: got {token!r}, expected {self._expected()}")
        self.belief = joint / total
        if label == SLOT and table.slot is not None:
            table.slot.write(self.chart, token)
            self.filled[table.slot] = token
        self._go(table.following[label])
        return math.log(min(total, 1.0))

    def _expected(self) -> str:
        likely = sorted(self.distribution().items(), key=lambda item: -item[1])[:5]
        return "one of " + ", ".join(repr(token) for token, _ in likely) + ", …"


def log_probs(tokens: Iterable[str]) -> list[float]:
    """The log-probability of each token of a report and of its end, from the text alone."""
    oracle = Oracle()
    return [oracle.advance(token) for token in (*tokens, END)]


def next_token_distribution(tokens: Iterable[str]) -> dict[str, float]:
    """The probability of every token that may follow the first tokens of a report."""
    oracle = Oracle()
    for token in tokens:
        oracle.advance(token)
    return oracle.distribution()
