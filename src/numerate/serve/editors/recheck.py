"""Where a language model takes its second look: at numerals whose findings it may change.

A first reading tells whether a text is of its kind; how odd a numeral is takes several times as
long to find out.
"""

from collections.abc import Iterable

from numerate.proofread.model_evidence import Suspicion, probability_of_odd
from numerate.rules.finding import Finding

Places = dict[int, frozenset[tuple[int, int]]]
"""By paragraph: where numerals begin and end in it."""


def that_matter(
    findings: Iterable[Finding],
    suspicions: Iterable[Suspicion],
    finest: float,
    min_probability: float,
) -> Places | None:
    """Return the numerals that a rule or a detector doubts; None, which means all of them, where
    the language model alone can be sure enough: its least plausibility is `finest`."""
    if probability_of_odd(finest) >= min_probability:
        return None
    wheres = [where for one in findings for where in (one.where, *one.involved)]
    wheres += [one.where for one in suspicions]
    found: dict[int, set[tuple[int, int]]] = {}
    for where in wheres:
        if where.paragraph is not None:
            found.setdefault(where.paragraph, set()).add((where.start, where.end))
    return {paragraph: frozenset(places) for paragraph, places in found.items()}
