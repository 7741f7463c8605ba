"""What is said of one numeral in a text."""

from dataclasses import asdict, dataclass
from typing import Any

REASONS = ("magnitude", "precision", "digits")


@dataclass(frozen=True, slots=True)
class Glance:
    """How plausible it is, without what was expected instead: that takes longer to find out."""

    start: int  # offsets into the text that was given
    end: int
    numeral: str  # normalised
    written: str  # as it stands in the text, in one line
    surprisal: float  # nats: −log p(numeral | a numeral comes)
    plausibility: float  # share of the dev split's numerals at least as odd
    flagged: bool


@dataclass(frozen=True, slots=True)
class Finding:
    start: int  # offsets into the text that was given
    end: int
    numeral: str  # normalised
    written: str  # as it stands in the text, in one line
    surprisal: float  # nats: −log p(numeral | a numeral comes)
    percentile: float  # 0 to 1: where its value lies in the predicted distribution
    interval: tuple[float, float]  # plausible range
    likely: str  # the most likely numeral
    reason: str  # what is odd about it, were it flagged: one of REASONS
    plausibility: float  # share of the dev split's numerals at least as odd
    flagged: bool
    sign: int = 1  # of the number as a reader takes it, −1 in `−0.5`
    power: int = 0  # and its power of ten, −16 in `2.2e-16`

    def record(self) -> dict[str, Any]:
        return asdict(self)
