"""The graph of tokens that templates become, and the next-token tables read off it.

The graph is not deterministic: alternatives may begin alike or be empty. It is made so on the
way, one table at a time, with exact shares: a reader who knows the diagnosis and the chart
knows the probability of every next token, whatever templates the tokens so far may come from.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from numerate.lm.data.cardiac.attributes import DIAGNOSES, Vector
from numerate.lm.data.cardiac.chart import Chart
from numerate.lm.data.cardiac.grades import GRADES
from numerate.lm.data.cardiac.slots import Slot

END = "<eos>"
"""Stands for the end of the report among the tokens; no text is tokenized to it."""

SLOT = ""
"""Stands for the slot, if there is one, among the labels of a table."""

Guards = frozenset[tuple[str, str]]  # (grade, key) that the chart must have
ALWAYS: Vector = np.ones(len(DIAGNOSES))
NEVER: Vector = np.zeros(len(DIAGNOSES))


@dataclass(eq=False, slots=True)
class Step:
    """What may follow a node: a token or slot with its share under each diagnosis."""

    label: str | Slot
    weight: Vector
    guards: Guards
    target: "Node"


class Table:
    """The steps from one node that remain under given grades, gathered by token.

    Several steps may share a token. What follows it is then one new node that leads to all
    their targets, each with its share given the token: so a reader is always at one node.
    """

    def __init__(self, steps: list[Step]) -> None:
        slots = {step.label for step in steps if not isinstance(step.label, str)}
        if len(slots) > 1:
            raise RuntimeError(f"ambiguous grammar: one of several slots may come next: {slots}")
        self.slot = next(iter(slots), None)
        targets: dict[str, dict[Node, Vector]] = {}
        for step in steps:
            places = targets.setdefault(step.label if isinstance(step.label, str) else SLOT, {})
            places[step.target] = places.get(step.target, 0.0) + step.weight
        totals = [sum(places.values(), 0.0 * ALWAYS) for places in targets.values()]
        self.labels = list(targets)
        self.weights: Vector = np.array(totals).reshape(-1, len(DIAGNOSES))  # [label, diagnosis]
        self.row = {label: row for row, label in enumerate(self.labels)}
        self.following = {
            label: _joined(places, total)
            for (label, places), total in zip(targets.items(), totals, strict=True)
        }
        # Labels that say nothing about the diagnosis, with their log-probability.
        self.plain = {
            label: math.log(min(total[0], 1.0))
            for label, total in zip(self.labels, totals, strict=True)
            if self.slot is None and (total == total[0]).all()
        }
        self.cumulative = list(accumulate(self.weights[:, 0].tolist()))
        self.same = bool((self.weights == self.weights[:, :1]).all())


def _joined(places: dict["Node", Vector], total: Vector) -> "Node":
    if len(places) == 1:
        return next(iter(places))
    given = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0.0)
    empty: list[tuple[Vector, Guards, Node]] = [
        (share * given, frozenset(), place) for place, share in places.items()
    ]
    key = tuple((place, weight.tobytes()) for weight, _, place in empty)
    node = _JOINED.setdefault(key, Node())
    node.empty = empty
    return node


_JOINED: dict[tuple[tuple["Node", bytes], ...], "Node"] = {}
"""Joined nodes, so that different ways to the same state of knowledge meet again."""


class Node:
    """A place between two tokens. `empty` leads on without a token, `label` with one."""

    __slots__ = ("__dict__", "_table", "_tables", "empty", "label", "target")

    def __init__(self) -> None:
        self.empty: list[tuple[Vector, Guards, Node]] = []
        self.label: str | Slot | None = None
        self.target: Node = self
        self._tables: dict[tuple[str, ...], Table] = {}  # by the keys of the grades that matter
        self._table: Table | None = None  # the only one, where no grade matters

    def _onward(self) -> "Node":
        """The next node at which something is decided: alternatives that end meet there."""
        node = self
        while node.label is None and len(node.empty) == 1 and node.empty[0][0] is ALWAYS:
            if node.empty[0][1]:
                break
            node = node.empty[0][2]
        return node

    def _reach(self) -> Iterator[Step]:
        if self.label is not None:
            yield Step(self.label, ALWAYS, frozenset(), self.target._onward())
        for weight, guards, node in self.empty:
            for step in node._reach():
                joint = weight * step.weight
                if joint.any():
                    yield Step(step.label, joint, guards | step.guards, step.target)

    @cached_property
    def steps(self) -> list[Step]:
        return list(self._reach())

    @cached_property
    def _grades(self) -> list[str]:
        return sorted({grade for step in self.steps for grade, _ in step.guards})

    def table(self, chart: Chart) -> Table:
        if self._table is not None:
            return self._table
        keys = tuple([self._key(grade, chart) for grade in self._grades])
        found = self._tables.get(keys)
        if found is None:
            active = set(zip(self._grades, keys, strict=True))
            found = Table([step for step in self.steps if step.guards <= active])
            self._tables[keys] = found
            if not keys:
                self._table = found
        return found

    def _key(self, grade: str, chart: Chart) -> str:
        """The grade; that of numbers not yet written is asked for only behind another guard."""
        try:
            return GRADES[grade].of(chart)
        except KeyError:
            return ""
