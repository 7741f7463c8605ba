"""Slips of people who write numbers: what becomes of a numeral, and what was meant by one.

Each kind of slip lists every numeral that it makes of a right one. `meant` goes the other way: from
a numeral as it is written to those of which a slip would have made it.
"""

from collections.abc import Callable
from decimal import Decimal

from numerate.numeral import is_numeral

Slip = Callable[[str], list[str]]
"""All that a slip can make of a numeral, normalised and different from it."""

MOST_ZEROS = 3  # after the point, of numerals that are thought of where one without a point stands


def swap_digits(numeral: str) -> list[str]:
    """Two neighbouring digits change places: 153 for 135."""
    swapped = []
    for place in range(len(numeral) - 1):
        first, second = numeral[place], numeral[place + 1]
        if first != second and "." not in first + second:
            swapped.append(numeral[:place] + second + first + numeral[place + 2 :])
    return _others(numeral, swapped)


def replace_digit(numeral: str) -> list[str]:
    """One digit is another: 12.9 for 12.5."""
    replaced = [
        numeral[:place] + digit + numeral[place + 1 :]
        for place, old in enumerate(numeral)
        if old != "."
        for digit in "0123456789"
        if digit != old
    ]
    return _others(numeral, replaced)


def drop_point(numeral: str) -> list[str]:
    """125 for 12.5. What begins with zeros is read without them: 5 for 0.05."""
    if "." not in numeral:
        return []
    return _others(numeral, [numeral.replace(".", "").lstrip("0") or "0"])


def add_point(numeral: str) -> list[str]:
    """12.5 or 1.25 for 125."""
    if "." in numeral:
        return []
    return _others(numeral, [f"{numeral[:at]}.{numeral[at:]}" for at in range(1, len(numeral))])


def scale(digits: int) -> Slip:
    """Too large or too small by 10 to the power of `digits`: the point is elsewhere."""

    def scaled(numeral: str) -> list[str]:
        value = Decimal(numeral)
        texts = [f"{value.scaleb(power):f}" for power in (digits, -digits)]
        return _others(numeral, [text for text in texts if Decimal(text) != value])

    return scaled


SLIPS: dict[str, Slip] = {
    "digits swapped": swap_digits,
    "digit replaced": replace_digit,
    "point dropped": drop_point,
    "point added": add_point,
    "factor 10": scale(1),
    "factor 1,000": scale(3),
}


def meant(written: str) -> dict[str, list[str]]:
    """By kind of slip, the numerals of which it would have made this one."""
    return {
        "digits swapped": swap_digits(written),
        "digit replaced": replace_digit(written),
        "point dropped": _with_point(written),
        "point added": drop_point(written) if not written.startswith("0") else [],
        "factor 10": _scaled_to(written, 1),
        "factor 1,000": _scaled_to(written, 3),
    }


def _with_point(written: str) -> list[str]:
    """What reads so without its point."""
    if "." in written:
        return []
    small = [f"0.{'0' * zeros}{written}" for zeros in range(MOST_ZEROS)]
    return [*add_point(written), *_others(written, small)]


def _scaled_to(written: str, digits: int) -> list[str]:
    """What would be this if scaled: for 50 also 5, which becomes it as 5.0 does."""
    texts = scale(digits)(written)
    for text in list(texts):
        if "." not in written:
            while "." in text and text[-1] in "0.":
                text = text[:-1]
                texts.append(text)
    return _others(written, texts)


def _others(numeral: str, texts: list[str]) -> list[str]:
    return [text for text in texts if text != numeral and is_numeral(text)]
