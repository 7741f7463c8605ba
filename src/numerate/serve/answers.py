"""Answers of the API: what proofreading and models say, in the words of the messages."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from numerate.detector.scored import Told
from numerate.documents.document import Document, Table
from numerate.documents.text import read_text
from numerate.errors import CalibrationError, NumerateError
from numerate.lm.model.assess import LEVEL
from numerate.lm.model.assessments import Assessment, Assessments, Glance
from numerate.lm.model.domain import Fit
from numerate.lm.model.numeral_distribution import NumeralDistribution
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.wording import explain, level_of, misfit, verdict, what_is_odd
from numerate.numeral import Numeral
from numerate.proofread.model_evidence import DetectorLike, Model
from numerate.proofread.models import Models
from numerate.proofread.options import CheckOptions
from numerate.proofread.proofread import ProofreadDocument
from numerate.proofread.report import (
    Report,
    coverage_record,
    finding_record,
    place_record,
)
from numerate.proofread.selection import all_rules
from numerate.proofread.session import Session
from numerate.rules.finding import Finding
from numerate.rules.where import Where
from numerate.serve import messages
from numerate.serve.bars import linear_bars, log_bars


def checked(
    model: NumeralLM | None,
    asked: messages.CheckRequest,
    tables: Sequence[Table] = (),
    *,
    detectors: Sequence[DetectorLike] = (),
) -> messages.CheckAnswer:
    """All that is wrong; with a language model, also how plausible every numeral is."""
    found, assessed = proofread_text(model, asked, tables, detectors=detectors)
    numerals: list[messages.Checked] = []
    domain = None
    if assessed is not None:
        fit = assessed.domain
        reason = None if fit.calibrated else misfit("This text", fit)
        domain = messages.Domain.model_validate({**fit.record(), "misfit": reason})
        numerals = [_checked(finding, fit) for finding in assessed]
    report = Report([found])
    return messages.CheckAnswer(
        findings=[messages.Found.model_validate(found_record(found, one)) for one in found],
        coverage={
            statements: messages.Covered.model_validate(covered)
            for statements, covered in coverage_record(report.coverage).items()
        },
        summary=report.summary,
        numerals=numerals,
        flagged=sum(numeral.flagged for numeral in numerals),
        domain=domain,
    )


def proofread_text(
    model: NumeralLM | None,
    asked: messages.CheckRequest,
    tables: Sequence[Table] = (),
    *,
    detectors: Sequence[DetectorLike] = (),
) -> tuple[ProofreadDocument, Assessments[Any] | None]:
    """Return the findings, and what the language model says of every numeral, if there is one."""
    options = CheckOptions(
        select=tuple(asked.select),
        ignore=tuple(asked.ignore),
        alarms=asked.alarms,
        min_probability=asked.min_probability,
    )
    models: list[Model] = list(detectors)
    assessing = None
    if model is not None and _can_check(model):
        assessing = _Assessing(model, asked.details)
        models.append(assessing)
    session = Session(options, models=Models.opened(models))
    document = read_text(asked.text)
    found = session.check(document, tables)
    if assessing is None:
        return found, None
    if assessing.assessed is None:  # no code was selected that a model finds
        assessing.sift(document, session.alarms, tables if assessing.sees_tables else ())
    return found, assessing.assessed


def _can_check(model: NumeralLM) -> bool:
    """Whether the model can tell what is odd; the server said so when it began."""
    try:
        _ = model.checker.usual_alarms
    except CalibrationError:
        return False
    return True


class _Assessing:
    """A language model that keeps what it says of every numeral, flagged or not; it is its own
    `checker`."""

    def __init__(self, model: NumeralLM, details: bool) -> None:
        self.name, self.sees_tables = model.name, model.sees_tables
        self.checker: Any = self
        self.assessed: Assessments[Any] | None = None
        self._checker, self._details = model.checker, details
        self.usual_alarms: float = model.checker.usual_alarms

    def sift(
        self,
        document: Document,
        alarms: float,
        tables: Sequence[Table] = (),
        progress: Told | None = None,
    ) -> Assessments[Any]:
        look = self._checker.assess if self._details else self._checker.glance
        self.assessed = look(document, alarms, tables)
        return self.assessed


def found_record(proofread: ProofreadDocument, finding: Finding) -> dict[str, Any]:
    """As `messages.Found` has it."""

    def at(where: Where) -> dict[str, Any]:
        return _place(proofread, where)

    record = finding_record(proofread, finding) | at(finding.where)
    record["rule"] = all_rules()[finding.code].name
    record["involved"] = [at(where) for where in finding.involved]
    record["evidence"] = [
        {"kind": one.kind, "said": one.said, "places": [at(where) for where in one.places]}
        for one in finding.evidence
    ]
    return record


def _place(proofread: ProofreadDocument, where: Where) -> dict[str, Any]:
    """With the tables counted as requests do: theirs before those of the text."""
    record = place_record(proofread, where)
    table, given = where.table, len(proofread.read.given)
    if table is not None:
        own = len(proofread.document.tables)
        table = table + given if table < own else table - own
    beside = proofread.read.is_beside(where)
    return {
        **record,
        "start": None if beside else record["start"],
        "end": None if beside else record["end"],
        "table": table,
        "row": where.row,
        "column": where.column,
    }


def _checked(finding: Assessment | Glance, fit: Fit) -> messages.Checked:
    level = level_of(finding)
    words: dict[str, Any] = {"level": level, "verdict": verdict(finding, fit)}
    if isinstance(finding, Assessment):
        words["explanation"] = explain(finding, fit)
        words["reason"] = None if level == "plausible" else finding.reason
        return messages.Checked.model_validate(finding.record() | words)
    return messages.Checked.model_validate(asdict(finding) | words)


def predicted(
    model: NumeralLM,
    asked: messages.PredictRequest,
    longest: int,
    tables: Sequence[Table] = (),
) -> messages.PredictAnswer:
    """`longest` is how many tokens may stand around a gap."""
    if (asked.start is None) != (asked.end is None):
        raise NumerateError("start and end: expected both or neither")
    if asked.start is None or asked.end is None:
        distribution = model.predict(asked.text, tables, longest=longest)
        written = None
    else:
        numeral = _numeral_at(model, asked.text, asked.start, asked.end)
        judged = model.checker.judge_at(asked.text, asked.start, tables)
        if judged is None:
            raise NumerateError(f"start and end: no numeral stands from {asked.start}")
        distribution, reason = judged
        written = _written(distribution, numeral, reason)
    calibrated = asked.calibrated and distribution.is_calibrated()
    low, high = distribution.interval(asked.level, calibrated=calibrated)
    shown = [low, high] if written is None else [low, high, written.value]
    return messages.PredictAnswer(
        top=[
            messages.Likely(numeral=text, probability=probability)
            for text, probability in distribution.top(asked.count)
        ],
        median=distribution.median(),
        interval=messages.Range(level=asked.level, low=low, high=high, calibrated=calibrated),
        written=written,
        bars=messages.NumberLine(
            linear=messages.BarChart.model_validate(linear_bars(distribution, shown)),
            log=messages.BarChart.model_validate(log_bars(distribution, shown)),
        ),
        shares=[
            messages.Share(strategy=name, share=share)
            for name, share in distribution.mixture_weights.items()
        ],
        sources=[
            messages.Source.model_validate(source.record())
            for source in distribution.sources[: asked.count]
        ],
    )


def _numeral_at(model: NumeralLM, text: str, start: int, end: int) -> Numeral:
    """As the model reads it: full-width, or with a decimal comma where its texts have one."""
    if not 0 <= start < end <= len(text):
        raise NumerateError(f"start and end: got {start} and {end}, expected a place in the text")
    found = model.checker.numeral_at(text, start)
    if found is None or found.end - found.start != end - start:
        raise NumerateError(f"start and end: no numeral stands from {start} to {end}")
    return Numeral.parse(found.text)


def _written(distribution: NumeralDistribution, numeral: Numeral, reason: str) -> messages.Written:
    value = float(numeral.value)
    usual = distribution.interval(LEVEL, calibrated=distribution.is_calibrated())
    return messages.Written(
        numeral=numeral.text,
        value=value,
        probability=distribution.prob(numeral.text),
        below=distribution.cdf(value),
        reason=reason,
        oddness=what_is_odd(numeral.text, reason, usual),
    )


def ranked(
    model: NumeralLM, asked: messages.RankRequest, tables: Sequence[Table] = ()
) -> messages.RankAnswer:
    ranking = model.rank(asked.claims, asked.by, tables=tables)
    return messages.RankAnswer.model_validate(ranking)
