"""The distribution of any head in one place, from nothing but the probabilities it gives.

A head that knows its own shape is searched exactly (`digit_tree.py`, `number_line_search.py`). Of
one that does not say, the number line is cut into cells, at every number of decimals: single
numerals where they are small, ten, a hundred and more of them farther out. A numeral in the middle
speaks for its cell, and cells that have much of the probability are cut up again. Probabilities
of numerals are exact; how much lies in a large cell is not, and `unresolved` says how much that is.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.base import Context, log_prob_row
from numerate.lm.perplexity import proper

if TYPE_CHECKING:
    from numerate.lm.heads.base import NumeralHead

MOST_DECIMALS = 4
SINGLE = 1000  # cells of one numeral, at each number of decimals
DECADES, PARTS = 7, 90  # and of more, in each power of ten beyond
ROUNDS, REFINED = 4, 100  # times, and cells each time, that are cut up


def coarse_search(head: "NumeralHead", context: Context) -> "CoarseNumerals":
    cells = _first_cells()
    log_probs = _score(head, context, cells)
    for _ in range(ROUNDS):
        masses = log_probs + np.log(cells[:, 2])
        large = np.flatnonzero(cells[:, 2] > 1)
        chosen = large[np.argsort(-masses[large], kind="stable")[:REFINED]]
        if not len(chosen):
            break
        step = cells[chosen, 2] // 10
        parts = np.repeat(cells[chosen], 10, axis=0)
        parts[:, 1] += np.tile(np.arange(10), len(chosen)) * np.repeat(step, 10)
        parts[:, 2] = np.repeat(step, 10)
        cells = np.concatenate([np.delete(cells, chosen, axis=0), parts])
        log_probs = np.concatenate([np.delete(log_probs, chosen), _score(head, context, parts)])
    named = log_probs > -np.inf
    return CoarseNumerals(cells[named], log_probs[named])


def _first_cells() -> np.ndarray:
    """Decimals, first numeral as a whole number of units, and how many numerals: int64 [C, 3]."""
    decimals = np.arange(MOST_DECIMALS + 1)
    first = [np.arange(SINGLE)]
    sizes = [np.ones(SINGLE, dtype=np.int64)]
    for decade in range(DECADES):
        size = 100 * 10**decade  # two digits tell cells of a power of ten apart
        first.append(np.arange(10, 10 + PARTS) * size)
        sizes.append(np.full(PARTS, size))
    line = np.stack([np.concatenate(first), np.concatenate(sizes)], axis=1)
    return np.concatenate([np.insert(line, 0, places, axis=1) for places in decimals])


def _score(head: "NumeralHead", context: Context, cells: np.ndarray) -> np.ndarray:
    """What a closed head does not know has no probability of its own."""
    texts = [_write(*cell) for cell in cells.tolist()]
    log_probs = proper(log_prob_row(head, context, texts))
    return np.where(head.knows(NumeralTable(texts)), log_probs, -np.inf)


def _write(decimals: int, first: int, size: int) -> str:
    """The numeral in the middle of a cell."""
    digits = str(first + size // 2).zfill(decimals + 1)
    return f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits


class CoarseNumerals:
    """A `NextNumeral` of cells [C, 3], each with log p of the numeral in its middle."""

    def __init__(self, cells: np.ndarray, log_probs: np.ndarray) -> None:
        self._cells, self._log_probs = cells, log_probs
        masses = np.exp(log_probs) * cells[:, 2]
        self._masses = masses / max(1.0, masses.sum())
        self.total = float(self._masses.sum())
        self.unresolved = float(self._masses[cells[:, 2] > 1].sum())
        self.singles = float(masses[cells[:, 2] == 1].sum())  # exactly, were it more than one
        values = (cells[:, 1] + cells[:, 2] // 2) * 10.0 ** -cells[:, 0]
        order = np.argsort(values, kind="stable")
        self._values = values[order]
        self._cumulated = np.concatenate([[0.0], np.cumsum(self._masses[order])])

    def stream(self) -> Iterator[tuple[str, float]]:
        texts = [_write(*cell) for cell in self._cells.tolist()]
        for index in sorted(range(len(texts)), key=lambda i: (-self._log_probs[i], texts[i])):
            yield texts[index], float(self._log_probs[index])

    def mass_up_to(self, numbers: np.ndarray) -> np.ndarray:
        mass: np.ndarray = self._cumulated[np.searchsorted(self._values, numbers, side="right")]
        return mass

    def draw(self, count: int, generator: np.random.Generator) -> list[str]:
        named = int(generator.binomial(count, min(1.0, self.total)))
        if not named:
            return []
        chosen = self._cells[generator.choice(len(self._cells), named, p=self._masses / self.total)]
        places = chosen[:, 1] + generator.integers(0, chosen[:, 2])
        pairs = zip(chosen[:, 0].tolist(), places.tolist(), strict=True)
        return [_write(decimals, place, 1) for decimals, place in pairs]
