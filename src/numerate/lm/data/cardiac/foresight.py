"""What a table tells a reader of the report it came with: p(next token | tokens so far, table).

By Bayes' rule that is p(next token | tokens so far) times the ratio of p(table | tokens so far)
after the token and before it. The latter is a sum over everything that the report may still say.
Only recorded slots matter in it: what else may be said adds up to one. So the grammar is reduced,
once, to the order in which recorded slots may come, with the share of each under every diagnosis;
and a table leaves so few ways through it that the sum is exact.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from numerate.lm.data.cardiac.attributes import Vector
from numerate.lm.data.cardiac.chart import Chart
from numerate.lm.data.cardiac.graph import ALWAYS, END, NEVER, Node
from numerate.lm.data.cardiac.oracle import Oracle
from numerate.lm.data.cardiac.patient_table import RECORDED, PatientTable, chart_of
from numerate.lm.data.cardiac.slots import Slot


@dataclass(frozen=True, eq=False, slots=True)
class Stop:
    """A recorded slot, or the end of the report; and the stops that may be next after it, each
    with its share under every diagnosis."""

    slot: Slot | None
    following: "Shares"
    ahead: frozenset[str]  # names of the recorded slots from here on


Shares = dict[Stop, Vector]


class Stops:
    """The stops that may be next after each node of a graph.

    Two slots are one stop if the same may follow, whatever words are between.
    """

    def __init__(self) -> None:
        self._shares: dict[Node, Shares] = {}
        self._stops: dict[object, Stop] = {}
        self._end = Stop(None, {}, frozenset())

    def after(self, node: Node) -> Shares:
        waiting = [node]
        while waiting:
            first = waiting[-1]
            targets = [target for _, _, target in first.empty]
            if first.label is not None:
                targets.append(first.target)
            unknown = [target for target in targets if target not in self._shares]
            if unknown:
                waiting += unknown
            else:
                self._shares[waiting.pop()] = self._from(first)
        return self._shares[node]

    def _from(self, node: Node) -> Shares:
        if node.label is not None:
            following = self._shares[node.target]
            if isinstance(node.label, str) or node.label not in RECORDED:
                return following
            ahead = frozenset({node.label.name}).union(*(stop.ahead for stop in following))
            stop = Stop(node.label, following, ahead)
            return {self._stops.setdefault((node.label, _key(following)), stop): ALWAYS}
        if not node.empty:
            return {self._end: ALWAYS}
        graded = [self._shares[target] for _, guards, target in node.empty if guards]
        if graded:
            if len(set(map(_key, graded))) > 1:
                raise RuntimeError("whether a recorded number is written depends on a grade")
            return graded[0]
        found: Shares = {}
        for weight, _, target in node.empty:
            for stop, share in self._shares[target].items():
                found[stop] = found.get(stop, 0.0) + weight * share
        return {stop: share for stop, share in found.items() if share.any()}


def _key(shares: Shares) -> object:
    """The same for shares that are the same but for rounding errors."""
    return frozenset((stop, tuple(share.round(12).tolist())) for stop, share in shares.items())


@cache
def stops() -> Stops:
    return Stops()


class Foresight:
    """p(table | tokens so far), up to a factor that is the same for all reports."""

    def __init__(self, table: PatientTable) -> None:
        self._table = table
        self._charts: dict[frozenset[Slot], Chart] = {}  # what the table says of written slots
        self._chances: dict[tuple[Slot, frozenset[Slot]], Vector] = {}
        self._found: dict[tuple[Stop, frozenset[Slot]], Vector] = {}

    def probability(self, oracle: Oracle) -> float:
        recorded = {slot: token for slot, token in oracle.filled.items() if slot in RECORDED}
        tokens = self._table.tokens
        if any(token not in tokens.get(slot.name, ()) for slot, token in recorded.items()):
            return 0.0
        written = frozenset(recorded)
        if written not in self._charts:
            self._charts[written] = chart_of(recorded)
        return float(oracle.belief @ self._ahead(stops().after(oracle.node), written))

    def _ahead(self, shares: Shares, written: frozenset[Slot]) -> Vector:
        """p(table | what is written, and next one of these stops) under each diagnosis."""
        total = NEVER
        for stop, share in shares.items():
            found = self._found.get((stop, written))
            if found is None:
                found = self._found[stop, written] = self._at(stop, written)
            total = total + share * found
        return total

    def _at(self, stop: Stop, written: frozenset[Slot]) -> Vector:
        names = frozenset(slot.name for slot in written)
        if not self._table.measured <= names | stop.ahead:
            return NEVER
        slot = stop.slot
        if slot is None:
            return self._table.probability(names, self._charts[written])
        if (slot, written) not in self._chances:
            self._chances[slot, written] = self._write(slot, written)
        chance = self._chances[slot, written]
        return chance * self._ahead(stop.following, written | {slot}) if chance.any() else NEVER

    def _write(self, slot: Slot, written: frozenset[Slot]) -> Vector:
        """The probability that the slot is filled as the table says; the chart after it is kept."""
        chart, total = self._charts[written], NEVER
        for token in self._table.tokens.get(slot.name, ()):
            chance = slot.probability(chart, token)
            total = total + chance
            if chance.any() and written | {slot} not in self._charts:
                self._charts[written | {slot}] = chart.copy()
                slot.write(self._charts[written | {slot}], token)
        return total


def log_probs_given(table: PatientTable, tokens: Iterable[str]) -> list[float]:
    """The log-probability of each token of a report and of its end, with the table in sight."""
    oracle, foresight = Oracle(), Foresight(table)
    before = foresight.probability(oracle)
    found = []
    for token in (*tokens, END):
        log_prob = oracle.advance(token)
        after = foresight.probability(oracle)
        if after == 0.0:
            raise ValueError(f"not a report of this patient: got {token!r}")
        found.append(min(log_prob + math.log(after / before), 0.0))
        before = after
    return found
