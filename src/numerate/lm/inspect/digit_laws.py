"""Significant digits of numerals, Benford's law, and how far digits are from it. No torch."""

import math
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

POSITIONS = (1, 2, 3)
NAMES = ("first", "second", "third")
CONFORMITY = {  # Nigrini (2012), upper ends of close, acceptable and marginal conformity
    1: (0.006, 0.012, 0.015),
    2: (0.008, 0.010, 0.012),
}
LEAST_EXPECTED = 5  # in every cell, as is the rule for chi-square tests
_VERDICTS = ("close", "acceptable", "marginal", "none")
_EXPONENT = re.compile("[eE].*")


def benford(position: int) -> Floats:
    """P(digit d at this significant place), d = 0…9: [10].

    First place: log10(1 + 1/d), never 0. Place n: Σ log10(1 + 1/(10k + d)) over all k of
    n − 1 digits.
    """
    digits = np.arange(10)
    if position == 1:
        return np.log10(1 + 1 / np.maximum(digits, 1)) * (digits > 0)
    before = np.arange(10 ** (position - 2), 10 ** (position - 1))[:, None]
    law: Floats = np.log10(1 + 1 / (10 * before + digits)).sum(axis=0)
    return law


def significant_digits(text: str) -> str:
    """The digits of a written number from the first that is not zero; none for zero.

    From the text, so that `1.50` has three and `0.0040` has two: trailing zeros were written.
    """
    digits = "".join(c for c in _EXPONENT.sub("", text) if c.isdigit())
    return digits.lstrip("0")


@dataclass(frozen=True, slots=True)
class DigitShares:
    """How often each digit stands at the first, second and third significant place."""

    name: str
    counts: Floats  # [3, 10]; of a model, probabilities
    numbers: float  # all that were looked at, zeros included
    of_model: bool = False  # then nothing was counted, and there is nothing to test

    @classmethod
    def of(cls, name: str, counts_of_texts: dict[str, int]) -> "DigitShares":
        """From written numbers and how often each occurs."""
        counts = np.zeros((len(POSITIONS), 10))
        for text, count in counts_of_texts.items():
            for place, digit in enumerate(significant_digits(text)[: len(POSITIONS)]):
                counts[place, int(digit)] += count
        return cls(name, counts, float(sum(counts_of_texts.values())))

    def shares(self, position: int) -> Floats:
        """Of the numbers that have a digit there: [10]."""
        counts = self.counts[position - 1]
        total = counts.sum()
        return counts / total if total else np.full(10, np.nan)

    def having(self, position: int) -> float:
        """How many numbers have a digit there."""
        return float(self.counts[position - 1].sum())


@dataclass(frozen=True, slots=True)
class Conformity:
    """How far digits are from Benford's law."""

    chi_square: float  # Σ (observed − expected)² / expected
    degrees: int
    p_value: float
    deviation: float  # mean |share − law|: Nigrini's MAD, which does not grow with the sample
    least_expected: float  # smallest count that the law expects of a digit

    @property
    def enough(self) -> bool:
        """Whether there are enough numbers for the statistic to follow the chi-square law."""
        return self.least_expected >= LEAST_EXPECTED

    def verdict(self, position: int) -> str:
        """By Nigrini's thresholds; he gives none for the third digit."""
        if position not in CONFORMITY or math.isnan(self.deviation):
            return "–"
        return _VERDICTS[sum(self.deviation > bound for bound in CONFORMITY[position])]


def conformity(shares: DigitShares, position: int) -> Conformity:
    possible = slice(1, 10) if position == 1 else slice(0, 10)
    law = benford(position)[possible]
    observed = shares.counts[position - 1][possible]
    total = observed.sum()
    degrees = len(law) - 1
    if not total:
        return Conformity(math.nan, degrees, math.nan, math.nan, 0.0)
    expected = law * total
    statistic = float(((observed - expected) ** 2 / expected).sum())
    deviation = float(np.abs(observed / total - law).mean())
    return Conformity(
        statistic,
        degrees,
        chi_square_tail(statistic, degrees),
        deviation,
        float(expected.min()),
    )


def chi_square_tail(statistic: float, degrees: int) -> float:
    """P(χ² > statistic), exactly, for a whole number of degrees of freedom.

    Integrating by parts, the tail for n degrees is that for n − 2 and one more term
    (x/2)^(n/2 − 1) e^(−x/2) / Γ(n/2), down to e^(−x/2) for 2 and erfc(√(x/2)) for 1.
    """
    half = statistic / 2
    if half <= 0:
        return 1.0
    if math.isinf(half):
        return 0.0
    tail = math.exp(-half) if degrees % 2 == 0 else math.erfc(math.sqrt(half))
    for n in range(4 if degrees % 2 == 0 else 3, degrees + 1, 2):
        tail += math.exp((n / 2 - 1) * math.log(half) - half - math.lgamma(n / 2))
    return min(1.0, tail)
