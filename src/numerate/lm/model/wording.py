"""What is said of a numeral, in words: the same on a terminal, in a file and on the page."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from numerate.lm.model.domain import Compared, Fit
from numerate.numeral import Numeral

if TYPE_CHECKING:
    from numerate.lm.model.assessments import Assessment, Glance

UNUSUAL = 0.1  # of ten numerals of ordinary text, one is so odd
FAR = 3  # times the end of the plausible range
VERDICTS = {
    "implausible": "implausible here",
    "unusual": "unusual here",
    "plausible": "plausible here",
}
UNCALIBRATED = {
    "implausible": "very odd to this model",
    "unusual": "odd to this model",
    "plausible": "not odd to this model",
}
"""The same of a model that does not fit the text: what it says of itself, not of the text."""


def level_of(assessment: "Assessment | Glance") -> str:
    """One of three, the keys of `VERDICTS`."""
    if assessment.flagged:
        return "implausible"
    return "unusual" if assessment.plausibility < UNUSUAL else "plausible"


def verdict(assessment: "Assessment | Glance", fit: Fit) -> str:
    return (VERDICTS if fit.calibrated else UNCALIBRATED)[level_of(assessment)]


def explain(assessment: "Assessment", fit: Fit) -> str:
    """A sentence or two: how plausible it is, what is odd of it, what was expected."""
    level = level_of(assessment)
    said = f"{assessment.written} is {verdict(assessment, fit)}"
    if level != "plausible":
        said += f": {what_is_odd(assessment.numeral, assessment.reason, assessment.interval)}"
    return f"{said}. {_expectation(assessment)}"


def what_is_odd(numeral: str, reason: str, interval: tuple[float, float]) -> str:
    """One of `REASONS`, as people say it."""
    if reason == "precision":
        decimals = Numeral.parse(numeral).precision
        if not decimals:
            return "it is rarely written without decimals"
        return f"it is rarely written with {decimals} decimal{'s' if decimals > 1 else ''}"
    if reason == "digits":
        return "its size is usual, but this very number is rare"
    low, high = interval
    value = float(numeral)
    if value > high:
        return f"it is {'far ' if value >= FAR * high else ''}larger than expected"
    if value < low:
        return f"it is {'far ' if FAR * value <= low else ''}smaller than expected"
    return "numbers of about this size are rare"


def _expectation(assessment: "Assessment") -> str:
    low, high = map(for_people, assessment.interval)
    expected = low if low == high else f"{low} to {high}"
    likely = "" if assessment.likely == assessment.numeral else f", most likely {assessment.likely}"
    sources = [source for source in assessment.sources if source.numeral == assessment.likely]
    return f"Usual: {expected}{likely}{f' ({sources[0].reason})' if likely and sources else ''}."


def figures(assessment: "Assessment") -> str:
    """What the words rest on, for those who ask."""
    return (
        f"{assessment.reason}: as odd as {share(assessment.plausibility)} numerals of the dev "
        f"split, at the {100 * assessment.percentile:.1f} % point, {assessment.surprisal:.1f} nats"
    )


def misfit(what: str, fit: Fit) -> str:
    """One line that says why a text does not fit."""
    differing = {name: trait for name, trait in fit.compared.items() if not trait.fits}
    reasons = "; ".join(_DIFFERENCES[name](trait) for name, trait in differing.items())
    return f"{what} is unlike what the model was trained on: {reasons}. Findings are uncalibrated."


_DIFFERENCES: dict[str, Callable[[Compared], str]] = {
    "unknown_words": lambda trait: (
        f"{100 * trait.value:.0f} % of its words are unknown to the model, "
        f"{100 * trait.usual:.0f} % are usual"
    ),
    "word_surprisal": lambda trait: (
        f"its words surprise the model (perplexity {_perplexity(trait.value)}, "
        f"{_perplexity(trait.usual)} is usual)"
    ),
    "strangeness": lambda trait: (
        f"its numbers surprise the model (strangeness {trait.value:.1f}, "
        f"{trait.usual:.1f} is usual)"
    ),
}


def _perplexity(nats: float) -> str:
    return for_people(float(f"{math.exp(nats):.2g}"))


def share(plausibility: float) -> str:
    """A share as people say it: 1 in 640."""
    if plausibility > 0.1:
        return f"{100 * plausibility:.0f} in 100"
    return f"1 in {1 / plausibility:,.0f}"


def for_people(value: float) -> str:
    """A number with at most four digits that matter, or as many as its whole part has."""
    if not math.isfinite(value) or (value and not 1e-4 <= abs(value) < 1e7):
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
