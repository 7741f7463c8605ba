"""All numerals as a tree of digits, searched best first.

A numeral is no more probable than any of its prefixes. So once a finished numeral is more
probable than every prefix that has not been continued, nothing that is still to be written can
beat it: the search is exact, whatever the length of numerals.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from numerate.errors import NumerateError
from numerate.lm.data.numeral_table import END, POINT, SYMBOL_COUNT, SYMBOLS
from numerate.lm.perplexity import proper
from numerate.numeral import MAX_DIGITS, count_digits

PREFIXES_AT_ONCE = 64
LEAST_UNRESOLVED = 0.005  # mass on the number line that need not be placed exactly
MOST_PREFIXES = 2048  # continued for that
MOST_SEARCHED = 2**15  # prefixes continued in one search for the most probable numerals
NARROW = 0.01  # a prefix whose numerals differ by less than so much has found its place
NOTICEABLE = 0.004  # mass on a narrow prefix that is placed where its numerals are


class Writer(Protocol):
    """A network that writes numerals symbol by symbol: digits 0 to 9, the point, the end."""

    def start(self) -> tuple[Any, np.ndarray]:
        """The state before the first symbol, and log p of the first symbol: [12]."""
        ...

    def write(self, states: Sequence[Any], symbols: Sequence[int]) -> tuple[list[Any], np.ndarray]:
        """One more symbol in each of P states: the new states, log p of what follows [P, 12].

        What the symbols lack to one is the probability of what is no numeral.
        """
        ...


@dataclass(frozen=True, slots=True)
class _Node:
    log_prob: float  # of the prefix
    state: Any
    following: np.ndarray  # [12] log p of each symbol after it


class DigitTree:
    """A `NextNumeral` of a network that writes digits. Prefixes are continued once and kept."""

    def __init__(
        self,
        writer: Writer,
        *,
        at_once: int = PREFIXES_AT_ONCE,
        most: int = MOST_PREFIXES,
        searched: int = MOST_SEARCHED,
    ) -> None:
        self._writer = writer
        self._at_once = at_once
        self._most = most
        self._searched = searched
        self._fruitless = 0  # prefixes written since a draw came to an end
        state, following = writer.start()
        self._nodes = {"": _Node(0.0, state, proper(following.astype(np.float64)))}

    @property
    def total(self) -> float:
        return float(self._line[1][-1])

    @property
    def unresolved(self) -> float:
        return self._line[2]

    def stream(self) -> Iterator[tuple[str, float]]:
        prefixes = [(-0.0, "")]
        numerals: list[tuple[float, str]] = []
        continued = 0
        while prefixes or numerals:
            if continued >= self._searched:
                prefixes.clear()
            while numerals and (not prefixes or numerals[0] <= prefixes[0]):
                cost, text = heapq.heappop(numerals)
                yield text, -cost
            if prefixes:
                count = min(self._at_once, len(prefixes))
                best = [heapq.heappop(prefixes)[1] for _ in range(count)]
                continued += count
                for text, log_prob, ended in self._continue(best):
                    heapq.heappush(numerals if ended else prefixes, (-log_prob, text))

    def mass_up_to(self, numbers: np.ndarray) -> np.ndarray:
        values, cumulated, _ = self._line
        mass: np.ndarray = cumulated[np.searchsorted(values, numbers, side="right")]
        return mass

    def mass_surely_up_to(self, numbers: np.ndarray) -> np.ndarray:
        """Less what is on narrow prefixes of which longer numerals may lie above."""
        ends, cumulated = self._ends
        mass: np.ndarray = cumulated[np.searchsorted(ends, numbers, side="right")]
        return mass

    def draw(self, count: int, generator: np.random.Generator) -> list[str]:
        """Symbol by symbol, many numerals at once; what turns out malformed is left out."""
        drawn: list[str] = []
        wanted, nodes = {"": count}, self._nodes
        while wanted:
            nodes = self._visit(list(wanted), nodes)
            self._fruitless = 0 if drawn else self._fruitless + len(nodes)
            if self._fruitless > 4 * self._searched:
                raise NumerateError("nothing to draw from: the model's numerals do not end")
            following: dict[str, int] = {}
            for prefix, times in wanted.items():
                chances = np.exp(nodes[prefix].following)
                malformed = max(0.0, 1.0 - chances.sum())  # beyond what symbols can say
                chances = np.append(chances, malformed)
                symbols = generator.multinomial(times, chances / chances.sum())
                for symbol in legal_symbols(prefix):
                    if symbols[symbol] and symbol == END:
                        drawn += [prefix] * int(symbols[symbol])
                    elif symbols[symbol]:
                        following[prefix + SYMBOLS[symbol]] = int(symbols[symbol])
            wanted = following
        return [drawn[index] for index in generator.permutation(len(drawn))]

    @cached_property
    def _line(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Values in ascending order, the mass up to each, and the mass that is not placed."""
        (starts, _, masses), unresolved = self._atoms
        return *_cumulated(starts, masses), unresolved

    @cached_property
    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The same with every narrow prefix where no numeral of it is above."""
        (_, ends, masses), _ = self._atoms
        return _cumulated(ends, masses)

    @cached_property
    def _atoms(self) -> tuple[np.ndarray, float]:
        """From where to where what mass is [3, A], and the mass that is not placed.

        The most probable prefixes are continued until little mass is on prefixes that leave the
        number open; such a prefix counts where its smallest numeral is. One that is narrow is
        continued where it has noticeable mass; else it is known from below and from above.
        """
        heap = [(-0.0, "")]
        atoms: list[tuple[float, float, float]] = []
        loose, continued = 1.0, 0
        while heap and loose > LEAST_UNRESOLVED and continued < self._most:
            count = min(self._at_once, len(heap))
            best = [heapq.heappop(heap) for _ in range(count)]
            loose -= sum(np.exp(-cost) for cost, _ in best)
            continued += count
            for text, log_prob, ended in self._continue([prefix for _, prefix in best]):
                mass = float(np.exp(log_prob))
                if ended:
                    atoms.append((float(text), float(text), mass))
                elif mass < NOTICEABLE and _is_narrow(text):
                    atoms.append((float(text), _end(text), mass))
                else:
                    heapq.heappush(heap, (-log_prob, text))
                    loose += mass
        for cost, prefix in heap:
            start = float(prefix or "0")
            narrow = _is_narrow(prefix)
            mass = float(np.exp(-cost))
            loose -= mass if narrow else 0.0
            atoms.append((start, _end(prefix) if narrow else start, mass))
        return np.array(atoms).T, max(0.0, float(loose))

    def _continue(self, prefixes: list[str]) -> Iterator[tuple[str, float, bool]]:
        """What may follow the prefixes: longer prefixes, and numerals where one may end."""
        nodes = self._visit(prefixes, self._nodes)
        self._nodes |= nodes
        for prefix in prefixes:
            node = nodes[prefix]
            for symbol in legal_symbols(prefix):
                log_prob = node.log_prob + float(node.following[symbol])
                if symbol == END:
                    yield prefix, log_prob, True
                else:
                    yield prefix + SYMBOLS[symbol], log_prob, False

    def _visit(self, prefixes: list[str], before: dict[str, _Node]) -> dict[str, _Node]:
        """The nodes of prefixes; `before` has those they continue, if they are yet to be written.

        Nodes are kept for those who come again, while there are not too many.
        """
        found = {prefix: self._nodes[prefix] for prefix in prefixes if prefix in self._nodes}
        new = [prefix for prefix in prefixes if prefix not in found]
        for start in range(0, len(new), self._at_once):
            part = new[start : start + self._at_once]
            parents = [before[prefix[:-1]] for prefix in part]
            symbols = [SYMBOLS.index(prefix[-1]) for prefix in part]
            states, following = self._writer.write([node.state for node in parents], symbols)
            proper(following)
            for index, prefix in enumerate(part):
                log_prob = parents[index].log_prob + float(parents[index].following[symbols[index]])
                row = following[index].astype(np.float64)
                found[prefix] = _Node(log_prob, states[index], row)
        if len(self._nodes) < self._searched:
            self._nodes |= found
        return found


def legal_symbols(prefix: str) -> tuple[int, ...]:
    """Symbols after which the prefix may still become, or is, a normalised numeral."""
    digits = tuple(range(10)) if count_digits(prefix) < MAX_DIGITS else ()
    if not prefix or prefix.endswith("."):
        return digits
    if "." in prefix:
        return (*digits, END)
    point = (POINT,) if digits else ()
    return (*point, END) if prefix == "0" else (*digits, *point, END)


def _cumulated(places: np.ndarray, masses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(places, kind="stable")
    return places[order], np.concatenate([[0.0], np.cumsum(masses[order])])


def _end(prefix: str) -> float:
    """What every numeral with a prefix that has a point lies below."""
    return float(prefix) + 10.0 ** -len(prefix.partition(".")[2])


def _is_narrow(prefix: str) -> bool:
    """Whether all numerals with this prefix write nearly the same number."""
    whole, point, decimals = prefix.partition(".")
    return bool(point and whole) and 10.0 ** -len(decimals) <= NARROW * float(prefix)


assert len(SYMBOLS) == SYMBOL_COUNT - 1
