"""What rules of confidence intervals share: all there are, their centres, what is told of them."""

import math
import re

from numerate.rules.finding import RECOMPUTED, Evidence, Finding, Suggestion
from numerate.rules.reading import ReadDocument
from numerate.rules.reported_intervals import ReportedInterval, intervals_in_text
from numerate.rules.rounding import Interval
from numerate.rules.scale import Scale
from numerate.rules.stated import Stated
from numerate.rules.tabulated_intervals import intervals_in_tables
from numerate.rules.where import Where

NOT_WALD = re.compile(
    r"[Bb]ootstrap|[Cc]redible|HPD|[Bb]ayes|[Pp]osterior|BCa\b|[Pp]rofile|\b[Ee]xact|Wilson|Clopper"
    r"|Hodges|[Jj]ackknife|[Mm]edian|[Mm]onte Carlo|MCMC|[Pp]ercentile|[Nn]on-?inferior|[Qq]uantile"
)
OTHER_METHOD = re.compile(
    r"[Ee]xact (?:[0-9]+ ?% )?(?:CI|confidence|logistic)|[Bb]ootstrap"
    r"|[Cc]redible interval|Bayesian|MCMC|[Pp]rofile.likelihood"
)
SYMMETRIC = "a symmetric method"


def intervals_of(read: ReadDocument) -> list[ReportedInterval]:
    return [*intervals_in_text(read), *intervals_in_tables(read)]


def involved_in(*placed: Stated | Where | None) -> tuple[Where, ...]:
    wheres = [one.where if isinstance(one, Stated) else one for one in placed if one is not None]
    return tuple(dict.fromkeys(wheres))


def finding_of(
    code: str,
    at: Stated,
    message: str,
    said: str,
    involved: tuple[Where, ...],
    suggestion: Suggestion | None = None,
) -> Finding:
    evidence = Evidence(RECOMPUTED, said, involved)
    return Finding(code, at.where, at.number.written, message, (evidence,), involved, suggestion)


def is_in_order(one: ReportedInterval) -> bool:
    return float(one.low) <= float(one.high)


def centre_of(one: ReportedInterval, scale: Scale) -> Interval | None:
    low, high = one.low.interval, one.high.interval
    if not scale.is_log:
        return Interval((low.low + high.low) / 2, (low.high + high.high) / 2)
    if low.high <= 0:
        return None
    return Interval(math.sqrt(max(low.low, 0.0) * high.low), math.sqrt(low.high * high.high))


def document_says(read: ReadDocument, pattern: re.Pattern[str]) -> bool:
    return any(pattern.search(piece.text) for piece in read.running())
