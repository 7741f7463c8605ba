"""Test statistics with their degrees of freedom and p-values, as sentences state them."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from numerate.rules.numbers import MINUS, Number
from numerate.rules.p_values import (
    PlacedPValue,
    PValue,
    p_values_in,
    relation_of,
)
from numerate.rules.reading import Piece, ReadDocument
from numerate.rules.rounding import Interval
from numerate.rules.shape import Shape, shape_of
from numerate.rules.stated import Stated
from numerate.rules.table_columns import MARKS
from numerate.rules.where import Where

T, F, CHI_SQUARED, Z, R, Q = "t", "F", "χ²", "z", "r", "Q"


@dataclass(frozen=True, slots=True)
class Degrees:
    """`where` is None where the numeral is part of a name (`t28`), which nothing can point to."""

    written: str
    interval: Interval
    where: Where | None = None

    @classmethod
    def of(cls, number: Number, where: Where | None) -> "Degrees":
        whole = number.precision <= 0
        value = float(number)
        return cls(number.written, Interval.exactly(value) if whole else number.interval, where)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A p-value that may be the test's, and where it stands."""

    p: PValue
    where: Where | None

    @classmethod
    def of(cls, p: PValue, piece: Piece) -> "Candidate":
        return cls(p, None if p.number is None else piece.of(p.number))


@dataclass(frozen=True, slots=True)
class ReportedTest:
    kind: str
    statistic: Number
    relation: str  # `F < 1`
    statistic_at: Where
    degrees: tuple[Degrees, ...]
    sample: Degrees | None  # its size
    candidates: tuple[Candidate, ...]  # the likeliest first
    where: Where
    around: str  # the sentence, or the header and caption
    estimate: Stated | None = None  # that it is of, with its
    error: Stated | None = None  # standard error

    @property
    def numbers(self) -> tuple[Where, ...]:
        """Where the statistic, its degrees of freedom or sample size and its p-value stand."""
        sized = self.degrees or ((self.sample,) if self.sample is not None else ())
        found = [*(one.where for one in sized), *(one.where for one in self.candidates)]
        return (self.statistic_at, *(where for where in found if where is not None))

    @property
    def written(self) -> str:
        degrees = ", ".join(one.written for one in self.degrees)
        sign = "−" if self.statistic.value < 0 else ""
        inside = f"({degrees})" if degrees else ""
        return f"{self.kind}{inside} {self.relation} {sign}{self.statistic.written}"


_DF = r"(?:#|[0-9]{1,5}(?:\.[0-9]{1,3})?(?![0-9]))"
STATISTIC = r"(?:[\s-]?(?:statistics?|stats?|values?|ratios?|scores?|test))?"
_SIZE = r"(?:[nN]\s?=\s?)"
_IS_DF = r"(?:d\.?\s?f\.?s?|DF|DOF|dof|degrees? of freedom|ν)"
_STATISTIC = re.compile(
    rf"(?<![A-Za-z0-9^_.\\-])(?:(?P<t>[tT]{STATISTIC})|(?P<F>F{STATISTIC})|(?P<z>[zZ]{STATISTIC})"
    r"|(?P<r>r)|(?P<Q>Q[A-Za-z]{0,2}(?=\s?[(\[_]))"
    r"|(?P<chi>(?:[χΧ𝜒𝛘𝝌𝞆ꭓ]|[Cc]hi|X|x)[\s-]?(?:_\s?(?P<sub>[0-9]{1,3})\s?)?"
    r"(?:(?:\^\s?)?(?P<two>\#)|(?:\^\s?)?2|²|[\s-]?squared?)(?:\sstatistic)?))"
    r"(?:"
    rf"\s?_?\s?[(\[{{]\s?(?:{_IS_DF}\s?[=:]?\s?)?(?P<n0>{_SIZE})?(?P<a>{_DF})"
    rf"(?:\s?[,;/&]\s?(?:{_IS_DF}\s?=\s?)?(?P<n1>{_SIZE})?(?P<b>{_DF}))?\s?[)\]}}]"
    rf"|\s?_?\s?(?P<c>{_DF})(?:\s?,\s?(?P<d>{_DF}))?"
    r")?"
    r"\s?(?P<relation>[=<>≤≥≈:]|was\s|of\s|is\s)\s?[-−–﹣－+]?\s?(?P<value>\#)(?!\s?%)"
)
_AFTER = (
    rf"[,;\s(\[]{{1,3}}(?:(?:with|on|at)\s)?(?:{_IS_DF}\s?(?:[=:]|of)?\s?(?P<a>{_DF})"
    rf"(?:\s?(?:,|;|/|and|&)\s?(?P<b>{_DF}))?"
    rf"|(?P<c>{_DF})(?:\s?(?:,|and|&)\s?(?P<d>{_DF}))?\s?{_IS_DF})\s?[)\]]?"
)
_DEGREES_AFTER = re.compile(_AFTER)
_DEGREES_BEFORE = re.compile(
    rf"{_IS_DF}\s?[=:]\s?(?P<a>{_DF})(?:\s?(?:,|/|and|&)\s?(?P<b>{_DF}))?[\s,;)]{{1,3}}\Z"
)
_SAMPLE = re.compile(r"[,;\s(\[]{1,3}(?:[nN]\s?=\s?(?P<a>#))")
_CLAUSE = (
    r"[\s,;(\[]{0,3}+#\s?%\s?(?:CI|C\.I\.|confidence interval)[^#.;]{0,12}#[^#;]{1,6}#\s?[)\]]?"
    r"|[\s,;(\[]{0,3}+(?:[^#,;()\[\]=<>]|\^#|[(\[]#[)\]]){1,30}[=:<]\s?[-−–]?\s?#\s?%?[)\]]?"
)
_BETWEEN = re.compile(
    rf"(?:{_AFTER})?(?:{_CLAUSE}){{0,4}}[\s,;:()\[\]]{{0,4}}+(?:[^#.;=<>]{{0,25}})"
)
_ESTIMATE = re.compile(
    rf"(?:\b[bB]\s?=\s?(?P<raw>[+{MINUS}]?\s?\#)[,;\s]{{1,3}}(?=β|[Bb]eta))?"  # not standardised
    rf"(?:\b[bB]|β\w{{0,8}}|\b[Bb]eta|\b[Ee]stimate)\s?=\s?(?P<estimate>[+{MINUS}]?\s?\#)"
    r"[,;\s]{1,3}(?:SE|S\.E\.|s\.e\.)\s?[=:]?\s?(?P<error>\#)[,;\s]{1,3}\Z"
)
_MARKS = re.compile(MARKS)
_OF_ANOTHER = re.compile(r";\s?[^#;:]{1,20}:\s?\Z")  # `t = 5.06; others: p = 0.13`
_REACH = 140
_JUST_BEFORE = re.compile(r"[\s,;:(\[]{1,3}(?:[^#.;=<>()]{0,25}[\s:,])?")
_COORDINATE = re.compile(r"[yY]\s?=\s?[-−–]?\s?#[\s,;]{1,2}\Z")
_RANK_SUM = re.compile("Wilcoxon|Mann")
_RANKS = re.compile(r"(?:spearman|rank|kendall|rho|partial)[^#.;]{0,40}\Z", re.IGNORECASE)
_PREFILTER = re.compile(r"[pP][\w\s)}-]{0,16}[=<>≤≥:]|[pP][\s-]?[vV]alues? of")
_SHORTEST = len("z=2,p=.1")


def tests_in_text(read: ReadDocument) -> list[ReportedTest]:
    """Within a paragraph, a caption or a cell; those without a p-value are none."""
    return [test for piece in read.pieces() for test in _in_piece(piece)]


def _in_piece(piece: Piece) -> Iterator[ReportedTest]:
    if len(piece.text) < _SHORTEST or _PREFILTER.search(piece.text) is None:
        return
    shape = shape_of(piece)
    text = shape.text
    found = [match for match in _STATISTIC.finditer(text) if _is_statistic(match, shape)]
    if not found:
        return
    p_values = list(p_values_in(shape))
    starts = [placed.start for placed in p_values]
    taken = -1  # the last p-value that follows its statistic
    for index, match in enumerate(found):
        end = found[index + 1].start() if index + 1 < len(found) else len(text)
        following = bisect_left(starts, match.end())
        candidates = []
        for after in p_values[following : following + 1]:
            near = after.start < min(end, match.end() + _REACH)
            is_next = _OF_ANOTHER.search(text, match.end(), after.start)
            if near and not is_next and _BETWEEN.fullmatch(text, match.end(), after.start):
                candidates.append(after)
        for before in p_values[max(following - 1, 0) : following]:
            near = taken < before.end and before.end + _REACH > match.start()
            if near and _JUST_BEFORE.fullmatch(text, before.end, match.start()):
                candidates.append(before)
        if len(candidates) == 1:  # of two, the second may be that of the next
            taken = candidates[0].end
        if not candidates:
            continue
        test = _test(shape, match, candidates, end)
        if test.kind == T and not test.degrees and test.statistic.is_whole:
            continue  # a time: `from t = 0 hours`
        yield test


def named_statistic(piece: Piece) -> ReportedTest | None:
    """A statistic with its name that is all of a cell, without a p-value."""
    shape = shape_of(piece)
    match = _STATISTIC.match(shape.text)
    if match is None or not _is_statistic(match, shape):
        return None
    after = _DEGREES_AFTER.match(shape.text, match.end())
    end = after.end() if after else match.end()
    rest = _MARKS.fullmatch(shape.text, end)
    return _test(shape, match, (), len(shape.text)) if rest else None


def _is_statistic(match: re.Match[str], shape: Shape) -> bool:
    if match["two"] and shape.number(match.start("two")).value != 2:
        return False
    text, start = shape.text, match.start()
    if match["r"] and match["c"] == "2" and "_" not in match[0]:
        return False  # r squared
    if match["z"] and _COORDINATE.search(text, max(0, start - 12), start):
        return False
    if (
        match["z"]
        and shape.number(match.start("value")).is_whole
        and _RANK_SUM.search(text, max(0, start - 1000), start)
    ):
        return False  # a sum of ranks
    return not (match["r"] and _RANKS.search(text, max(0, start - 48), start))


def _test(
    shape: Shape, match: re.Match[str], candidates: Sequence[PlacedPValue], end: int
) -> ReportedTest:
    text = shape.text
    kind = CHI_SQUARED if match["chi"] else next(k for k in (T, F, Z, R, Q) if match[k])
    degrees = [degrees_at(shape, match.span(name)) for name in "abcd" if match[name]]
    if match["chi"] and match["sub"]:
        degrees = [degrees_at(shape, match.span("sub"))]
    sample = None
    if match["n1"] or (match["n0"] and not match["b"]):
        sample = degrees.pop()
    if not degrees:
        near = _DEGREES_AFTER.match(text, match.end(), end) or _DEGREES_BEFORE.search(
            text, max(0, match.start() - 30), match.start()
        )
        if near:
            groups = near.groupdict()
            degrees = [degrees_at(shape, near.span(name)) for name in "abcd" if groups.get(name)]
    if kind == F and len(degrees) == 1:
        degrees = two_degrees(degrees[0])
    if kind == CHI_SQUARED and len(degrees) == 2:
        sample = degrees.pop()
    if kind == T and len(degrees) == 2:
        degrees = one_degree(*degrees)
    if sample is None and (near := _SAMPLE.match(text, match.end(), end)):
        sample = degrees_at(shape, near.span("a"))
    statistic = shape.number(match.start("value"))
    stop = max([match.end(), *(placed.end for placed in candidates)])
    start = min([match.start(), *(placed.start for placed in candidates)])
    return ReportedTest(
        kind,
        statistic,
        relation_of(match["relation"]),
        shape.piece.of(statistic),
        tuple(degrees),
        sample,
        tuple(Candidate.of(placed.p, shape.piece) for placed in candidates),
        shape.where(start, stop),
        shape.sentence(start, stop),
        *_estimate_before(shape, match.start()),
    )


def _estimate_before(shape: Shape, start: int) -> tuple[Stated | None, Stated | None]:
    found = _ESTIMATE.search(shape.text, max(0, start - 60), start)
    if found is None:
        return None, None
    names = ("raw" if found["raw"] else "estimate", "error")
    numbers = [shape.number(found.end(name) - 1) for name in names]
    estimate, error = (Stated(number, shape.piece.of(number)) for number in numbers)
    return estimate, error


def degrees_at(shape: Shape, span: tuple[int, int]) -> Degrees:
    start, end = span
    if shape.text[start] == "#":
        number = shape.number(start)
        return Degrees.of(number, shape.piece.of(number))
    return _plain_degrees(shape.text[start:end])


def _plain_degrees(written: str) -> Degrees:
    decimals = len(written.partition(".")[2])
    half = 0.5 * 10.0**-decimals if decimals else 0.0
    value = float(written)
    return Degrees(written, Interval(value - half, value + half))


def one_degree(first: Degrees, second: Degrees) -> list[Degrees]:
    """Of a t: `t_1,24` is written as for F; `t_8,77` may have a decimal comma, or another error."""
    return [second] if first.interval.high == 1 else []


def two_degrees(one: Degrees) -> list[Degrees]:
    """`1,139` after `df =` reads as one number of thousands, and is two."""
    first, comma, second = one.written.partition(",")
    if not (comma and first.isdecimal() and second.replace(".", "", 1).isdecimal()):
        return [one]
    return [_plain_degrees(part) for part in (first, second)]
