"""NUM113 and NUM114: totals along the rows and down the columns of tables."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from numerate.documents.document import Table
from numerate.numeral import normalise
from numerate.rules.addition import is_near, wrong_sum
from numerate.rules.group_sizes import group_sizes
from numerate.rules.one_slip import one_slip
from numerate.rules.percentage import is_count
from numerate.rules.reading import Piece, ReadDocument
from numerate.rules.rule import Outcome, Rule, add_rule
from numerate.rules.stated import Stated
from numerate.rules.table_columns import MARKS
from numerate.rules.where import Where

_TOTAL = re.compile(
    r"(?:grand\s)?(?:total|all|overall|sum|whole|combined|both)s?"
    r"(?:\s(?:patients|participants|subjects|groups?|sample|cohort|population|number|cases|n\b))?"
    r"\s*(?:[,(\[:]?\s?(?:n\b|no\b|%).*)?",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"\s*(?:n\s?=\s?|[€$£]\s?)?")
_AFTER_AMOUNT = re.compile(rf"\s*+{MARKS}")
_AFTER = re.compile(rf"\s*+(?:[(\[][^()\[\]]*+[)\]])?+\s*+%?{MARKS}")
_NO_COUNT = re.compile(
    r"\b(?:mean|median|sd|iqr|range|age|score|years?|rate|ratio|index|weight|height|bmi|time|days|p)\b|±|%",
    re.IGNORECASE,
)
_AVERAGE = re.compile(r"\b(?:mean|median|average)\b", re.IGNORECASE)
# What somebody may have several of, so that the parts overlap.
_SEVERAL = re.compile(
    r"event|adverse|complication|symptom|side effect|reason|diagnos|comorbid", re.IGNORECASE
)
_AMOUNTS = re.compile(
    r"\b(?:mg|kg|g|ml|mmol|kcal|kJ|[µμ]g|USD|EUR|[Cc]osts?)\b|[€£$]"
)  # in whole numbers are rounded
_OVERLAP = re.compile(
    r"\bnot (?:be )?(?:mutually )?exclusive|\boverlap|\bmore than one\b|\btotals? exceeds?\b"
    r"|\bnot (?:add|sum|total)\b|\bincludes? drop-?outs?\b",
    re.IGNORECASE,
)
MAX_CELLS = 50_000  # of a table; a larger one is data
FEWEST = 3  # lines that add up, by which parts are known to be parts


@dataclass(frozen=True, slots=True)
class _Line:
    """A total and its parts."""

    total: Stated
    parts: tuple[Stated, ...]
    place: Piece

    @property
    def values(self) -> list[int]:
        """Of amounts in units of their last decimal."""
        return [_in_units(part) for part in self.parts]

    @property
    def stated(self) -> int:
        return _in_units(self.total)

    @property
    def is_of_amounts(self) -> bool:
        """Which may be rounded, as no counts are."""
        return self.total.number.precision > 0

    @property
    def holds(self) -> bool:
        rounding = (len(self.parts) + 1) // 2 if self.is_of_amounts else 0
        return abs(sum(self.values) - self.stated) <= rounding

    def is_mended_by(self, meant: dict[Where, Decimal]) -> bool:
        """Whether it holds with what a part of it should have been."""
        values = [meant.get(part.where, part.number.value) for part in self.parts]
        return not self.holds and sum(values, Decimal(0)) == self.total.number.value

    @property
    def is_sum(self) -> bool:
        """And no average: at least as large as every part."""
        return self.stated >= max(self.values)

    @property
    def may_be_average(self) -> bool:
        """Between its parts, or all alike, where no slip explains it."""
        least, most = min(self.values), max(self.values)
        made = sum((part.number.value for part in self.parts), Decimal(0))
        is_slip = least < most and one_slip(self.total.number.written, f"{made:f}")
        return least <= self.stated <= most and not is_slip


def totals_of_columns(read: ReadDocument) -> Iterator[Outcome]:
    """`Total` at the right, or left, of the groups."""
    for table in _tables(read):
        source, cells = read.tables[table], read.cells[table]
        width = max(map(len, source.body))
        total = _only([c for c in range(1, width) if _is_total(_headers(read, table, c))])
        if total is None:
            continue
        counts = {
            column: {
                row: one for row in range(len(source.body)) if (one := _summand(cells, row, column))
            }
            for column in _beside(source.header, total, width)
        }
        members = [
            column
            for column, found in counts.items()
            if column != total and 2 * len(found.keys() & counts[total].keys()) > len(counts[total])
        ]
        if len(members) < 2:
            continue
        outside = [column for column in counts if column not in (total, *members)]
        headings = _headings(source.body)
        lines = [
            _Line(one, tuple(counts[c][row] for c in members), cells[row, total])
            for row, one in counts[total].items()
            if all(row in counts[c] for c in members)
            and _are_alike(one, *(counts[c][row] for c in members))
            and not any(row in counts[c] for c in outside)
            and not _NO_COUNT.search(_without_percent(source.body[row][0]))
            and not _AVERAGE.search(headings[row])
        ]
        yield from _checked("NUM113", source, lines)
        yield from _header(read, table, total, members)


def _beside(header: Sequence[Sequence[str]], total: int, width: int) -> Sequence[int]:
    """The columns that a total may be of: those that share a header above it, if some do."""
    for texts in header[:-1]:
        if total < len(texts) and texts[total]:
            same = [c for c in range(1, len(texts)) if texts[c] == texts[total]]
            if len(same) > 2:
                return same
    return range(1, width)


def totals_of_rows(read: ReadDocument) -> Iterator[Outcome]:
    """A row `Total` below its parts, or below several headings with theirs."""
    for table in _tables(read):
        body = read.tables[table].body
        first = top = 0  # row after the last total, and after the last heading
        for row, texts in enumerate(body):
            if _is_heading(texts):
                top = row + 1
            elif texts and _TOTAL.fullmatch(texts[0].strip()):
                above = _lines_above(read, table, row, first, top)
                lines = [line for line in above if not line.is_mended_by(read.by(_meant_in_rows))]
                yield from _checked("NUM114", read.tables[table], lines)
                first = top = row + 1


def _meant_in_rows(read: ReadDocument) -> dict[Where, Decimal]:
    """What is wrong in its row, and what would be right there: it is told once, of the row."""
    found = (outcome.finding for outcome in totals_of_columns(read))
    return {
        one.where: Decimal(normalise(one.suggestion.text))
        for one in found
        if one is not None and one.suggestion is not None
    }


def _lines_above(read: ReadDocument, table: int, row: int, first: int, top: int) -> Iterator[_Line]:
    """Of each column, the total in a row and its parts from `top` on; none if they make it only
    with those above the heading, from `first` on."""
    source, cells = read.tables[table], read.cells[table]
    may_overlap = _SEVERAL.search(" ".join([source.caption, *_headers(read, table, 0)]))
    for column in range(1, len(source.body[row]) if row - top >= 2 else 0):
        *parts, total = (_summand(cells, r, column) for r in range(top, row + 1))
        known = tuple(one for one in parts if one is not None)
        headers = " ".join(_headers(read, table, column))
        if total is None or len(known) < len(parts) or _NO_COUNT.search(_without_percent(headers)):
            continue
        if not _are_alike(total, *known):
            continue
        line = _Line(total, known, cells[row, column])
        above = (_summand(cells, r, column) for r in range(first, top))
        with_above = sum(line.values) + sum(_in_units(one) for one in above if one)
        is_of_all = top > first and not line.holds and line.stated == with_above
        if not is_of_all and (line.stated >= sum(line.values) or not may_overlap):
            yield line


def _is_heading(texts: Sequence[str]) -> bool:
    return len(set(texts)) == 1 or not any(texts[1:])


def _headings(body: Sequence[Sequence[str]]) -> list[str]:
    """Of each row, the words that it stands under."""
    heading, found = "", []
    for texts in body:
        found.append(heading)
        if texts and _is_heading(texts):
            heading = texts[0]
    return found


def _tables(read: ReadDocument) -> Iterator[int]:
    for table, source in enumerate(read.tables):
        may_add = not _OVERLAP.search(f"{source.caption} {source.notes}")
        if may_add and len(source.body) > 1 and len(read.cells[table]) <= MAX_CELLS:
            yield table


def _are_alike(*summands: Stated) -> bool:
    """Written with the same decimals, as what is added is."""
    return len({one.number.precision for one in summands}) == 1


def _checked(code: str, table: Table, lines: Sequence[_Line]) -> Iterator[Outcome]:
    """Counts and amounts each by themselves; whole numbers may be amounts, and rounded."""
    for of_amounts in (False, True):
        if not of_amounts and _AMOUNTS.search(table.caption):
            continue
        some = [line for line in lines if line.stated and line.is_of_amounts == of_amounts]
        yield from _checked_alike(code, some)


def _checked_alike(code: str, lines: Sequence[_Line]) -> Iterator[Outcome]:
    """Where most lines add up, the others should too; of amounts at least one must."""
    good = sum(line.holds for line in lines)
    are_parts = good >= FEWEST and 4 * good >= 3 * len(lines)
    may_be = 2 * good >= len(lines) - 1 and (good > 0 or not any(x.is_of_amounts for x in lines))
    for line in lines:
        where = line.place.place
        if line.holds:
            if are_parts or good == len(lines):
                yield Outcome(where, used=tuple(one.where for one in (line.total, *line.parts)))
        elif line.may_be_average:
            continue
        elif are_parts or (line.is_sum and may_be and is_near(line.stated, line.values)):
            yield Outcome(where, wrong_sum(code, line.parts, line.total))


def _header(
    read: ReadDocument, table: int, total: int, members: Sequence[int]
) -> Iterator[Outcome]:
    sizes = group_sizes(read, table)
    if set(sizes) != {total, *members}:
        return
    stated = [Stated(sizes[c].number, sizes[c].where) for c in (total, *members)]
    if len({one.where for one in stated}) < len(stated):
        return
    whole, parts = sizes[total].value, [sizes[c].value for c in members]
    if whole == sum(parts):
        yield Outcome(sizes[total].where, used=tuple(one.where for one in stated))
    elif is_near(whole, parts) and all(whole != sum(parts) - part for part in parts):
        yield Outcome(sizes[total].where, wrong_sum("NUM113", stated[1:], stated[0]))


def _headers(read: ReadDocument, table: int, column: int) -> list[str]:
    return [cells[column] for cells in read.tables[table].header if column < len(cells)]


def _is_total(headers: Sequence[str]) -> bool:
    return any(_TOTAL.fullmatch(header.strip()) for header in headers)


def _only(found: Sequence[int]) -> int | None:
    return found[0] if len(found) == 1 else None


def _summand(cells: dict[tuple[int, int], Piece], row: int, column: int) -> Stated | None:
    """`42`, `42 (35%)`: a count, and what is said of it in brackets; `£97.5`: an amount alone."""
    piece = cells.get((row, column))
    if piece is None or not piece.numbers:
        return None
    number = piece.numbers[0]
    is_amount = number.precision > 0 and number.value >= 0 and number.stop == number.end
    if not (is_amount or is_count(number)) or not _BEFORE.fullmatch(piece.text, 0, number.start):
        return None
    after = _AFTER_AMOUNT if is_amount else _AFTER
    if not after.fullmatch(piece.text.replace("#", "♯"), number.stop):
        return None
    return Stated(number, piece.of(number))


def _in_units(stated: Stated) -> int:
    return int(stated.number.value.scaleb(max(stated.number.precision, 0)))


def _without_percent(label: str) -> str:
    """`Women, n (%)` is a count with its percentage."""
    return re.sub(r"\b[nN]\b\W{0,3}%|\(%\)", "", label)


_EXAMPLE = """\
| Cause of death | Placebo | Drug | Total |
|---|---|---|---|
| Heart failure | 12 | 10 | {} |
| Stroke | 5 | 7 | 12 |
| Cancer | 9 | 4 | 13 |
| Total | 26 | {} | 47 |
"""
add_rule(
    Rule(
        "NUM113",
        "total-column",
        "totals of rows of tables",
        "A row of a table does not add up to what its column of totals says.",
        "Totals are where readers check a table first. Columns are taken for parts of a total only "
        "where at least three rows, and three quarters of all, add up, or where a slip explains "
        "it. Amounts with decimals may be rounded.",
        (_EXAMPLE.format("32", "21"),),
        (_EXAMPLE.format("22", "21"),),
        "Add again; where the parts overlap or some belong to none, say so below the table.",
        0.71,
        totals_of_columns,
    )
)
add_rule(
    Rule(
        "NUM114",
        "total-row",
        "totals of columns of tables",
        "A column of a table does not add up to what its row of totals says.",
        "Totals are where readers check a table first. Rows are taken for parts of a total only "
        "where at least three columns, and three quarters of all, add up, or where a slip explains "
        "it. Amounts with decimals may be rounded. What is wrong in its row is told there.",
        (_EXAMPLE.format("22", "12"),),
        (_EXAMPLE.format("22", "21"),),
        "Add again; where the parts overlap or some belong to none, say so below the table.",
        0.5,
        totals_of_rows,
    )
)
