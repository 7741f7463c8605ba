"""Confidence intervals against their p-values and standard errors."""

import math
import re
from collections.abc import Iterator

from numerate.rules.distributions import (
    normal_quantile,
    normal_two_sided,
    t_quantile,
    t_two_sided,
)
from numerate.rules.judged_intervals import (
    NOT_WALD,
    OTHER_METHOD,
    SYMMETRIC,
    centre_of,
    document_says,
    finding_of,
    intervals_of,
    involved_in,
    is_in_order,
)
from numerate.rules.p_values import is_corrected
from numerate.rules.reading import ReadDocument
from numerate.rules.reported_intervals import ReportedInterval
from numerate.rules.reported_means import reported_means
from numerate.rules.rounding import Interval
from numerate.rules.rule import Outcome, Rule, add_rule
from numerate.rules.scale import Scale
from numerate.rules.stated import Stated

_OTHER_P = re.compile(r"interact|trend|heterogen|overall|group|time", re.IGNORECASE)
_FEW = 5  # degrees of freedom that a small sample may have left to a t-based interval
_FEWEST = 2  # that the mean of three values has
# By what factor p-values of different methods may differ, where both are significant, where neither
# is, and where one is.
_SMALL, _LARGE, _DECISIONS = 100.0, 4.0, 2.0


def _against_p(read: ReadDocument) -> Iterator[Outcome]:
    other = document_says(read, OTHER_METHOD)
    for one in read.by(intervals_of):
        if one.p is None or one.scale is None or one.scale.null is None or not is_in_order(one):
            continue
        if is_corrected(one.around) or one.p.is_corrected or _OTHER_P.search(one.p.label):
            yield Outcome(one.where, missing="uncorrected p-values")
            continue
        if other or NOT_WALD.search(one.around):
            yield Outcome(one.where, missing=SYMMETRIC)
            continue
        implied = _implied_p(one, one.scale)
        if implied is None:
            continue
        stated, null = one.p.interval, f"{one.scale.null:g}"
        excludes = not one.low.interval.low <= one.scale.null <= one.high.interval.high
        level = 1 - one.level
        agree = stated.low < level if excludes else stated.high >= level
        factor = (_SMALL if excludes else _LARGE) if agree else _DECISIONS
        if stated.meets(Interval(implied.low / factor, implied.high * factor)):
            yield Outcome(one.where, used=involved_in(one.p_at, one.estimate, one.low, one.high))
            continue
        said = f"{one.written} gives p ≈ {math.sqrt(max(implied.low, 1e-300) * implied.high):.2g}"
        contains = "excludes" if excludes else "contains"
        message = (
            f"{one.p} does not go with the interval {one.written}, which {contains} {null}: {said}."
        )
        involved = involved_in(one.p_at, one.estimate, one.low, one.high)
        at = one.estimate or one.low
        if one.p.number is not None and one.p_at is not None:
            at = Stated(one.p.number, one.p_at)
        yield Outcome(one.where, finding_of("NUM204", at, message, said, involved))


def _implied_p(one: ReportedInterval, scale: Scale) -> Interval | None:
    """Of a Wald test, or of a t-test with few degrees of freedom or more; by the estimate, or by
    the middle of the interval if they differ."""
    low, high = one.low.interval, one.high.interval
    centres = [centre_of(one, scale), one.estimate.interval if one.estimate is not None else None]
    known = [centre for centre in centres if centre is not None]
    if not known or scale.null is None:
        return None
    centre = Interval(min(one.low for one in known), max(one.high for one in known))
    if scale.is_log:
        if min(low.low, high.low, centre.low) <= 0:
            return None
        low, high, centre = (part.through(math.log) for part in (low, high, centre))
    null = math.log(scale.null) if scale.is_log else scale.null
    width = high - low
    if width.low <= 0:
        return None
    nearest = max(0.0, centre.low - null, null - centre.high)
    furthest = max(abs(centre.low - null), abs(centre.high - null))
    quantile = normal_quantile(1 - one.level)
    least, most = 2 * nearest / width.high, 2 * furthest / width.low  # of half-widths
    few = t_quantile(1 - one.level, _FEW)
    ends = [normal_two_sided(share * quantile) for share in (least, most)]
    ends += [t_two_sided(share * few, _FEW) for share in (least, most)]
    return Interval(min(ends), max(ends))


def _against_error(read: ReadDocument) -> Iterator[Outcome]:
    for one in read.by(intervals_of):
        if one.error is None or (one.scale is not None and one.scale.is_log):
            continue
        half = (one.high.interval - one.low.interval) / 2
        if one.error.interval.low <= 0 or half.low <= 0:
            yield Outcome(one.where, missing="decimals")
            continue
        quantile = normal_quantile(1 - one.level)
        implied = Interval(half.low / t_quantile(1 - one.level, _FEWEST), half.high / quantile)
        if one.error.interval.meets(implied):
            yield Outcome(one.where, used=involved_in(one.error, one.estimate, one.low, one.high))
            continue
        expected = (half.low + half.high) / 2 / quantile
        said = f"({one.high} − {one.low}) / (2 × {quantile:.2f}) = {expected:.3g}"
        message = (
            f"The standard error {one.error} does not go with the interval {one.written}: {said}."
        )
        involved = involved_in(one.error, one.estimate, one.low, one.high)
        yield Outcome(one.where, finding_of("NUM205", one.error, message, said, involved))


def _error_of_deviation(read: ReadDocument) -> Iterator[Outcome]:
    for one in read.by(reported_means):
        if one.error is None or one.deviation is None:
            continue
        if not one.sizes or not one.sizes[0]:
            yield Outcome(one.where, missing="sample size")
            continue
        deviation, error = one.deviation.interval, one.error.interval
        implied = Interval(
            deviation.low / math.sqrt(one.sizes[-1]), deviation.high / math.sqrt(one.sizes[0])
        )
        if error.meets(implied):
            yield Outcome(one.where, used=involved_in(one.error, one.deviation, one.size))
            continue
        expected = float(one.deviation) / math.sqrt(one.sizes[-1])
        said = f"{one.deviation} / √{one.size} = {expected:.3g}"
        message = f"The standard error {one.error} does not follow from its deviation: {said}."
        involved = involved_in(one.error, one.deviation, one.size)
        yield Outcome(one.where, finding_of("NUM206", one.error, message, said, involved))


_FIX = "Take the estimate and both bounds from the output of the analysis again."

add_rule(
    Rule(
        "NUM204",
        "interval-against-p-value",
        "intervals with p-values",
        "A p-value that does not go with the confidence interval of the same estimate.",
        "A 95 % interval leaves out the value of no effect (0 for a difference, 1 for a ratio) if "
        "p is below 0.05, and estimate and interval tell p about as a Wald test would. Rounding, "
        "small samples and other tests of the same hypothesis are allowed for. It is silent on "
        "corrected p-values and on intervals of other methods.",
        (
            "The hazard ratio was 0.61 (95% CI 0.54 to 0.69; p = 0.21).",
            "The mean difference was 1.3 kg (95% CI −0.2 to 2.8), p = 0.003.",
        ),
        (
            "The hazard ratio was 0.61 (95% CI 0.54 to 0.69; p < 0.001).",
            "The mean difference was 1.3 kg (95% CI −0.2 to 2.8), p = 0.09.",
        ),
        "Take the interval and the p-value from the same analysis; say so where they are not.",
        0.5,
        _against_p,
    )
)
add_rule(
    Rule(
        "NUM205",
        "interval-against-standard-error",
        "intervals with standard errors",
        "A standard error that does not go with the confidence interval of the same estimate.",
        "Half the width of a 95 % interval is 1.96 standard errors, and more in small samples. "
        "It is silent on ratios, whose standard errors may be of either scale.",
        ("The slope was steep, β = 0.20, SE = 0.80, 95% CI [0.04, 0.36].",),
        ("The slope was steep, β = 0.20, SE = 0.08, 95% CI [0.04, 0.36].",),
        "Take the standard error and the interval from the output of the analysis again.",
        0.5,
        _against_error,
    )
)
add_rule(
    Rule(
        "NUM206",
        "standard-error-of-deviation",
        "standard errors",
        "A standard error that is not the standard deviation divided by the root of n.",
        "The standard error of a mean is SD / √n. It reads both where they stand together with the "
        "number of values, and allows for rounding of both.",
        (
            "Scores had a mean of 12.1 (SD 3.0, SE 0.9, n = 25).",
            "| | N | Mean | SD | SEM |\n|---|---|---|---|---|\n| A | 16 | 5.1 | 2.0 | 0.8 |\n",
        ),
        (
            "Scores had a mean of 12.1 (SD 3.0, SE 0.6, n = 25).",
            "| | N | Mean | SD | SEM |\n|---|---|---|---|---|\n| A | 16 | 5.1 | 2.0 | 0.5 |\n",
        ),
        "Compute the standard error again, and look whether n is that of the values.",
        0.67,
        _error_of_deviation,
    )
)
