"""Numbers as they are mentioned: with the words, the unit and the other numbers around them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from numerate.rules.numbers import Number
from numerate.rules.reading import Piece, ReadDocument
from numerate.rules.units_of_measure import unit_of
from numerate.rules.where import Where

AROUND = 12  # words on either side of a number that say what it is of
HALF = 4  # words away, one counts half
NEAR = 4  # numbers on either side that are its neighbours
MOST = 60  # numbers of a row or column that are neighbours: in a longer one, the first
OF_CAPTION = 30  # words of a table's caption
STEM = 6  # letters by which words are told apart
_WORD = re.compile(r"[^\W\d_]{2,}")
_UNIT = re.compile(r"\s?-?(%|[^\W\d_]+)")
_NO_QUANTITY = re.compile(
    r"^\s*[0-9]{1,2}[.)]\s|\b[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?\b", re.MULTILINE
)
"""The number of an item in a list, and the time of day."""
SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
CURRENCIES = {"€": "eur", "$": "usd", "£": "gbp", "¥": "jpy"}
_CURRENCY = re.compile(r"(?:([€$£¥])|\b(EUR|USD|GBP|CHF|JPY))\s?[-−–]?$")
OTHER_MEASURES = {"%": "%", "percent": "%", "year": "year", "month": "month"}
NO_MEASURES = {"in"}  # units that are words, too, as are all of one letter


@dataclass(frozen=True, slots=True, eq=False)
class Mention:
    read: ReadDocument
    where: Where
    number: Number
    words: Mapping[str, float]  # what is said of it, and how near: 1 is right beside it
    unit: str  # the per cent sign or the word after it; nothing: there is none
    neighbours: frozenset[float]  # in its text; of a cell, in its row and column
    beside: frozenset[float]  # right before and after it
    groups: tuple[object, ...]  # it may be computed from others of the same sentence, row or column
    currency: str = ""  # before it

    @property
    def amount(self) -> float:
        """With the word that scales it: 15.1 million."""
        return self.value * SCALES.get(self.unit, 1.0)

    def is_of_another_unit(self, other: "Mention") -> bool:
        """Whether both say of what they are, and say otherwise."""
        mine, theirs = _measure(self.unit), _measure(other.unit)
        currencies = {self.currency, other.currency} - {""}
        return len({mine, theirs} - {None}) == 2 or len(currencies) == 2

    @property
    def value(self) -> float:
        return abs(float(self.number.value))

    @property
    def digits(self) -> int:
        """That are significant: how unlikely it is that another number is the same by chance."""
        return len(re.sub(r"\D", "", self.number.written).strip("0"))

    @property
    def is_round(self) -> bool:
        """Whether it may be rounded to hundreds, or more: 6,700."""
        return self.number.precision == 0 and self.number.written.endswith("00")

    @property
    def rough_bounds(self) -> tuple[float, float]:
        """Of what it may have been, if its last zeros are none that were counted."""
        digits = re.sub(r"\D", "", self.number.written)
        half = 0.5 * 10.0 ** (len(digits) - len(digits.rstrip("0")))
        return max(self.value - half, 0.0), self.value + half

    @property
    def bounds(self) -> tuple[float, float]:
        """Of what it may have been before it was rounded, without its sign."""
        found = self.number.interval
        low, high = (found.low, found.high) if self.number.value >= 0 else (-found.high, -found.low)
        return max(low, 0.0), high

    def describe(self) -> str:
        return self.read.describe(self.where)


def mentions(read: ReadDocument) -> Iterator[Mention]:
    """All numbers of a document that are quantities, text first."""
    for piece in read.running():
        yield from _in_text(read, piece)
    for table, cells in enumerate(read.cells):
        yield from _in_cells(read, table, cells)


def _in_text(read: ReadDocument, piece: Piece) -> Iterator[Mention]:
    numbers = piece.numbers
    if not numbers:
        return
    matches = list(_WORD.finditer(piece.text))
    starts, words = [match.start() for match in matches], [_stem(match[0]) for match in matches]
    values = [abs(float(number.value)) for number in numbers]
    sentences = _sentences(piece.text, numbers)
    no_quantities = {
        at for match in _NO_QUANTITY.finditer(piece.text) for at in range(*match.span())
    }
    before = 0  # words
    for index, number in enumerate(numbers):
        while before < len(starts) and starts[before] < number.start:
            before += 1
        if number.start in no_quantities or not read.is_quantity(piece.of(number)):
            continue
        yield Mention(
            read,
            piece.of(number),
            number,
            _nearness(words, before),
            _unit_of(piece.text, number),
            _others(values, index, NEAR),
            _others(values, index, 1),
            ((piece.place.text_of, sentences[index]),),
            _currency_of(piece.text, number),
        )


def _in_cells(
    read: ReadDocument, table: int, cells: dict[tuple[int, int], Piece]
) -> Iterator[Mention]:
    caption = _stems(read.tables[table].caption, OF_CAPTION)
    of_row: dict[int, list[float]] = {}
    of_column: dict[int, list[float]] = {}
    above: dict[int, set[str]] = {}
    signs: dict[tuple[str, int], bool] = {}  # rows and columns of percentages
    for (row, column), piece in cells.items():
        if row < 0:
            above.setdefault(column, set()).update(_stems(piece.text))
            signs["column", column] = signs.get(("column", column), False) or "%" in piece.text
        if column == 0:
            signs["row", row] = "%" in piece.text
        values = [abs(float(number.value)) for number in piece.numbers]
        of_row.setdefault(row, []).extend(values)
        of_column.setdefault(column, []).extend(values)
    for (row, column), piece in cells.items():
        values = [abs(float(number.value)) for number in piece.numbers]
        first = cells.get((row, 0))
        words = caption | above.get(column, set()) | _stems(piece.text)
        words |= _stems(first.text) if first is not None else set()
        in_per_cent = signs.get(("row", row), False) or signs.get(("column", column), False)
        for index, number in enumerate(piece.numbers):
            if not read.is_quantity(piece.of(number)):
                continue
            value = values[index]
            near = {*of_row[row][:MOST], *of_column[column][:MOST]} - {value}
            yield Mention(
                read,
                piece.of(number),
                number,
                dict.fromkeys(words, 1.0),
                _unit_of(piece.text, number) or ("%" if in_per_cent else ""),
                frozenset(near),
                _others(values, index, 1),
                (("row", table, row), ("column", table, column)),
            )


def _nearness(words: Sequence[str], before: int) -> dict[str, float]:
    """Of the words around a number, so many of which stand before it."""
    found: dict[str, float] = {}
    for steps in range(AROUND):
        for at in (before - 1 - steps, before + steps):
            if 0 <= at < len(words):
                found.setdefault(words[at], 1 / (1 + steps / HALF))
    return found


def _sentences(text: str, numbers: Sequence[Number]) -> list[int]:
    """Of each number, which sentence it stands in."""
    ends = [match.end() for match in re.finditer(r"[.!?;]\s+(?=[^\W\d_])", text)]
    found, at = [], 0
    for number in numbers:
        while at < len(ends) and ends[at] <= number.start:
            at += 1
        found.append(at)
    return found


def _others(values: list[float], index: int, near: int) -> frozenset[float]:
    return frozenset(values[max(index - near, 0) : index] + values[index + 1 : index + 1 + near])


def _unit_of(text: str, number: Number) -> str:
    match = _UNIT.match(text, number.stop)
    return match[1].lower() if match else ""


@lru_cache(maxsize=1 << 10)
def _measure(unit: str) -> str | None:
    known = unit_of(unit)
    if known is not None and len(unit) > 1 and unit not in NO_MEASURES:
        return known.name
    return OTHER_MEASURES.get(unit.removesuffix("s"))


def _currency_of(text: str, number: Number) -> str:
    match = _CURRENCY.search(text, max(number.start - 6, 0), number.start)
    return (CURRENCIES.get(match[1]) or match[2].lower()) if match else ""


def _stems(text: str, most: int | None = None) -> set[str]:
    return {_stem(word) for word in _WORD.findall(text)[:most]}


def _stem(word: str) -> str:
    return word.lower().removesuffix("s")[:STEM]
