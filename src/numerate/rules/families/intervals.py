"""Confidence intervals against their estimates: around them, in order, symmetric."""

import math
import re
from collections.abc import Iterator, Sequence

from numerate.rules.finding import Suggestion
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
from numerate.rules.reading import ReadDocument
from numerate.rules.reported_intervals import ReportedInterval
from numerate.rules.rounding import Interval
from numerate.rules.rule import Outcome, Rule, add_rule
from numerate.rules.scale import LINEAR, LOG, PERCENT, Scale

_COEFFICIENT = re.compile(r"\b[bB]\b|β|\b[Bb]eta\b|[Cc]oef|[Ee]stimate|[Ll]og")
_BY_LIKELIHOOD = re.compile(r"[Ll]ogistic|[Pp]oisson|\bCox\b|[Bb]inomial|[Gg]enerali[sz]ed linear")
_LESS = re.compile(
    r"\b(?:lower|less|fewer|smaller|shorter|reduc|decreas|declin|lost|loss|improv|sav(?:ed|ings?))"
)
_SLACK = 0.01  # of half its width, by which the centre of an interval may lie beside its estimate
_LEANING = 0.1  # of percentages and ratios, whose intervals by score or likelihood lean
_EXACT = 0.4  # of ratios of few counts
_MANY = 3  # asymmetric intervals of a document, from which on they may be of another method
_AGO = re.compile(r"\b(?:[MkG]ya|Ma|ka|BP|BCE|ago|divergen\w+)\b")
_WIDE = 50.0  # by what factor the bounds of a ratio differ where counts are so few that exact
# intervals are usual, which lean


def _outside(read: ReadDocument) -> Iterator[Outcome]:
    for one in read.by(intervals_of):
        if one.estimate is None:
            yield Outcome(one.where, missing="estimate")
            continue
        low, high = (bound.interval for bound in sorted((one.low, one.high), key=float))
        estimate = one.estimate.interval
        within = Interval(low.low, high.high)
        if within.meets(estimate) or any(map(within.meets, _on_other_scales(one, estimate))):
            yield Outcome(one.where, used=involved_in(one.estimate, one.low, one.high))
            continue
        side = "below" if estimate.high < low.low else "above"
        said = f"{one.estimate} lies {side} the interval from {one.low} to {one.high}"
        message = (
            f"The estimate {one.estimate} lies outside its confidence interval, {one.written}."
        )
        involved = involved_in(one.estimate, one.low, one.high)
        suggestion = _centre_written(one) if is_in_order(one) else None
        yield Outcome(
            one.where, finding_of("NUM201", one.estimate, message, said, involved, suggestion)
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
    for one in read.by(intervals_of):
        if is_in_order(one) or _AGO.search(one.around):  # the older first
            yield Outcome(one.where, used=involved_in(one.low, one.high))
            continue
        said = f"{one.low} > {one.high}"
        message = f"The bounds of the interval are in the wrong order: {one.written}."
        involved = involved_in(one.low, one.high)
        yield Outcome(one.where, finding_of("NUM202", one.low, message, said, involved))


def _centre_written(one: ReportedInterval) -> Suggestion | None:
    """The estimate that the interval is symmetric about, where rounding leaves one only."""
    if one.scale is None or one.estimate is None or (centre := centre_of(one, one.scale)) is None:
        return None
    number = one.estimate.number
    if number.precision < 0 or number.stop != number.end or centre.low < 0 < centre.high:
        return None
    if (centre.low < 0) != (number.value < 0):
        return None
    low, high = (f"{abs(end):.{number.precision}f}" for end in (centre.low, centre.high))
    return Suggestion(low) if low == high else None


def _asymmetric(read: ReadDocument) -> Iterator[Outcome]:
    found = [(one, outcome) for one in read.by(intervals_of) if (outcome := _symmetry(one))]
    other = document_says(read, OTHER_METHOD)
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
        yield Outcome(outcome.where, missing=SYMMETRIC) if known else outcome


def _are_of_another(outcomes: Sequence[Outcome]) -> bool:
    """Whether so many are asymmetric that it is the method, and not an error."""
    wrong = sum(outcome.finding is not None for outcome in outcomes)
    right = sum(outcome.finding is None and outcome.missing is None for outcome in outcomes)
    return wrong >= _MANY and wrong > right


def _symmetry(one: ReportedInterval) -> Outcome | None:
    if one.estimate is None or one.scale is None or not is_in_order(one):
        return None
    is_skewed = one.scale == LINEAR and 0 <= 2 * float(one.low) < float(one.high)
    if is_skewed or NOT_WALD.search(one.around):
        return Outcome(one.where, missing=SYMMETRIC)
    centre = centre_of(one, one.scale)
    if centre is None:
        return None
    estimate = one.estimate.interval
    allowed = _allowed(one, one.scale, centre)
    if allowed.meets(estimate) or not _contains(one):
        return Outcome(one.where, used=involved_in(one.estimate, one.low, one.high))
    middle = "geometric mean" if one.scale.is_log else "middle"
    value = f"{(centre.low + centre.high) / 2:.{max(one.estimate.number.precision, 0) + 1}f}"
    value = value.replace("-", "−")
    said = f"{middle} of {one.low} and {one.high} = {value}"
    message = (
        f"The interval {one.written} is not symmetric about its estimate {one.estimate} "
        f"on the {one.scale.name} scale: its {middle} is {value}."
    )
    involved = involved_in(one.estimate, one.low, one.high)
    suggestion = _centre_written(one)
    return Outcome(
        one.where, finding_of("NUM203", one.estimate, message, said, involved, suggestion)
    )


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
        if scale == LOG and (middle := centre_of(one, LINEAR)):
            allowed = Interval(allowed.low, max(allowed.high, middle.high))
        return allowed  # of values with one added, too
    leans = by_likelihood or PERCENT.search(one.name)
    slack = (_LEANING if leans else _SLACK) * (float(one.high) - float(one.low)) / 2
    allowed = centre.widened(slack)
    if scale == LINEAR and (other := centre_of(one, LOG)) is not None:  # back from logarithms
        allowed = Interval(min(allowed.low, other.low - slack), allowed.high)
    return allowed


def _contains(one: ReportedInterval) -> bool:
    assert one.estimate is not None
    within = Interval(one.low.interval.low, one.high.interval.high)
    return within.meets(one.estimate.interval)


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
