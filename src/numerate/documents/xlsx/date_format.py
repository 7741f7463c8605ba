"""Dates and times of a workbook: days since 1900 or 1904, written as a format says."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Protocol

LAST_DAY = 2_958_466  # of the year 9999

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Piece(Protocol):
    """Of a format."""

    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str: ...


def displayed_date(days: Decimal, pieces: Sequence[Piece], *, from_1904: bool) -> str:
    """Raises `OverflowError` where there is no such day."""
    if not 0 <= days < LAST_DAY:
        raise OverflowError(days)
    decimals = _decimals(pieces)
    seconds = round(days * 86_400, 4)  # a third of a day is not a second short
    total = int(seconds)
    part = int((seconds - total) * 10**decimals)
    moment = _beginning(int(days), from_1904=from_1904) + timedelta(seconds=total)
    has_half = any(piece.kind == "half" for piece in pieces)
    shown: list[str] = []
    for index, piece in enumerate(pieces):
        if piece.kind == "date":
            shown.append(
                _date_part(piece.text.lower(), moment, has_half, _is_minute(pieces, index))
            )
        elif piece.kind == "elapsed":
            unit = {"h": 3600, "m": 60, "s": 1}[piece.text[0].lower()]
            shown.append(str(total // unit).rjust(len(piece.text), "0"))
        elif piece.kind == "half":
            half = "AM" if moment.hour < 12 else "PM"
            shown.append(half if "M" in piece.text.upper() else half[0])
        elif piece.text == "." and decimals:
            shown.append("." + str(part).rjust(decimals, "0"))
        elif piece.kind in ("literal", "sign"):
            shown.append(piece.text)
    return " ".join("".join(shown).replace("@", "").split())


def _beginning(day: int, *, from_1904: bool) -> datetime:
    """From which days are counted. 1900 had no 29 February, but one is counted."""
    if from_1904:
        return datetime(1904, 1, 1)
    return datetime(1899, 12, 31) if day < 60 else datetime(1899, 12, 30)


def _decimals(pieces: Sequence[Piece]) -> int:
    """Of the seconds."""
    after_point = False
    found = 0
    for piece in pieces:
        if piece.kind == "digit" and after_point:
            found += 1
        after_point = piece.text == "." or (after_point and piece.kind == "digit")
    return min(found, 4)


def _is_minute(pieces: Sequence[Piece], index: int) -> bool:
    """Whether an `m` stands for minutes: beside hours or seconds."""
    before = [piece.text[0] for piece in pieces[:index] if piece.kind in ("date", "elapsed")]
    after = [piece.text[0] for piece in pieces[index + 1 :] if piece.kind in ("date", "elapsed")]
    return before[-1:] in (["h"], ["H"]) or after[:1] in (["s"], ["S"])


def _date_part(code: str, moment: datetime, has_half: bool, is_minute: bool) -> str:
    sign, length = code[0], len(code)
    if sign == "y":
        return f"{moment.year:04d}" if length > 2 else f"{moment.year % 100:02d}"
    if sign == "m" and not is_minute:
        name = _MONTHS[moment.month - 1]
        named = {3: name[:3], 4: name, 5: name[0]}
        return named.get(length, str(moment.month).rjust(min(length, 2), "0"))
    if sign == "d" and length > 2:
        name = _DAYS[moment.weekday()]
        return name[:3] if length == 3 else name
    hour = (moment.hour % 12 or 12) if has_half else moment.hour
    number = {"d": moment.day, "h": hour, "m": moment.minute, "s": moment.second}[sign]
    return str(number).rjust(min(length, 2), "0")
