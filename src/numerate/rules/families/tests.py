"""Test statistics against their p-values: t, F, χ², z, r and Q with degrees of freedom."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from numerate.rules.distributions import (
    f_upper,
)
from numerate.rules.finding import RECOMPUTED, Evidence, Finding, Suggestion
from numerate.rules.methods_of_tests import MethodsOfTests
from numerate.rules.numbers import Number
from numerate.rules.p_values import (
    EQUAL,
    USUAL_LEVEL,
    PValue,
    is_corrected,
)
from numerate.rules.reading import ReadDocument
from numerate.rules.recomputed_p import least_p, magnitude, recomputed_p, tail
from numerate.rules.reported_tests import (
    CHI_SQUARED,
    F,
    R,
    ReportedTest,
    T,
    Z,
    tests_in_text,
)
from numerate.rules.rounding import Interval
from numerate.rules.rule import Outcome, Rule, add_rule
from numerate.rules.tabulated_tests import tests_in_tables

_CORRECTION = 1.4  # by what factor p-values that are corrected for many are larger, at least
_MANY = 3  # tests of a document that do not hold, from which on they may be of another method
_TINY = 1e-10  # below which software gives its least number, or sums rounding errors
# how many comparisons of two groups, and effects of an analysis of variance, may be corrected for
_PAIRS, _EFFECTS = 11, 7
_MOST = 1e6  # and at most, for all voxels of a brain
_OTHERS = 5
_MANY_TESTS, _EXACTLY = "uncorrected p-values", "a known distribution"
_SPHERICITY = "degrees of freedom as corrected"
_NEAR, _EXACT = 1.5, 2.5  # by what factor exact p-values of ranks may differ from those of z
_COMPARED = re.compile(
    r"[Pp]ost[- ]?hoc|[Pp]airwise|[Cc]luster|[Vv]oxel|[Pp]eak|whole[- ]brain|SVC"
)


def _holds(test: ReportedTest, p: PValue, recomputed: Interval, one_sided: bool) -> bool:
    """In some reading that a writer may have had in mind."""
    said = p.interval
    if said.meets(recomputed) or max(said.high, recomputed.high) < _TINY:
        return True
    has_sides = test.kind in (T, Z, R) or test.degrees[0].interval.high == 1
    if one_sided and has_sides:
        half = _half(recomputed)
        return said.meets(half) or said.meets(Interval(1 - half.high, 1 - half.low))
    return False


def _half(p: Interval) -> Interval:
    return Interval(p.low / 2, p.high / 2)


def _other_readings(test: ReportedTest) -> Iterator[Interval]:
    """Degrees of freedom in another order, or a sample size in their place."""
    degrees = [one.interval.low for one in test.degrees]
    others: list[tuple[float, ...]] = []
    if test.kind == F and degrees[0] > degrees[1]:
        others = [(degrees[1], degrees[0])]
    elif test.kind == CHI_SQUARED and degrees[0] > 20:
        others = [(float(few),) for few in range(1, 6)]
    elif test.kind == R and degrees and degrees[0] > 2:
        others = [(degrees[0] - 2,)]
    statistic = magnitude(test)
    if test.kind == F and "varianc" in test.around:  # two-sided: either may be the larger one
        for value in (statistic.low, statistic.high):
            upper = f_upper(value, *degrees)
            yield Interval(2 * min(upper, 1 - upper), 2 * min(upper, 1 - upper))
    for other in others:
        ends = [tail(test.kind, value, *other) for value in (statistic.low, statistic.high)]
        yield Interval(min(ends), max(ends))


def _tests(read: ReadDocument) -> list[ReportedTest]:
    return [*tests_in_text(read), *tests_in_tables(read)]


@dataclass(frozen=True, slots=True)
class _Judged:
    """What is said of a test; `excuse` is a method of the document that would explain a p-value
    which does not follow."""

    test: ReportedTest
    outcome: Outcome
    excuse: str | None = None


def _recompute(read: ReadDocument) -> Iterator[Outcome]:
    tests = read.by(_tests)
    if not tests:
        return
    methods = MethodsOfTests.of(read)
    judged = [_judge(test, methods) for test in tests]
    usual = {excuse for excuse in (_MANY_TESTS, _SPHERICITY, _EXACTLY) if _is_usual(excuse, judged)}
    found = [
        Outcome(one.outcome.where, missing=one.excuse) if one.excuse in usual else one.outcome
        for one in judged
    ]
    wrong = sum(outcome.finding is not None for outcome in found)
    right = sum(outcome.finding is None and outcome.missing is None for outcome in found)
    if methods.resampled and wrong >= _MANY and wrong > right / 2:
        for outcome in found:  # then it is the method, and no error
            missing = _EXACTLY if outcome.finding else outcome.missing
            yield Outcome(outcome.where, missing=missing)
    else:
        yield from found


def _is_usual(excuse: str, judged: Sequence[_Judged]) -> bool:
    """Whether a method was used in a document: not if it would explain one test alone, and five of
    its kind follow without it."""
    kinds = {_MANY_TESTS: (T, Z, R, CHI_SQUARED), _SPHERICITY: (F,), _EXACTLY: (Z,)}[excuse]
    needed = sum(one.excuse == excuse for one in judged)
    without = sum(
        one.test.kind in kinds
        and not (one.outcome.finding or one.outcome.missing)
        and (excuse != _SPHERICITY or one.test.degrees[0].interval.low > 1)
        for one in judged
    )
    return needed > 1 or without < _OTHERS


def _corrected_for_sphericity(test: ReportedTest) -> Interval:
    """All p-values from that of the F as it stands to that with the fewest degrees of freedom that
    Greenhouse and Geisser, or Huynh and Feldt, may have left."""
    first, second = (one.interval.high for one in test.degrees)
    ends = [
        f_upper(value, *degrees)
        for value in (magnitude(test).low, magnitude(test).high)
        if math.isfinite(value)
        for degrees in ((first, second), (1.0, second / first))
    ]
    return Interval(min(ends), max(ends))


def _may_be_corrected(
    test: ReportedTest, said: Interval, recomputed: Interval, methods: MethodsOfTests
) -> bool:
    """For many comparisons. A comparison may be one of them, a test of several groups at once only
    where false discoveries are counted, or where its p-value is multiplied as methods do it."""
    if said.low > 1 or said.low > _MOST * recomputed.high:
        return False
    is_single = bool(test.degrees) and test.degrees[0].interval.high == 1
    is_pair = test.kind in (T, Z, R) or (test.kind == CHI_SQUARED and is_single)
    times = range(2, _PAIRS if is_pair else _EFFECTS)
    if methods.multiplied and any(said.meets(recomputed * many) for many in times):
        return True
    is_comparison = is_pair or (is_single and methods.discovered)
    least = 1.0 if methods.discovered else _CORRECTION
    return methods.corrected and is_comparison and said.low > least * recomputed.high


def _judge(test: ReportedTest, methods: MethodsOfTests) -> _Judged:
    if any(candidate.p.is_corrected for candidate in test.candidates) or is_corrected(test.around):
        return _Judged(test, Outcome(test.where, missing=_MANY_TESTS, used=test.numbers))
    recomputed = recomputed_p(test)
    if recomputed is None:
        return _Judged(test, _by_least_p(test, methods))
    holds = Outcome(test.where, used=test.numbers)
    finding = _finding(test, recomputed_p(test, cut_off=False) or recomputed)
    fails = Outcome(test.where, finding)
    for candidate in test.candidates:
        said = candidate.p.interval
        if _holds(test, candidate.p, recomputed, methods.one_sided):
            return _Judged(test, holds)
        if any(said.meets(other) for other in _other_readings(test)):
            return _Judged(test, holds)
        if _may_be_corrected(test, said, recomputed, methods):
            missing = Outcome(test.where, missing=_MANY_TESTS, used=test.numbers)
            return _Judged(test, missing if _COMPARED.search(test.around) else fails, _MANY_TESTS)
        if test.kind == Z and methods.ranked:
            near, exact = (
                Interval(recomputed.low / factor, recomputed.high * factor)
                for factor in (_NEAR, _EXACT)
            )
            if said.meets(exact):
                missing = Outcome(test.where, missing=_EXACTLY, used=test.numbers)
                return _Judged(test, missing if said.meets(near) else fails, _EXACTLY)
        is_repeated = test.kind == F and test.degrees[0].interval.low > 1 and methods.repeated
        if is_repeated and said.meets(_corrected_for_sphericity(test)):
            return _Judged(test, fails, _SPHERICITY)
    return _Judged(test, fails)


def _by_least_p(test: ReportedTest, methods: MethodsOfTests) -> Outcome:
    """Without degrees of freedom: it can be told only if none would do."""
    least = least_p(test)
    if least is None or methods.one_sided:
        return Outcome(test.where, missing=_missing(test), used=test.numbers)
    possible = Interval(least, 1.0)
    if any(candidate.p.interval.meets(possible) for candidate in test.candidates):
        return Outcome(test.where, missing=_missing(test), used=test.numbers)
    return Outcome(test.where, _finding(test, possible, is_bound=True))


def _of_estimates(read: ReadDocument) -> Iterator[Outcome]:
    for test in read.by(_tests):
        if test.estimate is None or test.error is None or test.kind not in (T, Z):
            continue
        error = test.error.interval
        if error.low <= 0:
            yield Outcome(test.where, missing="decimals")
            continue
        quotient = test.estimate.interval / error
        places = (test.statistic_at, test.estimate.where, test.error.where)
        if _absolute(quotient).meets(magnitude(test)):
            yield Outcome(test.where, used=places)
            continue
        expected = float(test.estimate) / float(test.error)
        said = f"{test.estimate} / {test.error} = {expected:.{max(test.statistic.precision, 0)}f}"
        said = said.replace("-", "−")
        message = f"{test.written} is not the estimate divided by its standard error: {said}."
        yield Outcome(
            test.where,
            Finding(
                "NUM302",
                test.statistic_at,
                test.statistic.written,
                message,
                (Evidence(RECOMPUTED, said, places),),
                places,
                _quotient_written(quotient, test.statistic),
            ),
        )


def _absolute(interval: Interval) -> Interval:
    ends = abs(interval.low), abs(interval.high)
    return Interval(0.0 if interval.low <= 0 <= interval.high else min(ends), max(ends))


def _quotient_written(quotient: Interval, statistic: Number) -> Suggestion | None:
    if statistic.stop != statistic.end or statistic.precision < 0:
        return None
    if quotient.low < 0 < quotient.high or not math.isfinite(quotient.high - quotient.low):
        return None
    low, high = (f"{abs(end):.{statistic.precision}f}" for end in (quotient.low, quotient.high))
    return Suggestion(low) if low == high else None


def _missing(test: ReportedTest) -> str:
    return "sample size" if test.kind == R else "degrees of freedom"


def _finding(test: ReportedTest, recomputed: Interval, is_bound: bool = False) -> Finding:
    candidate = test.candidates[0]
    p, where = candidate.p, candidate.where or test.statistic_at
    said = f"{test.written} gives p {'>' if is_bound else '='} {_shown(recomputed, is_bound)}"
    if is_bound:
        said += " whatever its degrees of freedom"
    decision = ""
    if p.interval.high <= USUAL_LEVEL < recomputed.low:
        decision = ", which is not significant at 0.05"
    elif recomputed.high < USUAL_LEVEL <= p.interval.low:
        decision = ", which is significant at 0.05"
    if not is_bound and test.kind in (T, Z, R) and p.interval.meets(_half(recomputed)):
        decision += " (one-sided it would be; the text does not say so)"
    involved = [one.where for one in test.degrees if one.where]
    if test.sample is not None and test.sample.where and test.kind == R and not test.degrees:
        involved.append(test.sample.where)
    places = tuple(dict.fromkeys([where, test.statistic_at, *involved]))
    return Finding(
        "NUM301",
        where,
        p.number.written if p.number else test.statistic.written,
        f"{p} does not follow from its test: {said}{decision}.",
        (Evidence(RECOMPUTED, said, places),),
        places,
        None if is_bound else _suggestion(p, recomputed),
    )


def _shown(p: Interval, is_bound: bool) -> str:
    value = p.low if is_bound else (p.low + p.high) / 2
    return f"{value:.2g}" if value < 1e-4 else f"{value:.4f}".rstrip("0")


def _suggestion(p: PValue, recomputed: Interval) -> Suggestion | None:
    """The p-value with the decimals of the one written, where rounding leaves one only."""
    if p.number is None or p.relation != EQUAL or p.number.stop != p.number.end:
        return None
    low, high = (f"{end:.{p.number.precision}f}" for end in (recomputed.low, recomputed.high))
    if low != high or not float(low):
        return None
    return Suggestion(low.removeprefix("0") if p.number.written.startswith(".") else low)


add_rule(
    Rule(
        "NUM301",
        "test-statistic-p-value",
        "tests",
        "A p-value that does not follow from its test statistic and degrees of freedom.",
        "The p-value of a t, F, χ², z, r or Q is determined by the statistic and its degrees of "
        "freedom. What is written may be rounded: the statistic, the degrees of freedom and the "
        "p-value are all taken as anything that rounds to them. One-sided p-values are allowed "
        "where the document speaks of any. It is silent on corrected p-values, permutations, exact "
        "and rank tests, and where degrees of freedom are missing, unless no degrees of freedom "
        "could give that p-value.",
        (
            "The groups differed, t(28) = 2.05, p = .49.",
            "There was an effect of dose (F1,139 = 4.2; P < 0.01).",
            "Sex made no difference, χ^2(2, N = 120) = 5.3, p = 0.007.",
            "They correlated (r = 0.31, n = 50, p = 0.003).",
            "| Term | t | df | p |\n|---|---|---|---|\n| Age | 2.05 | 28 | 0.49 |\n",
        ),
        (
            "The groups differed, t(28) = 2.05, p = .049.",
            "There was an effect of dose (F1,139 = 4.2; P < 0.05).",
            "Sex made no difference, χ^2(2, N = 120) = 5.3, p = 0.07.",
            "They correlated (r = 0.31, n = 50, p = 0.03).",
            "| Term | t | df | p |\n|---|---|---|---|\n| Age | 2.05 | 28 | 0.049 |\n",
        ),
        "Take statistic, degrees of freedom and p-value from the output of the test again; say so "
        "where a p-value is one-sided or corrected for several comparisons.",
        0.86,
        _recompute,
    )
)
add_rule(
    Rule(
        "NUM302",
        "statistic-of-estimate",
        "statistics of estimates",
        "A t or z that is not the estimate divided by its standard error.",
        "The t or z of a coefficient or a difference is the estimate divided by its standard "
        "error. It reads them where they stand together; all three may be rounded, and the sign is "
        "not looked at.",
        (
            "Age mattered (β = 0.52, SE = 0.25, t(40) = 2.80, p = .008).",
            "| | B | SE | t | p |\n|---|---|---|---|---|\n| Age | 0.52 | 0.25 | 2.80 | 0.008 |\n",
        ),
        (
            "Age mattered (β = 0.52, SE = 0.25, t(40) = 2.08, p = .044).",
            "| | B | SE | t | p |\n|---|---|---|---|---|\n| Age | 0.52 | 0.25 | 2.08 | 0.044 |\n",
        ),
        "Take estimate, standard error and statistic from the output of the analysis again.",
        0.82,
        _of_estimates,
    )
)
