"""NUM115: arithmetic that is written out, `15 + 20 = 35`, also in one unit."""

import re
from collections.abc import Iterator
from math import isfinite, prod

from numerate.rules.finding import RECOMPUTED, Evidence, Finding, Suggestion
from numerate.rules.percentage import is_count, written
from numerate.rules.reading import ReadDocument
from numerate.rules.rounding import Interval
from numerate.rules.rule import Outcome, Rule, add_rule
from numerate.rules.shape import Shape, shape_of
from numerate.rules.stated import Stated

# Nothing else stands before or after: `x + 2 = 5`, `12 + 5 = 17 + y` and `2 × 3 = 5 × k` are not.
_BEFORE = r"(?<![\w.%#)\]+−×*/÷^=–-])(?<![#+−×*/÷^=–-]\s)"
_AFTER = r"(?!\s?[#+−×*/÷^=±–-])(?!\w)"
_EQUATION = re.compile(
    rf"{_BEFORE}#(?:(?:\s?\+\s?#){{1,12}}|\s−\s#|\s?×\s?#|\s?÷\s?#|\s/\s#)\s?=\s?#{_AFTER}"
)
# `3.1 kb + 1.2 kb = 4.3 kb`: all in one unit
_IN_UNITS = re.compile(
    rf"{_BEFORE}#\s?(?P<unit>%|[^\W\d_]{{1,5}})"
    r"(?:(?:\s?\+\s?#\s?(?P=unit)(?!\w)){1,12}|\s−\s#\s?(?P=unit)(?!\w))"
    rf"\s?=\s?#\s?(?P=unit){_AFTER}"
)
_SIGNS = {"+": "+", "−": "−", "×": "×", "÷": "÷", "/": "÷"}


def equations(read: ReadDocument) -> Iterator[Outcome]:
    for piece in read.pieces():
        if "=" not in piece.text or len(piece.numbers) < 3:
            continue
        shape = shape_of(piece)
        for match in (*_EQUATION.finditer(shape.text), *_IN_UNITS.finditer(shape.text)):
            sign = next(_SIGNS[one] for one in match[0] if one in _SIGNS)
            places = [match.start() + at for at, one in enumerate(match[0]) if one == "#"]
            *terms, result = (_stated(shape, at) for at in places)
            where = shape.where(*match.span())
            are_counts = (
                sign != "÷"
                and match.re is _EQUATION  # what is measured may be rounded
                and all(is_count(one.number) for one in (*terms, result))
            )
            made = _made(sign, [term.interval for term in terms])
            exactly = _value(sign, [float(term) for term in terms])
            holds = exactly == float(result) if are_counts else made.meets(result.interval)
            if holds or not isfinite(exactly):
                yield Outcome(where)
            else:
                yield Outcome(where, _wrong(sign, terms, result, exactly))


def _stated(shape: Shape, at: int) -> Stated:
    number = shape.number(at)
    return Stated(number, shape.piece.of(number))


def _made(sign: str, terms: list[Interval]) -> Interval:
    made = terms[0]
    for term in terms[1:]:
        if sign == "+":
            made = made + term
        elif sign == "−":
            made = made - term
        elif sign == "×":
            made = made * term
        else:
            made = made / term
    return made


def _value(sign: str, terms: list[float]) -> float:
    first, *rest = terms
    if sign == "+":
        return first + sum(rest)
    if sign == "−":
        return first - sum(rest)
    if sign == "×":
        return first * prod(rest)
    return first / rest[0] if rest[0] else float("inf")


def _wrong(sign: str, terms: list[Stated], result: Stated, value: float) -> Finding:
    expected = written(abs(value), result.number.precision)
    left = f" {sign} ".join(map(str, terms))
    shown = f"−{expected}" if value < 0 else expected
    places = tuple(one.where for one in (*terms, result))
    return Finding(
        "NUM115",
        result.where,
        result.number.written,
        f"{left} is {shown}, not {result}.",
        (Evidence(RECOMPUTED, f"{left} = {shown}", places),),
        places,
        Suggestion(expected) if (value < 0) == (result.number.value < 0) else None,
    )


add_rule(
    Rule(
        "NUM115",
        "arithmetic",
        "equations",
        "An equation of numbers does not hold.",
        "Sums, differences, products and quotients that are written out are done again; numbers "
        "with decimals may be rounded. Equations with anything but numbers in them, and with "
        "dashes that may stand for ranges, are not read.",
        (
            "There were 15 + 20 = 40 events.",
            "The dose is 2.5 × 70 = 157 mg (weight 70 kg).",
        ),
        (
            "There were 15 + 20 = 35 events.",
            "The dose is 2.5 × 70 = 175 mg (weight 70 kg).",
        ),
        "Do the sum again; most often a digit of the result is wrong.",
        0.9,
        equations,
    )
)
