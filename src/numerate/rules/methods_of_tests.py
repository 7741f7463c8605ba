"""What a document says of its tests: in which other ways p-values may follow from statistics."""

import re
from dataclasses import dataclass

from numerate.rules.reading import ReadDocument

_ONE_SIDED = re.compile(r"\b(?:one|1|single)[\s‐–-](?:tail|side)", re.IGNORECASE)
_RESAMPLED = re.compile(
    r"(?:[Bb]ootstrap|[Pp]ermut|[Rr]andomi[sz]ation test)[^.]{0,120}"
    r"\b(?:tests?|[tF]-values?|statistic)\b"
)
_REPEATED = re.compile(r"Greenhouse|Huynh|sphericity|[Rr]epeated[- ]measure|[Ww]ithin[- ]subject")
_DISCOVERY = re.compile(r"Benjamini|Hochberg|\bFDR\b|[Ff]alse discover")
_FOR_MANY = re.compile(
    r"[pP][- ]?values?[^.]{0,120}(?:correct|adjust)|(?:correct|adjust)[^.]{0,60}[pP][- ]?values?"
    r"|(?:correct|adjust)\w*[^.]{0,30} multiple (?:comparison|test|hypothes)"
)
_MULTIPLIED = re.compile(r"Bonferroni|[SŠ]id[aá]k|Holm")
_RANKS = re.compile(r"Wilcoxon|Mann|\b[Rr]ank|[Nn]on-?parametric|Kruskal|Friedman")


@dataclass(frozen=True, slots=True)
class MethodsOfTests:
    one_sided: bool  # some
    resampled: bool
    repeated: bool  # measures, whose degrees of freedom may be corrected for sphericity
    corrected: bool  # for many comparisons
    discovered: bool  # false ones, which are counted among all tests
    multiplied: bool  # by the number of comparisons
    ranked: bool  # whose p-values may be exact

    @classmethod
    def of(cls, read: ReadDocument) -> "MethodsOfTests":
        texts = [piece.text for piece in read.running()]

        def say(pattern: re.Pattern[str]) -> bool:
            return any(map(pattern.search, texts))

        some = [text for text in texts if "correct" in text or "adjust" in text]
        corrected = any(map(_FOR_MANY.search, some))
        return cls(
            one_sided=say(_ONE_SIDED),
            resampled=say(_RESAMPLED),
            repeated=say(_REPEATED),
            corrected=corrected,
            discovered=corrected and say(_DISCOVERY),
            multiplied=say(_MULTIPLIED),
            ranked=say(_RANKS),
        )
