"""What can be computed from the numbers of sources, each from those it stands beside."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from numerate.comparison.mentions import Mention
from numerate.text.operations import OPERATIONS

USUAL = [one for one in OPERATIONS if one.name not in ("flow", "body surface")]  # of anything
SIZE = 1.5  # numbers are of one size up to this factor
BESIDE = 30  # characters
MOST = 24  # numbers of a sentence, row or column that are computed with


@dataclass(frozen=True, slots=True)
class Way:
    """How a number follows from one or two others."""

    operands: tuple[Mention, ...]
    operation: str  # its name
    formula: str  # `100 · 12/48`

    def is_share_of(self, mention: Mention) -> bool:
        """Whether it gives a percentage of the two numbers right before it: `66/120 (55%)`."""
        spans = [mention.where.start - operand.where.end for operand in self.operands]
        is_beside = len(spans) == 2 and all(0 <= span <= BESIDE for span in spans)
        return is_beside and self.operation == "percentage" and mention.unit == "%"


class Computed:
    """All results, in ascending order."""

    def __init__(self, mentions: Sequence[Mention]) -> None:
        self._mentions = mentions
        self._values = values = np.array([mention.value for mention in mentions])
        parts = [np.zeros((4, 0))]
        for rows in _groups(mentions):
            first, second = (side.ravel() for side in np.meshgrid(rows, rows))
            pair = first != second
            first, second = first[pair], second[pair]
            for index, operation in enumerate(USUAL):
                a, b = first, second
                if operation.operands == 1:
                    a = b = rows
                elif operation.is_symmetric:
                    a, b = first[first < second], second[first < second]
                able = operation.takes_a(values[a])
                if operation.operands == 2:
                    able = able & operation.takes_b(values[b])
                a, b = a[able], b[able]
                with np.errstate(over="ignore"):
                    found = operation.compute(values[a], values[b])
                # What is one of the operands again is no result.
                new = (found != values[a]) & (found != values[b]) & np.isfinite(found)
                a, b, found = a[new], b[new], found[new]
                parts.append(np.stack([found, np.full(len(a), index), a, b]))
        results = np.concatenate(parts, axis=1)
        self._results = results[:, np.argsort(results[0], kind="stable")]

    def to(self, mention: Mention, most: int = 50) -> list[Way]:
        """Those that give a number as it is rounded."""
        low, high = mention.bounds
        first, last = np.searchsorted(self._results[0], (low, high))
        found = self._results[:, first:last]
        operands = self._values[found[2:].astype(np.int64)]  # [2, ·]
        # From a number that is much the same it follows as well, whatever else there is.
        found = found[:, ~((operands >= low) & (operands <= high)).any(0)]
        nearest = np.argsort(np.abs(found[0] - mention.value), kind="stable")[:most]
        return [self._way(column) for column in found[:, nearest].T]

    def by_chance(self, mention: Mention) -> float:
        """How many would give it by chance."""
        return by_chance(self._results[0], mention)

    def _way(self, column: np.ndarray) -> Way:
        operation = USUAL[int(column[1])]
        a, b = (self._mentions[int(place)] for place in column[2:])
        formula = operation.shown.format(a=a.number.written, b=b.number.written)
        return Way((a, b)[: operation.operands], operation.name, formula)


def by_chance(values: np.ndarray, mention: Mention) -> float:
    """How many of some values, in ascending order, would be rounded to a number if they were spread
    evenly where they are of its size."""
    low, high = mention.bounds
    least, most = mention.value / SIZE, max(mention.value * SIZE, high)
    first, last = np.searchsorted(values, [least, most])
    return float((last - first) * min(1.0, (high - low) / (most - least)))


def _groups(mentions: Sequence[Mention]) -> Iterator[np.ndarray]:
    """Numbers of one sentence, row or column; each value once."""
    found: dict[tuple[int, object], dict[float, int]] = {}
    for index, mention in enumerate(mentions):
        for group in mention.groups:
            found.setdefault((id(mention.read), group), {}).setdefault(mention.value, index)
    for rows in found.values():
        yield np.array(list(rows.values())[:MOST])
