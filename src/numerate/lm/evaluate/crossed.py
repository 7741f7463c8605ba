"""How far a figure could move with other documents and with other seeds, and which row is best.

Documents and seeds are crossed: every seed is tested on every document. An estimate is off by what
the documents are off, and by what the seeds are off, drawn independently of each other and added.

Documents are resampled, as in `bootstrap.py`, with the mean over seeds in each of them; with one
seed, intervals are those of there. Seeds are few: resamples of three contain the truth far less
often than they say. How far their mean is off is drawn from Student's t instead, K − 1 degrees of
freedom and s / √K wide. What is of both, a document's with a seed, is in either part: intervals err
on the wide side. A pretrained model as it comes has but one run, and only documents count for it.

Two rows differ by t, the difference by its standard error, with a variance of seeds for each row
(Welch). Samples have t* of all pairs together: documents drawn as above, and for every row σ² as
its seeds leave it open, then a mean and a variance of K seeds by that σ².

The best is chosen from the same data, so each row is tested as if any could be the best (multiple
comparisons with the best; Hsu, 1984): it is not, if it is too far behind some other. How far is
too far follows from the greatest t* of all rows still in question, in Holm's steps: that of the
row farthest behind first, and of the rest without it (Romano and Wolf, 2005). So of rows that are
truly best, any is told apart as seldom as the level says.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np

from numerate.lm.evaluate.bootstrap import (
    Floats,
    Interval,
    PairedResult,
    documents_beyond,
    drawn_means,
    drawn_medians,
    interval_of,
    of_rate,
    ratios,
    studentised,
)
from numerate.lm.evaluate.observed import Observed

Row = TypeVar("Row", bound=Hashable)

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
    def centre(self) -> float:
        """The mean over seeds, before the function; nan where any has no figure."""
        return float(self.estimates.mean())

    @property
    def mean(self) -> float:
        """The figure: the function of the mean over seeds, as intervals and tests have it."""
        return self.runs[0].function(self.centre)

    @property
    def spread(self) -> float:
        """The standard deviation of figures over seeds; nan of one."""
        figures = [self.runs[0].function(value) for value in self.estimates]
        if len(figures) < 2:
            return np.nan
        found = float(np.std(figures, ddof=1))
        return 0.0 if found <= _ROUND_OFF * np.abs(figures).max() else found

    @property
    def variance(self) -> float:
        """Of the centre, by other seeds; 0 of one."""
        count = len(self.runs)
        return float(self.estimates.var(ddof=1)) / count if count > 1 else 0.0

    def interval(self, confidence: float) -> tuple[float, float]:
        """That counts documents and seeds."""
        if np.isnan(self.centre):
            return np.nan, np.nan
        first, off = self.runs[0], self._documents_off()
        if self.variance:
            t = _generator().standard_t(len(self.runs) - 1, len(off))
            off = off + np.sqrt(self.variance) * t
        found = _around(self.centre, off, confidence)
        if not first.is_median and not self.variance:
            hits, misses = documents_beyond(first.values, first.sizes, first.bounds)
            found = of_rate(found, hits, misses, len(first.sizes), confidence, first.bounds)
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
    rows: dict[Row, OverSeeds], goal: float, confidence: float
) -> dict[Row, PairedResult]:
    """Each row against the best of them, in documents' pairs: how much farther it is from the goal.

    Before the function: perplexities are compared in nats. The interval and `p_value` are of the
    row and the best alone, as if it had been chosen before; `p_holm` is of whether the row may be
    the best of all. The best has p = 1, and a row without the figure is not compared.
    """
    rows = {name: row for name, row in rows.items() if not np.isnan(row.centre)}
    if not rows:
        return {}
    centres = np.array([row.centre for row in rows.values()])
    signs = np.where(centres > goal, 1.0, -1.0)  # whether more of it is worse, or better
    distances = signs * (centres - (goal if np.isfinite(goal) else 0))
    best = int(distances.argmin())
    farther = _beyond_rounding(distances[:, None], distances[None])  # [R, R]
    errors, drawn = _between(list(rows.values()), signs)
    t = ratios(farther, errors)
    corrected = _stepped_down(t, drawn)
    found = {}
    for index, name in enumerate(rows):
        pair = index, best
        off = drawn[:, index, best]
        ends = _around(farther[pair], off * errors[pair], confidence)
        p = _share(np.abs(off), abs(t[pair]))
        found[name] = PairedResult(ends.estimate, ends.low, ends.high, p, corrected[index])
    return found | {list(rows)[best]: PairedResult(0.0, 0.0, 0.0, 1.0, 1.0)}


def _stepped_down(t: Floats, drawn: Floats) -> list[float]:
    """p of whether each row may be the best: of t [R, R] against each other, and t* [S, R, R]."""
    behind, drawn_behind = t.max(1), drawn.max(2)
    order, least = np.argsort(-behind), 0.0
    corrected = [1.0] * len(t)
    for rank, row in enumerate(order):
        least = max(least, _share(drawn_behind[:, order[rank:]].max(1), behind[row]))
        corrected[row] = least
    return corrected


def _share(drawn: Floats, observed: float) -> float:
    """Of samples as far out, the data as observed among them; 1 where nothing could be drawn."""
    return (1 + int((drawn >= observed).sum())) / (1 + len(drawn))


def _between(rows: Sequence[OverSeeds], signs: Floats) -> tuple[Floats, Floats]:
    """Of each row less each other: standard errors [R, R], and t* of each sample [S, R, R]."""
    one, other = np.triu_indices(len(rows), 1)  # [P] pairs
    if rows[0].runs[0].is_median:
        medians = np.stack([row._medians_off for row in rows], axis=1) * signs
        off = medians[:, one] - medians[:, other]
        of_documents = np.sqrt((off**2).mean(0)) if len(off) else np.zeros(len(one))
        drawn_errors = np.broadcast_to(of_documents, off.shape)
    else:
        rest, sizes = _aligned([row._rest for row in rows])
        rest = _beyond_rounding((rest * signs)[:, one], (rest * signs)[:, other])
        sizes = (sizes[:, one] + sizes[:, other]) / 2
        of_documents = np.sqrt((rest**2).sum(0))
        off, drawn_errors = drawn_means(rest * sizes.sum(0), sizes, rows[0].samples)
    of_seeds = np.array([row.variance for row in rows])
    luck, drawn_variances = _drawn_seeds(rows, len(off))
    off = off + luck[:, one] - luck[:, other]
    drawn_errors = np.sqrt(drawn_errors**2 + drawn_variances[:, one] + drawn_variances[:, other])
    errors, drawn = np.zeros((len(rows),) * 2), np.zeros((len(off), *(len(rows),) * 2))
    errors[one, other] = np.sqrt(of_documents**2 + of_seeds[one] + of_seeds[other])
    drawn[:, one, other] = ratios(off, drawn_errors)
    return errors + errors.T, drawn - drawn.transpose(0, 2, 1)


def _drawn_seeds(rows: Sequence[OverSeeds], samples: int) -> tuple[Floats, Floats]:
    """How far means over other seeds are off, and the variances of these means; both [S, R]."""
    freedom = np.array([max(1, len(row.runs) - 1) for row in rows])
    generator, shape = _generator(), (samples, len(rows))
    variances = np.array([row.variance for row in rows])
    variances = variances * freedom / generator.chisquare(freedom, shape)  # that may be the true
    luck = np.sqrt(variances) * generator.standard_normal(shape)
    return luck, variances * generator.chisquare(freedom, shape) / freedom


def _generator() -> np.random.Generator:
    return np.random.default_rng([1, 2])  # not the stream of the bootstrap


def _aligned(parts: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """What documents add in each row, and their sizes, of documents that any has; both [D, R]."""
    count = max(len(sizes) for _, sizes in parts)
    rest, sizes = (
        np.stack([np.pad(part, (0, count - len(part))) for part in of_rows], axis=1)
        for of_rows in zip(*parts, strict=True)
    )
    known = sizes.any(axis=1)
    return rest[known], sizes[known]


def _beyond_rounding(ones: Floats, others: Floats) -> Floats:
    """Their differences; 0 where these are of rounding alone."""
    found = ones - others
    return np.where(np.abs(found) <= _ROUND_OFF * (np.abs(ones) + np.abs(others)), 0, found)


def _means_off(rest: Floats, sizes: Floats, samples: int) -> Floats:
    """Of documents that have any: t* of each sample, as wide as the standard error."""
    rest, sizes = rest[sizes > 0], sizes[sizes > 0]
    error = float(np.sqrt(rest @ rest))
    if not error and len(rest) > 1:  # of equal documents
        return np.zeros(samples)
    return studentised(rest * sizes.sum(), sizes, samples) * error


def _around(centre: float, off: Floats, confidence: float) -> Interval:
    found = interval_of(0, off, confidence)
    return Interval(centre, centre - found.high, centre - found.low)
