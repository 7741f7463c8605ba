"""What is said of a finding, in words."""

import re

from numerate.plausibility.finding import Finding

AROUND = 160  # characters shown on either side of a numeral, if its sentence is that long
_BORDER = re.compile(r"[.!?]\s+(?=[A-Z0-9(])")


def explain(finding: Finding) -> str:
    low, high = (f"{value:.6g}" for value in finding.interval)
    return (
        f"{finding.written}: odd {finding.reason}, as odd as {share(finding.plausibility)} "
        f"numerals. Expected {low} to {high}, most likely {finding.likely}; at the "
        f"{100 * finding.percentile:.1f} % point, {finding.surprisal:.1f} nats."
    )


def share(plausibility: float) -> str:
    """A share as people say it: 1 in 640."""
    if plausibility > 0.1:
        return f"{100 * plausibility:.0f} in 100"
    return f"1 in {1 / plausibility:,.0f}"


def sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The borders of the sentence that holds text[start:end], cut if it is very long."""
    borders = [match.end() for match in _BORDER.finditer(text)]
    first = max((border for border in borders if border <= start), default=0)
    last = min((border for border in borders if border > end), default=len(text))
    return max(first, start - AROUND), min(last, end + AROUND)
