"""A count, what it is a part of, and the percentage that it is said to be."""

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from math import ceil, floor, isfinite

from numerate.rules.finding import RECOMPUTED, Evidence, Finding, Suggestion
from numerate.rules.numbers import Number
from numerate.rules.one_slip import one_slip
from numerate.rules.rounding import SLACK, Interval
from numerate.rules.stated import Stated

ROUGHLY = re.compile(  # right before a number that is not meant exactly
    r"(?:about|approximately|approx\.|around|nearly|almost|roughly|some|over|below|above|under"
    r"|(?:more|less|fewer) than|at least|at most|up to|threshold of|of this|of these|top|bottom"
    r"|[~≈∼<>≤≥±–-])\s?\Z"
)
EXACT = Context(prec=1000)  # digits: more than a number with its power can have


def is_count(number: Number) -> bool:
    return number.is_whole and number.value >= 0 and number.stop == number.end


def is_year(number: Number) -> bool:
    return len(number.written) == 4 and is_count(number) and 1500 <= number.value <= 2200


def is_percentage(number: Number) -> bool:
    """`9e5%` is none."""
    return number.value >= 0 and number.stop == number.end


def allowed(percentage: Number) -> Interval:
    """What it may have been: rounded, once or twice (24.48 to 24.5 to 25), or cut off, as many do
    (66.6 of two thirds)."""
    unit = 10.0**-percentage.precision
    return Interval(float(percentage) - 0.55 * unit, float(percentage) + unit)


def fits(count: int, whole: int, percentage: Number) -> bool:
    return whole > 0 and allowed(percentage).meets(100 * count / whole)


def wholes(count: int, percentage: Number, at_most: int) -> range:
    """All that the count may be this percentage of."""
    interval = allowed(percentage)
    interval = interval.widened(SLACK * max(-interval.low, interval.high))  # as they meet
    if interval.high <= 0 or count == 0:
        return range(0)
    least = ceil(100 * count / interval.high)
    most = at_most if interval.low <= 0 else min(at_most, floor(100 * count / interval.low))
    return range(max(least, count), most + 1)


def written(value: float, precision: int) -> str:
    """Rounded as a writer would, halves up; what is beyond all numbers stays."""
    if not isfinite(value):
        return str(value)
    exponent = Decimal(1).scaleb(-max(precision, 0))
    return f"{Decimal(repr(value)).quantize(exponent, ROUND_HALF_UP, EXACT):f}"


def contradiction(
    code: str, count: Stated, whole: Stated | None, size: int, percentage: Stated, where_size: str
) -> Finding:
    """`size` is that of the whole, which may stand elsewhere: `where_size` says where then."""
    part, share = int(count.number.value), percentage.number
    expected = written(100 * part / size, share.precision) if size else "0"
    stated = [percentage, count, *([whole] if whole else [])]
    involved = tuple(s.where for s in stated if s.is_numeral)
    wrong, meant = percentage, expected
    is_slip = part <= size and one_slip(share.written, expected)
    for one, others in _meant(part, size, share, count, whole):
        if not is_slip and any(one_slip(one.number.written, o) for o in others):
            wrong, meant = one, next(o for o in others if one_slip(one.number.written, o))
            break
    said = f"{part:,} / {size:,} = {expected} %{where_size}"
    return Finding(
        code,
        wrong.where,
        wrong.number.written,
        f"{part:,} of {size:,} is {expected} %, not {share.written} %.",
        (Evidence(RECOMPUTED, said, tuple(s.where for s in stated)),),
        involved,
        Suggestion(meant),
    )


def _meant(
    part: int, size: int, share: Number, count: Stated, whole: Stated | None
) -> list[tuple[Stated, Sequence[str]]]:
    """What the count or the whole would be, had the percentage been right."""
    found: list[tuple[Stated, Sequence[str]]] = []
    if count.is_numeral:
        around = round(float(share) * size / 100)
        near = range(max(around - 2, 0), around + 3)
        found.append((count, [str(n) for n in near if fits(n, size, share) and n <= size]))
    if whole is not None and whole.is_numeral:
        found.append((whole, [str(n) for n in wholes(part, share, 10 * size)[:20]]))
    return found
