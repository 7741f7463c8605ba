"""Test statistics with their degrees of freedom and p-values in columns of their own."""

import re
from collections.abc import Iterator, Sequence

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
from numerate.checking.table_columns import Line, lines_of

# Headers of tables, single letters apart in lower case.
_KINDS = {
    T: re.compile(rf"t{STATISTIC}(?P<df>.{{0,16}})"),
    F: re.compile(rf"[fF]{STATISTIC}(?P<df>.{{0,16}})"),
    Z: re.compile(rf"[zZ]{STATISTIC}(?P<df>)"),
    CHI_SQUARED: re.compile(
        r"(?:pearson |wald |lr )?(?:[χ𝜒𝛘ꭓ]|chi|x)[\s-]?(?:\^ ?2|2|²|squared?)(?P<df>.{0,16})"
    ),
}
_HEADER_DF = re.compile(
    r"\s?_?\s?[(\[{]?\s?(?:df\s?=?\s?)?(?P<a>[0-9]{1,5})(?:\s?,\s?(?P<b>[0-9]{1,5}))?\s?[)\]}]?"
)
_ASKS_DF = re.compile(r"\s?,?\s?[(\[]?\s?(?:d\.?f\.?|degrees of freedom)[^0-9]{0,8}[)\]]?|")
_DF_HEADER = re.compile(r"d\.?\s?f\.?|degrees? of freedom|n(?:um(?:erator)?)?\s?df|df\s?_?1")
_DF2_HEADER = re.compile(
    r"(?:d(?:en(?:ominator|df)?)?|error|residual)\.?\s?(?:df|d\.f\.)|df\s?_?2|dendf|ddf"
)
_INTERVAL = re.compile(r"\bci\b|confidence interval")
_RESIDUAL = re.compile(r"resid|error|within", re.IGNORECASE)
_STARS = r"\s?(?:[*∗†‡§]{1,4}|\^\s?[(\[]?[a-z*†‡§,]{1,4}[)\]]?|_ref_)*"
_CELL = re.compile(
    rf"[-−–﹣－+]?\s?(?P<value>\#){_STARS}"
    rf"(?:\s?[(\[]\s?(?:df\s?=\s?)?(?P<a>\#)(?:\s?[,;]\s?(?P<b>\#))?\s?[)\]])?{_STARS}"
)
_DF_CELL = re.compile(rf"(?P<a>\#)(?:\s?[,;/]\s?(?P<b>\#))?{_STARS}")


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
    return any(map(P_HEADER.fullmatch, texts)) and any(_kind(text) for text in texts if text)


def _in_line(line: Line, residual: Line | None) -> Iterator[ReportedTest]:
    headers = line.headers
    if {"x", "y"} <= {header.lower() for header in headers}:
        return  # coordinates
    ps = [i for i, header in enumerate(headers) if P_HEADER.fullmatch(header)]
    dfs = [i for i, header in enumerate(headers) if _DF_HEADER.fullmatch(header)]
    df2s = [i for i, header in enumerate(headers) if _DF2_HEADER.fullmatch(header)]
    kinds = {i: known for i, header in enumerate(headers) if (known := _kind(header))}
    for column, (kind, in_header) in kinds.items():
        if kind == F and any(map(_INTERVAL.search, headers)):
            continue  # the p-value may be of the estimate, the statistic of all the model
        others = [i for i in kinds if i > column]
        after = [i for i in ps if column < i < min(others, default=len(headers))]
        if not after:
            continue
        statistic, p_cell = line.cells[column], line.cells[after[0]]
        if statistic is None or p_cell is None:
            continue
        p = p_value_of_cell(p_cell)
        shape = shape_of(statistic)
        found = _CELL.fullmatch(shape.text.strip())
        if p is None or found is None or len(shape.text) != len(shape.text.strip()):
            continue
        degrees = [degrees_at(shape, found.span(name)) for name in "ab" if found[name]]
        if not degrees and (said := _HEADER_DF.fullmatch(in_header["df"])):
            degrees = [
                Degrees(text, Interval.exactly(float(text))) for text in said.groups() if text
            ]
        if not degrees:
            earlier = max((i for i in ps if i < column), default=-1)
            degrees = _degrees_of(line, _nearest(dfs, earlier, after[0]))
            if kind == F and len(degrees) == 1:
                degrees += _degrees_of(line, _nearest(df2s, earlier, after[0]))
            if kind == F and len(degrees) == 1 and residual and len(dfs) == 1:
                degrees += _degrees_of(residual, dfs[0])[:1]
        number = shape.number(found.start("value"))
        yield ReportedTest(
            kind,
            number,
            EQUAL,
            statistic.of(number),
            tuple(degrees),
            None,
            (Candidate.of(p, p_cell),),
            statistic.place,
            f"{line.caption} {line.above[column]} {line.above[after[0]]} {line.label}",
        )


def _nearest(columns: Sequence[int], earlier: int, later: int) -> int | None:
    """The one between two p-values, or the only one."""
    between = [column for column in columns if earlier < column < later]
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
