"""The sentences that numerals stand in."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from numerate.plausibility.checking.check import Checked
from numerate.plausibility.finding import Finding

AROUND = 160  # characters shown on either side of a numeral, if its sentence is that long
_BORDER = re.compile(r"[.!?]\s+(?=[A-Z0-9(])")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with its findings; offsets are those of what was given."""

    start: int
    end: int
    findings: list[Finding]


def sentences(checked: Checked, findings: list[Finding]) -> Iterator[Sentence]:
    """In the order of the text; a very long sentence is cut around its findings."""
    source = checked.document.source
    for paragraph, those in groupby(findings, lambda found: source.paragraph_at(found.start)):
        start, end = source.spans[paragraph]
        borders = [start + border for border in sentence_borders(source.text[start:end])]
        for index, some in groupby(those, lambda found: bisect_right(borders, found.start)):  # noqa: B023
            together = list(some)
            yield Sentence(
                max(borders[index - 1], together[0].start - AROUND),
                min(borders[index], together[-1].end + AROUND),
                together,
            )


def sentence_borders(text: str) -> list[int]:
    """Where each sentence begins, and the end of the text."""
    return [0, *(match.end() for match in _BORDER.finditer(text)), len(text)]
