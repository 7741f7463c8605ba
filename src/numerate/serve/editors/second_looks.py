"""Where a language model takes its second look: at numerals of which its word changes what is told.

A first reading tells whether a text is of its kind; how odd a numeral is takes several times as
long to find out, and mostly nobody would hear of it: alone, a model that nobody has named is
seldom sure enough.
"""

from collections.abc import Iterable
from dataclasses import replace

from numerate.proofread.joining import Features, Joining
from numerate.proofread.witnesses import Suspicion, Testimony
from numerate.rules.finding import Finding

Places = dict[int, frozenset[tuple[int, int]]]
"""By paragraph: where numerals begin and end in it."""


def that_matter(
    findings: Iterable[Finding],
    suspicions: Iterable[Suspicion],
    joining: Joining,
    finest: float,
    least: float,
) -> Places | None:
    """Those that a rule or a detector speaks of, if what is told must be as probable as `least`,
    and nothing is odder to the language model than `finest`; None: all of them."""

    def may_be_told(detected: float | None) -> bool:
        return joining.probability(Features(detected=detected, plausibility=finest)) >= least

    if may_be_told(None):
        return None
    wheres = [where for one in findings for where in (one.where, *one.involved)]
    wheres += [one.where for one in suspicions if one.flagged or may_be_told(one.strength)]
    found: dict[int, set[tuple[int, int]]] = {}
    for where in wheres:
        if where.paragraph is not None:
            found.setdefault(where.paragraph, set()).add((where.start, where.end))
    return {paragraph: frozenset(places) for paragraph, places in found.items()}


def that_count(heard: Iterable[Testimony], findings: Iterable[Finding]) -> list[Testimony]:
    """What is said in texts and cells of which a rule speaks, or in which anything is flagged: of
    the others nothing can be told, and they are by far the most."""
    heard = list(heard)
    texts = {where.text_of for one in findings for where in (one.where, *one.involved)}
    texts |= {one.where.text_of for some in heard for one in some.suspicions if one.flagged}
    return [
        replace(some, suspicions=[one for one in some.suspicions if one.where.text_of in texts])
        for some in heard
    ]
