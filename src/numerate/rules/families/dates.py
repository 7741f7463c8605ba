"""NUM507: days, months and hours that there are not, and periods that end before they begin."""

import re
from calendar import monthrange
from collections.abc import Iterator

from numerate.rules.finding import RECOMPUTED, Evidence, Finding
from numerate.rules.reading import Piece, ReadDocument
from numerate.rules.rule import Outcome, Rule, add_rule
from numerate.rules.where import Where

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMES = tuple(month.title() for month in _MONTHS)
_MONTH = (
    r"(Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_YEAR = r"((?:1[5-9]|2[01])[0-9]{2})(?![0-9–-])"
_DAY = r"\b([0-9]{1,2})(?:st|nd|rd|th)?(?<![.,–/:-][0-9])(?<![.,–/:-][0-9]{2})"
# `31 February 2010`, `February 31, 2010`, `February 31st`
_DAY_FIRST = re.compile(rf"{_DAY}\s(?:of\s)?{_MONTH}(?:,?\s{_YEAR})?")
_MONTH_FIRST = re.compile(rf"\b{_MONTH}\s([0-9]{{1,2}})(?:st|nd|rd|th)?(?:,\s{_YEAR}|(?=[\s,.;)]))")
_ISO = re.compile(r"\b((?:19|20)[0-9]{2})(?<![./-]....)-([0-9]{2})-([0-9]{2})(?![0-9-])")
_CLOCK = re.compile(
    r"\b([0-9]{1,2}):(?<![:.][0-9]:)(?<![:.][0-9][0-9]:)([0-9]{2})(?=\s?(?:h\b|hrs?\b|hours\b|[ap]\.?m\b|o[’']clock))"
)
# `from May 2012 to March 2011`
_PERIOD = re.compile(
    rf"(?:\b(?:[Ff]rom|[Bb]etween)\s|\()(?:{_MONTH}\s)?{_YEAR}"
    r"\s?(?:to|(?<!\([0-9]{4}\s)and|until|through|–|-)\s?"
    rf"(?:{_MONTH}\s)?{_YEAR}(?=[\s,.;)])"
)
DAYS, MONTHS = 31, 12


def dates(read: ReadDocument) -> Iterator[Outcome]:
    for piece in read.running():
        years = sum(number.end - number.start == len("2010") for number in piece.numbers)
        if piece.numbers:
            yield from _days(piece, years)
        if ":" in piece.text:
            yield from _hours(piece)
        if years >= 2:
            yield from _periods(piece)


def _days(piece: Piece, years: int) -> Iterator[Outcome]:
    text = piece.text
    patterns = [(_ISO, (3, 2, 1))] if years and "-" in text else []
    if any(name in text for name in _NAMES):  # which is quick
        patterns += [(_DAY_FIRST, (1, 2, 3)), (_MONTH_FIRST, (2, 1, 3))]
    for pattern, (day, month, year) in patterns:
        for match in pattern.finditer(text):
            in_words = match[month][:3].lower()
            number = _MONTHS.index(in_words) + 1 if in_words in _MONTHS else int(match[month])
            where = piece.where(*match.span())
            if not 1 <= number <= MONTHS:
                why = f"there are {MONTHS} months"
                yield Outcome(where, _finding(piece, match, month, why))
                continue
            days = monthrange(int(match[year] or 2000), number)[1]
            if 1 <= int(match[day]) <= days:
                yield Outcome(where)
            elif match[year] or int(match[day]) <= DAYS:
                why = f"that month has {days} days"
                yield Outcome(where, _finding(piece, match, day, why))


def _hours(piece: Piece) -> Iterator[Outcome]:
    for match in _CLOCK.finditer(piece.text):
        where = piece.where(*match.span())
        if int(match[1]) > 24:
            yield Outcome(where, _finding(piece, match, 1, "a day has 24 hours"))
        elif int(match[2]) > 59:
            yield Outcome(where, _finding(piece, match, 2, "an hour has 60 minutes"))
        else:
            yield Outcome(where)


def _periods(piece: Piece) -> Iterator[Outcome]:
    for match in _PERIOD.finditer(piece.text):
        first, last = int(match[2]), int(match[4])
        same = bool(match[1] and match[3]) and first == last
        months = [_MONTHS.index(match[g][:3].lower()) for g in (1, 3)] if same else [0, 0]
        where = piece.where(*match.span())
        if (first, months[0]) <= (last, months[1]):
            yield Outcome(where)
        else:
            yield Outcome(where, _finding(piece, match, 4, "it ends before it begins", 2))


def _finding(piece: Piece, match: re.Match[str], group: int, why: str, other: int = 0) -> Finding:
    wrong = piece.where(*match.span(group))
    involved: tuple[Where, ...] = (wrong,)
    if other:
        involved = (wrong, piece.where(*match.span(other)))
    shown = match[0].strip(" (")
    evidence = (Evidence(RECOMPUTED, f"{shown}: {why}", involved),)
    return Finding("NUM507", wrong, match[group], f"{shown} cannot be: {why}.", evidence, involved)


add_rule(
    Rule(
        "NUM507",
        "date",
        "dates and periods",
        "A date, hour or period that cannot be.",
        "Such dates are mistyped, or swapped. Days of the month, months of dates like 2010-12-31, "
        "hours and minutes of the day are read, and periods from one month or year to another.",
        (
            "The trial began on 31 February 2010.",
            "It was measured on 2010-13-05.",
            "Blood was drawn at 25:10 h.",
            "We enrolled patients from May 2012 to March 2011.",
        ),
        (
            "The trial began on 28 February 2010.",
            "It was measured on 2010-12-05.",
            "Blood was drawn at 23:10 h.",
            "We enrolled patients from May 2011 to March 2012.",
        ),
        "Look the date up.",
        0.71,
        dates,
    )
)
