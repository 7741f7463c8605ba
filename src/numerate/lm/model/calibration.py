"""How odd is odd? The numerals of the dev split, which are taken to be right, tell.

The plausibility of a numeral is the share of them that are at least as odd, itself counted in:
a conformal p-value. On text like the training data, a numeral is therefore at most as often below
a threshold as the threshold says, whatever the model. The same split calibrates intervals.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from numerate.errors import CalibrationError, NumerateError, RunError
from numerate.lm.model.assess import Strangeness, first_sight
from numerate.lm.model.conformal import ConformalIntervals
from numerate.lm.model.domain import DOMAIN_SHAPE, Domain, KnownTexts
from numerate.lm.model.known_places import KnownPlaces
from numerate.lm.model.numeral_lm import NumeralLM, TextReading
from numerate.lm.perplexity import proper
from numerate.storage.records import Shape, misfit

SHAPE: Shape = {
    "strangeness": [float],
    "least": (float, None),
    "domain": DOMAIN_SHAPE,
    "intervals": dict,
}
MOST_POINTS = 10_000  # of the dev split's distribution that are kept


@dataclass(frozen=True, slots=True)
class Calibration:
    strangeness: np.ndarray  # of the dev split's numerals, ascending
    least: float  # how strange at first sight is what gets a second look
    domain: Domain  # what is usual in such text
    intervals: ConformalIntervals

    @classmethod
    def of(cls, record: dict[str, Any]) -> "Calibration":
        """Raises RunError over what is no calibration."""
        if wrong := misfit(record, SHAPE):
            raise RunError(wrong)
        values = np.array(record["strangeness"], dtype=np.float64)
        if not len(values) or (np.diff(values) < 0).any():
            raise RunError("strangeness: expected some numbers, ascending")
        least = record["least"]
        domain = Domain.read(record["domain"])
        intervals = ConformalIntervals.read(record["intervals"])
        return cls(values, -np.inf if least is None else least, domain, intervals)

    def record(self) -> dict[str, Any]:
        return {
            "strangeness": [float(f"{value:.7g}") for value in self.strangeness],
            "least": self.least if np.isfinite(self.least) else None,
            "domain": self.domain.record(),
            "intervals": self.intervals.record(),
        }

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


def calibrate(
    model: NumeralLM,
    readings: Iterable[TextReading],
    documents: Sequence[object] | None = None,
    *,
    numerals: int = 0,
    whole: bool = True,
) -> Calibration:
    """From texts whose numerals are right: the dev split, which the model was not trained on.

    `documents` says of each text which document it is of; without it, each is one by itself.
    They are `whole`, or some paragraphs of them. Of so many `numerals` in all, intervals are fitted
    to as many as are needed.
    """
    known, places = KnownTexts(), KnownPlaces(model, numerals)
    readings = known.heed(readings, documents if whole else None)
    readings = _heeded(places, readings, documents)
    least = -np.inf
    if model.backbone.second_looks < 1:
        readings = list(readings)
        sights = [first_sight([t.text for t in r.numerals], r.numeral_log_probs) for r in readings]
        everything = np.concatenate([np.zeros(0), *sights])
        if len(everything):
            least = float(np.quantile(everything, 1 - model.backbone.second_looks, method="higher"))
    statistic = Strangeness(model, least)
    found = [statistic.of(reading) for reading in readings]
    values = np.sort(proper(np.concatenate([np.zeros(0), *found])))
    if not len(values):
        raise CalibrationError("calibration: no numeral in the texts")
    if len(values) > MOST_POINTS:
        values = values[np.linspace(0, len(values) - 1, MOST_POINTS).round().astype(int)]
    return Calibration(values, least, known.domain(), places.intervals())


def _heeded(
    places: KnownPlaces, readings: Iterable[TextReading], documents: Sequence[object] | None
) -> Iterator[TextReading]:
    """The same, once `places` has seen those that were read together."""
    last = None
    for index, reading in enumerate(readings):
        if reading.within is not last:
            last = reading.within
            texts = range(index, index + len(last.corpus))
            places.heed(last, texts if documents is None else [documents[text] for text in texts])
        yield reading
