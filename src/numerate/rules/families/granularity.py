"""Means, standard deviations and percentages that no whole numbers can have (GRIM and its kin)."""

import math
import re
from collections.abc import Iterator

from numerate.rules.finding import RECOMPUTED, Evidence, Finding
from numerate.rules.numbers import Number
from numerate.rules.percentage import allowed, fits, is_count, is_percentage
from numerate.rules.reading import Piece, ReadDocument
from numerate.rules.reported_means import ReportedMean, placed, reported_means
from numerate.rules.rounding import Interval
from numerate.rules.rule import Outcome, Rule, add_rule
from numerate.rules.shape import shape_of
from numerate.rules.stated import Stated
from numerate.rules.where import Where

_COUNTED = re.compile(
    r"\b(?:numbers?|no\.|counts?) of\b|\bLikert\b|\bsingle[- ]item\b", re.IGNORECASE
)
_NOT_WHOLE = re.compile(
    r"\bper\b|/|daily|weekly|monthly|averag|\brates?\b|\bdays?\b|hours?|minutes?|years?|months?|weeks?"
    r"|cells|reads|copies|molecules|spikes|voxels|trials|\blog|%|percent|median|adjusted|geometric"
    r"|chang|differen|improv|increas|decreas|reduc|mm\b|cm\b|total score|ratio|units",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"chang|differen|improv|increas|decreas|reduc|adjust|\bΔ|least.squares|\bLS\b|z-?score|T-?score",
    re.IGNORECASE,
)
MOST = (
    0.5  # share of all values with so many decimals that whole numbers may have, to tell anything
)
LARGEST = 10_000  # sample; means of more are not written with all the decimals it would take
_PEOPLE = (
    r"(?:patients?|participants?|subjects?|women|men|children|people|infants|individuals|respondents"
    r"|students|adults|mice|rats|animals|eyes|volunteers|cases|neonates|girls|boys|nurses|families"
    r"|physicians|households|schools|hospitals|studies|articles|samples|tumou?rs)"
)
_SHARE = re.compile(
    rf"(?P<share>\#)\s?%\s(?:\([^()#]{{0,20}}\)\s)?of\s(?:the|all|these|our|those|all the)?\s?"
    rf"(?:\w+\s)?(?P<whole>\#)\s(?:[a-z-]+\s){{0,2}}{_PEOPLE}\b"
)
_OF_WHOLE = re.compile(
    rf"\b[Oo]f\s(?:the|all|these|our)?\s?(?P<whole>\#)\s(?:[a-z-]+\s){{0,2}}{_PEOPLE},\s"
    rf"(?:[a-z]+\s){{0,2}}(?P<share>\#)\s?%(?!\s?\()"
)
_ABOUT = re.compile(
    r"(?:about|approximately|around|almost|nearly|over|than|least|most|up to|[~≈∼><≤≥±]|roughly"
    r"|\bto|mean|average|median|–|-|/|#)\s?\Z|[(\[]\s?\Z"
)
_PLANNED = re.compile(
    r"power|assum|expect|estimat|would|drop-?out|attrition|anticipat|weight|if\b|sample size",
    re.IGNORECASE,
)


def _sums(mean: Number, size: int) -> range:
    """Of so many whole numbers with that mean."""
    interval = allowed(mean) * size
    return range(math.ceil(interval.low - 1e-9), math.floor(interval.high + 1e-9) + 1)


def _tells(one: ReportedMean) -> bool:
    """Whether few of the values with so many decimals are means of so many whole numbers."""
    sizes = one.sizes
    return sizes[-1] <= LARGEST and sum(sizes) <= MOST * 10**one.mean.number.precision


def _is_countable(one: ReportedMean) -> bool:
    return (
        _COUNTED.search(one.name) is not None
        and _NOT_WHOLE.search(one.name) is None
        and one.mean.number.stop == one.mean.number.end
        and one.mean.number.precision > 0
    )


def _size_said(one: ReportedMean) -> str:
    return f"n = {one.size}" if one.is_own_size else f"n = {one.size}, or a few fewer"


def _finding(
    code: str, at: Stated, message: str, said: str, involved: tuple[Where, ...]
) -> Finding:
    evidence = (Evidence(RECOMPUTED, said, involved),)
    return Finding(code, at.where, at.number.written, message, evidence, involved)


def _wheres(*some: Stated | None) -> tuple[Where, ...]:
    return tuple(dict.fromkeys(one.where for one in some if one is not None))


def _means(read: ReadDocument) -> Iterator[Outcome]:
    for one in read.by(reported_means):
        if not _is_countable(one):
            continue
        if not one.sizes:
            yield Outcome(one.where, missing="sample size")
        elif not _tells(one):
            yield Outcome(one.where, missing="decimals")
        elif any(_sums(one.mean.number, size) for size in one.sizes):
            yield Outcome(one.where, used=_wheres(one.mean, one.size))
        else:
            near = round(float(one.mean) * one.sizes[-1])
            size = one.sizes[-1]
            said = f"{near} / {size} = {near / size:.{one.mean.number.precision + 1}f}"
            message = f"No {size} whole numbers have the mean {one.mean} ({_size_said(one)})."
            yield Outcome(
                one.where,
                _finding("NUM401", one.mean, message, said, _wheres(one.mean, one.size)),
            )


def _deviations(read: ReadDocument) -> Iterator[Outcome]:
    for one in read.by(reported_means):
        if not _is_countable(one) or one.deviation is None or not one.sizes:
            continue
        if not _tells(one) or one.sizes[-1] < 2:
            yield Outcome(one.where, missing="decimals")
        elif not any(_sums(one.mean.number, size) for size in one.sizes) or any(
            _has_squares(one, one.deviation.number, size) for size in one.sizes if size > 1
        ):
            yield Outcome(one.where, used=_wheres(one.deviation, one.mean, one.size))
        else:
            said = f"no sum of squares of {one.sizes[-1]} whole numbers gives {one.deviation}"
            message = (
                f"No {one.sizes[-1]} whole numbers with the mean {one.mean} have the standard "
                f"deviation {one.deviation}."
            )
            involved = _wheres(one.deviation, one.mean, one.size)
            yield Outcome(one.where, _finding("NUM402", one.deviation, message, said, involved))


def _has_squares(one: ReportedMean, deviation: Number, size: int) -> bool:
    """Whether a sum of squares, which is even or odd as the sum is, gives the deviation."""
    interval = allowed(deviation)
    low, high = max(interval.low, 0.0) ** 2, interval.high**2
    for total in _sums(one.mean.number, size):
        for divisor in (size - 1, size):
            least = math.ceil(low * divisor + total**2 / size - 1e-6)
            most = math.floor(high * divisor + total**2 / size + 1e-6)
            if most > least or (most == least and (least - total) % 2 == 0):
                return True
    return False


def _bounded(read: ReadDocument) -> Iterator[Outcome]:
    for one in read.by(reported_means):
        if one.values is None or _CHANGE.search(one.name):
            continue
        least, most = one.values
        mean, low, high = one.mean.interval, _end(least), _end(most)
        involved = _wheres(one.mean, one.deviation, least, most)
        if mean.high < low.low or mean.low > high.high:
            said = f"{one.mean} is not between {least} and {most}"
            message = f"The mean {one.mean} lies outside its scale, {least} to {most}."
            yield Outcome(one.where, _finding("NUM403", one.mean, message, said, involved))
            continue
        if one.deviation is None:
            continue
        size = one.sizes[0] if one.sizes else 2
        room = max(0.0, mean.high - low.low) * max(0.0, high.high - mean.low)
        greatest = math.sqrt(room * size / max(size - 1, 1))
        if one.deviation.interval.low <= greatest:
            yield Outcome(one.where, used=involved)
            continue
        said = f"at most √(({one.mean} − {least}) × ({most} − {one.mean})) ≈ {greatest:.3g}"
        message = (
            f"No values between {least} and {most} with the mean {one.mean} have the standard "
            f"deviation {one.deviation}."
        )
        yield Outcome(one.where, _finding("NUM403", one.deviation, message, said, involved))


def _end(of_scale: Stated) -> Interval:
    """Whole ends of scales are not rounded."""
    number = of_scale.number
    return Interval.exactly(float(number)) if number.is_whole else number.interval


def _shares(read: ReadDocument) -> Iterator[Outcome]:
    for piece in read.running():
        if "%" in piece.text:
            yield from _shares_in(piece)


def _shares_in(piece: Piece) -> Iterator[Outcome]:
    shape = shape_of(piece)
    text = shape.text
    for pattern in (_SHARE, _OF_WHOLE):
        for match in pattern.finditer(text):
            share, whole = (placed(shape, match.start(name)) for name in ("share", "whole"))
            start = match.start("share")
            size, percentage = whole.number, share.number
            if not (is_count(size) and size.value and is_percentage(percentage)):
                continue
            if percentage.value > 100 or _ABOUT.search(text, max(0, start - 16), start):
                continue
            if _PLANNED.search(shape.sentence(*match.span())):
                continue
            where = shape.where(*match.span())
            count = int(size.value)
            if (count + 1) / 10.0 ** (2 + percentage.precision) > MOST:
                yield Outcome(where, missing="decimals")
                continue
            near = round(float(percentage) * count / 100)
            if any(fits(part, count, percentage) for part in range(max(near - 1, 0), near + 2)):
                yield Outcome(where)
                continue
            below = math.floor(float(percentage) * count / 100)
            steps = [
                f"{part} / {count} = {100 * part / count:.{percentage.precision + 1}f} %"
                for part in (below, below + 1)
            ]
            said = ", ".join(steps)
            message = f"No part of {count} is {percentage.written} %: {said}."
            yield Outcome(where, _finding("NUM404", share, message, said, _wheres(share, whole)))


add_rule(
    Rule(
        "NUM401",
        "mean-of-whole-numbers",
        "means of whole numbers",
        "A mean that so many whole numbers cannot have (GRIM).",
        "The mean of n whole numbers is a multiple of 1 / n: 5.19 is none of 28. It reads means of "
        "numbers of things and of single items with their sample sizes, and is silent where "
        "so many values could have nearly any mean with those decimals. In tables some values of a "
        "group may be missing.",
        ("The mean number of falls was 5.19 (SD 1.34, n = 28).",),
        ("The mean number of falls was 5.18 (SD 1.34, n = 28).",),
        "Compute the mean again, or give the number of values that it is of.",
        0.8,
        _means,
    )
)
add_rule(
    Rule(
        "NUM402",
        "deviation-of-whole-numbers",
        "deviations of whole numbers",
        "A standard deviation that so many whole numbers with that mean cannot have (GRIMMER).",
        "The sum of squares of whole numbers is whole, and even or odd as their sum is. Mean and "
        "standard deviation may be rounded, and the deviation be that of the sample or of the "
        "population.",
        ("The mean number of falls was 3.40 (SD 1.15, n = 5).",),
        ("The mean number of falls was 3.40 (SD 1.14, n = 5).",),
        "Compute the standard deviation again, or give the number of values that it is of.",
        0.8,
        _deviations,
    )
)
add_rule(
    Rule(
        "NUM403",
        "spread-beyond-scale",
        "means on scales",
        "A mean outside its scale, or a standard deviation that the scale has no room for.",
        "Values between a and b with the mean m have a standard deviation of at most "
        "√((m − a)(b − m)), a little more in small samples. The scale or the range has to be "
        "stated with the mean. It is silent on changes and differences.",
        (
            "Pain was rated on a scale from 0 to 10, with a mean of 2.1 (SD 4.9, n = 40).",
            "Scores had a mean of 75.2 (SD 7.4, range 33–73).",
        ),
        (
            "Pain was rated on a scale from 0 to 10, with a mean of 2.1 (SD 1.9, n = 40).",
            "Scores had a mean of 57.2 (SD 7.4, range 33–73).",
        ),
        "Look whether a digit or the scale is wrong, or a standard error was meant.",
        0.8,
        _bounded,
    )
)
add_rule(
    Rule(
        "NUM404",
        "percentage-of-whole-number",
        "percentages without counts",
        "A percentage that no part of so many can be.",
        "Of 20 patients 25 % or 30 % may recover, but not 27 %. It reads percentages of numbers of "
        "people or things without their counts, rounded or cut off; it is silent on plans, "
        "estimates and ranges.",
        ("In the end 27% of the 20 patients recovered.", "Of the 48 women, 35.2% smoked."),
        ("In the end 25% of the 20 patients recovered.", "Of the 48 women, 35.4% smoked."),
        "Count again, and write the count beside the percentage.",
        0.75,
        _shares,
    )
)
