"""Counts with their percentages in the cells of tables: `42 (35.0)`, `35% (42/120)`."""

import re
from dataclasses import dataclass
from itertools import pairwise

from numerate.rules.percentage import allowed, fits, is_count, is_percentage, wholes
from numerate.rules.reading import Piece
from numerate.rules.stated import Stated
from numerate.rules.table_columns import MARKS

_BEFORE = re.compile(r"\s*(?:n\s?=\s?)?")
_OPEN = re.compile(r"(\s?%)?\s?[(\[]\s?(?:n\s?=\s?)?|(\s?%)?[,;]\s")
_CLOSE = re.compile(rf"(\s?%)?\s?[)\]]?{MARKS}")
_OVER = re.compile(r"\s?(?:/|of|out of)\s?")


@dataclass(frozen=True, slots=True)
class Share:
    count: Stated
    percentage: Stated
    whole: Stated | None
    is_said: bool  # that one of them is a percentage
    is_listed: bool = False  # with a comma between them

    @property
    def part(self) -> int:
        return int(self.count.number.value)

    def fits(self, sizes: range) -> bool:
        """Whether it is the percentage of any of them: one that is said, or several inferred."""
        if not self.part or len(sizes) == 1:
            return fits(self.part, sizes[0], self.percentage.number)
        known = wholes(self.part, self.percentage.number, sizes[-1])
        return bool(known) and known[-1] >= sizes[0]

    def fits_own(self) -> bool:
        """Whether it is the percentage of its own whole, or, where none says that it is a
        percentage, its ratio to it: `126/142 (0.89)`."""
        assert self.whole is not None
        size, number = int(self.whole.number.value), self.percentage.number
        is_ratio = not self.is_said and number.precision > 1 and self.part / size in allowed(number)
        return is_ratio or fits(self.part, size, number)

    def swapped(self) -> "Share | None":
        """The percentage first, where nothing in the cell says which is which."""
        if self.is_said or self.whole or not is_count(self.percentage.number):
            return None
        return Share(self.percentage, self.count, None, False)


def share_in(piece: Piece) -> Share | None:
    """`42 (35.0)`, `42 (35%)`, `35% (42)`, `42/120 (35)`, `35% (42/120)`."""
    numbers, text = piece.numbers, piece.text.replace("#", "♯")
    if len(numbers) not in (2, 3) or not _BEFORE.fullmatch(text, 0, numbers[0].start):
        return None
    close = _CLOSE.fullmatch(text, numbers[-1].stop)
    between = [(a.stop, b.start) for a, b in pairwise(numbers)]
    opens = [_OPEN.fullmatch(text, *gap) for gap in between]
    stated = [Stated(number, piece.of(number)) for number in numbers]
    if close is None:
        return None
    if len(numbers) == 2:
        if (opening := opens[0]) is None:
            return None
        percent_first = bool(opening[1] or opening[2])
        count, percentage = reversed(stated) if percent_first else stated
        is_said = percent_first or bool(close[1])
        share = Share(count, percentage, None, is_said, opening[0].strip() in (",", ";"))
    elif _OVER.fullmatch(text, *between[0]) and opens[1]:
        share = Share(stated[0], stated[2], stated[1], bool(close[1]))
    elif _OVER.fullmatch(text, *between[1]) and (opening := opens[0]):
        share = Share(stated[1], stated[0], stated[2], bool(opening[1] or opening[2]))
    else:
        return None
    whole = share.whole
    if not is_count(share.count.number) or not is_percentage(share.percentage.number):
        return None
    return share if whole is None or (is_count(whole.number) and whole.number.value) else None


def is_mean(piece: Piece) -> bool:
    """`60.64 (13.83)`, where nothing says that it is a percentage."""
    numbers, text = piece.numbers, piece.text
    return (
        len(numbers) == 2
        and "%" not in text
        and not any(number.is_whole for number in numbers)
        and _BEFORE.fullmatch(text, 0, numbers[0].start) is not None
        and _OPEN.fullmatch(text, numbers[0].stop, numbers[1].start) is not None
    )
