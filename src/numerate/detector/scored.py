"""What a detector says of a numeral, for those who need not know how it came to say so."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from numerate.rules.finding import Suggestion
from numerate.rules.where import Where

ERROR_RATE = 1 / 200
"""Of numerals that are wrong, in texts as people write them."""
PRIOR = math.log(ERROR_RATE / (1 - ERROR_RATE))  # as log odds
Told = Callable[[int], None]  # how many paragraphs of the document have been read


@dataclass(frozen=True, slots=True)
class Scored:
    """What is said of one numeral."""

    where: Where
    written: str
    log_odds: float  # that it is an error, calibrated for one wrong numeral in 200
    alarm: float  # share of right numerals that are at least as suspicious
    suggestion: Suggestion | None = None  # what was meant, written as it would be
