"""A distribution over a list of numerals: a closed vocabulary, or candidates that were rescored."""

from collections.abc import Iterator, Sequence

import numpy as np

from numerate.lm.perplexity import proper


class KnownNumerals:
    """A `NextNumeral` of finitely many numerals."""

    def __init__(self, numerals: Sequence[str], log_probs: np.ndarray) -> None:
        proper(log_probs)
        order = sorted(range(len(numerals)), key=lambda i: (-log_probs[i], numerals[i]))
        self.numerals = [numerals[index] for index in order]
        self.log_probs = np.asarray(log_probs, dtype=np.float64)[order]
        self.probabilities = np.exp(self.log_probs)
        self.total = float(self.probabilities.sum())
        self.unresolved = 0.0
        values = np.array([float(text) for text in self.numerals])
        by_value = np.argsort(values, kind="stable")
        self._values = values[by_value]
        self._cumulated = np.concatenate([[0.0], np.cumsum(self.probabilities[by_value])])

    def stream(self) -> Iterator[tuple[str, float]]:
        return zip(self.numerals, map(float, self.log_probs), strict=True)

    def mass_up_to(self, numbers: np.ndarray) -> np.ndarray:
        mass: np.ndarray = self._cumulated[np.searchsorted(self._values, numbers, side="right")]
        return mass

    def draw(self, count: int, generator: np.random.Generator) -> list[str]:
        named = int(generator.binomial(count, min(1.0, self.total)))
        if not named:
            return []
        chosen = generator.choice(len(self.numerals), named, p=self.probabilities / self.total)
        return [self.numerals[index] for index in chosen]
