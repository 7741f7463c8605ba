"""How many numbers of a document were tested, by rules or models, and why the others were not."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from numerate.errors import counted
from numerate.rules.numbers import Number
from numerate.rules.percentage import is_year
from numerate.rules.reading import Piece, ReadDocument
from numerate.rules.recompute import Recomputed
from numerate.rules.where import Where

IN_NAMES = "in addresses, names or powers of ten"
LIKE_YEARS = "written like a year"
IN_TABLES = "in cells that are no statement to recompute"
IN_TEXT = "in text that is no statement to recompute"
SHOWN = 4  # reasons


@dataclass(frozen=True, slots=True)
class NumberCoverage:
    """Each number of text and tables is counted once."""

    by_rules: int = 0  # part of a statement that a rule recomputed
    by_models: int = 0  # judged by a model alone
    untested: Counter[str] = field(default_factory=Counter)  # by the reason

    @property
    def tested(self) -> int:
        return self.by_rules + self.by_models

    @property
    def read(self) -> int:
        return self.tested + self.untested.total()

    def __add__(self, other: "NumberCoverage") -> "NumberCoverage":
        return NumberCoverage(
            self.by_rules + other.by_rules,
            self.by_models + other.by_models,
            self.untested + other.untested,
        )

    def __str__(self) -> str:
        """`12 numbers read: 9 tested by rules, 3 not (2 written like a year, 1 …)`."""
        read = f"{counted(self.read, 'number')} read"
        if not self.read:
            return read
        tested = f"{self.by_rules:,} tested by rules" if self.by_rules else ""
        if self.by_models:
            models = f"{self.by_models:,} by a model alone"
            tested = f"{tested}, {models}" if tested else f"{self.by_models:,} tested by a model"
        tested = tested or "none tested"
        missing = self.untested.total()
        if not missing:
            return f"{read}: {tested}"
        reasons = self.untested.most_common()
        said = [f"{count:,} {reason}" for reason, count in reasons[:SHOWN]]
        if others := sum(count for _, count in reasons[SHOWN:]):
            said.append(f"{others:,} for other reasons")
        return f"{read}: {tested}, {missing:,} not ({', '.join(said)})"

    def record(self) -> dict[str, Any]:
        return {
            "read": self.read,
            "tested": self.tested,
            "by_rules": self.by_rules,
            "by_models": self.by_models,
            "untested": dict(self.untested),
        }


def tested_numbers(
    read: ReadDocument, recomputed: Recomputed, judged: Iterable[Where]
) -> NumberCoverage:
    """Those of the document itself, not of tables beside it."""
    places = _Places(read)
    by_rules = places.numbers_at(recomputed.tested)
    by_models = places.numbers_at(judged) - by_rules
    lacks = {
        number: what for where, what in recomputed.lacking for number in places.numbers_at([where])
    }
    untested = Counter(
        _lack(lacks[index]) if index in lacks else _reason(read, where, places.numbers[index])
        for index, where in enumerate(places.wheres)
        if index not in by_rules and index not in by_models
    )
    return NumberCoverage(len(by_rules), len(by_models), untested)


def _lack(what: str) -> str:
    verb = "do not say" if what.startswith(("whether ", "what ")) else "lack"
    return f"in statements that {verb} {what}"


def _reason(read: ReadDocument, where: Where, number: Number) -> str:
    if not read.is_quantity(where):
        return IN_NAMES
    if is_year(number):
        return LIKE_YEARS
    return IN_TEXT if where.row is None else IN_TABLES


class _Places:
    """Numbers by the characters that they cover: of their own text, and of the file, where a cell
    of a table may also be read as a part of a paragraph."""

    def __init__(self, read: ReadDocument) -> None:
        self._read = read
        self.wheres: list[Where] = []
        self.numbers: list[Number] = []
        self._in_text: dict[tuple[object, ...], int] = {}
        self._in_file: dict[int, int] = {}
        for piece in read.pieces():
            if not read.is_beside(piece.place):
                self._add(piece)

    def _add(self, piece: Piece) -> None:
        for number in piece.numbers:
            where, index = piece.of(number), len(self.wheres)
            self.wheres.append(where)
            self.numbers.append(number)
            for at in range(where.start, where.end):
                self._in_text[*where.text_of, at] = index
            for at in range(*(self._read.span(where) or (0, 0))):
                self._in_file.setdefault(at, index)

    def numbers_at(self, wheres: Iterable[Where]) -> set[int]:
        found = set[int]()
        for where in dict.fromkeys(wheres):
            if self._read.is_beside(where):
                continue
            own = {
                self._in_text[key]
                for at in range(where.start, where.end)
                if (key := (*where.text_of, at)) in self._in_text
            }
            if not own and (span := self._read.span(where)):
                own = {self._in_file[at] for at in range(*span) if at in self._in_file}
            found |= own
        return found
