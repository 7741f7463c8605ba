"""One probability from several kinds of evidence: a logistic regression over a few features.

Without a model, a finding is as probable as its rule is precise. With models, each kind of evidence
adds to the log odds of the prior, one wrong numeral in two hundred:

    log odds = intercept + points · (logit precision − prior)    the rule says it is this numeral
                         + involves · (logit precision − prior)  or one of several, this among them
                         + detected · (the detector's log odds − prior)
                         + unlikely · log bound

where a p-value p of the language model's calibration is worth odds of at most 1 / (−e p ln p)
(Sellke, Bayarri and Berger, 2001). The coefficients are fitted on a dev split with errors put
into it; those that are used where nothing was fitted take the kinds for independent.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from numerate.detector.scored import PRIOR
from numerate.errors import NumerateError, RunError
from numerate.storage.records import Shape, misfit, read_record, typed

MOST_CERTAIN = 0.999  # nothing is surer, whatever was measured on some hundred findings


def logit(probability: float) -> float:
    bounded = min(max(probability, 1 - MOST_CERTAIN), MOST_CERTAIN)
    return math.log(bounded / (1 - bounded))


@dataclass(frozen=True, slots=True)
class Features:
    """What is known of one numeral; None: nobody says anything of it."""

    pointed: float | None = None  # precision of the rule that points to it
    involved: float | None = None  # precision of a rule that takes it for one of several
    detected: float | None = None  # the detector's log odds, at that prior
    plausibility: float | None = None  # by the language model: share of right ones as odd

    def vector(self) -> tuple[float, float, float, float]:
        """In the order of the coefficients; 0 where nothing is said."""
        return (
            0.0 if self.pointed is None else logit(self.pointed) - PRIOR,
            0.0 if self.involved is None else logit(self.involved) - PRIOR,
            0.0 if self.detected is None else self.detected - PRIOR,
            0.0 if self.plausibility is None else log_bound(self.plausibility),
        )


def features_of(
    pointed: Sequence[float] = (),
    involved: Sequence[float] = (),
    detected: Sequence[float] = (),
    plausibilities: Sequence[float] = (),
) -> Features:
    """Of all that rules and models say of one numeral; `check` and its benchmark both ask here.

    Of several rules the most precise one counts, and one that takes the numeral for one of several
    only where none points to it. Models of one kind know nearly the same: of detectors the mean of
    their log odds counts, of k language models k times the least p-value, which is one again
    whatever they have in common (Bonferroni).
    """
    return Features(
        max(pointed, default=None),
        None if pointed else max(involved, default=None),
        sum(detected) / len(detected) if detected else None,
        min(len(plausibilities) * min(plausibilities), 1.0) if plausibilities else None,
    )


def log_bound(plausibility: float) -> float:
    """The most that a p-value can say against its hypothesis, as log odds; nothing from 1/e on."""
    surprise = -math.log(max(plausibility, 1e-300))
    return surprise - 1 - math.log(surprise) if surprise > 1 else 0.0


@dataclass(frozen=True, slots=True)
class Joining:
    """The coefficients, by default those of kinds that know nothing of each other."""

    intercept: float = PRIOR
    points: float = 1.0
    involves: float = 0.5
    detected: float = 1.0
    unlikely: float = 1.0

    @classmethod
    def read(cls, record: dict[str, Any]) -> "Joining":
        """Raises RunError over what are no coefficients."""
        shape: dict[str, Shape] = dict.fromkeys(asdict(cls()), float)  # none may be missing
        if wrong := misfit(record, shape):
            raise RunError(wrong)
        return typed(cls, record)

    def record(self) -> dict[str, float]:
        return asdict(self)

    def probability(self, features: Features) -> float:
        """That the numeral is wrong."""
        coefficients = self.points, self.involves, self.detected, self.unlikely
        pairs = zip(coefficients, features.vector(), strict=True)
        log_odds = self.intercept + sum(weight * value for weight, value in pairs)
        bounded = min(max(log_odds, -700.0), 700.0)
        return min(1 / (1 + math.exp(-bounded)), MOST_CERTAIN)


UNFITTED = Joining()


def read_joining(path: Path) -> Joining:
    """What `check-benchmark --write-joining` has written."""
    try:
        return Joining.read(read_record(path, {}, RunError))
    except RunError as error:
        raise NumerateError(f"{path}: {error}") from None
    except (FileNotFoundError, NotADirectoryError):
        raise NumerateError(
            f"{path}: no such file; numerate check-benchmark … --write-joining {path} makes one"
        ) from None


def probability(features: Features, joining: Joining = UNFITTED) -> float:
    """Of rules alone it is their precision; where models speak, all is joined."""
    alone = features.detected is None and features.plausibility is None
    if alone and features.pointed is not None:
        return min(features.pointed, MOST_CERTAIN)
    return joining.probability(features)
