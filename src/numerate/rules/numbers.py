"""Numbers as statements are made of: with sign, power of ten and how finely they are written."""

import re
from dataclasses import dataclass, replace
from decimal import Decimal

from numerate.numeral import MAX_DIGITS, count_digits, normalise, written_numeral
from numerate.rules.rounding import Interval

MINUS = "−–﹣－-"
_NUMERAL = re.compile(rf"(?=[0-9.])(?<![\w.])(?:{written_numeral()})")
_GAP = r"[\s\u2061-\u2064]?"  # of formulas too
_POWER = re.compile(
    r"\s?[×x·∙⋅*]\s?10(?:\s?\^\s?\(?([-−–+]?\s?[0-9]{1,3})\)?|([⁻⁺]?[⁰¹²³⁴-⁹]{1,3})|([−–-][0-9]{1,3}))"
    rf"|(?:[eE]|{_GAP}[eE]\^?{_GAP}(?=[-−–]))([-−–+]?{_GAP}[0-9]{{1,3}})(?![0-9A-Za-z])"
)
_POWER_OF_TEN = re.compile(r"\s?\^\s?\(?([-−–+]?\s?[0-9]{1,3})\)?(?![0-9])|([⁻⁺]?[⁰¹²³⁴-⁹]{1,3})")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−–", "0123456789-+--", " \u2061\u2062\u2063\u2064")
# A dash right before a number is its sign where nothing stands before the dash that it could join;
# one with a space after it only after these.
_SIGNED_AFTER = set(" \t\n\u00a0\u2009\u202f([{=<>≤≥±~≈,;:/|€$£")
_OPERATORS = set("=<>≤≥([:;")
_CURRENCIES = set("€$£")
# Decimals of the last digit of a number. With them all that rules compute, squares and powers too,
# is finite; what is finer or coarser is no number of a statement.
FINEST, COARSEST = 300, -100


@dataclass(frozen=True, slots=True)
class Number:
    """`start` to `end` is the numeral as written, without its sign: what a finding points to."""

    start: int
    end: int
    written: str
    value: Decimal  # with sign and power
    precision: int  # decimals of the value: `1.2e-5` has 6, `1.2 × 10^5` −4
    stop: int  # where the number ends, with its power

    @property
    def interval(self) -> Interval:
        """What it may have been before it was rounded."""
        return Interval.of(self.value, self.precision)

    @property
    def rounded(self) -> "Number":
        """Without zeros that may have been appended to two decimals or more: `0.770` to `0.77`."""
        decimals = self.written.partition(".")[2]
        appended = len(decimals) - max(len(decimals.rstrip("0")), 2)
        return replace(self, precision=self.precision - appended) if appended > 0 else self

    @property
    def is_whole(self) -> bool:
        return self.precision == 0

    def __float__(self) -> float:
        return float(self.value)


def numbers_in(text: str) -> list[Number]:
    """All numbers of a text, in order; what is part of a name (`IL6`, `H1`) is none."""
    found = []
    stop = 0
    for match in _NUMERAL.finditer(text):
        start, end = match.span()
        written = match[0]
        if start < stop or count_digits(written) > MAX_DIGITS:
            continue  # the power of the one before, or an identifier
        numeral = normalise(written)
        value, precision = Decimal(numeral), len(numeral.partition(".")[2])
        stop = end
        ten = written == "10" and _POWER_OF_TEN.match(text, end)
        if raised := ten or _POWER.match(text, end):
            power = int(next(filter(None, raised.groups())).translate(_RAISED))
            precision, stop = precision - power, raised.end()
            if not COARSEST <= precision <= FINEST:
                continue
            value = (Decimal(1) if ten else value).scaleb(power)
        if _is_negative(text, start):
            value = -value
        found.append(Number(start, end, written, value, precision, stop))
    return found


def _is_range(text: str, dash: int) -> bool:
    """Whether a dash there joins two numbers: `−1.3–−0.2`."""
    return dash >= 1 and text[dash] in MINUS and text[dash - 1].isdigit()


def _is_negative(text: str, start: int) -> bool:
    before = start - 1
    if before >= 1 and text[before] in _CURRENCIES and text[before - 1] in MINUS:
        before -= 1  # `−£97`
    if before >= 0 and text[before] in MINUS:
        return before == 0 or text[before - 1] in _SIGNED_AFTER or _is_range(text, before - 1)
    if before >= 1 and text[before] == " " and text[before - 1] in MINUS:
        earlier = text[max(before - 4, 0) : before - 1].rstrip(" ")[-1:]
        return earlier in _OPERATORS if earlier else before == 1
    return False
