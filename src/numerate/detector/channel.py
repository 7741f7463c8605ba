"""The channel of errors: wrong numerals in the place of right ones, as people make them.

Training and the benchmark make their errors here. A wrong numeral is written as the right one
was (thousands separators, `.05`, a decimal comma), has another value (12.0 for 12 is no error), and
is cut out of its text as one numeral, like the right one: nothing but the number tells it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np

from numerate.corpus.rules import ReadingRules
from numerate.corpus.tokenizer import DEFAULT_RULES, Token, iter_tokens
from numerate.detector.slips import (
    Slip,
    add_point,
    drop_point,
    replace_digit,
    scale,
    swap_digits,
)
from numerate.documents.document import Table
from numerate.errors import NumerateError
from numerate.numeral import NARROW_SPACES, is_numeral
from numerate.sight.table_numbers import NumberInTable, numbers_in_sight

UNITS = tuple(map(Decimal, ("60", "24", "7", "12", "2.54", "1000")))
"""What units of time and length differ by: hours for minutes, weeks for days, inches for cm."""
WINDOW = 3  # tokens on either side that decide how a numeral is cut
TRIES = 8  # draws of an error until one is of another value and cut alike


def drop_digit(numeral: str) -> list[str]:
    """One digit is missing: 15 for 135."""
    digits = [at for at, symbol in enumerate(numeral) if symbol != "."]
    return _distinct(numeral, [numeral[:at] + numeral[at + 1 :] for at in digits])


def add_digit(numeral: str) -> list[str]:
    """One digit too many: 1335 for 135."""
    places = range(len(numeral) + 1)
    return _distinct(
        numeral, [numeral[:at] + digit + numeral[at:] for at in places for digit in "0123456789"]
    )


def move_point(numeral: str) -> list[str]:
    """The point stands among the same digits, elsewhere: 1.25 for 12.5."""
    if "." not in numeral:
        return []
    digits = numeral.replace(".", "")
    moved = (f"{digits[:at].lstrip('0') or '0'}.{digits[at:]}" for at in range(1, len(digits)))
    return _distinct(numeral, moved)


def scale_further(numeral: str) -> list[str]:
    """Too large or too small by a hundred or a thousand."""
    return [*scale(2)(numeral), *scale(3)(numeral)]


def mistake_unit(numeral: str) -> list[str]:
    """What it would be in another unit, with as many digits that count."""
    value = Decimal(numeral)
    if not value:
        return []
    digits = len(value.as_tuple().digits)
    found = []
    for converted in (result for unit in UNITS for result in (value * unit, value / unit)):
        decimals = min(max(0, digits - 1 - converted.adjusted()), 6)
        rounded = converted.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
        text = f"{rounded:f}"
        found.append(text.rstrip("0").rstrip(".") if "." in text and "." not in numeral else text)
    return _distinct(numeral, found)


def _distinct(numeral: str, texts: Iterable[str]) -> list[str]:
    found = dict.fromkeys(text for text in texts if text != numeral and is_numeral(text))
    return list(found)


SIGHT, NEIGHBOUR, ELSEWHERE = "another number in sight", "neighbouring cell", "another document"
BY_SLIP: dict[str, Slip] = {
    "digit replaced": replace_digit,
    "digits swapped": swap_digits,
    "digit dropped": drop_digit,
    "digit added": add_digit,
    "point dropped": drop_point,
    "point added": add_point,
    "point moved": move_point,
    "factor 10": scale(1),
    "factor 100 or 1,000": scale_further,
    "unit slip": mistake_unit,
}
KINDS = (*BY_SLIP, SIGHT, NEIGHBOUR, ELSEWHERE)
HELD_OUT = ("digit added", "point moved", "unit slip", NEIGHBOUR)
"""Kinds that no detector is trained on, to see whether it finds what it has not met."""
TRAINED = tuple(kind for kind in KINDS if kind not in HELD_OUT)


@dataclass(frozen=True, slots=True)
class Edit:
    """An error: in which of the numerals, of which kind, and what is written there instead."""

    index: int
    kind: str
    written: str
    numeral: str  # the same, normalised


@dataclass(frozen=True, slots=True)
class Place:
    """A numeral that an error may be put into."""

    numeral: str  # normalised
    written: str
    before: str = ""  # what stands around it, as far as that decides how it is cut
    after: str = ""
    unlike: tuple[str, ...] = ()  # what all of that must not be: the text of the next cell

    @property
    def is_base(self) -> bool:
        """The ten of a power of ten is no number by itself."""
        return self.numeral == "10" and self.after[:1] == "^"


class CellNumbers:
    """The numbers of one table, and which stand beside each other."""

    def __init__(
        self, numerals: Sequence[str], rows: Sequence[int], columns: Sequence[int]
    ) -> None:
        self.numerals = numerals
        self._cells = list(zip(rows, columns, strict=True))

    @classmethod
    def of(cls, table: Table, rules: ReadingRules = DEFAULT_RULES) -> "CellNumbers":
        return cls.of_numbers(numbers_in_sight(table, rules))

    @classmethod
    def of_numbers(cls, numbers: Sequence[NumberInTable]) -> "CellNumbers":
        places = [number.row for number in numbers], [number.column for number in numbers]
        return cls([number.text for number in numbers], *places)

    @cached_property
    def _in_cell(self) -> dict[tuple[int, int], list[int]]:
        cells: dict[tuple[int, int], list[int]] = {}
        for number, cell in enumerate(self._cells):
            cells.setdefault(cell, []).append(number)
        return cells

    @cached_property
    def _beside(self) -> dict[tuple[int, int], list[tuple[int, int]]]:
        """Of each cell the next ones with numbers, to the left and right, above and below."""
        beside: dict[tuple[int, int], list[tuple[int, int]]] = {cell: [] for cell in self._in_cell}
        for order in ((0, 1), (1, 0)):
            ordered = sorted(self._in_cell, key=lambda cell: (cell[order[0]], cell[order[1]]))
            for one, other in pairwise(ordered):
                if one[order[0]] == other[order[0]]:
                    beside[one].append(other)
                    beside[other].append(one)
        return beside

    @cached_property
    def _standing(self) -> dict[str, list[int]]:
        standing: dict[str, list[int]] = {}
        for number, numeral in enumerate(self.numerals):
            standing.setdefault(numeral, []).append(number)
        return standing

    def beside(self, numeral: str) -> list[str]:
        """What stands in the cells next to those with a numeral, at the same place within them."""
        return [
            self.numerals[other]
            for number in self._standing.get(numeral, ())
            for other in self.neighbours(number)
        ]

    def neighbours(self, number: int) -> list[int]:
        cell = self._cells[number]
        rank = self._in_cell[cell].index(number)
        cells = [self._in_cell[other] for other in self._beside[cell]]
        return [numbers[min(rank, len(numbers) - 1)] for numbers in cells]


@dataclass(frozen=True, slots=True)
class InSight:
    """What a writer may have taken instead."""

    own: Sequence[str] = ()  # numerals of the same text
    tables: Sequence[CellNumbers] = ()
    elsewhere: Sequence[str] = ()  # of other documents, as often as they occur

    @property
    def numerals(self) -> list[str]:
        """Each once, in a fixed order."""
        of_tables = (numeral for table in self.tables for numeral in table.numerals)
        return list(dict.fromkeys([*self.own, *of_tables]))


@lru_cache(maxsize=1 << 15)
def slips(kind: str, numeral: str) -> tuple[str, ...]:
    """All that a slip makes of a numeral which has another value."""
    value = Decimal(numeral)
    return tuple(wrong for wrong in BY_SLIP[kind](numeral) if Decimal(wrong) != value)


class Channel:
    """Puts errors of some kinds into numerals, by rules that say how numerals are cut."""

    def __init__(self, kinds: Sequence[str] = TRAINED, rules: ReadingRules = DEFAULT_RULES) -> None:
        if unknown := [kind for kind in kinds if kind not in KINDS]:
            raise NumerateError(f"kind of error: got {unknown[0]!r}, expected one of {KINDS}")
        self.kinds, self.rules = tuple(kinds), rules

    def places(self, text: str, tokens: Sequence[Token]) -> list[Place]:
        """The numerals of a text, in their order."""
        found = []
        for at, token in enumerate(tokens):
            if token.is_numeral:
                begin = tokens[max(0, at - WINDOW)].start
                end = tokens[min(len(tokens) - 1, at + WINDOW)].end
                around = text[begin : token.start], text[token.end : end]
                found.append(Place(token.text, text[token.start : token.end], *around))
        return found

    def cell_places(self, table: Table) -> list[Place]:
        """The numbers of a table, as `numbers_in_sight` counts them."""
        found = []
        for number in numbers_in_sight(table, self.rules):
            text = _cell(table, number.row, number.column)
            around = text[: number.start], text[number.end :]
            unlike = _around(table, number.row, number.column) if number.row < 0 else ()
            written = text[number.start : number.end]
            found.append(Place(number.text, written, *around, unlike))
        return found

    def some(
        self,
        places: Sequence[Place],
        sight: InSight,
        generator: np.random.Generator,
        rate: float,
    ) -> list[Edit]:
        """Errors in about so many of the numerals, of all kinds alike as far as they can be."""
        chosen = np.flatnonzero(generator.random(len(places)) < rate)
        return self._edits(chosen.tolist(), places, sight, generator, most=len(chosen))

    def one(
        self, places: Sequence[Place], sight: InSight, generator: np.random.Generator
    ) -> Edit | None:
        """An error in one of them; None where none can be made."""
        order = generator.permutation(len(places)).tolist()
        return next(iter(self._edits(order, places, sight, generator, most=1)), None)

    def _edits(
        self,
        chosen: list[int],
        places: Sequence[Place],
        sight: InSight,
        generator: np.random.Generator,
        most: int,
    ) -> list[Edit]:
        if not chosen:
            return []
        habits = Habits.of([place.written for place in places], self.rules.decimal)
        edits: list[Edit] = []
        for index in chosen:
            if len(edits) == most:
                break
            place = places[index]
            for kind in generator.permutation(len(self.kinds)).tolist():
                edit = self._edit(index, place, self.kinds[kind], sight, generator, habits)
                if edit is not None:
                    edits.append(edit)
                    break
        return sorted(edits, key=lambda edit: edit.index)

    def _edit(
        self,
        index: int,
        place: Place,
        kind: str,
        sight: InSight,
        generator: np.random.Generator,
        habits: "Habits",
    ) -> Edit | None:
        candidates = self._candidates(kind, place.numeral, sight)
        if not candidates or place.is_base:
            return None
        value = Decimal(place.numeral)
        for draw in generator.integers(len(candidates), size=TRIES).tolist():
            numeral = candidates[draw]
            if Decimal(numeral) == value:
                continue
            written = habits.written_like(numeral, place.written)
            edit = Edit(index, kind, written, numeral)
            if _is_cut_alike(place, edit, self.rules):
                return edit
        return None

    def _candidates(self, kind: str, numeral: str, sight: InSight) -> Sequence[str]:
        if kind == SIGHT:
            return sight.numerals
        if kind == NEIGHBOUR:
            return [other for table in sight.tables for other in table.beside(numeral)]
        if kind == ELSEWHERE:
            return sight.elsewhere
        return slips(kind, numeral)


def _is_cut_alike(place: Place, edit: Edit, rules: ReadingRules) -> bool:
    """Whether what is written instead is cut out of its text as the numeral was."""
    text = place.before + edit.written + place.after
    if text in place.unlike:
        return False
    start, end = len(place.before), len(place.before) + len(place.written)
    shift = len(edit.written) - len(place.written)
    expected, there = [], False
    for token in iter_tokens(place.before + place.written + place.after, rules):
        word, begin, stop, is_one = token
        if begin == start and stop == end:
            there = is_one
            expected.append(Token(edit.numeral, start, end + shift, True))
        else:
            moved = shift if begin >= end else 0
            expected.append(Token(word, begin + moved, stop + moved, is_one))
    return there and list(iter_tokens(text, rules)) == expected


@dataclass(frozen=True, slots=True)
class Habits:
    """How the numerals of a text are written, for those that do not say it themselves."""

    decimal: str  # which mark the rules take for that of decimals
    mark: str
    grouping: str | None  # between thousands; None: there are none to tell
    is_bare: bool  # `.05`

    @classmethod
    def of(cls, written: Sequence[str], decimal: str = "point") -> "Habits":
        marks = "." if decimal == "point" else ","
        mark = next((found[0] for one in written if (found := _mark(one, decimal))), marks)
        grouping = next((found for one in written if (found := _grouping(one, decimal))), None)
        if grouping is None and any(len(_whole(one, decimal)) > 3 for one in written):
            grouping = ""
        return cls(decimal, mark, grouping, any(_whole(one, decimal) == "" for one in written))

    def written_like(self, numeral: str, right: str) -> str:
        """A numeral, normalised, as who wrote another one in its place would have written it."""
        whole, point, decimals = numeral.partition(".")
        theirs = _whole(right, self.decimal)
        if len(theirs) > 3:
            grouping = _grouping(right, self.decimal) or ""
        elif self.grouping is not None:
            grouping = self.grouping
        else:
            grouping = ("," if self.decimal == "point" else ".") if len(whole) > 4 else ""
        if whole == "0" and point and (theirs == "" or (self.is_bare and theirs[:1] != "0")):
            whole = ""
        elif len(theirs) > 1 and theirs[0] == "0":
            whole = whole.zfill(len(theirs))
        elif grouping and len(whole) > 3:
            first = len(whole) % 3 or 3
            groups = [whole[:first], *(whole[at : at + 3] for at in range(first, len(whole), 3))]
            whole = grouping.join(groups)
        mark = _mark(right, self.decimal) or self.mark
        return whole + (mark if point else "") + decimals


_MARKS = {"point": ".·∙", "comma": ",·∙"}
_GROUPING = {
    decimal: re.compile(rf"[0-9]([{mark}’' {NARROW_SPACES}])[0-9]{{3}}")
    for decimal, mark in (("point", ","), ("comma", "."))
}


def _mark(written: str, decimal: str) -> str:
    return next((mark for mark in _MARKS[decimal] if mark in written), "")


def _grouping(written: str, decimal: str) -> str:
    found = _GROUPING[decimal].search(written)
    return found[1] if found else ""


def _whole(written: str, decimal: str) -> str:
    """Its digits before the mark."""
    mark = _mark(written, decimal)
    before = written.partition(mark)[0] if mark else written
    return "".join(filter(str.isdecimal, before))


def apply(
    text: str, spans: Sequence[tuple[int, int]], edits: Iterable[Edit]
) -> tuple[str, list[tuple[int, int]]]:
    """A text with errors, and where its numerals, at `spans` before, stand now."""
    instead = {edit.index: edit.written for edit in edits}
    parts: list[str] = []
    found: list[tuple[int, int]] = []
    last = length = 0
    for index, (start, end) in enumerate(spans):
        written = instead.get(index, text[start:end])
        parts += [text[last:start], written]
        length += start - last + len(written)
        found.append((length - len(written), length))
        last = end
    return "".join([*parts, text[last:]]), found


def apply_to_table(
    table: Table, edits: Iterable[Edit], rules: ReadingRules = DEFAULT_RULES
) -> Table:
    """A table with errors; where a cell spans others, all that repeat it have them."""
    wrong = replace(table, header=[*map(list, table.header)], body=[*map(list, table.body)])
    numbers = numbers_in_sight(table, rules)
    by_cell: dict[tuple[int, int], list[Edit]] = {}
    for edit in edits:
        number = numbers[edit.index]
        by_cell.setdefault((number.row, number.column), []).append(edit)
    for (row, column), some in by_cell.items():
        text = _cell(table, row, column)
        for edit in sorted(some, key=lambda edit: -edit.index):  # from the right
            number = numbers[edit.index]
            text = text[: number.start] + edit.written + text[number.end :]
        for cell_row, cell_column in _span(table, row, column):
            _row(wrong, cell_row)[cell_column] = text
    return wrong


def _row(table: Table, row: int) -> list[str]:
    return table.body[row] if row >= 0 else table.header[row]


def _cell(table: Table, row: int, column: int) -> str:
    return _row(table, row)[column]


def _around(table: Table, row: int, column: int) -> tuple[str, ...]:
    """The texts of the four cells next to one; equal ones in a header are read as one."""
    top, bottom = -len(table.header), len(table.body)
    rows = [_row(table, other) for other in (row - 1, row + 1) if top <= other < bottom]
    beside = [cells[column] for cells in rows if column < len(cells)]
    cells = _row(table, row)
    return (*beside, *cells[max(0, column - 1) : column], *cells[column + 1 : column + 2])


def _span(table: Table, row: int, column: int) -> list[tuple[int, int]]:
    """The cell and those that repeat it, to its right and below."""
    text, height = _cell(table, row, column), len(table.header)
    found, waiting = {(row, column)}, [(row, column)]
    while waiting:
        at_row, at_column = waiting.pop()
        for cell in ((at_row, at_column + 1), (at_row + 1, at_column)):
            inside = cell[0] < len(table.body) and cell[1] < len(_row(table, cell[0]))
            if not inside or cell in found or _cell(table, *cell) != text:
                continue
            if cell in table.repeated or -height <= cell[0] < 0:
                found.add(cell)
                waiting.append(cell)
    return sorted(found)
