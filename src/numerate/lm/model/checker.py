"""Which numerals of a text are implausible where they stand? Asked of a calibrated model."""

import warnings
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from numerate.documents.document import Document, Table
from numerate.documents.text import read_text
from numerate.errors import DomainWarning, NumerateError
from numerate.lm.model.assess import Expected, Strangeness, expect, look_closer
from numerate.lm.model.assessments import Assessment, Assessments, Glance
from numerate.lm.model.calibration import Calibration
from numerate.lm.model.conformal import ConformalIntervals
from numerate.lm.model.domain import Comparison
from numerate.lm.model.numeral_distribution import NumeralDistribution
from numerate.lm.model.numeral_lm import ALARMS, NumeralLM
from numerate.lm.model.passages import (
    Passage,
    Report,
    columns_of,
    located_in,
    read_passages,
)
from numerate.lm.model.wording import level_of, misfit
from numerate.text.seen_numbers import Source
from numerate.text.tokenizer import Token

SOURCES, LIKELY = 3, 0.05  # sources that are told of what would be expected instead: the likeliest


class Checker:
    """Over one language model, and what is usual in texts that it knows."""

    def __init__(
        self,
        model: NumeralLM,
        calibrated: Callable[[], Calibration],
        intervals: Callable[[], ConformalIntervals] | None = None,
    ) -> None:
        self.model = model
        self._calibrated, self._intervals = calibrated, intervals
        self._has_warned = False  # that a text is unlike what the model knows

    @cached_property
    def calibration(self) -> Calibration:
        """How odd the numerals of the dev split are; computed when first needed."""
        return self._calibrated()

    def find_intervals(self) -> ConformalIntervals:
        """How intervals are calibrated; raises NumerateError where that is not known."""
        if self._intervals is None:
            raise NumerateError("the model was not opened by numerate.load")
        return self._intervals()

    @cached_property
    def strangeness(self) -> Strangeness:
        """The statistic that numerals are flagged by."""
        return Strangeness(self.model, self.calibration.least)

    @property
    def usual_alarms(self) -> float:
        """The rate of false alarms for those who name none: a small dev split allows no finer."""
        return max(ALARMS, self.calibration.finest)

    def judge_at(
        self, text: str, position: int, tables: Sequence[Table] = ()
    ) -> tuple[NumeralDistribution, str] | None:
        """By what `assess` judges the numeral that begins at a position; None without one.

        The distribution comes from exactly what stands before in the same paragraph, which may be
        nothing; with it, what is odd of the numeral, were it flagged. No more is read for both.
        """
        document = read_text(text)
        found = self._numeral_at(document, position)
        if found is None:
            return None
        index, token = found
        paragraph = document.paragraphs[index]
        before = paragraph.text[: token.start]
        columns = columns_of(self.model, document, tables)
        in_view = None if columns is None else columns.take(np.array([index]))
        context = self.model.context_after([before], in_view)
        (expected,) = expect(self.model, context, [token.text], self.model.find_intervals())

        def sources() -> list[Source]:
            some = self.model.sources(context, self.model.tokens(before))
            return [located_in(document, paragraph, source) for source in some]

        return self.model.distribution(context, sources), expected.reason

    def numeral_at(self, text: str, position: int) -> Token | None:
        """The numeral that begins at a position."""
        document = read_text(text)
        found = self._numeral_at(document, position)
        if found is None:
            return None
        index, token = found
        start, end = document.span(document.paragraphs[index], token.start, token.end)
        return token._replace(start=start, end=end)

    def _numeral_at(self, document: Document, position: int) -> tuple[int, Token] | None:
        """The same, and in which paragraph; offsets are those of its text."""
        for index, paragraph in enumerate(document.paragraphs):
            for token in self.model.tokens(paragraph.text):
                start, _ = document.span(paragraph, token.start, token.end)
                if token.is_numeral and start == position:
                    return index, token
        return None

    def check(
        self,
        text: str | Document,
        alarms: float = ALARMS,
        *,
        tables: Sequence[Table] = (),
    ) -> Assessments[Assessment]:
        """The numerals that are implausible where they stand.

        `tables` are in view of every paragraph, beside those of a document itself.

        `alarms` is the share of numerals that may be flagged on text like the training data. A
        text that is unlike it is told by the `domain` of the findings, and the first time by a
        warning.
        """
        found = self.sift(text, alarms, tables)
        if not (found.domain.calibrated or self._has_warned):
            self._has_warned = True
            warnings.warn(misfit("the text", found.domain), DomainWarning, stacklevel=3)
        return found

    def sift(
        self,
        text: str | Document,
        alarms: float = ALARMS,
        tables: Sequence[Table] = (),
        report: Report | None = None,
        comparison: Comparison | None = None,
    ) -> Assessments[Assessment]:
        """What is flagged, and of how many numerals. Only what is flagged is looked at closely.

        A `comparison` that is given takes heed of the text.
        """
        self.calibration.check_alarms(alarms)
        flagged: list[Assessment] = []
        glances: list[Glance] = []
        comparison = comparison or Comparison(self.calibration.domain)
        document = _document(text)
        for passages in read_passages(self.model, document, tables, report, comparison.heed):
            for passage in passages:
                plausibility = self._plausibility(passage)
                glances += _glances(passage, plausibility, alarms)
                flagged += [
                    self._assessment(passage, index, plausibility[index], alarms)
                    for index in np.flatnonzero(plausibility <= alarms).tolist()
                ]
        unusual = [glance for glance in glances if level_of(glance) == "unusual"]
        return Assessments(flagged, len(glances), comparison.fit(), unusual, glances)

    def glance(
        self,
        text: str | Document,
        alarms: float = ALARMS,
        tables: Sequence[Table] = (),
        comparison: Comparison | None = None,
    ) -> Assessments[Glance]:
        """How plausible every numeral of the text is; several times as fast as `assess`. More is
        said of what may be given at `sift`."""
        self.calibration.check_alarms(alarms)
        comparison = comparison or Comparison(self.calibration.domain)
        document = _document(text)
        found = [
            glance
            for passages in read_passages(self.model, document, tables, heed=comparison.heed)
            for passage in passages
            for glance in _glances(passage, self._plausibility(passage), alarms)
        ]
        unusual = [glance for glance in found if level_of(glance) == "unusual"]
        return Assessments(found, len(found), comparison.fit(), unusual)

    def assess(
        self,
        text: str | Document,
        alarms: float = ALARMS,
        tables: Sequence[Table] = (),
        *,
        search: bool = False,
        report: Report | None = None,
    ) -> Assessments[Assessment]:
        """Every numeral of the text, flagged or not.

        What was expected is taken from the grid of candidates, all at once; with `search`, where
        something is flagged, from the model's whole distribution.
        """
        self.calibration.check_alarms(alarms)
        found: list[Assessment] = []
        comparison = Comparison(self.calibration.domain)
        document = _document(text)
        for passages in read_passages(self.model, document, tables, report, comparison.heed):
            if not passages:
                continue
            readings = [passage.reading for passage in passages]
            numerals = [token.text for reading in readings for token in reading.numerals]
            context = readings[0].within.context
            expected = iter(expect(self.model, context, numerals, self.model.find_intervals()))
            for passage in passages:
                for index, odds in enumerate(self._plausibility(passage)):
                    usual = next(expected)
                    closely = search and odds <= alarms
                    found.append(
                        self._assessment(passage, index, odds, alarms, None if closely else usual)
                    )
        unusual = [assessment for assessment in found if level_of(assessment) == "unusual"]
        return Assessments(found, len(found), comparison.fit(), unusual)

    def _plausibility(self, passage: Passage) -> np.ndarray:  # [N]
        return self.calibration.plausibility(self.strangeness.of(passage.reading))

    def _assessment(
        self,
        passage: Passage,
        index: int,
        plausibility: float,
        alarms: float,
        expected: Expected | None = None,
    ) -> Assessment:
        """One numeral of a paragraph; without what was `expected`, the model is asked closely."""
        reading = passage.reading
        token = reading.tokens[reading.positions[index]]
        sign, power = reading.signs_and_powers[index]
        context = reading.context[index : index + 1]
        if expected is None:
            intervals = self.model.find_intervals()
            expected = look_closer(self.model, context, token.text, intervals)
        sources: list[Source] = []
        if plausibility <= alarms:
            some = self.model.sources(context, reading.tokens)
            sources = [source for source in some[:SOURCES] if source.probability >= LIKELY]
        start, end, written = passage.place(token)
        return Assessment(
            start=start,
            end=end,
            numeral=token.text,
            written=written,
            surprisal=-float(reading.numeral_log_probs[index]),
            percentile=expected.percentile,
            interval=expected.interval,
            likely=expected.likely,
            reason=expected.reason,
            plausibility=float(plausibility),
            flagged=bool(plausibility <= alarms),
            sign=sign,
            power=power,
            sources=tuple(map(passage.located, sources)),
        )


def _glances(passage: Passage, plausibility: np.ndarray, alarms: float) -> list[Glance]:
    """Of every numeral of a paragraph: [N] → N."""
    reading = passage.reading
    rows = zip(reading.numerals, reading.numeral_log_probs, plausibility, strict=True)
    glances = []
    for token, log_prob, odds in rows:
        start, end, written = passage.place(token)
        surprisal, is_flagged = -float(log_prob), bool(odds <= alarms)
        glances.append(Glance(start, end, token.text, written, surprisal, float(odds), is_flagged))
    return glances


def _document(text: str | Document) -> Document:
    return text if isinstance(text, Document) else read_text(text)
