"""Claims in the order of how probable their numerals are."""

from collections.abc import Sequence
from dataclasses import dataclass

from numerate.errors import NumerateError, check_choice
from numerate.plausibility.number_model import NumberModel, Reading

WAYS = ("numerals", "sentence")


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one numeral adds to the score of its claim."""

    numeral: str
    start: int
    end: int
    log_prob: float


@dataclass(frozen=True, slots=True)
class Claim:
    text: str
    place: int  # among the claims as they were given
    log_prob: float  # by which claims are ordered
    numerals: list[Contribution]
    sentence_log_prob: float  # of all tokens


@dataclass(frozen=True, slots=True)
class Ranking:
    by: str
    claims: list[Claim]  # the most probable first
    reason: str  # what drives the order, in words


def rank(model: NumberModel, claims: Sequence[str], by: str = "numerals") -> Ranking:
    """Order claims by the probability of their numerals in context, or of all their tokens."""
    check_choice("value of by", by, WAYS)
    if not claims:
        raise NumerateError("claims: got none, expected one or more")
    scored = []
    for place, (text, reading) in enumerate(zip(claims, model.read(claims), strict=True)):
        if not len(reading.positions):
            raise NumerateError(f"claim {place + 1}: no numeral in {text[:60]!r}")
        scored.append(_claim(text, place, reading, by))
    scored.sort(key=lambda claim: (-claim.log_prob, claim.place))
    return Ranking(by, scored, "")


def _claim(text: str, place: int, reading: Reading, by: str) -> Claim:
    numerals = [
        Contribution(token.text, token.start, token.end, float(log_prob))
        for token, log_prob in zip(reading.numerals, reading.numeral_log_probs, strict=True)
    ]
    sentence = float(reading.log_probs.sum())
    score = sentence if by == "sentence" else sum(numeral.log_prob for numeral in numerals)
    return Claim(text, place, score, numerals, sentence)
