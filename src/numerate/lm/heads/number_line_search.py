"""Numerals as cells of the number line, for a law of numbers and chances of precisions.

Cells of one precision are searched best first through nested decimal ranges. A law knows a mass
that no cell of a range exceeds; so when a cell beats that of every range that has not been divided,
it beats all their cells.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from numerate.lm.perplexity import proper
from numerate.numeral import MAX_DIGITS

RANGES_AT_ONCE = 16
MOST_RANGES = 2**16  # looked at in one search
FINEST = MAX_DIGITS - 1  # decimals: one digit stands before the point
NEGLIGIBLE = 1e-9  # what has less probability is left out of sums


class Line(Protocol):
    """A law of numbers in one place; all arguments are [P] or [X]."""

    def log_most(self, low: Tensor, high: Tensor, half_width: Tensor) -> Tensor:
        """log of a mass that no cell from `low` to `high` exceeds; of one cell, its own."""
        ...

    def above(self, edge: Tensor) -> Tensor:
        """Probability of all numbers above an edge."""
        ...

    def draw(self, count: int, generator: np.random.Generator) -> np.ndarray:
        """So many numbers."""
        ...


@dataclass(frozen=True, slots=True, order=True)
class _Range:
    """Integers from `low` up to but not including `high`, times 10 to the minus `precision`."""

    precision: int
    low: int
    high: int

    def divide(self) -> list["_Range"]:
        """The whole line into numbers of 1, 2, … digits; those by their next digit."""
        if self.low == 0 and self.high > 10:
            ends = [0, *(10**digits for digits in range(1, MAX_DIGITS + 1))]
        else:
            width = 10 ** (len(str(self.high - 1)) - 1)
            while width >= self.high - self.low:
                width //= 10
            ends = list(range(self.low, self.high + 1, width))
        return [_Range(self.precision, low, high) for low, high in pairwise(ends)]

    def text(self) -> str:
        digits = str(self.low).zfill(self.precision + 1)
        if not self.precision:
            return digits
        return f"{digits[: -self.precision]}.{digits[-self.precision :]}"


class NumberLine:
    """A `NextNumeral` of a law of numbers and log p of each precision."""

    def __init__(self, law: Line, log_precisions: Tensor, *, most: int = MOST_RANGES) -> None:
        self._most = most
        self._law = law
        self._log_precisions = log_precisions.double().numpy()  # [FINEST + 1]
        chances = np.exp(self._log_precisions)
        self._usual = np.flatnonzero(chances > NEGLIGIBLE)
        self._chances = chances[self._usual]
        half_widths = 0.5 * 10.0 ** -self._usual.astype(float)
        self._upper = self._above(-half_widths)  # [R] mass of all non-negative numerals
        self.total = float(self._chances @ self._upper)
        self.unresolved = 0.0

    def stream(self) -> Iterator[tuple[str, float]]:
        roots = [_Range(precision, 0, 10**MAX_DIGITS) for precision in range(FINEST + 1)]
        heap = [(-float(self._log_precisions[root.precision]), root) for root in roots]
        heapq.heapify(heap)
        looked_at = 0
        while heap and looked_at < self._most:
            cost, best = heap[0]
            if best.high - best.low == 1:
                heapq.heappop(heap)
                yield best.text(), -cost
                continue
            parts: list[_Range] = []
            cells: list[tuple[float, _Range]] = []
            while heap and len(parts) < 10 * RANGES_AT_ONCE:
                entry = heapq.heappop(heap)
                if entry[1].high - entry[1].low == 1:
                    cells.append(entry)
                    break  # what comes after it may not be needed
                parts += entry[1].divide()
            looked_at += len(parts)
            for entry in [*cells, *zip(self._costs(parts), parts, strict=True)]:
                heapq.heappush(heap, entry)
        for cost, found in sorted(heap):
            if found.high - found.low == 1:
                yield found.text(), -cost

    def _costs(self, parts: list[_Range]) -> list[float]:
        """Minus log of the most that a cell of each range can have; exact for single cells."""
        scale = torch.tensor([10.0**-part.precision for part in parts], dtype=torch.float64)
        ends = torch.tensor(
            [[float(part.low), float(part.high - 1)] for part in parts], dtype=torch.float64
        )
        low, high = (ends * scale[:, None]).T  # [P] each
        log_mass = proper(self._law.log_most(low, high, 0.5 * scale).numpy())
        precisions = self._log_precisions[[part.precision for part in parts]]
        costs: list[float] = (-log_mass - precisions).tolist()
        return costs

    def mass_up_to(self, numbers: np.ndarray) -> np.ndarray:
        result = np.zeros(len(numbers))
        for precision, chance, upper in zip(self._usual, self._chances, self._upper, strict=True):
            # The last cell that is not above; the slack is for numbers like 0.29, a bit below.
            scaled = numbers * 10.0**precision
            last = np.floor(scaled * (1 + 1e-14))
            beyond = self._above((last + 0.5) / 10.0**precision)
            result += chance * np.where(last >= 0, np.maximum(upper - beyond, 0.0), 0.0)
        return result

    def _above(self, edges: np.ndarray) -> np.ndarray:
        found: np.ndarray = self._law.above(torch.from_numpy(edges)).numpy()
        return found

    def draw(self, count: int, generator: np.random.Generator) -> list[str]:
        precisions = generator.choice(self._usual, count, p=self._chances / self._chances.sum())
        cells = np.rint(self._law.draw(count, generator) * 10.0**precisions)
        return [
            _Range(int(precision), int(cell), int(cell) + 1).text()
            for precision, cell in zip(precisions, cells, strict=True)
            if 0 <= cell < 10.0**MAX_DIGITS  # numerals are not negative
        ]
