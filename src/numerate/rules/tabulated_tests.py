"""Test statistics with their degrees of freedom and p-values in columns of tables."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from numerate.rules.p_values import EQUAL, P_HEADER, PValue, p_value_of_cell, relation_of
from numerate.rules.reading import Piece, ReadDocument
from numerate.rules.reported_tests import (
    CHI_SQUARED,
    STATISTIC,
    Candidate,
    Degrees,
    F,
    ReportedTest,
    T,
    Z,
    degrees_at,
    named_statistic,
    one_degree,
    two_degrees,
)
from numerate.rules.rounding import Interval
from numerate.rules.shape import shape_of
from numerate.rules.stated import Stated
from numerate.rules.table_columns import MARKS, STANDARD_ERROR, Line, lines_of, single

# Headers of tables, single letters apart in lower case.
_TEST = (
    r"(?:(?:test statistics?|log|likelihood|ratio|lrt?|wald|pearson(?:[’']s)?|student(?:[’']s)?"
    r"|mann[-–]whitney|mw|wilcoxon|kruskal[-–]wallis)[\s:,-]{1,2}){0,4}"
)
_KINDS = {
    T: re.compile(rf"{_TEST}[tT]{STATISTIC}(?P<df>.{{0,16}})"),
    F: re.compile(rf"{_TEST}[fF]{STATISTIC}(?P<df>.{{0,16}})"),
    Z: re.compile(
        rf"{_TEST}[zZ](?:[\s-]?(?:statistics?|stats?|values?|test))?(?P<df>(?:\s?[(\[,/;].{{0,12}})?)"
    ),
    CHI_SQUARED: re.compile(
        rf"{_TEST}(?:[χ𝜒𝛘ꭓ]|chi|x)[\s.-]?(?:\^ ?2|2|²|squared?|sq)[\s-]{{0,2}}(?:values?)?"
        r"(?P<df>.{0,16})"
    ),
}
_AND_P = re.compile(r"\s?[(\[,/;]\s?p(?:[- ]?values?)?\s?[)\]]?")
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
_DF_NOTE = re.compile(
    r"(?:\bd\.?f\.?|[Dd]egrees of freedom)[\s=:(]{1,4}([0-9]{1,5})(?:\s?[,;/]\s?([0-9]{1,5}))?"
)
_ONE_DEGREE = Degrees("1", Interval.exactly(1.0))
_RESIDUAL = re.compile(r"resid|error|within(?:[- ](?:groups?|cells?))?\s*\Z", re.IGNORECASE)
_CELL = re.compile(
    rf"[-−–﹣－+]?\s?(?P<value>\#){MARKS}"
    rf"(?:\s?[(\[]\s?(?:df\s?=\s?)?(?P<a>\#)(?:\s?[,;]\s?(?P<b>\#))?\s?[)\]])?{MARKS}"
)
_CELL_WITH_P = re.compile(
    rf"[-−–﹣－+]?\s?(?P<value>\#){MARKS}[(\[,;/]\s?(?:[pP]\s?)?"
    rf"(?P<relation>[=<>≤≥]?)\s?(?P<p>\#){MARKS}[)\]]?{MARKS}"
)
_NAMED = re.compile(r"\s?(?:[tTFzZr]|[χ𝜒𝛘𝝌ꭓ]|[Cc]hi|[Xx]\s?\^?2)[^=]{0,20}=")
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
        if any("=" in cell.text and _NAMED.match(cell.text) for cell in read.cells[table].values()):
            for run in lines_of(read, table, lambda texts: any(map(P_HEADER.fullmatch, texts))):
                for line in run:
                    yield from _named_in_line(line)


def _kind(header: str) -> tuple[str, re.Match[str]] | None:
    for kind, pattern in _KINDS.items():
        if (match := pattern.fullmatch(header)) and any(
            form.fullmatch(match["df"]) for form in (_ASKS_DF, _HEADER_DF, _AND_P)
        ):
            return kind, match
    return None


def _is_header(texts: Sequence[str]) -> bool:
    """A `T` may be an amino acid, but not beside an estimate or degrees of freedom."""
    if "T" in texts and not any(map(_BESIDE_T.fullmatch, texts)):
        return False
    kinds = [known for text in texts if text and (known := _kind(text))]
    with_p = (_AND_P.fullmatch(match["df"]) for _, match in kinds)
    return bool(kinds) and (any(map(P_HEADER.fullmatch, texts)) or any(with_p))


def _in_line(line: Line, residual: Line | None) -> Iterator[ReportedTest]:
    headers = line.headers
    if {"x", "y"} <= {header.lower() for header in headers}:
        return  # coordinates
    ps = [i for i, header in enumerate(headers) if P_HEADER.fullmatch(header)]
    kinds = {i: known for i, header in enumerate(headers) if (known := _kind(header))}
    for column, (kind, in_header) in kinds.items():
        statistic = line.cells[column]
        if statistic is None:
            continue
        if _AND_P.fullmatch(in_header["df"]):
            test = _with_p(kind, line, column, statistic)
        else:
            test = _beside_p(kind, in_header["df"], line, column, statistic, kinds, ps, residual)
        if test is not None:
            yield test


def _with_p(kind: str, line: Line, column: int, piece: Piece) -> ReportedTest | None:
    """A statistic and its p-value in one cell, as its header says: `t (p)`."""
    shape = shape_of(piece)
    found = _CELL_WITH_P.fullmatch(shape.text)
    if found is None:
        return None
    number, p = (shape.number(found.start(name)) for name in ("value", "p"))
    if p.value < 0:
        return None
    candidate = Candidate.of(PValue(relation_of(found["relation"]), p), piece)
    degrees = tuple(_degrees_beside(kind, line, (column, column + 1), None))
    return ReportedTest(
        kind,
        number,
        EQUAL,
        piece.of(number),
        degrees,
        None,
        (candidate,),
        piece.place,
        _around(line, column),
    )


def _beside_p(
    kind: str,
    asked: str,  # of degrees of freedom, by the header
    line: Line,
    column: int,
    piece: Piece,
    kinds: Collection[int],
    ps: Sequence[int],
    residual: Line | None,
) -> ReportedTest | None:
    """A statistic whose p-value has a column of its own."""
    headers = line.headers
    if kind == F and any(map(_INTERVAL.search, headers)):
        return None  # the p-value may be of the estimate, the statistic of all the model
    beside = _p_column(column, kinds, ps)
    p_cell = None if beside is None else line.cells[beside]
    if beside is None or p_cell is None:
        return None
    if kind == Z and _OF_F.match(headers[beside]):
        return None  # an effect size, and the p-value of F
    p, shape = p_value_of_cell(p_cell), shape_of(piece)
    found = _CELL.fullmatch(shape.text)
    if p is None or found is None:
        return None
    degrees = [degrees_at(shape, found.span(name)) for name in "ab" if found[name]]
    if any("." in one.written for one in degrees) and not asked:
        return None  # a mean with its deviation
    if kind == F and len(degrees) == 1:
        degrees = two_degrees(degrees[0])
    if not degrees and (said := _HEADER_DF.fullmatch(asked)):
        degrees = [Degrees(text, Interval.exactly(float(text))) for text in said.groups() if text]
    if kind == T and len(degrees) == 2:
        degrees = one_degree(*degrees)
    first, last = min(column, beside), max(column, beside)
    group = (
        max((i for i in (*ps, *kinds) if i < first), default=-1) + 1,
        min((i for i in (*ps, *kinds) if i > last), default=len(headers)),
    )
    number = shape.number(found.start("value"))
    degrees = degrees or _degrees_beside(kind, line, group, residual)
    estimate, error = _estimate(line, group[0], column)
    if kind == CHI_SQUARED and not degrees and estimate and error:
        degrees = [_ONE_DEGREE]  # of Wald’s test of one coefficient
    return ReportedTest(
        kind,
        number,
        EQUAL,
        piece.of(number),
        tuple(degrees),
        None,
        (Candidate.of(p, p_cell),),
        piece.place,
        _around(line, column, beside),
        estimate,
        error,
    )


def _named_in_line(line: Line) -> Iterator[ReportedTest]:
    """Statistics that have their names with them, `t(28) = 2.05`, in the column before that of
    their p-values."""
    for column, piece in enumerate(line.cells[:-1]):
        p_cell = line.cells[column + 1]
        if piece is None or p_cell is None or not _NAMED.match(piece.text):
            continue
        if P_HEADER.fullmatch(line.headers[column + 1]) and (p := p_value_of_cell(p_cell)):
            test = named_statistic(piece)
            if test is not None:
                candidate = Candidate.of(p, p_cell)
                around = _around(line, column, column + 1)
                yield replace(test, candidates=(candidate,), around=around)


def _around(line: Line, *columns: int) -> str:
    above = " ".join(line.above[column] for column in columns)
    return f"{line.caption} {line.notes} {above} {line.label}"


def _p_column(column: int, statistics: Collection[int], ps: Sequence[int]) -> int | None:
    """That of its p-value: after the statistic, or before it, as the table begins."""
    if not ps:
        return None
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
    return degrees or _degrees_in_notes(kind, line)


def _degrees_in_notes(kind: str, line: Line) -> list[Degrees]:
    """Those of all tests of a table, if its caption or notes state them once."""
    said = {*_DF_NOTE.findall(f"{line.caption} {line.notes}")} if kind in (T, F) else set()
    texts = [text for text in next(iter(said), ()) if text] if len(said) == 1 else []
    if len(texts) != (2 if kind == F else 1):
        return []
    return [Degrees(text, Interval.exactly(float(text))) for text in texts]


def _estimate(line: Line, start: int, column: int) -> tuple[Stated | None, Stated | None]:
    """An estimate and, right after it, its standard error, before the statistic."""
    for error in range(max(start, 1) + 1, column):
        estimate = error - 1
        if line.headers[estimate] in ("β", "beta") and line.headers[error - 2] in ("b", "B"):
            estimate -= 1  # that is not standardised
        named = _ESTIMATE.fullmatch(line.headers[estimate])
        if named and STANDARD_ERROR.search(line.above[error]):
            return single(line.cells[estimate]), single(line.cells[error])
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
