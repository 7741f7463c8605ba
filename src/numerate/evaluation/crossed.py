"""How far a figure could move with other documents and with other seeds.

Documents and seeds are crossed: every seed is tested on every document. An estimate is off by what
the documents are off, and by what the seeds are off, drawn independently of each other and added.

Documents are resampled, as in `bootstrap.py`, with the mean over seeds in each of them; with one
seed, intervals are those of there. Seeds are few: resamples of three contain the truth far less
often than they say. How far their mean is off is drawn from Student's t instead, K − 1 degrees of
freedom and s / √K wide; between two models, as in a t test with equal variances. What is of both, a
document's with a seed, is in either part: intervals err on the wide side. A pretrained model as it
comes has but one run, and only documents count for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from numerate.evaluation.bootstrap import (
    Floats,
    Interval,
    PairedResult,
    drawn_medians,
    holm,
    interval_of,
    studentised,
)
from numerate.evaluation.observed import Observed

SAMPLES = 2000
_ROUND_OFF = 1e-12  # of a sum, against the sum of magnitudes


@dataclass(frozen=True)
class OverSeeds:
    """One figure of one model: of each of its runs, which differ by their seed alone."""

    runs: Sequence[Observed]
    samples: int = SAMPLES
    estimates: Floats = field(init=False)  # [K] means before the function, or medians

    def __post_init__(self) -> None:
        object.__setattr__(self, "estimates", np.array([run.estimate for run in self.runs]))

    @property
    def mean(self) -> float:
        """Over seeds, of the figure itself."""
        return float(np.mean(self._figures))

    @property
    def spread(self) -> float:
        """The standard deviation over seeds; nan of one."""
        return float(np.std(self._figures, ddof=1)) if len(self.runs) > 1 else np.nan

    @property
    def _figures(self) -> list[float]:
        return [run.function(value) for run, value in zip(self.runs, self.estimates, strict=True)]

    def interval(self, confidence: float) -> tuple[float, float]:
        """That counts documents and seeds."""
        first, centre = self.runs[0], float(self.estimates.mean())
        off = _both_off(self._documents_off(), [self.estimates])
        found = _around(centre, off, confidence)
        low, high = max(found.low, first.bounds[0]), min(found.high, first.bounds[1])
        return first.function(low), first.function(high)

    def _documents_off(self) -> Floats:
        """By how much each sample says that the documents are off: [samples]."""
        if self.runs[0].is_median:
            return self._medians_off
        rest, sizes = self._rest
        return _means_off(rest, sizes, self.samples)

    @cached_property
    def _rest(self) -> tuple[Floats, Floats]:
        """What documents [D] add to the mean beyond it, of all seeds together; their sizes.

        Where seeds have other sizes, as of errors that not all have, it is so to first order.
        """
        count = 1 + max(int(run.documents.max()) for run in self.runs)
        rest, sizes = np.zeros((2, count))
        for run, mean in zip(self.runs, self.estimates, strict=True):
            beyond = run.values - mean * run.sizes
            beyond[np.abs(beyond) <= _ROUND_OFF * (np.abs(run.values) + abs(mean) * run.sizes)] = 0
            rest[run.documents] += beyond / run.sizes.sum()
            sizes[run.documents] += run.sizes
        return rest / len(self.runs), sizes / len(self.runs)

    @cached_property
    def _medians_off(self) -> Floats:
        off = [np.empty(0)]
        for run in self.runs:
            distinct, document = np.unique(run.documents, return_inverse=True)
            drawn = drawn_medians(run.values, document, len(distinct), self.samples)
            off.append(drawn[0] - drawn[1])
        return np.asarray(np.mean(off[1:], axis=0))


def against_best(
    rows: dict[str, OverSeeds], goal: float, confidence: float
) -> dict[str, PairedResult]:
    """Each row against the best of them, in documents' pairs: how much farther it is from the goal.

    Before the function: perplexities are compared in nats. p-values count documents and seeds, and
    are corrected for the number of rows (Holm). The best has p = 1.
    """
    signs = {name: _sign(float(row.estimates.mean()), goal) for name, row in rows.items()}
    aim = goal if np.isfinite(goal) else 0.0
    distances = {
        name: signs[name] * (float(row.estimates.mean()) - aim) for name, row in rows.items()
    }
    best = min(distances, key=distances.__getitem__)
    found = {}
    for name, row in rows.items():
        if name == best:
            continue
        off = _documents_between(row, signs[name], rows[best], signs[best])
        off = _both_off(off, [row.estimates, rows[best].estimates])
        difference = distances[name] - distances[best]
        interval = _around(difference, off, confidence)
        near = _ROUND_OFF * (abs(distances[name]) + abs(distances[best]))
        as_far = int((np.abs(off) >= abs(difference) - near).sum())
        p = (1 + as_far) / (1 + len(off))  # 1 where nothing could be drawn
        found[name] = PairedResult(difference, interval.low, interval.high, p)
    return {best: PairedResult(0.0, 0.0, 0.0, 1.0, 1.0), **holm(found)}


def _sign(figure: float, goal: float) -> float:
    """Whether more of it is worse, or better."""
    return 1.0 if figure > goal else -1.0


def _documents_between(row: OverSeeds, sign: float, best: OverSeeds, sign_of_best: float) -> Floats:
    if row.runs[0].is_median:
        return sign * row._medians_off - sign_of_best * best._medians_off
    (ours, sizes), (theirs, their_sizes) = row._rest, best._rest
    count = max(len(ours), len(theirs))
    ours, sizes, theirs, their_sizes = (
        np.pad(part, (0, count - len(part))) for part in (ours, sizes, theirs, their_sizes)
    )
    rest = sign * ours - sign_of_best * theirs
    rest[np.abs(rest) <= _ROUND_OFF * (np.abs(ours) + np.abs(theirs))] = 0
    return _means_off(rest, (sizes + their_sizes) / 2, row.samples)


def _means_off(rest: Floats, sizes: Floats, samples: int) -> Floats:
    """Of documents that have any: t* of each sample, as wide as the standard error."""
    rest, sizes = rest[sizes > 0], sizes[sizes > 0]
    error = float(np.sqrt(rest @ rest))
    if not error and len(rest) > 1:  # of equal documents
        return np.zeros(samples)
    return studentised(rest * sizes.sum(), sizes, samples) * error


def _both_off(documents_off: Floats, runs: Sequence[Floats]) -> Floats:
    """What samples of documents are off, and means over seeds, or the difference of two, besides.

    One document says nothing of how documents differ: of none there is no sample.
    """
    several = [estimates for estimates in runs if len(estimates) > 1]
    if not several:
        return documents_off
    freedom = sum(len(estimates) - 1 for estimates in several)
    squares = sum(float(((estimates - estimates.mean()) ** 2).sum()) for estimates in several)
    width = np.sqrt(squares / freedom * sum(1 / len(estimates) for estimates in several))
    generator = np.random.default_rng([1, 2])  # not the stream of the bootstrap
    return np.asarray(documents_off + width * generator.standard_t(freedom, len(documents_off)))


def _around(centre: float, off: Floats, confidence: float) -> Interval:
    found = interval_of(0, off, confidence)
    return Interval(centre, centre - found.high, centre - found.low)
