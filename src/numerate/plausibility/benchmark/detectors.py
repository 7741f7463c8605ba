"""Who finds errors: anything that scores numerals, and what checking is compared with."""

from typing import Protocol

import numpy as np

from numerate.model.numeral_lm import NumeralLM, TextReading
from numerate.plausibility.assess import first_sight, log_probs_of
from numerate.plausibility.grid import Written


class Detector(Protocol):
    """Scores numerals in the contexts of a reading, as `Strangeness` does; larger is odder."""

    def __call__(self, reading: TextReading, rows: np.ndarray, numerals: list[str]) -> np.ndarray:
        """`numerals` [E] written where the numerals `rows` [E] of the reading stand."""
        ...


class AtFirstSight:
    """Surprisal less ln 10 for each significant digit: without slips, and what follows."""

    def __init__(self, model: NumeralLM) -> None:
        self._model = model

    def __call__(self, reading: TextReading, rows: np.ndarray, numerals: list[str]) -> np.ndarray:
        return first_sight(numerals, log_probs_of(self._model, reading, rows, numerals))


class BySurprisal:
    """What a plain language model gives: minus the log-probability of the token."""

    def __init__(self, model: NumeralLM) -> None:
        self._model = model

    def __call__(self, reading: TextReading, rows: np.ndarray, numerals: list[str]) -> np.ndarray:
        log_probs = log_probs_of(self._model, reading, rows, numerals)
        surprisal: np.ndarray = -log_probs - reading.gates[rows]
        return surprisal


class Distance:
    """No model: how many orders of magnitude from the median of the training numbers.

    Below `FLOOR` all numbers count the same: zeros and p-values would else take all the alarms.
    """

    FLOOR = 0.1

    def __init__(self, median: float) -> None:
        self._log_median = np.log10(max(median, self.FLOOR))

    def __call__(self, numerals: list[str]) -> np.ndarray:
        """Of each numeral, wherever it stands; larger is odder: [E]."""
        logs = np.log10(np.maximum(Written.of(numerals).values, self.FLOOR))
        distance: np.ndarray = np.abs(logs - self._log_median)
        return distance
