"""Findings: what is said of one numeral, why, with which evidence, and what it should be."""

from dataclasses import dataclass

from numerate.rules.where import Where

RECOMPUTED, DETECTED, UNLIKELY = "recomputed", "detected", "unlikely"
KINDS = (RECOMPUTED, DETECTED, UNLIKELY)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Something that a reader can look up: arithmetic, a place that says otherwise, or both."""

    kind: str  # one of KINDS
    said: str  # `42 / 120 = 35 %`; `Table 2, row Heart rate, column Placebo: 79.5`
    places: tuple[Where, ...] = ()  # of the numbers it rests on


@dataclass(frozen=True, slots=True)
class Suggestion:
    text: str  # as it would be written in the place of the numeral
    probability: float | None = None  # that it is what was meant, where that can be told


@dataclass(frozen=True, slots=True)
class Finding:
    """`where` is the numeral that is most likely wrong; `involved` are all that may be wrong
    instead, itself among them: of `42 of 120 (53%)` nobody knows which."""

    code: str  # of its rule: NUM101
    where: Where
    written: str  # the numeral as it stands
    message: str  # one sentence that a writer understands
    evidence: tuple[Evidence, ...] = ()
    involved: tuple[Where, ...] = ()
    suggestion: Suggestion | None = None
    probability: float = 1.0  # that something is wrong there, calibrated
    also: tuple[str, ...] = ()  # codes of other rules that point to the same numeral
    line: int | None = None  # of its file, from 1; of markup that where its paragraph begins
    column: int | None = None  # from 1; none in markup

    @property
    def codes(self) -> tuple[str, ...]:
        return (self.code, *self.also)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Of its evidence, in the order of `KINDS`."""
        found = {evidence.kind for evidence in self.evidence}
        return tuple(kind for kind in KINDS if kind in found)
