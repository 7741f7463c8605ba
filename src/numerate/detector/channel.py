"""The channel of errors: wrong numerals in the place of right ones, as people make them.

Training and the benchmark make their errors here. A wrong numeral is written as the right one
was (thousands separators, `.05`, a decimal comma), has another value (12.0 for 12 is no error), and
is cut out of its text as one numeral, like the right one: nothing but the number tells it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import pairwise

import numpy as np

from numerate.detector.edits import Edit, cell_text, texts_around
from numerate.detector.habits import Habits
from numerate.detector.kinds_of_error import ELSEWHERE, KINDS, NEIGHBOUR, SIGHT, TRAINED, slips
from numerate.documents.document import Table
from numerate.errors import NumerateError
from numerate.text.reading_rules import ReadingRules
from numerate.text.table_numbers import NumberInTable, numbers_in_sight
from numerate.text.tokenizer import DEFAULT_RULES, Token, iter_tokens

WINDOW = 3  # tokens on either side that decide how a numeral is cut
TRIES = 8  # draws of an error until one is of another value and cut alike


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
            text = cell_text(table, number.row, number.column)
            around = text[: number.start], text[number.end :]
            unlike = texts_around(table, number.row, number.column) if number.row < 0 else ()
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
        habits: Habits,
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
