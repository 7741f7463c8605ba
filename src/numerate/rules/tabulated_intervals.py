"""Estimates with their confidence intervals in tables: in one cell, in two, or in three."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from numerate.rules.p_values import P_HEADER, PValue, p_value_of_cell
from numerate.rules.reading import Piece, ReadDocument
from numerate.rules.reported_intervals import (
    BOUNDS,
    SIGN,
    UNIT,
    ReportedInterval,
    bounds_at,
)
from numerate.rules.scale import PERCENT, RATIO, scale_of
from numerate.rules.shape import shape_of
from numerate.rules.stated import Stated
from numerate.rules.table_columns import MARKS, STANDARD_ERROR, Line, lines_of, single
from numerate.rules.where import Where

_NO_ESTIMATE_FIRST = re.compile(
    r"(?:s\.?d\.?|s\.?e\.?m?\.?|standard (?:deviation|error)|p(?:[- ]?values?)?)\s?[(\[,]"
)
_EFFECT_SIZE = re.compile(r"(?:.* )?(?:(?:effect )?size|cohen.*|hedges.*|d|g|η.*)|icc.*|vif")
_RAW_EFFECT = re.compile(r".*(?:diff|change|coef|estimate).*|[bBβ]")
_STANDARDISED = {"β", "beta"}
_RAW = {"b", "B", "β"}
_INTERVAL = re.compile(r"\bc\.?i\b\.?|confidence (?:interval|limit)", re.IGNORECASE)
_BARE = re.compile(
    r"(?:(?:lower|upper)[ ,]*)?[(\[]?(?:[0-9.]+\s?%[ -]?)?"
    r"(?:c\.?i\.?s?|confidence (?:interval|limit)s?)[)\]]?(?: ?\(?[0-9.]+ ?%\)?)?"
    r"(?:[ ,]*[(\[]?(?:lower|upper|exp ?\(b\))?(?: bounds?| limits?)?[)\]]?)?"
)
_WITH_BOUNDS = re.compile(r"(?:\bci|interval)\b[^0-9]{0,6}[0-9]|\bp\s?[=<]")
_LEVEL = re.compile(r"([5-9][0-9](?:\.[0-9])?)\s?%")
_NUMERIC = re.compile(r"(?!.*[a-z]{4})[^0-9A-Za-z]{0,3}[0-9].{0,60}")
_WHOLE = re.compile(rf"(?P<estimate>{SIGN}\#){UNIT}?{MARKS}[(\[]\s?{BOUNDS}\s?%?\s?[)\]]%?{MARKS}")
_BOUNDS = re.compile(rf"[(\[]?\s?{BOUNDS}\s?%?\s?[)\]]?%?{MARKS}")
_LOWER = re.compile(r"lower|\bll\b|\blcl\b|2\.5\s?%|minimum")
_UPPER = re.compile(r"upper|\bul\b|\bucl\b|97\.5\s?%|maximum")
_LOWER_ALONE, _UPPER_ALONE = (  # below a header that names the interval
    re.compile(rf"(?:{names})(?: (?:bound|limit))?")
    for names in ("lower|low|ll|lcl|inf", "upper|upp|high|ul|ucl|sup")
)
_NOT_ESTIMATES = re.compile(
    r"n|N|d\.?f\.?|s\.?d\.?|(?:std\.?|standard) ?dev(?:iation)?s?\.?"
    r"|(?:[a-z]+ )?(?:ste|s\.?\s?e\.?m?\.?|(?:std?\.?|standard\.?) ?err(?:or)?s?\.?)"
    r"(?: of .{1,20})?"
    r"|.*\bstat(?:istic)?s?\.?|min(?:imum|\.)?|max(?:imum|\.)?|median|range"
    r"|[tzF]|t[- ].{1,10}|z[- ].{1,10}|wald.{0,12}|n ?\(%\)|no\.?.{0,20}|events?|total|χ.{0,4}"
)


def intervals_in_tables(read: ReadDocument) -> Iterator[ReportedInterval]:
    for table in range(len(read.tables)):
        for run in lines_of(read, table, _is_header):
            for line, below in zip(run, [*run[1:], None], strict=True):
                yield from _in_line(line, below)


def _is_header(texts: Sequence[str]) -> bool:
    if _INTERVAL.search(" ".join(texts)) is None:
        return any(map(_LOWER_ALONE.fullmatch, texts)) and any(map(_UPPER_ALONE.fullmatch, texts))
    named = {text for text in texts if _INTERVAL.search(text) and not _WITH_BOUNDS.search(text)}
    return bool(named) and not any(map(_NUMERIC.fullmatch, {*texts} - named))


def _in_line(line: Line, below: Line | None) -> Iterator[ReportedInterval]:
    headers = line.headers
    column = 0
    while column < len(headers):
        piece = line.cells[column]
        name = line.above[column] if _LOWER_ALONE.fullmatch(headers[column]) else headers[column]
        names_interval = _INTERVAL.search(name) or _INTERVAL.search(line.label)
        if piece is None or not names_interval or len(piece.text) > 80:
            column += 1
            continue
        found, width = _at(line, column, piece, below)
        if found is not None:
            yield found
        column += width


def _at(
    line: Line, column: int, piece: Piece, below: Line | None
) -> tuple[ReportedInterval | None, int]:
    shape = shape_of(piece)
    text = shape.text
    if match := _WHOLE.fullmatch(text):
        number = shape.number(match.end("estimate") - 1)
        low, high = bounds_at(shape, match)
        name = f"{line.label} {line.above[column]}"
        is_other = _NO_ESTIMATE_FIRST.match(line.headers[column])
        found = _Estimate(None if is_other else Stated(number, piece.of(number)), name, column)
        return _interval(line, column, found, low, high, 1, below), 1
    if (match := _BOUNDS.fullmatch(text)) and (text[0] in "([" or match["between"] != "/"):
        low, high = bounds_at(shape, match)
        if match["between"] == "," and "." not in low.number.written and float(high) < float(low):
            return None, 1  # a decimal comma
        found = _of_its_own(_estimate(line, column), line, low, high)
        return _interval(line, column, found, low, high, 1, below), 1
    following = line.cells[column + 1] if column + 1 < len(line.cells) else None
    if following is None:
        return None, 1
    one, other = line.headers[column], line.headers[column + 1]
    around = [*line.above[max(column - 1, 0) : column], *line.above[column + 2 : column + 3]]
    is_pair = line.above[column] == line.above[column + 1] and line.above[column] not in around
    are_bounds = (_BARE.fullmatch(one) and is_pair) or (
        (_LOWER.search(one) and _UPPER.search(other))
        or (_LOWER_ALONE.fullmatch(one) and _UPPER_ALONE.fullmatch(other))
    )
    lower, upper = single(piece), single(following)
    if not are_bounds or lower is None or upper is None:
        return None, 1
    found = _of_its_own(_estimate(line, column), line, lower, upper)
    return _interval(line, column, found, lower, upper, 2, below), 2


class _Estimate(NamedTuple):
    number: Stated | None
    name: str
    column: int


def _estimate(line: Line, column: int) -> _Estimate:
    """The nearest number to the left, and its name, if the column holds nothing but bounds."""
    unknown = _Estimate(None, "", column)
    header = line.headers[column]
    if not _BARE.fullmatch(header) and not _LOWER_ALONE.fullmatch(header):
        return unknown
    for left in range(column - 1, max(column - 7, 0), -1):
        header = line.headers[left]
        if P_HEADER.fullmatch(header) or _NOT_ESTIMATES.fullmatch(header):
            continue
        if header in _STANDARDISED and {*line.headers[max(left - 2, 0) : left]} & _RAW:
            continue
        others = map(_RAW_EFFECT.fullmatch, line.headers[:left])
        if header == "effect" or (_EFFECT_SIZE.fullmatch(header) and any(others)):
            return unknown  # of which scale the interval is
        return _Estimate(single(line.cells[left]), f"{line.label} {line.above[left]}", left)
    return unknown


def _of_its_own(found: _Estimate, line: Line, low: Stated, high: Stated) -> _Estimate:
    """Without the number where the interval may be of the difference of two groups, its own and the
    one before."""
    before = single(line.cells[found.column - 1]) if found.column > 1 else None
    if found.number is None or before is None:
        return found
    one, other, lower, upper = map(float, (found.number, before, low, high))
    differences = (one - other, other - one, (one - other) / 100, (other - one) / 100)
    if lower <= one <= upper or not any(lower <= value <= upper for value in differences):
        return found
    return found._replace(number=None)


def _interval(
    line: Line,
    column: int,
    estimate: _Estimate,
    low: Stated,
    high: Stated,
    width: int,
    below: Line | None,
) -> ReportedInterval:
    number, name, first = estimate
    around = f"{line.caption} {line.notes} {name} {line.above[column]}"
    said = _LEVEL.search(line.above[column]) or _LEVEL.search(line.label)
    p, p_at = _p_of(line, column, width, below)
    errors = [
        found
        for left in range(first + 1, column)
        if STANDARD_ERROR.search(line.above[left]) and (found := single(line.cells[left]))
    ]
    scale = scale_of(name, has_percent=PERCENT.search(name) is not None)
    if scale is None and scale_of(line.above[column]) == RATIO:
        scale = RATIO
    return ReportedInterval(
        low,
        high,
        low.where if number is None else number.where,
        number,
        float(said[1]) / 100 if said else 0.95,
        scale,
        p,
        p_at,
        errors[-1] if errors else None,
        name,
        around,
        PERCENT.search(name) is not None,
    )


def _p_of(
    line: Line, column: int, width: int, below: Line | None
) -> tuple[PValue | None, Where | None]:
    """From the column after the interval, or from the one before it, as the table begins; none if
    the next interval has none of its own, since one of a variable is for all its categories, and
    none where it is of several intervals."""
    first = next(
        (i for i, text in enumerate(line.headers) if P_HEADER.fullmatch(text) or _is_named(text)),
        column,
    )
    beside = column - 1 if P_HEADER.fullmatch(line.headers[first]) else column + width
    cell = line.cells[beside] if 0 <= beside < len(line.cells) else None
    if cell is None or not P_HEADER.fullmatch(line.headers[beside]):
        return None, None
    if (
        below is not None
        and _is_filled(below.cells[column])
        and not _is_filled(below.cells[beside])
    ):
        return None, None
    others = line.headers[:column] if beside > column else line.headers[column + width :]
    for other in reversed(others) if beside > column else others:
        if P_HEADER.fullmatch(other):
            break
        if _is_named(other):
            return None, None
    p = p_value_of_cell(cell)
    if p is not None and p.number is not None and p.number.is_whole:
        return None, None  # part of another cell, or not meant exactly
    return p, cell.of(p.number) if p is not None and p.number is not None else None


def _is_named(header: str) -> bool:
    return bool(_INTERVAL.search(header) or _LOWER_ALONE.fullmatch(header))


def _is_filled(cell: Piece | None) -> bool:
    return cell is not None and bool(cell.text.strip())
