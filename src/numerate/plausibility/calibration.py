"""How odd is odd? The numerals of the dev split, which are taken to be right, tell.

The plausibility of a numeral is the share of them that are at least as odd, itself counted in:
a conformal p-value. On text like the training data, a numeral is therefore at most as often below
a threshold as the threshold says, whatever the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from numerate.errors import NumerateError
from numerate.evaluation.perplexity import proper
from numerate.plausibility.assess import strangeness
from numerate.plausibility.grid import Written
from numerate.plausibility.number_model import NumberModel
from numerate.plausibility.passages import read_texts

CALIBRATION = "calibration.json"
MOST_POINTS = 10_000  # of the dev split's distribution that are kept


@dataclass(frozen=True, slots=True)
class Calibration:
    strangeness: np.ndarray  # of the dev split's numerals, ascending

    @classmethod
    def of(cls, record: dict[str, Any]) -> "Calibration":
        return cls(np.array(record["strangeness"], dtype=np.float64))

    def record(self) -> dict[str, Any]:
        return {"strangeness": [float(f"{value:.7g}") for value in self.strangeness]}

    @property
    def finest(self) -> float:
        """The smallest false-alarm rate at which anything can be flagged."""
        return 1 / (len(self.strangeness) + 1)

    def plausibility(self, strangeness: np.ndarray) -> np.ndarray:
        count = len(self.strangeness)
        below = np.searchsorted(self.strangeness, strangeness, side="left")
        share: np.ndarray = (count - below + 1) / (count + 1)
        return share

    def check_alarms(self, alarms: float) -> None:
        if not 0 < alarms < 1:
            raise NumerateError(f"alarms: got {alarms}, expected between 0 and 1")
        if alarms < self.finest:
            raise NumerateError(
                f"alarms: got {alarms}, expected at least {self.finest:.2g}: the model was "
                f"calibrated on {len(self.strangeness)} numerals"
            )


def calibrate(model: NumberModel, texts: Sequence[str]) -> Calibration:
    """From texts whose numerals are right: the dev split, which the model was not trained on."""
    numerals: list[str] = []
    found = [np.zeros(0)]
    for reading in read_texts(model, texts):
        numerals += [token.text for token in reading.numerals]
        found.append(reading.numeral_log_probs)
    return calibrate_numerals(numerals, np.concatenate(found))


def calibrate_numerals(numerals: Sequence[str], log_probs: np.ndarray) -> Calibration:
    """From numerals that are right, and their log-probabilities where they stand: [N]."""
    if not len(numerals):
        raise NumerateError("calibration: no numeral in the texts")
    values = np.sort(strangeness(Written.of(numerals), proper(log_probs)))
    if len(values) > MOST_POINTS:
        values = values[np.linspace(0, len(values) - 1, MOST_POINTS).round().astype(int)]
    return Calibration(values)
