"""Quantities: numerals read whole, with the sign and the power of ten that stand beside them.

To a model, `−1.2 × 10^5` is six tokens, three of them numerals: its numbers are never negative,
and a power is a number of its own. Whoever recomputes what a text says needs −120,000.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from unicodedata import normalize

from numerate.text.tokenizer import Token

MAX_POWER = 308  # of floating point: a larger exponent is an identifier such as 1e999

_MINUS = set("-−–—﹣－")
_SIGNS = _MINUS | {"+"}
_TIMES = set("×x*·∙⋅✕")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_GLUED_POWER = re.compile(r"e([0-9]{1,3})")
# After these a dash is the sign of what follows even with a space between: `= - 0.5`.
_OPERATORS = set("=<>≤≥±~≈∼([{:;,/|^_") | _TIMES | _MINUS


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it stands in a text: its value is `sign · mantissa · 10^power`."""

    start: int  # offsets into the text, sign and power included
    end: int
    tokens: range  # which tokens write it
    position: int | None  # of its numeral among the tokens; a lone `½` has none
    sign: int  # 1 or −1
    mantissa: Decimal
    power: int

    @property
    def value(self) -> Decimal:
        """Exact, but for fractions such as ⅓: nothing is rounded to a context's precision."""
        _, digits, exponent = self.mantissa.as_tuple()
        assert isinstance(exponent, int)  # a numeral is a finite number
        return Decimal((int(self.sign < 0), digits, exponent + self.power))


def quantities(tokens: Sequence[Token]) -> Iterator[Quantity]:
    """All quantities of a text, in order, from its tokens.

    Numerals are read whole: `2.2e-16`, `1.2 × 10^5`, `10⁻³`, `10^−3` as superscripts come out of
    articles, `10−3` with a minus sign where one was lost, `2½`. Other exponents (`m^2`) are none.
    """
    index = 0
    while index < len(tokens):
        found = _at(tokens, index)
        if found is not None:
            yield found
        index = found.tokens.stop if found else index + 1


def signs_and_powers(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """The sign and the power of ten of each numeral among the tokens.

    The `10` of a power and its exponent are numerals too: the one has neither, the other its sign.
    """
    whole = {found.position: (found.sign, found.power) for found in quantities(tokens)}
    return [
        whole.get(place) or (-1 if place and tokens[place - 1].text in _MINUS else 1, 0)
        for place, token in enumerate(tokens)
        if token.is_numeral
    ]


def _at(tokens: Sequence[Token], index: int) -> Quantity | None:
    token = tokens[index]
    fraction = _fraction(token.text)
    if fraction is None and (not token.is_numeral or _is_script(tokens, index)):
        return None
    mantissa = Decimal(token.text) if fraction is None else fraction
    stop = index + 1
    more = _fraction(tokens[stop].text) if _glued(tokens, stop) else None
    if fraction is None and more is not None:  # `2½`
        mantissa, stop = mantissa + more, stop + 1
    power = 0
    if fraction is None:
        tens = _power_of_ten(tokens, index)  # `10^6` alone is 1 · 10^6
        if tens is not None:
            mantissa, (power, stop) = Decimal(1), tens
        else:
            power, stop = _scientific(tokens, stop) or (0, stop)
    sign, first = _sign(tokens, index)
    return Quantity(
        tokens[first].start,
        tokens[stop - 1].end,
        range(first, stop),
        None if fraction is not None else index,
        sign,
        mantissa,
        power,
    )


def _sign(tokens: Sequence[Token], index: int) -> tuple[int, int]:
    """The sign of what stands at an index, and where it begins.

    A dash is a sign unless it stands between two things: in `5-10` and `5 - 10` it is a range,
    after a word `change -5` a sign. Beside a true minus, `0.3 −0.2`, a numeral before is no range.
    """
    place = index - 1
    if place < 0 or tokens[place].text not in _SIGNS:
        return 1, index
    dash, before = tokens[place], tokens[place - 1] if place else None
    sign = -1 if dash.text in _MINUS else 1
    is_glued = dash.end == tokens[index].start
    if before is None or before.text in _OPERATORS:  # a dash alone begins the item of a list
        return (sign, place) if is_glued or before else (1, index)
    is_apart = before.end < dash.start and is_glued
    if not is_apart or (dash.text != "−" and (before.is_numeral or before.text == "%")):
        return 1, index
    return sign, place


def _scientific(tokens: Sequence[Token], index: int) -> tuple[int, int] | None:
    """The power that is written from an index on, after a mantissa, and where it stops."""
    if index >= len(tokens):
        return None
    text = tokens[index].text
    if _glued(tokens, index):
        glued = _GLUED_POWER.fullmatch(text)
        if glued:  # `1e5`
            return _within(glued[1], index + 1)
        if text == "e":  # `2.2e-16`
            return _exponent(tokens, index + 1)
        if text == "x10":  # `1.3x10^6`
            return _raised(tokens, index + 1)
    if text in _TIMES and index + 1 < len(tokens):
        return _power_of_ten(tokens, index + 1, after_times=True)
    return None


def _power_of_ten(
    tokens: Sequence[Token], index: int, *, after_times: bool = False
) -> tuple[int, int] | None:
    """The exponent of a ten at an index, and where it stops."""
    if tokens[index].text != "10":
        return None
    found = _raised(tokens, index + 1)
    if found is None and _glued(tokens, index + 1):  # a superscript that was lost
        lost = tokens[index + 1].text
        is_minus = lost == "−" or (after_times and lost in _MINUS)
        found = _exponent(tokens, index + 1) if is_minus else None
    return found


def _raised(tokens: Sequence[Token], index: int) -> tuple[int, int] | None:
    """`^6`, `^−6`, `⁶`, `⁻⁶`, glued to what stands before."""
    if not _glued(tokens, index):
        return None
    if tokens[index].text == "^":
        return _exponent(tokens, index + 1)
    stop = index
    while _glued(tokens, stop) and tokens[stop].text in "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺":
        stop += 1
    written = "".join(token.text for token in tokens[index:stop]).translate(_RAISED)
    return _within(written, stop)


def _exponent(tokens: Sequence[Token], index: int) -> tuple[int, int] | None:
    """Digits with or without a sign, glued together and to what stands before."""
    sign = ""
    if _glued(tokens, index) and tokens[index].text in _SIGNS:
        sign = "-" if tokens[index].text in _MINUS else "+"
        index += 1
    if _glued(tokens, index) and tokens[index].is_numeral:
        return _within(sign + tokens[index].text, index + 1)
    return None


def _within(written: str, stop: int) -> tuple[int, int] | None:
    is_power = re.fullmatch(r"[+-]?[0-9]{1,3}", written) and abs(int(written)) <= MAX_POWER
    return (int(written), stop) if is_power else None


def _is_script(tokens: Sequence[Token], index: int) -> bool:
    """Whether a numeral is an exponent (`m^2`, `s^−1`), not a quantity of its own."""
    before = index - 1
    if before >= 0 and tokens[before].text in _SIGNS:
        before -= 1
    return before >= 0 and tokens[before].text == "^"


def _glued(tokens: Sequence[Token], index: int) -> bool:
    """Whether a token follows the one before it without a space."""
    return 0 < index < len(tokens) and tokens[index - 1].end == tokens[index].start


def _fraction(text: str) -> Decimal | None:
    """The value of `½` and its like."""
    if len(text) != 1 or text.isascii():
        return None
    above, slash, below = normalize("NFKC", text).partition("\u2044")
    return Decimal(above) / Decimal(below) if slash and above and below else None
