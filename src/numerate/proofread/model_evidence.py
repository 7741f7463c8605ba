"""Evidence of models against the numerals of a document, in one form for all kinds of models.

A detector's log odds are calibrated at the prior of one wrong numeral in two hundred. A p-value p
of a language model's calibration is worth odds of at most 1 / (−e p ln p) against the same prior
(Sellke, Bayarri and Berger, 2001)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from numerate.detector.scored import ERROR_RATE, PRIOR, Scored, Told
from numerate.documents.document import Document, Table
from numerate.errors import NumerateError
from numerate.proofread.model_rules import DETECTED_CODE, MODEL_RULES, UNLIKELY_CODE
from numerate.rules.finding import DETECTED, UNLIKELY, Evidence, Suggestion
from numerate.rules.numbers import numbers_in
from numerate.rules.reading import ReadDocument
from numerate.rules.where import Where

if TYPE_CHECKING:
    from numerate.lm.model.assessments import Assessments, Glance
    from numerate.lm.model.domain import Fit
    from numerate.text.seen_numbers import SeenNumber, Source

ALARMS = 0.01  # share of right numerals that models may flag
MOST_CERTAIN = 0.999  # nothing is surer, whatever was measured on some hundred findings


@runtime_checkable
class DetectorLike(Protocol):
    """What says of numerals how likely they are errors, as `detector.trained.Detector` does."""

    name: str

    @property
    def finest_alarms(self) -> float: ...  # the smallest share at which it flags anything

    def log_odds(
        self, document: Document, tables: Sequence[Table], told: Told | None = None
    ) -> Sequence[Scored]: ...


@runtime_checkable
class LanguageModel(Protocol):
    """What `numerate.load` opens, as far as it is used here."""

    @property
    def name(self) -> Any: ...
    @property
    def checker(self) -> Any: ...
    @property
    def sees_tables(self) -> bool: ...


Model = DetectorLike | LanguageModel


@dataclass(frozen=True, slots=True)
class Suspicion:
    """One model's doubt about one numeral."""

    code: str
    where: Where
    written: str
    probability: float  # that the numeral is an error
    message: str = ""
    evidence: tuple[Evidence, ...] = ()
    suggestion: Suggestion | None = None
    plausibility: float | None = None  # by a language model: share of right numerals as odd


@dataclass(frozen=True, slots=True)
class ModelEvidence:
    """All that one model says of one document."""

    suspicions: Sequence[Suspicion]  # numerals that it flags
    judged: Sequence[Where]  # numerals that it can judge
    unusual: Sequence[Suspicion] = ()  # odd, but not flagged; oddest first
    fit: "Fit | None" = None  # whether the document is of the kind that the model knows


def probability_of(log_odds: float) -> float:
    bounded = min(max(log_odds, -700.0), 700.0)
    return min(1 / (1 + math.exp(-bounded)), MOST_CERTAIN)


def log_bound(plausibility: float) -> float:
    """The most that a p-value can say against its hypothesis, as log odds; 0 from 1/e on."""
    surprise = -math.log(max(plausibility, 1e-300))
    return surprise - 1 - math.log(surprise) if surprise > 1 else 0.0


def probability_of_odd(plausibility: float) -> float:
    """Probability that a numeral is an error, by the plausibility that a language model gives."""
    return probability_of(PRIOR + log_bound(plausibility))


def looked_for(codes: Iterable[str], models: Iterable[Model]) -> frozenset[str]:
    """Those of the codes that can be found: that of a kind of model only if one is asked."""
    asked = {
        DETECTED_CODE if isinstance(model, DetectorLike) else UNLIKELY_CODE for model in models
    }
    return frozenset(code for code in codes if code not in MODEL_RULES or code in asked)


def check_alarms(model: Model, alarms: float) -> None:
    """Raises where the model could flag nothing, which would look as if all were right."""
    if not isinstance(model, DetectorLike):
        model.checker.calibration.check_alarms(alarms)
    elif alarms < model.finest_alarms:
        finest = f"{model.finest_alarms:.2g}"
        raise NumerateError(
            f"alarms: got {alarms}, expected at least {finest}: the detector {model.name} was "
            f"calibrated on {1 / model.finest_alarms - 1:.0f} numerals"
        )


def usual_alarms(models: Iterable[Model]) -> float:
    """The share for those who name none; a model calibrated on few numerals allows no finer."""
    return max((_usual_alarms(model) for model in models), default=ALARMS)


def _usual_alarms(model: Model) -> float:
    if isinstance(model, DetectorLike):
        return max(ALARMS, model.finest_alarms)
    usual: float = model.checker.usual_alarms
    return usual


def ask(
    model: Model, read: ReadDocument, alarms: float, progress: Told | None = None
) -> ModelEvidence:
    """Ask one model about a document."""
    if isinstance(model, DetectorLike):
        return _detected(model, read, alarms, progress)
    # Rules and detectors use tables beside the document: a model that sees none is not asked to.
    given = read.given if model.sees_tables else ()
    return evidence_of(model.checker.sift(read.document, alarms, given, progress), read)


def ask_all(
    models: Iterable[Model], read: ReadDocument, alarms: float, progress: Told | None = None
) -> list[ModelEvidence]:
    """Ask several models; `progress` hears how many paragraphs they have read, all together."""
    found = []
    for index, model in enumerate(models):
        before = index * len(read.document.paragraphs)
        later = None if progress is None else lambda done, before=before: progress(before + done)
        found.append(ask(model, read, alarms, later))
    return found


def _detected(
    model: DetectorLike, read: ReadDocument, alarms: float, progress: Told | None
) -> ModelEvidence:
    check_alarms(model, alarms)
    found, judged = [], []
    for scored in model.log_odds(read.document, read.given, progress):
        judged.append(scored.where)
        if scored.alarm > alarms:
            continue
        meant = scored.suggestion
        instead = f"; {meant.text} would" if meant else ""
        odds = _odds(scored.log_odds)
        found.append(
            Suspicion(
                DETECTED_CODE,
                scored.where,
                scored.written,
                probability_of(scored.log_odds),
                f"{scored.written} does not seem to belong here{instead}.",
                (Evidence(DETECTED, f"{model.name}: odds of {odds} that it is an error"),),
                meant,
            )
        )
    return ModelEvidence(found, judged)


def _odds(log_odds: float) -> str:
    """`12 to 1`, `1 to 30`."""
    ratio = math.exp(min(abs(log_odds), 20.0))
    shown = f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"
    return f"{shown} to 1" if log_odds >= 0 else f"1 to {shown}"


def evidence_of(assessed: "Assessments[Any]", read: ReadDocument) -> ModelEvidence:
    """Turn the assessments of a language model into evidence, with as much detail as they have.

    What the model flags in a text that it does not fit is no more probable an error than any
    other numeral."""
    from numerate.lm.model.assessments import Assessment
    from numerate.lm.model.wording import explain, share, verdict

    calibrated = assessed.domain.calibrated

    def suspicion(one: "Assessment | Glance") -> Suspicion:
        where = _where(read.document, one.start, one.end)
        probability = probability_of_odd(one.plausibility) if calibrated else ERROR_RATE
        bare = Suspicion(
            UNLIKELY_CODE, where, one.written, probability, plausibility=one.plausibility
        )
        if not one.flagged:
            return bare
        known = f"as odd as {share(one.plausibility)} numbers that the model knows"
        evidence = [Evidence(UNLIKELY, known)]
        if not isinstance(one, Assessment):
            said = f"{one.written} is {verdict(one, assessed.domain)}."
            return replace(bare, message=said, evidence=tuple(evidence))
        for source in one.sources:
            places = tuple(filter(None, (_place(number, read) for number in source.numbers)))
            evidence.append(Evidence(UNLIKELY, str(source), places))
        return replace(
            bare,
            message=explain(one, assessed.domain),
            evidence=tuple(evidence),
            suggestion=_suggestion(one.likely, one.sources, one.numeral),
        )

    closely = {one.start for one in assessed}
    everything = [*assessed, *(one for one in assessed.glances if one.start not in closely)]
    places = (_where(read.document, one.start, one.end) for one in everything)
    return ModelEvidence(
        [suspicion(one) for one in everything if one.flagged],
        list(places) if calibrated else [],
        [suspicion(one) for one in assessed.unusual],
        assessed.domain,
    )


def _suggestion(likely: str, sources: "Sequence[Source]", written: str) -> Suggestion | None:
    """What stands in sight, or follows from what does; a guess is in the message only."""
    chances = [source.probability for source in sources if source.numeral == likely]
    if not chances or likely == written:
        return None
    return Suggestion(likely, min(sum(chances), 1.0))


def _where(document: Document, start: int, end: int) -> Where:
    """Of offsets into what was given."""
    source = document.source
    index = source.paragraph_at(start)
    at = document.paragraphs[index].start
    return Where(source.read_at(start) - at, source.read_at(end - 1) + 1 - at, paragraph=index)


def _place(number: "SeenNumber", read: ReadDocument) -> Where | None:
    """Of a number in view; models count the tables that are given before the document's own."""
    if number.table is None or number.row is None or number.column is None:
        if number.start is None or number.end is None:
            return None
        return _where(read.document, number.start, number.end)
    given = len(read.given)
    own = len(read.tables) - given
    table = number.table + own if number.table < given else number.table - given
    if table >= len(read.tables):
        return None
    cell = Where(0, 0, None, table, number.row, number.column)
    text = read.whole(cell)
    spans = [(n.start, n.end) for n in numbers_in(text) if n.written == number.text]
    start, end = (spans or [(0, len(text))])[0]
    return Where(start, end, None, table, number.row, number.column)
