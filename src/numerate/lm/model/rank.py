"""Claims in the order of how probable their numerals are, and what makes the difference."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from numerate.documents.document import Table
from numerate.errors import NumerateError, check_choice
from numerate.reports.notebook import as_table

if TYPE_CHECKING:
    from numerate.lm.model.numeral_lm import NumeralLM, TextReading

WAYS = ("numerals", "sentence")


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one numeral adds to the score of its claim."""

    numeral: str
    start: int  # offsets into the claim
    end: int
    log_prob: float  # log p(numeral | a numeral comes)


@dataclass(frozen=True, slots=True)
class Claim:
    text: str
    place: int  # among the claims as they were given, from 0
    log_prob: float  # the score: of its numerals, or of all its tokens
    numerals: list[Contribution]
    words_log_prob: float  # all else in the sentence, its classes and its end
    reason: str  # what sets it apart from the first; empty for the first


@dataclass(frozen=True, slots=True, repr=False)
class Ranking(Sequence[Claim]):
    """The claims in order, as the sequence that it looks like."""

    by: str  # numerals or sentence
    claims: list[Claim]  # the most probable first

    def __len__(self) -> int:
        return len(self.claims)

    @overload
    def __getitem__(self, index: int) -> Claim: ...
    @overload
    def __getitem__(self, index: slice) -> list[Claim]: ...
    def __getitem__(self, index: int | slice) -> Claim | list[Claim]:
        return self.claims[index]

    def __repr__(self) -> str:
        shown = ", ".join(f"{claim.text!r} {claim.log_prob:.2f}" for claim in self)
        return f"Ranking(by {self.by}: {shown})"

    def _repr_html_(self) -> str:
        rows = (
            (place, claim.text, f"{claim.log_prob:.2f}", claim.reason)
            for place, claim in enumerate(self, 1)
        )
        columns = ("", "claim", "log p", "against the first")
        return as_table(f"Ranking by {self.by}", columns, rows)

    def record(self) -> dict[str, Any]:
        return asdict(self)


def rank(
    model: "NumeralLM",
    claims: Sequence[str],
    by: str = "numerals",
    tables: Sequence[Table] = (),
) -> Ranking:
    """Order claims by the probability of their numerals in context, or of all their tokens."""
    check_choice("way to rank", by, WAYS)
    if isinstance(claims, str) or not claims:
        raise NumerateError("claims: expected a list of one or more texts")
    scored = []
    readings = model.read_texts(claims, tables)
    for place, (text, reading) in enumerate(zip(claims, readings, strict=True)):
        if not len(reading.positions):
            raise NumerateError(f"claim {place + 1}: no numeral in {text[:60]!r}")
        scored.append((place, text, _contributions(reading), _rest(reading)))
    totals = [_sum(numerals) + (by == "sentence") * rest for _, _, numerals, rest in scored]
    order = sorted(range(len(scored)), key=lambda place: (-round(totals[place], 6), place))
    _, _, best, best_rest = scored[order[0]]
    return Ranking(
        by,
        [
            Claim(
                text,
                place,
                totals[place],
                numerals,
                rest,
                _reason(best, numerals, best_rest - rest if by == "sentence" else 0.0)
                if place != order[0]
                else "",
            )
            for place, text, numerals, rest in (scored[place] for place in order)
        ],
    )


def _contributions(reading: "TextReading") -> list[Contribution]:
    return [
        Contribution(token.text, token.start, token.end, float(log_prob))
        for token, log_prob in zip(reading.numerals, reading.numeral_log_probs, strict=True)
    ]


def _rest(reading: "TextReading") -> float:
    return float(reading.log_probs.sum() - reading.numeral_log_probs.sum())


def _sum(numerals: list[Contribution]) -> float:
    return float(sum(numeral.log_prob for numeral in numerals))


def _reason(best: list[Contribution], other: list[Contribution], words: float) -> str:
    """The largest single difference: a pair of numerals, an extra numeral, or the words.

    Numerals are compared in order where both claims have as many; otherwise the least probable
    one of the claim with more of them makes the difference.
    """
    if len(best) == len(other):
        gaps = [a.log_prob - b.log_prob for a, b in zip(best, other, strict=True)]
        index = int(np.argmax(np.abs(gaps)))
        gap, pair = gaps[index], (best[index].numeral, other[index].numeral)
        if abs(gap) >= abs(words):
            same = pair[0] == pair[1]
            what = f"{pair[0]} where it stands" if same else f"{pair[0]} against {pair[1]}"
            return f"{what}: {_times(gap)}"
    else:
        longer, more = (other, "more") if len(other) > len(best) else (best, "fewer")
        least = min(longer, key=lambda numeral: numeral.log_prob)
        if abs(least.log_prob) >= abs(words):
            chance = f"p = {np.exp(least.log_prob):.2g}"
            return f"{more} numerals; the least probable is {least.numeral}: {chance}"
    return f"the words: {_times(words)}"


def _times(nats: float) -> str:
    """How many times as probable, in words that also hold for enormous ratios."""
    ratio = abs(nats) / np.log(10)
    if ratio < 0.002:
        return "equally probable"
    size = f"{float(f'{10**ratio:.3g}'):,g}" if ratio < 6 else f"10^{ratio:.0f}"
    return f"{size} times as probable" + ("" if nats >= 0 else " in this one")
