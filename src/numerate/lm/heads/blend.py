"""Several distributions, each with a weight: the best numerals by the threshold algorithm.

Numerals are taken from the sorted streams of the members, in turn, and scored under all of them.
What no member has shown yet is at most as probable as the weights times the last probabilities
seen, so whatever beats that bound is next (Fagin, Lotem and Naor, 2003).
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import numpy as np

from numerate.lm.heads.base import NextNumeral, mass_surely_up_to
from numerate.lm.perplexity import proper

FIRST, MOST = 4, 64  # numerals taken from a member at a time: twice as many each time
MOST_SEEN = 2**15  # numerals scored in one search


class Blend:
    """A `NextNumeral` of several; `score` gives log p of numerals under the whole."""

    def __init__(
        self,
        weights: np.ndarray,
        members: Sequence[NextNumeral],
        score: Callable[[list[str]], np.ndarray],
        *,
        most: int = MOST_SEEN,
    ) -> None:
        self._weights = np.asarray(weights, dtype=np.float64)
        self._members = members
        self._score = score
        self._most = most

    @property
    def total(self) -> float:
        return float(self._weights @ [member.total for member in self._members])

    @property
    def unresolved(self) -> float:
        return float(self._weights @ [member.unresolved for member in self._members])

    def stream(self) -> Iterator[tuple[str, float]]:
        streams = [member.stream() for member in self._members]
        bounds = np.ones(len(streams))  # p of what each member may still show
        seen: set[str] = set()
        heap: list[tuple[float, str]] = []
        count = FIRST
        while bounds.any() and len(seen) < self._most:
            new: dict[str, None] = {}
            for index in np.flatnonzero(bounds):
                taken = list(islice(streams[index], count))
                finished = len(taken) < count
                bounds[index] = 0.0 if finished else np.exp(taken[-1][1])
                new |= dict.fromkeys(text for text, _ in taken if text not in seen)
            seen |= new.keys()
            count = min(2 * count, MOST)
            scores = proper(self._score(list(new))) if new else ()
            for text, log_prob in zip(new, scores, strict=True):
                heapq.heappush(heap, (-float(log_prob), text))
            bound = float(self._weights @ bounds)
            while heap and np.exp(-heap[0][0]) >= bound:
                cost, text = heapq.heappop(heap)
                yield text, -cost
        while heap:
            cost, text = heapq.heappop(heap)
            yield text, -cost

    def mass_up_to(self, numbers: np.ndarray) -> np.ndarray:
        masses = [member.mass_up_to(numbers) for member in self._members]
        return np.asarray(self._weights @ np.stack(masses))

    def mass_surely_up_to(self, numbers: np.ndarray) -> np.ndarray:
        masses = [mass_surely_up_to(member, numbers) for member in self._members]
        return np.asarray(self._weights @ np.stack(masses))

    def draw(self, count: int, generator: np.random.Generator) -> list[str]:
        counts = generator.multinomial(count, self._weights / self._weights.sum())
        drawn = [
            text
            for member, times in zip(self._members, counts, strict=True)
            if times
            for text in member.draw(int(times), generator)
        ]
        return [drawn[index] for index in generator.permutation(len(drawn))]
