"""NUM603: one quantity in two units, `90 min (1.5 h)`."""

import re
from collections.abc import Iterator, Sequence

from numerate.numeral import count_digits
from numerate.rules.finding import RECOMPUTED, Evidence, Finding, Suggestion
from numerate.rules.numbers import Number
from numerate.rules.one_slip import one_slip
from numerate.rules.percentage import written
from numerate.rules.reading import Piece, ReadDocument
from numerate.rules.rounding import Interval
from numerate.rules.rule import Outcome, Rule, add_rule
from numerate.rules.shape import shape_of
from numerate.rules.units_of_measure import UNITS, Unit, unit_of

_UNIT = f"({'|'.join(UNITS)})"
FACTOR = 0.001  # by which factors of conversion are rounded: 3.28 feet
_TWICE = re.compile(
    rf"#(?<![-–—±/×^#]#)(?<![-–—±/×^] #)[\s-]?{_UNIT}\s?(?:[(\[]\s?(?:(?:i\.\s?e\.,?|or)\s)?|=\s?)"
    rf"(#)[\s-]?{_UNIT}(?=\s?[)\],.;])"
)
_FEET = re.compile(
    r"#(?<![-–±#]#)\s?(?:ft|feet|foot|[’′'])\s?(#)\s?(?:in|inch|inches|[”″\"])\s?"
    r"[(\[]\s?(#)\s?(cm|m)\s?[)\]]"
)


def _unit(written: str) -> Unit:
    unit = unit_of(written)
    assert unit is not None, "it was matched as one"
    return unit


def _converted(interval: Interval, unit: Unit, other: Unit) -> Interval | None:
    line = unit.line_to(other)
    return None if line is None else interval * line[0] + line[1]


def _roughly(number: Number) -> Interval:
    """People convert round numbers into round ones: 2000 kJ is 500 kcal."""
    digits = number.written.replace(",", "")
    zeros = len(digits) - len(digits.rstrip("0")) if number.is_whole and number.value else 0
    return Interval.of(number.value, number.precision - zeros).widened(abs(float(number)) * FACTOR)


def converted(read: ReadDocument) -> Iterator[Outcome]:
    for piece in read.running():
        if len(piece.numbers) < 2:
            continue
        shape = shape_of(piece)
        for match in _TWICE.finditer(shape.text):
            first, second = _unit(match[1]), _unit(match[3])
            if first == second:
                continue
            numbers = [shape.number(match.start()), shape.number(match.start(2))]
            meant = _converted(_roughly(numbers[0]), first, second)
            if meant is not None:
                yield _outcome(piece, numbers, meant, match[3])
        for match in _FEET.finditer(shape.text):
            feet, inches, other = (shape.number(match.start(group)) for group in (0, 1, 2))
            whole = Interval.exactly(12 * float(feet)) + inches.interval
            meant = _converted(whole, _unit("inch"), _unit(match[3]))
            if meant is not None:
                yield _outcome(piece, [feet, inches, other], meant, match[3])


def _outcome(piece: Piece, numbers: Sequence[Number], meant: Interval, unit: str) -> Outcome:
    """The last of the numbers in its unit, held against what the others make in it."""
    stated = numbers[-1]
    where = piece.where(numbers[0].start, stated.stop)
    if _roughly(stated).meets(meant):
        return Outcome(where)
    middle = (meant.low + meant.high) / 2
    expected = written(middle, stated.precision)
    is_near = middle > 0 and 0.5 < float(stated) / middle < 2
    tells = expected.strip("0.") != ""  # 1.2 mg are 0.0 kg, and another quantity
    is_slip = tells and count_digits(stated.written) > 1 and one_slip(stated.written, expected)
    if not (is_near or is_slip):
        return Outcome(where, missing="whether they are the same quantity")
    places = tuple(piece.of(number) for number in numbers)
    shown = piece.text[numbers[0].start : stated.start].rstrip(" (=[")
    message = f"{shown} is {expected} {unit}, not {stated.written} {unit}."
    evidence = (Evidence(RECOMPUTED, f"{shown} = {expected} {unit}", places),)
    finding = Finding(
        "NUM603", places[-1], stated.written, message, evidence, places, Suggestion(expected)
    )
    return Outcome(where, finding)


add_rule(
    Rule(
        "NUM603",
        "converted-unit",
        "quantities in two units",
        "A quantity does not have the same value in its two units.",
        "Doses have been ten times too high for it. Units of time, mass, length, volume, energy, "
        "pressure and temperature are read, and both numbers may be rounded. Where the two are far "
        "apart, and not by a slip, they may be two quantities: nothing is said.",
        (
            "The infusion took 90 min (2.5 h).",
            "Each tablet held 500 mg (0.05 g).",
            "He was 5 ft 10 in (187 cm) tall.",
            "They were kept at 37 °C (89.6 °F).",
        ),
        (
            "The infusion took 90 min (1.5 h).",
            "Each tablet held 500 mg (0.5 g).",
            "He was 5 ft 10 in (178 cm) tall.",
            "They were kept at 37 °C (98.6 °F).",
        ),
        "Convert again, from the unit in which it was measured.",
        0.9,
        converted,
    )
)
