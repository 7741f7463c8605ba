"""Confidence intervals against their estimates, p-values and standard errors."""

import math
import re
from collections.abc import Iterator, Sequence

from numerate.checking.distributions import (
    normal_quantile,
    normal_two_sided,
    t_quantile,
    t_two_sided,
)
from numerate.checking.finding import RECOMPUTED, Evidence, Finding, Suggestion
from numerate.checking.p_values import is_corrected
from numerate.checking.reading import ReadDocument
from numerate.checking.reported_intervals import ReportedInterval, intervals_in_text
from numerate.checking.reported_means import reported_means
from numerate.checking.rounding import Interval
from numerate.checking.rule import Outcome, Rule, add_rule
from numerate.checking.scale import LINEAR, LOG, PERCENT, Scale
from numerate.checking.stated import Stated
from numerate.checking.tabulated_intervals import intervals_in_tables
from numerate.checking.where import Where

_NOT_WALD = re.compile(
    r"[Bb]ootstrap|[Cc]redible|HPD|[Bb]ayes|[Pp]osterior|BCa\b|[Pp]rofile|\b[Ee]xact|Wilson|Clopper"
    r"|Hodges|[Jj]ackknife|[Mm]edian|[Mm]onte Carlo|MCMC|[Pp]ercentile|[Nn]on-?inferior|[Qq]uantile"
)
_OTHER_METHOD = re.compile(
    r"[Ee]xact (?:[0-9]+ ?% )?(?:CI|confidence|logistic)|[Bb]ootstrap"
    r"|[Cc]redible interval|Bayesian|MCMC|[Pp]rofile.likelihood"
)
_COEFFICIENT = re.compile(r"\b[bB]\b|β|\b[Bb]eta\b|[Cc]oef|[Ee]stimate|[Ll]og")
_BY_LIKELIHOOD = re.compile(r"[Ll]ogistic|[Pp]oisson|\bCox\b|[Bb]inomial|[Gg]enerali[sz]ed linear")
_LESS = re.compile(
    r"\b(?:lower|less|fewer|smaller|shorter|reduc|decreas|declin|lost|loss|improv|sav(?:ed|ings?))"
)
_OTHER_P = re.compile(r"interact|trend|heterogen|overall|group|time", re.IGNORECASE)
_SYMMETRIC = "a symmetric method"
_SLACK = 0.01  # of half its width, by which the centre of an interval may lie beside its estimate
_LEANING = 0.1  # of percentages and ratios, whose intervals by score or likelihood lean
_EXACT = 0.4  # of ratios of few counts
_MANY = 3  # asymmetric intervals of a document, from which on they may be of another method
_FEW = 5  # degrees of freedom that a small sample may have left to a t-based interval
_FEWEST = 2  # that the mean of three values has
_AGO = re.compile(r"\b(?:[MkG]ya|Ma|ka|BP|BCE|ago|divergen\w+)\b")
# By what factor p-values of different methods may differ, where both are significant, where neither
# is, and where one is.
_SMALL, _LARGE, _DECISIONS = 100.0, 4.0, 2.0
_WIDE = 50.0  # by what factor the bounds of a ratio differ where counts are so few that exact
# intervals are usual, which lean


def _intervals(read: ReadDocument) -> list[ReportedInterval]:
    return [*intervals_in_text(read), *intervals_in_tables(read)]


def _involved(*placed: Stated | Where | None) -> tuple[Where, ...]:
    wheres = [one.where if isinstance(one, Stated) else one for one in placed if one is not None]
    return tuple(dict.fromkeys(wheres))


def _finding(
    code: str,
    at: Stated,
    message: str,
    said: str,
    involved: tuple[Where, ...],
    suggestion: Suggestion | None = None,
) -> Finding:
    evidence = Evidence(RECOMPUTED, said, involved)
    return Finding(code, at.where, at.number.written, message, (evidence,), involved, suggestion)


def _is_in_order(one: ReportedInterval) -> bool:
    return float(one.low) <= float(one.high)


def _outside(read: ReadDocument) -> Iterator[Outcome]:
    for one in read.by(_intervals):
        if one.estimate is None:
            yield Outcome(one.where, missing="estimate")
            continue
        low, high = (bound.interval for bound in sorted((one.low, one.high), key=float))
        estimate = one.estimate.interval
        within = Interval(low.low, high.high)
        if within.meets(estimate) or any(map(within.meets, _on_other_scales(one, estimate))):
            yield Outcome(one.where)
            continue
        side = "below" if estimate.high < low.low else "above"
        said = f"{one.estimate} lies {side} the interval from {one.low} to {one.high}"
        message = (
            f"The estimate {one.estimate} lies outside its confidence interval, {one.written}."
        )
        involved = _involved(one.estimate, one.low, one.high)
        suggestion = _centre_written(one) if _is_in_order(one) else None
        yield Outcome(
            one.where, _finding("NUM201", one.estimate, message, said, involved, suggestion)
        )


def _on_other_scales(one: ReportedInterval, estimate: Interval) -> Iterator[Interval]:
    """A coefficient beside the interval of its odds ratio, how much lower something is beside an
    interval of its change, a percentage beside an interval of shares."""
    if _COEFFICIENT.search(one.name) and one.low.number.value > 0 and estimate.high < 100:
        yield estimate.through(math.exp)
    if _LESS.search(one.around):
        yield -estimate
    if one.in_percent:
        yield from (estimate * 100, estimate * 0.01)


def _order(read: ReadDocument) -> Iterator[Outcome]:
    for one in read.by(_intervals):
        if _is_in_order(one) or _AGO.search(one.around):  # the older first
            yield Outcome(one.where)
            continue
        said = f"{one.low} > {one.high}"
        message = f"The bounds of the interval are in the wrong order: {one.written}."
        involved = _involved(one.low, one.high)
        yield Outcome(one.where, _finding("NUM202", one.low, message, said, involved))


def _centre(one: ReportedInterval, scale: Scale) -> Interval | None:
    low, high = one.low.interval, one.high.interval
    if not scale.is_log:
        return Interval((low.low + high.low) / 2, (low.high + high.high) / 2)
    if low.high <= 0:
        return None
    return Interval(math.sqrt(max(low.low, 0.0) * high.low), math.sqrt(low.high * high.high))


def _centre_written(one: ReportedInterval) -> Suggestion | None:
    """The estimate that the interval is symmetric about, where rounding leaves one only."""
    if one.scale is None or one.estimate is None or (centre := _centre(one, one.scale)) is None:
        return None
    number = one.estimate.number
    if number.precision < 0 or number.stop != number.end or centre.low < 0 < centre.high:
        return None
    if (centre.low < 0) != (number.value < 0):
        return None
    low, high = (f"{abs(end):.{number.precision}f}" for end in (centre.low, centre.high))
    return Suggestion(low) if low == high else None


def _asymmetric(read: ReadDocument) -> Iterator[Outcome]:
    found = [(one, outcome) for one in read.by(_intervals) if (outcome := _symmetry(one))]
    other = _document_says(read, _OTHER_METHOD)
    tables = {one.where.table for one, _ in found}
    methods = {
        table
        for table in tables
        if other or _are_of_another([o for one, o in found if one.where.table == table])
    }
    if _are_of_another([outcome for _, outcome in found]):
        methods = tables
    for one, outcome in found:
        known = one.where.table in methods
        yield Outcome(outcome.where, missing=_SYMMETRIC) if known else outcome


def _are_of_another(outcomes: Sequence[Outcome]) -> bool:
    """Whether so many are asymmetric that it is the method, and not an error."""
    wrong = sum(outcome.finding is not None for outcome in outcomes)
    right = sum(outcome.finding is None and outcome.missing is None for outcome in outcomes)
    return wrong >= _MANY and wrong > right


def _symmetry(one: ReportedInterval) -> Outcome | None:
    if one.estimate is None or one.scale is None or not _is_in_order(one):
        return None
    is_skewed = one.scale == LINEAR and 0 <= 2 * float(one.low) < float(one.high)
    if is_skewed or _NOT_WALD.search(one.around):
        return Outcome(one.where, missing=_SYMMETRIC)
    centre = _centre(one, one.scale)
    if centre is None:
        return None
    estimate = one.estimate.interval
    allowed = _allowed(one, one.scale, centre)
    if allowed.meets(estimate) or not _contains(one):
        return Outcome(one.where)
    middle = "geometric mean" if one.scale.is_log else "middle"
    value = f"{(centre.low + centre.high) / 2:.{max(one.estimate.number.precision, 0) + 1}f}"
    value = value.replace("-", "−")
    said = f"{middle} of {one.low} and {one.high} = {value}"
    message = (
        f"The interval {one.written} is not symmetric about its estimate {one.estimate} "
        f"on the {one.scale.name} scale: its {middle} is {value}."
    )
    involved = _involved(one.estimate, one.low, one.high)
    suggestion = _centre_written(one)
    return Outcome(one.where, _finding("NUM203", one.estimate, message, said, involved, suggestion))


def _allowed(one: ReportedInterval, scale: Scale, centre: Interval) -> Interval:
    """What the estimate may be: intervals by score or likelihood lean, those of ratios the more,
    the wider they are."""
    by_likelihood = _BY_LIKELIHOOD.search(one.around)
    if scale.is_log:
        half = math.log(one.high.interval.high / one.low.interval.high) / 2
        is_wide = 0 < _WIDE * float(one.low) < float(one.high)
        most = _EXACT if is_wide else _LEANING
        share = most if is_wide or by_likelihood else min(most, most * half)
        allowed = Interval(
            centre.low * math.exp(-share * half), centre.high * math.exp(share * half)
        )
        if scale == LOG and (middle := _centre(one, LINEAR)):
            allowed = Interval(allowed.low, max(allowed.high, middle.high))
        return allowed  # of values with one added, too
    leans = by_likelihood or PERCENT.search(one.name)
    slack = (_LEANING if leans else _SLACK) * (float(one.high) - float(one.low)) / 2
    allowed = centre.widened(slack)
    if scale == LINEAR and (other := _centre(one, LOG)) is not None:  # back from logarithms
        allowed = Interval(min(allowed.low, other.low - slack), allowed.high)
    return allowed


def _contains(one: ReportedInterval) -> bool:
    assert one.estimate is not None
    within = Interval(one.low.interval.low, one.high.interval.high)
    return within.meets(one.estimate.interval)


def _document_says(read: ReadDocument, pattern: re.Pattern[str]) -> bool:
    return any(pattern.search(piece.text) for piece in read.running())


def _against_p(read: ReadDocument) -> Iterator[Outcome]:
    other = _document_says(read, _OTHER_METHOD)
    for one in read.by(_intervals):
        if one.p is None or one.scale is None or one.scale.null is None or not _is_in_order(one):
            continue
        if is_corrected(one.around) or one.p.is_corrected or _OTHER_P.search(one.p.label):
            yield Outcome(one.where, missing="uncorrected p-values")
            continue
        if other or _NOT_WALD.search(one.around):
            yield Outcome(one.where, missing=_SYMMETRIC)
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
            yield Outcome(one.where)
            continue
        said = f"{one.written} gives p ≈ {math.sqrt(max(implied.low, 1e-300) * implied.high):.2g}"
        contains = "excludes" if excludes else "contains"
        message = (
            f"{one.p} does not go with the interval {one.written}, which {contains} {null}: {said}."
        )
        involved = _involved(one.p_at, one.estimate, one.low, one.high)
        at = one.estimate or one.low
        if one.p.number is not None and one.p_at is not None:
            at = Stated(one.p.number, one.p_at)
        yield Outcome(one.where, _finding("NUM204", at, message, said, involved))


def _implied_p(one: ReportedInterval, scale: Scale) -> Interval | None:
    """Of a Wald test, or of a t-test with few degrees of freedom or more; by the estimate, or by
    the middle of the interval if they differ."""
    low, high = one.low.interval, one.high.interval
    centres = [_centre(one, scale), one.estimate.interval if one.estimate is not None else None]
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
    for one in read.by(_intervals):
        if one.error is None or (one.scale is not None and one.scale.is_log):
            continue
        half = (one.high.interval - one.low.interval) / 2
        if one.error.interval.low <= 0 or half.low <= 0:
            yield Outcome(one.where, missing="decimals")
            continue
        quantile = normal_quantile(1 - one.level)
        implied = Interval(half.low / t_quantile(1 - one.level, _FEWEST), half.high / quantile)
        if one.error.interval.meets(implied):
            yield Outcome(one.where)
            continue
        expected = (half.low + half.high) / 2 / quantile
        said = f"({one.high} − {one.low}) / (2 × {quantile:.2f}) = {expected:.3g}"
        message = (
            f"The standard error {one.error} does not go with the interval {one.written}: {said}."
        )
        involved = _involved(one.error, one.estimate, one.low, one.high)
        yield Outcome(one.where, _finding("NUM205", one.error, message, said, involved))


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
            yield Outcome(one.where)
            continue
        expected = float(one.deviation) / math.sqrt(one.sizes[-1])
        said = f"{one.deviation} / √{one.size} = {expected:.3g}"
        message = f"The standard error {one.error} does not follow from its deviation: {said}."
        involved = _involved(one.error, one.deviation, one.size)
        yield Outcome(one.where, _finding("NUM206", one.error, message, said, involved))


_FIX = "Take the estimate and both bounds from the output of the analysis again."

add_rule(
    Rule(
        "NUM201",
        "estimate-outside-interval",
        "estimates with intervals",
        "An estimate that lies outside its confidence interval.",
        "A confidence interval contains the estimate it is given for. Estimate and bounds may be "
        "rounded. It is silent where it is not clear which number the interval is for.",
        (
            "The hazard ratio was 0.71 (95% CI 0.54 to 0.69).",
            "| | OR (95% CI) | p |\n|---|---|---|\n| Age | 1.51 (0.41–1.22) | 0.3 |\n",
        ),
        (
            "The hazard ratio was 0.61 (95% CI 0.54 to 0.69).",
            "| | OR (95% CI) | p |\n|---|---|---|\n| Age | 0.71 (0.41–1.22) | 0.2 |\n",
        ),
        _FIX,
        0.47,
        _outside,
    )
)
add_rule(
    Rule(
        "NUM202",
        "interval-bounds-order",
        "intervals",
        "A confidence interval whose lower bound is above its upper bound.",
        "The lower bound comes first; where it is the larger one, a sign or a digit is wrong, or "
        "the two were exchanged.",
        ("The mean difference was −0.5 kg (95% CI −0.2 to −0.8).",),
        ("The mean difference was −0.5 kg (95% CI −0.8 to −0.2).",),
        "Put the lower bound first, or mend the sign that is missing.",
        0.92,
        _order,
    )
)
add_rule(
    Rule(
        "NUM203",
        "asymmetric-interval",
        "symmetric intervals",
        "A confidence interval that is not symmetric about its estimate on its scale.",
        "Intervals of means and differences are symmetric about their estimates, those of odds, "
        "risk, rate and hazard ratios on the logarithmic scale. The scale is that of the words "
        "before the estimate; without such words it is silent, and so it is on medians, "
        "proportions, correlations, bootstrap, exact and Bayesian intervals. All three numbers may "
        "be rounded.",
        (
            "The odds ratio was 1.85 (95% CI 1.04 to 2.41).",
            "The mean difference was 1.6 kg (95% CI 0.2 to 2.4).",
        ),
        (
            "The odds ratio was 1.85 (95% CI 1.42 to 2.41).",
            "The mean difference was 1.3 kg (95% CI 0.2 to 2.4).",
        ),
        _FIX,
        0.79,
        _asymmetric,
    )
)
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
