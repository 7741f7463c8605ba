"""NUM508: ranges and quartiles in the wrong order, or without the middle they are around."""

import re
from collections.abc import Iterator, Sequence

from numerate.rules.finding import RECOMPUTED, Evidence, Finding
from numerate.rules.numbers import Number
from numerate.rules.reading import Piece, ReadDocument
from numerate.rules.rule import Outcome, Rule, add_rule
from numerate.rules.shape import shape_of

_SPAN = r"(?:iqr|inter-?quartile\srange|inter-?quartiles?|quartiles|range)"
_SPEAKS = re.compile(r"ange|IQR|iqr|uartile")
_SIGN = r"[-−–]?"
_UNIT = r"(?:\s?(?:%|[a-z°µμ][a-z/°^]{0,8}))?"
_TO = rf"{_UNIT}\s?(?:–|—|-|−|to|,|;)\s?{_SIGN}"
# `median 12 (IQR 8–15)`, `mean age was 45 years (range 21 to 70)`
_AROUND = re.compile(
    rf"\b(?:median|mean|average)\b[^#.;()]{{0,60}}?(?<!across\s){_SIGN}(#){_UNIT}\s?[,(\[;]\s?"
    rf"(?:\w+\s)?{_SPAN}\s?[:,=]?\s?(?:of\s|was\s|from\s)?{_SIGN}(#){_TO}(#)(?!\s?[#%]?[-–]#)"
)
_ALONE = re.compile(
    r"(?:\b(?:iqr|inter-?quartile\srange)|[(\[,;]\s?range)\s?[:,=]?\s?(?:of\s|was\s|from\s)?"
    rf"{_SIGN}(#)(?:{_UNIT}\s?to\s|[–—-])(#)(?!\s?[-–]#)"
)
_IN_CELL = re.compile(
    rf"\s*{_SIGN}(#)\s?[(\[]\s?{_SIGN}(#)\s?(?:–|—|-|−|to|,|;)\s?{_SIGN}(#)\s?[)\]].*"
)
_NAME = re.compile(r"\s?((?!to\b|and\b)[^\W\d_]{2,})")
_LABEL = re.compile(r"\b(?:median|iqr|range|quartiles?|interquartile)\b", re.IGNORECASE)
_NO_LABEL = re.compile(
    r"\b(?:ci|confidence|difference|change|or|hr|rr|ratio|mean|β|beta)\b", re.IGNORECASE
)


def spans(read: ReadDocument) -> Iterator[Outcome]:
    for piece in read.running():
        if len(piece.numbers) < 2 or not _SPEAKS.search(piece.text):
            continue
        shape = shape_of(piece)
        taken = set()
        for pattern in (_AROUND, _ALONE):
            for match in pattern.finditer(shape.folded):
                at = [match.start(group) for group in range(1, pattern.groups + 1)]
                if at[-1] not in taken:
                    taken.add(at[-1])
                    yield from _checked(piece, [shape.number(place) for place in at])
    for table, cells in enumerate(read.cells):
        heading = ""
        for row, texts in enumerate(read.tables[table].body):
            if texts and texts[0] and all(text in ("", texts[0]) for text in texts[1:]):
                heading = texts[0]
            for column in range(1, len(texts)):
                cell = cells.get((row, column))
                if cell is None or len(cell.numbers) != 3:
                    continue
                words = f"{texts[0]} {heading} {' '.join(_above(read, table, column))}"
                if not _LABEL.search(words) or _NO_LABEL.search(words):
                    continue
                if _IN_CELL.fullmatch(shape_of(cell).folded):
                    yield from _checked(cell, cell.numbers)


def _above(read: ReadDocument, table: int, column: int) -> list[str]:
    return [cells[column] for cells in read.tables[table].header if column < len(cells)]


def _checked(piece: Piece, numbers: Sequence[Number]) -> Iterator[Outcome]:
    *middle, low, high = numbers
    if middle and middle[0].value < 0 <= low.value:
        return  # `−40 (35–50)`: the signs of the span are left out
    unit = _NAME.match(piece.text, low.stop)
    if unit and (after := _NAME.match(piece.text, high.stop)) and unit[1] != after[1]:
        return  # `8 days–10.8 years`
    where = piece.where(numbers[0].start, high.stop)
    places = tuple(piece.of(number) for number in numbers)
    shown = piece.text[low.start : high.stop]
    if low.interval.low > high.interval.high:
        is_short = high.is_whole and len(high.written) < len(low.written)  # 1990–95
        if is_short or low.value < 0 or high.value < 0 or low.written == "10":
            return
        said, why = f"{low.written} > {high.written}", "it ends below where it begins"
        wrong = high
    elif middle and not (
        low.interval.low <= middle[0].interval.high and middle[0].interval.low <= high.interval.high
    ):
        said = f"{middle[0].written} is not between {low.written} and {high.written}"
        why, wrong = f"it does not hold {middle[0].written}, which it is around", middle[0]
    else:
        yield Outcome(where)
        return
    evidence = (Evidence(RECOMPUTED, said, places),)
    message = f"The span {shown} cannot be: {why}."
    yield Outcome(
        where, Finding("NUM508", piece.of(wrong), wrong.written, message, evidence, places)
    )


add_rule(
    Rule(
        "NUM508",
        "span",
        "ranges and quartiles",
        "A range or its quartiles are in the wrong order, or do not hold what they are around.",
        "The median lies between the quartiles, and everything between the smallest and the "
        "largest value. Short forms (1990–95) and negative numbers, whose signs may be dashes, are "
        "not taken for wrong orders.",
        (
            "The median stay was 12 days (IQR 18–25).",
            "Mean age was 45 years (range 70 to 21).",
        ),
        (
            "The median stay was 12 days (IQR 8–25).",
            "Mean age was 45 years (range 21 to 70).",
        ),
        "Look all of them up.",
        0.44,
        spans,
    )
)
