"""Kinds of error: what becomes of a right numeral, and which kinds detectors are trained on."""

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache

from numerate.detector.slips import Slip, add_point, drop_point, replace_digit, scale, swap_digits
from numerate.numeral import is_numeral

UNITS = tuple(map(Decimal, ("60", "24", "7", "12", "2.54", "1000")))
"""What units of time and length differ by: hours for minutes, weeks for days, inches for cm."""


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


@lru_cache(maxsize=1 << 15)
def slips(kind: str, numeral: str) -> tuple[str, ...]:
    """All that a slip makes of a numeral which has another value."""
    value = Decimal(numeral)
    return tuple(wrong for wrong in BY_SLIP[kind](numeral) if Decimal(wrong) != value)
