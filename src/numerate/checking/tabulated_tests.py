"""Test statistics with their degrees of freedom and p-values in columns of their own."""

import re
from collections.abc import Collection, Iterator, Sequence

from numerate.checking.p_values import EQUAL, P_HEADER, p_value_of_cell
from numerate.checking.reading import ReadDocument
from numerate.checking.reported_tests import (
    CHI_SQUARED,
    STATISTIC,
    Candidate,
    Degrees,
    F,
    ReportedTest,
    T,
    Z,
    degrees_at,
    two_degrees,
)
from numerate.checking.rounding import Interval
from numerate.checking.shape import shape_of
from numerate.checking.stated import Stated
from numerate.checking.table_columns import MARKS, STANDARD_ERROR, Line, lines_of, single

# Headers of tables, single letters apart in lower case.
_KINDS = {
    T: re.compile(rf"[tT]{STATISTIC}(?P<df>.{{0,16}})"),
    F: re.compile(rf"[fF]{STATISTIC}(?P<df>.{{0,16}})"),
    Z: re.compile(rf"[zZ]{STATISTIC}(?P<df>)"),
    CHI_SQUARED: re.compile(
        r"(?:pearson |wald |lr )?(?:[χ𝜒𝛘ꭓ]|chi|x)[\s-]?(?:\^ ?2|2|²|squared?|sq)(?P<df>.{0,16})"
    ),
}
_HEADER_DF = re.compile(  # `T3` is a time
    r"(?=\s?[_(\[{]|[0-9]{2}|[0-9]\s?,)\s?_?\s?[(\[{]?\s?(?:df\s?=?\s?)?(?P<a>[0-9]{1,5})(?:\s?,\s?(?P<b>[0-9]{1,5}))?\s?[)\]}]?"
)
_ASKS_DF = re.compile(r"\s?,?\s?[(\[]?\s?(?:d\.?f\.?|degrees of freedom)[^0-9]{0,8}[)\]]?|")
_DF_HEADER = re.compile(
    r"(?:chi )?d\.?\s?f\.?|degrees? of freedom|n(?:um(?:erator)?)?\s?df|df\s?_?1"
)
_DF2_HEADER = re.compile(
    r"(?:d(?:en(?:ominator|df)?)?|error|residual)\.?\s?(?:df|d\.f\.)|df\s?_?2|dendf|ddf"
)
_ESTIMATE = re.compile(
    r"[bBβ]|beta|(?:parameter |point )?estimates?|coef(?:f|ficients?)?\.?"
    r"|(?:mean )?difference|(?:unstandardi[sz]ed )?b|regression coefficients?"
)
_BESIDE_T = re.compile(
    r"estimates?|coef.{0,10}|d\.?f\.?|s\.?e\.?|standard error|β|beta|mean.{0,20}"
)
_INTERVAL = re.compile(r"\bci\b|confidence interval")
_OF_F = re.compile(r"pr ?\( ?> ?\|?f")
_RESIDUAL = re.compile(r"resid|error|within(?:[- ](?:groups?|cells?))?\s*\Z", re.IGNORECASE)
_CELL = re.compile(
    rf"[-−–﹣－+]?\s?(?P<value>\#){MARKS}"
    rf"(?:\s?[(\[]\s?(?:df\s?=\s?)?(?P<a>\#)(?:\s?[,;]\s?(?P<b>\#))?\s?[)\]])?{MARKS}"
)
_DF_CELL = re.compile(rf"(?P<a>\#)(?:\s?[,;/]\s?(?P<b>\#))?{MARKS}")


def tests_in_tables(read: ReadDocument) -> Iterator[ReportedTest]:
    for table in range(len(read.tables)):
        for run in lines_of(read, table, _is_header):
            residuals: list[Line | None] = []
            for line in reversed(run):
                last = residuals[-1] if residuals else None
                residuals.append(line if _RESIDUAL.search(line.label) else last)
            for line, residual in zip(run, reversed(residuals), strict=True):
                yield from _in_line(line, residual)


def _kind(header: str) -> tuple[str, re.Match[str]] | None:
    for kind, pattern in _KINDS.items():
        if (match := pattern.fullmatch(header)) and (
            _ASKS_DF.fullmatch(match["df"]) or _HEADER_DF.fullmatch(match["df"])
        ):
            return kind, match
    return None


def _is_header(texts: Sequence[str]) -> bool:
    """A `T` may be an amino acid, but not beside an estimate or degrees of freedom."""
    if "T" in texts and not any(map(_BESIDE_T.fullmatch, texts)):
        return False
    return any(map(P_HEADER.fullmatch, texts)) and any(_kind(text) for text in texts if text)


def _in_line(line: Line, residual: Line | None) -> Iterator[ReportedTest]:
    headers = line.headers
    if {"x", "y"} <= {header.lower() for header in headers}:
        return  # coordinates
    ps = [i for i, header in enumerate(headers) if P_HEADER.fullmatch(header)]
    kinds = {i: known for i, header in enumerate(headers) if (known := _kind(header))}
    for column, (kind, in_header) in kinds.items():
        if kind == F and any(map(_INTERVAL.search, headers)):
            continue  # the p-value may be of the estimate, the statistic of all the model
        beside = _p_column(column, kinds, ps)
        if kind == Z and beside is not None and _OF_F.match(headers[beside]):
            continue  # an effect size, and the p-value of F
        statistic = line.cells[column]
        p_cell = None if beside is None else line.cells[beside]
        if beside is None or statistic is None or p_cell is None:
            continue
        p, shape = p_value_of_cell(p_cell), shape_of(statistic)
        found = _CELL.fullmatch(shape.text)
        if p is None or found is None:
            continue
        degrees = [degrees_at(shape, found.span(name)) for name in "ab" if found[name]]
        if any("." in one.written for one in degrees) and not in_header["df"]:
            continue  # a mean with its deviation
        if not degrees and (said := _HEADER_DF.fullmatch(in_header["df"])):
            degrees = [
                Degrees(text, Interval.exactly(float(text))) for text in said.groups() if text
            ]
        first, last = min(column, beside), max(column, beside)
        group = (
            max((i for i in (*ps, *kinds) if i < first), default=-1) + 1,
            min((i for i in (*ps, *kinds) if i > last), default=len(headers)),
        )
        number = shape.number(found.start("value"))
        estimate, error = _estimate(line, group[0], column)
        yield ReportedTest(
            kind,
            number,
            EQUAL,
            statistic.of(number),
            tuple(degrees or _degrees_beside(kind, line, group, residual)),
            None,
            (Candidate.of(p, p_cell),),
            statistic.place,
            f"{line.caption} {line.above[column]} {line.above[beside]} {line.label}",
            estimate,
            error,
        )


def _p_column(column: int, statistics: Collection[int], ps: Sequence[int]) -> int | None:
    """That of its p-value: after the statistic, or before it, as the table begins."""
    if min(ps) < min(statistics):
        near = [i for i in ps if i < column and not any(i < other < column for other in statistics)]
        return near[-1] if near else None
    near = [i for i in ps if i > column and not any(column < other < i for other in statistics)]
    return near[0] if near else None


def _degrees_beside(
    kind: str, line: Line, group: tuple[int, int], residual: Line | None
) -> list[Degrees]:
    """From columns of their own, and for an F the second from the row of residuals."""
    dfs, df2s = (
        [i for i, header in enumerate(line.headers) if pattern.fullmatch(header)]
        for pattern in (_DF_HEADER, _DF2_HEADER)
    )
    degrees = _degrees_of(line, _nearest(dfs, *group))
    if kind == F and len(degrees) == 1:
        degrees += _degrees_of(line, _nearest(df2s, *group))
    if kind == F and len(degrees) == 1 and residual and len(dfs) == 1:
        degrees += _degrees_of(residual, dfs[0])[:1]
    return degrees


def _estimate(line: Line, start: int, column: int) -> tuple[Stated | None, Stated | None]:
    """An estimate and, right after it, its standard error, before the statistic."""
    for error in range(max(start, 1) + 1, column):
        named = _ESTIMATE.fullmatch(line.headers[error - 1])
        if named and STANDARD_ERROR.search(line.above[error]):
            return single(line.cells[error - 1]), single(line.cells[error])
    return None, None


def _nearest(columns: Sequence[int], start: int, end: int) -> int | None:
    """The one among the columns of a test, or the only one."""
    between = [column for column in columns if start <= column < end]
    if len(between) == 1:
        return between[0]
    return columns[0] if len(columns) == 1 else None


def _degrees_of(line: Line, column: int | None) -> list[Degrees]:
    piece = None if column is None else line.cells[column]
    if piece is None:
        return []
    shape = shape_of(piece)
    match = _DF_CELL.fullmatch(shape.text)
    if match is None:
        return []
    found = [degrees_at(shape, match.span(name)) for name in "ab" if match[name]]
    return two_degrees(found[0]) if len(found) == 1 else found
