"""The scale on which an interval is symmetric about its estimate, by the words for it."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    is_log: bool
    null: float | None  # what the estimate is where there is no effect

    @property
    def name(self) -> str:
        return "log" if self.is_log else "linear"


DIFFERENCE = Scale(False, 0.0)
RATIO = Scale(True, 1.0)
LINEAR = Scale(False, None)
LOG = Scale(True, None)

_SCALES = (
    (
        RATIO,
        r"(?i:(?:odds|hazards?|risk|rate|prevalence|incidence|mean|relative|treatment)"
        r"[- ](?:rate |rates )?ratios?|relative (?:risks?|hazards?)|ratio of geometric)"
        r"|\b(?:a|adj|c|u|s)?(?:OR|HR|RR|IRR|SHR|PR|AOR|AHR|GMR)s?\b",
    ),
    (LOG, r"(?i:geometric means?)|\bGMTs?\b|\bGMCs?\b"),
    (
        None,  # a share, a rate, a percentile, on a scale of its own
        r"(?i:\bmedian|\bproportions?\b|percentages?|prevalence|incidence|\brates?\b|sensitivity"
        r"|efficacy|specificity|predictive|correlat|kappa|\bICC|\bAUC|\bROC\b|Cohen|Hedges"
        r"|effect size)|\bSMD|standardi[sz]ed|probabilit|fold|surviv|cost|ratio\b"
        r"|\b[dgr]\s?=|ρ|τ|EC50|IC50|\bLD50|\bKd\b|variance|heritab|likelihood|accuracy|frequency|quantile"
        r"|percentile|risk\b|utility|QALY|relative|percent\b|log",
    ),
    (DIFFERENCE, r"(?i:differen\w*|coefficient|\bbeta\b|slope)|\bMD\b|\bWMD\b|β|\b[bB]\s?=?\s?\Z"),
    (LINEAR, r"\b[Mm]eans?\b|\baverage\b|\bM\s?=|[Cc]hange"),
)
_WORDS = [(scale, re.compile(pattern)) for scale, pattern in _SCALES]
_EXPONENTIAL = re.compile(r"\bexp\s?\(\s?(?:β|b|beta|coef[a-z]*|estimate)\s?\)", re.IGNORECASE)
# Of a number, and not of the level of an interval.
PERCENT = re.compile(r"%(?!\s?-?\s?(?:of )?(?:CI|C\.I|confidence))", re.IGNORECASE)
_RATIO_IN_PERCENT = re.compile(r"ratios?[\s,(]{0,3}%|% ratio", re.IGNORECASE)
NEAR = 45


def scale_of(before: str, between: str = "", *, has_percent: bool = False) -> Scale | None:
    """By what is written before an estimate, and between it and its interval; None where that does
    not tell, or where it tells two things."""
    near = _EXPONENTIAL.sub(" OR ", f"{before[-NEAR:]} {between}")
    found = {scale for scale, pattern in _WORDS if pattern.search(near)}
    if RATIO in found and DIFFERENCE not in found:
        in_percent = _RATIO_IN_PERCENT.search(near)
        return LOG if in_percent else RATIO  # 100 % is no effect
    if RATIO in found:
        return None
    if None in found or len(found) > 2:
        return None
    if DIFFERENCE in found and LOG not in found:
        return DIFFERENCE
    if found == {LINEAR, LOG} or found == {LOG}:
        return LOG
    return LINEAR if found == {LINEAR} and not has_percent else None
