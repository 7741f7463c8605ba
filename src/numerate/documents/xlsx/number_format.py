"""Numbers of a workbook as people see them: 0.125 with the format `0.0%` is 12.5%.

A negative number in parentheses, as accountants write it, has a sign instead, so that it is not
taken for a number in brackets; dates in the way of each reader's country are written 2024-03-05.
"""

import re
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from numerate.documents.xlsx.date_format import displayed_date

BUILT_IN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%",
    11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm",
    17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss",
    22: "yyyy-mm-dd h:mm", 37: "#,##0;-#,##0", 38: "#,##0;-#,##0", 39: "#,##0.00;-#,##0.00",
    40: "#,##0.00;-#,##0.00", 41: '#,##0;-#,##0;"-"', 42: '#,##0;-#,##0;"-"',
    43: '#,##0.00;-#,##0.00;"-"', 44: '#,##0.00;-#,##0.00;"-"', 45: "mm:ss", 46: "[h]:mm:ss",
    47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
}  # fmt: skip
"""Formats that a workbook names by their number and does not write down."""

MAX_DECIMALS = 30

_PIECE = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|[_*].|\[\$(?P<money>[^\]-]*)[^\]]*\]'
    r"|\[(?P<condition>[<>=]+)(?P<limit>-?[0-9.]+)\]|\[(?P<elapsed>h+|m+|s+)\]|\[[^\]]*\]"
    r"|(?P<general>General)|(?P<power>[Ee][+-])|(?P<half>AM/PM|A/P)|(?P<date>y+|m+|d+|h+|s+)"
    r"|(?P<digit>[0#?])|(?P<sign>[.,%/@])|(?P<literal>.)",
    re.IGNORECASE | re.DOTALL,
)


class Piece(NamedTuple):
    kind: str
    text: str


class Section(NamedTuple):
    pieces: list[Piece]
    condition: str
    limit: Decimal

    def holds(self, number: Decimal) -> bool:
        return {
            "<": number < self.limit, ">": number > self.limit, "=": number == self.limit,
            "<=": number <= self.limit, ">=": number >= self.limit, "<>": number != self.limit,
        }.get(self.condition, False)  # fmt: skip

    @property
    def is_date(self) -> bool:
        return any(piece.kind in ("date", "elapsed") for piece in self.pieces)


def displayed(number: float, code: str, *, from_1904: bool = False) -> str:
    """Of a finite number; where a format makes no sense, what is shown without one."""
    value = Decimal(f"{number:.15g}")
    section, is_of_negatives = _chosen(_sections(code), value)
    if section is None:
        return ""
    try:
        if section.is_date:
            return displayed_date(value, section.pieces, from_1904=from_1904)
        return _number(abs(value) if is_of_negatives else value, section.pieces, is_of_negatives)
    except ArithmeticError:
        return _general(value)


@lru_cache(maxsize=1000)
def _sections(code: str) -> list[Section]:
    """What stands between semicolons: for positive numbers, negative ones, zero and text."""
    sections = [Section([], "", Decimal(0))]
    for match in _PIECE.finditer(code):
        kind = match.lastgroup or ""
        if kind == "limit":
            try:
                limit = Decimal(match["limit"])
            except ArithmeticError:
                continue
            sections[-1] = sections[-1]._replace(condition=match["condition"], limit=limit)
        elif kind == "literal" and match["literal"] == ";":
            sections.append(Section([], "", Decimal(0)))
        elif kind in ("quoted", "escaped", "money", "literal"):
            sections[-1].pieces.append(Piece("literal", match[kind]))
        elif kind:
            sections[-1].pieces.append(Piece(kind, match[kind]))
    return sections


def _chosen(sections: list[Section], value: Decimal) -> tuple[Section | None, bool]:
    """The one for a number, and whether it is for negative ones, and says so itself; None where
    it is empty, and nothing is shown."""
    numeric = sections[:3]
    index = 0
    if any(section.condition for section in numeric):
        held = (number for number, one in enumerate(numeric) if one.condition and one.holds(value))
        free = (number for number, one in enumerate(numeric) if not one.condition)
        index = next(held, next(free, 0))
        return numeric[index], False
    if value < 0 and len(numeric) > 1:
        index = 1
    elif value == 0 and len(numeric) > 2:
        index = 2
    is_empty = not numeric[index].pieces
    if is_empty and len(sections) == 1:
        return Section([Piece("general", "General")], "", Decimal(0)), False
    return (None if is_empty else numeric[index]), index == 1


def _number(value: Decimal, pieces: list[Piece], is_of_negatives: bool) -> str:
    places = [index for index, piece in enumerate(pieces) if piece.kind in ("digit", "general")]
    if not places:
        text = "".join(piece.text for piece in pieces if piece.kind == "literal")
        return _general(value) if any(piece.text == "@" for piece in pieces) else text
    if any(piece.text == "/" for piece in pieces):
        return _fraction(value, "".join(piece.text for piece in pieces))
    first, last = places[0], places[-1]
    before = "".join(piece.text for piece in pieces[:first] if piece.kind == "literal")
    after = "".join(
        piece.text for piece in pieces[last + 1 :] if piece.kind == "literal" or piece.text == "%"
    )
    before += "%" * sum(piece.text == "%" for piece in pieces[:first])
    value *= Decimal(100) ** sum(piece.text == "%" for piece in pieces)
    shown = _core(value, pieces[first : last + 1], pieces[last + 1 :])
    if shown.startswith("-"):
        before, shown = f"-{before}", shown[1:]
    if is_of_negatives and "(" in before and ")" in after:
        before, after = "-" + before.replace("(", ""), after.replace(")", "")
    return " ".join(f"{before}{shown}{after}".split())


def _core(value: Decimal, pieces: list[Piece], rest: list[Piece]) -> str:
    """From the first digit of a format to its last."""
    if any(piece.kind == "general" for piece in pieces):
        return _general(value)
    signs = "".join(piece.text if piece.kind in ("digit", "sign") else
                    "E" if piece.kind == "power" else "" for piece in pieces)  # fmt: skip
    scaled = len(signs) - len(signs.rstrip(","))
    for piece in rest:
        if piece.text != ",":
            break
        scaled += 1
    value /= Decimal(1000) ** scaled
    mantissa, _, exponent = signs.partition("E")
    whole, _, decimals = mantissa.rstrip(",").partition(".")
    decimals = decimals[:MAX_DECIMALS]
    if exponent:
        return _with_power(value, whole, decimals, exponent)
    return _fixed(value, whole, decimals)


def _fixed(value: Decimal, whole: str, decimals: str) -> str:
    rounded = _rounded(value, len(decimals))
    text = f"{abs(rounded):f}"
    integer, _, fraction = text.partition(".")
    fraction = fraction.ljust(len(decimals), "0")
    needed = len(decimals.rstrip("#?"))
    while len(fraction) > needed and fraction.endswith("0"):
        fraction = fraction[:-1]
    integer = integer.lstrip("0").rjust(whole.count("0"), "0")
    if "," in whole:
        integer = _grouped(integer)
    sign = "-" if rounded < 0 else ""
    return f"{sign}{integer}{'.' if fraction else ''}{fraction}"


def _grouped(digits: str) -> str:
    start = len(digits) % 3
    parts = [digits[:start]] if start else []
    return ",".join([*parts, *(digits[at : at + 3] for at in range(start, len(digits), 3))])


def _with_power(value: Decimal, whole: str, decimals: str, exponent: str) -> str:
    """With as many digits before the point as the format has, as engineers like it."""
    width = max(len(whole.replace(",", "")), 1)
    power = value.adjusted() if value else 0
    power -= power % width if width > 1 else 0
    mantissa = value.scaleb(-power)
    if width == 1 and abs(_rounded(mantissa, len(decimals))) >= 10:
        power, mantissa = power + 1, mantissa / 10
    text = _fixed(mantissa, whole, decimals) or "0"
    return f"{text}E{'-' if power < 0 else '+'}{str(abs(power)).rjust(len(exponent), '0')}"


def _fraction(value: Decimal, code: str) -> str:
    """`# ?/?` has a whole number before it, `# ?/8` is of eighths."""
    above, _, below = code.partition("/")
    eighths = re.search("[1-9][0-9]{0,3}", below)
    number = Fraction(abs(value))
    if eighths is not None:
        number = Fraction(round(number * int(eighths[0])), int(eighths[0]))
    else:
        digits = sum(map(below.count, "#?0"))
        number = number.limit_denominator(10 ** min(max(digits, 1), 4) - 1)
    whole = int(number) if len(above.split()) > 1 else 0
    left = number - whole
    shown = [str(whole)] if whole or not left else []
    shown += [f"{left.numerator}/{left.denominator}"] if left else []
    return ("-" if value < 0 and number else "") + " ".join(shown)


def _rounded(value: Decimal, decimals: int) -> Decimal:
    try:
        return value.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)
    except ArithmeticError:  # of more digits than are kept
        return value


def _general(value: Decimal) -> str:
    """As many digits as fit into eleven characters, which is what an ordinary column shows."""
    if not value:
        return "0"
    if value == value.to_integral_value() and abs(value) < Decimal("1e11"):
        return f"{value.to_integral_value():f}"
    if Decimal("1e-5") <= abs(value) < Decimal("1e11"):
        before = max(value.adjusted() + 1, 1)
        shown = f"{_rounded(value, max(10 - before, 0)):f}"
        return shown.rstrip("0").rstrip(".") if "." in shown else shown
    return _with_power(value, "0", "#####", "00")
