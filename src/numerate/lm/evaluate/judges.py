"""Who judges the numerals of a trial, each by itself: rules, detectors, language models.

Everybody scores the numeral that is wrong where it stands, in the text as it then reads; what is
right is scored in the articles as they are, where false alarms are counted.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from numerate.detector.articles import Article, Errors, Selection
from numerate.detector.beside import made_beside
from numerate.detector.log_odds import LogOdds
from numerate.detector.trained import Detector
from numerate.errors import NumerateError
from numerate.lm.backbones.tables_in_view import named_columns
from numerate.lm.evaluate.detection import FALSE_ALARMS
from numerate.lm.evaluate.trial import Injected, Trial, cell_places, document_of, text_places
from numerate.lm.model.assess import first_sight, log_probs_of
from numerate.lm.model.grid import Written
from numerate.lm.model.numeral_lm import NumeralLM, TextReading
from numerate.lm.model.passages import read_texts
from numerate.lm.train.detector_fitting import NumeralLogits, score
from numerate.proofread.proofread import Key, keys_of, precision_of
from numerate.rules.reading import ReadDocument
from numerate.rules.recompute import recompute
from numerate.rules.where import Where

Told = Callable[[str, int, int], None]
"""What is being done, how many steps of it are done, and how many there are."""


def nobody(what: str, done: int, total: int) -> None:
    """Who need not be told."""


@dataclass(frozen=True, slots=True)
class Oddness:
    """What somebody says of a region; larger is odder."""

    right: np.ndarray  # [N] of all numerals as they are
    wrong: dict[str, np.ndarray]  # of each kind of error, where it can be made
    flagged: np.ndarray | None = None  # [N] right ones that `check` would flag at `FALSE_ALARMS`


@dataclass(frozen=True, slots=True)
class Judgement:
    """Of texts, and of cells where they are judged at all."""

    texts: Oddness
    cells: Oddness | None = None


# Rules


@dataclass(frozen=True, slots=True)
class Ruled:
    """What rules say of numerals: precision of the one that points to it, or that takes it for one
    of several; nan: none does."""

    pointed: np.ndarray
    involved: np.ndarray

    @classmethod
    def of(cls, doubts: "RuleDoubts", places: Iterable[Where]) -> "Ruled":
        known = [doubts.at(where) for where in places]
        return cls(
            np.array([pointed for pointed, _ in known], dtype=np.float64),
            np.array([involved for _, involved in known], dtype=np.float64),
        )

    @classmethod
    def joined(cls, parts: Sequence["Ruled"]) -> "Ruled":
        none = np.zeros(0)
        return cls(
            np.concatenate([none, *(part.pointed for part in parts)]),
            np.concatenate([none, *(part.involved for part in parts)]),
        )

    def scores(self) -> np.ndarray:
        found: np.ndarray = np.fmax(np.fmax(self.pointed, 0.5 * self.involved), 0.0)
        return found


@dataclass(frozen=True, slots=True)
class RuledRegion:
    right: Ruled
    wrong: dict[str, Ruled]

    def oddness(self) -> Oddness:
        wrong = {name: found.scores() for name, found in self.wrong.items()}
        return Oddness(self.right.scores(), wrong)


@dataclass(frozen=True, slots=True)
class RuledTrial:
    texts: RuledRegion
    cells: RuledRegion

    def judgement(self) -> Judgement:
        return Judgement(self.texts.oddness(), self.cells.oddness())


def by_rules(trial: Trial, processes: int = 0, told: Told = nobody) -> RuledTrial:
    """Article by article, in so many processes."""
    regions = ((trial.in_texts, text_places), (trial.in_tables, cell_places))

    def rule(index: int) -> list[dict[str | None, Ruled]]:
        """Of texts, and of tables: all numerals as they are (None), and the errors of each row."""
        article = trial.articles[index]
        doubts = RuleDoubts(article)
        found = []
        for region, places_of in regions:
            first = np.searchsorted(region.documents, index)
            known: dict[str | None, Ruled] = {None: Ruled.of(doubts, places_of(article))}
            for name, injected in region.rows.items():
                mine = injected.places[region.documents[injected.places] == index] - first
                known[name] = Ruled.of(doubts, [])
                if len(mine):
                    wrong = article.with_errors(injected.errors[index])
                    places = places_of(wrong)
                    known[name] = Ruled.of(RuleDoubts(wrong), [places[at] for at in mine])
            found.append(known)
        return found

    parts, total = [], len(trial.articles)
    for part in made_beside(rule, total, processes):
        parts.append(part)
        told("recomputing", len(parts), total)
    ruled = []
    for which, (region, _) in enumerate(regions):
        right = Ruled.joined([part[which][None] for part in parts])
        wrong = {name: Ruled.joined([part[which][name] for part in parts]) for name in region.rows}
        ruled.append(RuledRegion(right, wrong))
    return RuledTrial(*ruled)


class RuleDoubts:
    """The precision of the rules that doubt a numeral, by the characters that it covers."""

    def __init__(self, article: Article) -> None:
        self._read = ReadDocument(document_of(article))
        self._pointed: dict[Key, float] = {}
        self._involved: dict[Key, float] = {}
        for finding in recompute(self._read).findings:
            precision = precision_of(finding)
            self._note(self._pointed, finding.where, precision)
            for where in finding.involved:
                if where != finding.where:
                    self._note(self._involved, where, precision)

    def at(self, where: Where) -> tuple[float, float]:
        """Of a rule that points to the numeral, and of one that takes it for one of several."""
        keys = keys_of(self._read, where)
        pointed, involved = (
            max((doubts[key] for key in keys if key in doubts), default=math.nan)
            for doubts in (self._pointed, self._involved)
        )
        return pointed, involved

    def _note(self, doubts: dict[Key, float], where: Where, precision: float) -> None:
        for key in keys_of(self._read, where):
            doubts[key] = max(precision, doubts.get(key, 0.0))


# Detectors


def by_detector(
    detector: Detector, trial: Trial, processes: int = 0, told: Told = nobody
) -> Judgement:
    """Calibrated log-odds, of one pass over the articles as they are, and one with each kind of
    error, over what has any."""
    classifier, calibrations = detector.classifier, detector.calibrations
    rows = {**trial.in_texts.rows, **trial.in_tables.rows}
    told(detector.name, 0, 1 + len(rows))
    prepared = classifier.prepare(trial.articles)
    clean = score(classifier, prepared, processes=processes)
    found: dict[str, NumeralLogits] = {}
    for name, injected in rows.items():
        told(detector.name, 1 + len(found), 1 + len(rows))
        pairs = zip(trial.articles, injected.errors, strict=True)
        selections = [_with_errors(article, errors) for article, errors in pairs]
        found[name] = score(
            classifier, prepared, injected.errors, selections=selections, processes=processes
        )
    told(detector.name, 1 + len(rows), 1 + len(rows))
    wrong = {name: found[name].texts[one.places] for name, one in trial.in_texts.rows.items()}
    texts = _calibrated(calibrations.texts, clean.texts, wrong)
    if calibrations.cells is None:
        return Judgement(texts)
    wrong = {name: found[name].cells[one.places] for name, one in trial.in_tables.rows.items()}
    return Judgement(texts, _calibrated(calibrations.cells, clean.cells, wrong))


def _with_errors(article: Article, errors: Errors) -> Selection:
    """Texts with errors, or tables with errors and the texts that they are compared with."""
    texts = [text for text, edits in enumerate(errors.texts) if edits]
    tables = {table for table, edits in enumerate(errors.tables) if edits}
    if not tables:
        return Selection(texts, ())
    viewing = [text for text, views in enumerate(article.views) if tables.intersection(views)]
    return Selection(viewing, sorted(tables), scores_texts=False)


def _calibrated(calibration: LogOdds, right: np.ndarray, wrong: dict[str, np.ndarray]) -> Oddness:
    return Oddness(
        calibration.of(right),
        {name: calibration.of(logits) for name, logits in wrong.items()},
        calibration.alarms(right) <= FALSE_ALARMS,
    )


# Language models

Score = Callable[[TextReading, np.ndarray, list[str]], np.ndarray]
"""Of `numerals` [E] written where the numerals `rows` [E] of a reading stand; larger is odder."""


def at_first_sight(model: NumeralLM) -> Score:
    """Surprisal less ln 10 for each significant digit: without slips, and what follows."""

    def found(reading: TextReading, rows: np.ndarray, numerals: list[str]) -> np.ndarray:
        return first_sight(numerals, log_probs_of(model, reading, rows, numerals))

    return found


def by_surprisal(model: NumeralLM) -> Score:
    """What a plain language model gives: minus the log-probability of the token."""

    def found(reading: TextReading, rows: np.ndarray, numerals: list[str]) -> np.ndarray:
        log_probs = log_probs_of(model, reading, rows, numerals)
        surprisal: np.ndarray = -log_probs - reading.gates[rows]
        return surprisal

    return found


class Distance:
    """No model: how many orders of magnitude from the median of the training numbers.

    Below `FLOOR` all numbers count the same: zeros and p-values would else take all the alarms.
    """

    FLOOR = 0.1

    def __init__(self, median: float) -> None:
        self._log_median = np.log10(max(median, self.FLOOR))

    def __call__(self, numerals: list[str]) -> np.ndarray:
        """Of each numeral, wherever it stands; larger is odder: [E]."""
        logs = np.log10(np.maximum(Written.of(numerals).values, self.FLOOR))
        distance: np.ndarray = np.abs(logs - self._log_median)
        return distance


def by_model(model: NumeralLM, scores: Sequence[Score], trial: Trial) -> list[Oddness]:
    """What several statistics of one model say, over one reading of the texts.

    A model that reads from the left knows no more of an error than of the text before it and of
    the few tokens after it, so all errors of a text are scored over its reading as it is.
    """
    columns = named_columns(trial.dataset, trial.split, model.config.sight)
    in_view = None if columns is None else columns.take(trial.chosen)
    readings = read_texts(model, trial.texts, in_view)
    return score_in_place(scores, readings, trial.numerals, trial.in_texts.rows)


def score_in_place(
    scores: Sequence[Score],
    readings: Iterable[TextReading],
    numerals: list[str],
    errors: dict[str, Injected],
) -> list[Oddness]:
    """Every numeral as it is, and every error, reading by reading; none is kept."""
    kinds = list(errors)
    places = np.concatenate([np.arange(len(numerals)), *(errors[kind].places for kind in kinds)])
    texts = numerals + [text for kind in kinds for text in errors[kind].numerals]
    order = np.argsort(places, kind="stable")
    found = np.empty((len(scores), len(places)))
    first = 0  # numeral of a reading, among all
    for reading in readings:
        end = first + len(reading.positions)
        _refuse_other_numerals([token.text for token in reading.numerals], numerals[first:end])
        chosen = order[slice(*np.searchsorted(places, [first, end], sorter=order))]
        if len(chosen):
            rows, written = places[chosen] - first, [texts[i] for i in chosen]
            found[:, chosen] = [one(reading, rows, written) for one in scores]
        first = end
    _refuse_other_numerals([], numerals[first:])
    cuts = np.cumsum([len(numerals), *(len(errors[kind]) for kind in kinds)])
    result = []
    for row in found:
        right, *wrong, _ = np.split(row, cuts)
        result.append(Oddness(right, dict(zip(kinds, wrong, strict=True))))
    return result


def _refuse_other_numerals(read: list[str], cut: list[str]) -> None:
    """A run must read what the errors were made of: what the dataset was cut into."""
    for one, other in zip_longest(read, cut, fillvalue="none"):
        if one != other:
            raise NumerateError(
                f"numerals of a text: got {one} by reading it, {other} by cutting it into tokens; "
                "expected the same, also of two runs that are compared"
            )
