"""How good is checking? Known errors put into held-out articles, and who finds them.

One error is put into each paragraph, of one kind after another, and one into each table in view.
Everybody scores the numeral that is wrong where it stands, in the text as it then reads; what is
right is scored in the articles as they are, where false alarms are counted. A threshold that so
many right numerals exceed (1 %) tells what is found.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np

from numerate.backbones.tables_in_view import named_columns
from numerate.checking.finding import Finding
from numerate.checking.reading import ReadDocument
from numerate.checking.recompute import recompute
from numerate.checking.rule import RULES
from numerate.checking.where import Where
from numerate.corpus.dataset import Dataset, some_paragraphs
from numerate.detector.articles import Article, Errors, articles_of, labels, numerals_of
from numerate.detector.channel import HELD_OUT, KINDS, TRAINED, Channel, Edit
from numerate.detector.fitting import score
from numerate.detector.trained import Detector
from numerate.documents.document import Document, Paragraph
from numerate.errors import DatasetError, NumerateError
from numerate.evaluation.bootstrap import bootstrap_figure, bootstrap_mean
from numerate.model.numeral_lm import NumeralLM, TextReading
from numerate.plausibility.assess import first_sight, log_probs_of
from numerate.plausibility.grid import Written
from numerate.plausibility.passages import read_texts
from numerate.proofreading.fit_joining import fit_joining
from numerate.proofreading.joining import (
    ERROR_RATE,
    UNFITTED,
    Features,
    Joining,
    probability,
)

FALSE_ALARMS = 0.01
FIRST = 100  # findings whose precision is told
POINT = "point dropped or added"
TABLE_CELL = "table cell"
FIGURES: dict[str, tuple[str, ...]] = {
    **{kind: (kind,) for kind in TRAINED if kind not in ("point dropped", "point added")},
    POINT: ("point dropped", "point added"),
    **{kind: (kind,) for kind in HELD_OUT},
}
"""Rows of the benchmark, and the kinds of error of each."""
RULES_ALONE, DETECTOR_ALONE = "rules", "detector"
LIKELIHOOD, TOGETHER = "likelihood", "all together"
DRAWS = 200  # of errors at a realistic rate

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


@dataclass(frozen=True, slots=True)
class Injected:
    """Errors of one row of the benchmark: of each article, and where they are among all."""

    errors: list[Errors]
    places: np.ndarray  # [E] numerals of texts; of tables, where cells are wrong
    numerals: list[str]  # what stands there instead

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True, slots=True)
class Scores:
    """What somebody says; larger is odder."""

    right: np.ndarray  # [N] of all numerals as they are
    wrong: dict[str, np.ndarray]  # of each kind of error, where it can be made


@dataclass(frozen=True, slots=True)
class Judgement:
    """Of texts, and of cells where they are judged at all."""

    texts: Scores
    cells: Scores | None = None


class Trial:
    """The articles of a split with the errors put into them; the same for everybody."""

    def __init__(
        self, dataset: Dataset, split: str, *, seed: int = 1, limit: int | None = None
    ) -> None:
        self.dataset, self.split = dataset, split
        everything = articles_of(dataset.split(split), dataset.reading)
        count = sum(len(article.texts) for article in everything)
        self.chosen = some_paragraphs(count, limit)  # paragraphs of the split
        self.articles = _only(everything, self.chosen)
        numerals = numerals_of(self.articles)
        if not numerals:
            raise DatasetError(
                f"{dataset.folder}: no numeral in these {len(self.chosen)} paragraphs"
            )
        self.numerals = numerals
        counts = [article.count for article in self.articles]
        self.documents = np.repeat(np.arange(len(counts)), counts)  # [N]
        sizes = [sum(map(len, article.cell_places)) for article in self.articles]
        self.cell_documents = np.repeat(np.arange(len(sizes)), sizes)  # [C]
        self.rows = {
            name: self._inject(kinds, [seed, KINDS.index(kinds[0])])
            for name, kinds in FIGURES.items()
        }
        self.cells = self._inject_cells([seed, len(KINDS)])

    @property
    def texts(self) -> list[str]:
        return [text for article in self.articles for text in article.texts]

    def _inject(self, kinds: Sequence[str], seed: Sequence[int]) -> Injected:
        """One in each text that can have one; a number of another document is of none here."""
        generator = np.random.default_rng(seed)
        channel = Channel(kinds, self.dataset.reading)
        errors = []
        first = 0
        for article in self.articles:
            own = slice(first, first + article.count)
            first += article.count
            elsewhere = self._elsewhere(own, generator)
            texts = [
                _one(channel.one(places, article.sight(text, elsewhere), generator))
                for text, places in enumerate(article.places)
            ]
            errors.append(replace(article.no_errors(), texts=texts))
        wrong, _ = labels(self.articles, errors)
        edits = [edit.numeral for one in errors for some in one.texts for edit in some]
        return Injected(errors, np.flatnonzero(wrong), edits)

    def _elsewhere(self, own: slice, generator: np.random.Generator, count: int = 64) -> list[str]:
        """Some numerals of other articles, as often as they occur."""
        others = len(self.numerals) - (own.stop - own.start)
        if not others:
            return []
        drawn = generator.integers(others, size=count)
        drawn = np.where(drawn >= own.start, drawn + own.stop - own.start, drawn)
        return [self.numerals[index] for index in drawn.tolist()]

    def _inject_cells(self, seed: Sequence[int]) -> Injected:
        """One in each table in view, of any kind."""
        generator = np.random.default_rng(seed)
        channel = Channel(KINDS, self.dataset.reading)
        errors = []
        first = 0
        for article in self.articles:
            own = slice(first, first + article.count)
            first += article.count
            elsewhere = self._elsewhere(own, generator)
            seen = {table for views in article.views for table in views}
            tables = [
                _one(channel.one(places, article.table_sight(table, elsewhere), generator))
                if table in seen
                else []
                for table, places in enumerate(article.cell_places)
            ]
            errors.append(replace(article.no_errors(), tables=tables))
        _, wrong = labels(self.articles, errors)
        edits = [edit.numeral for one in errors for some in one.tables for edit in some]
        return Injected(errors, np.flatnonzero(wrong), edits)


def _one(edit: Edit | None) -> list[Edit]:
    return [] if edit is None else [edit]


def _only(articles: list[Article], chosen: np.ndarray) -> list[Article]:
    """Of some paragraphs of a split, counted through all articles."""
    wanted = set(chosen.tolist())
    found = []
    first = 0
    for article in articles:
        texts = [text for text in range(len(article.texts)) if first + text in wanted]
        first += len(article.texts)
        if len(texts) == len(article.texts):
            found.append(article)
        elif texts:
            found.append(article.part(texts))
    return found


# Who judges


def by_detector(detector: Detector, trial: Trial) -> Judgement:
    """Calibrated log-odds."""
    classifier, calibrations = detector.classifier, detector.calibrations
    prepared = classifier.prepare(trial.articles)
    clean = score(classifier, prepared)
    wrong = {}
    for name, injected in trial.rows.items():
        found = score(classifier, prepared, injected.errors, cells=False)
        wrong[name] = calibrations.texts.of(found.texts[injected.places])
    texts = Scores(calibrations.texts.of(clean.texts), wrong)
    if clean.cells is None or calibrations.cells is None:
        return Judgement(texts)
    found = score(classifier, prepared, trial.cells.errors)
    assert found.cells is not None
    wrong = {TABLE_CELL: calibrations.cells.of(found.cells[trial.cells.places])}
    return Judgement(texts, Scores(calibrations.cells.of(clean.cells), wrong))


@dataclass(frozen=True, slots=True)
class Ruled:
    """What rules say of numerals: precision of the one that points to it, or involves it; 0: none
    does."""

    pointed: np.ndarray
    involved: np.ndarray

    def take(self, rows: np.ndarray) -> "Ruled":
        return Ruled(self.pointed[rows], self.involved[rows])

    def scores(self) -> np.ndarray:
        found: np.ndarray = np.maximum(self.pointed, 0.5 * self.involved)
        return found


@dataclass(frozen=True, slots=True)
class RuledTrial:
    right: Ruled
    wrong: dict[str, Ruled]
    right_cells: Ruled
    wrong_cells: Ruled

    def judgement(self) -> Judgement:
        wrong = {name: found.scores() for name, found in self.wrong.items()}
        cells = Scores(self.right_cells.scores(), {TABLE_CELL: self.wrong_cells.scores()})
        return Judgement(Scores(self.right.scores(), wrong), cells)


def by_rules(trial: Trial) -> RuledTrial:
    clean = [ruled(article) for article in trial.articles]
    right, right_cells = (_joined([pair[which] for pair in clean]) for which in (0, 1))
    wrong = {}
    for name, injected in trial.rows.items():
        read = [
            ruled(article.with_errors(errors), cells_too=False) if any(errors.texts) else known
            for article, errors, known in zip(trial.articles, injected.errors, clean, strict=True)
        ]
        wrong[name] = _joined([pair[0] for pair in read]).take(injected.places)
    read = [
        ruled(article.with_errors(errors)) if any(errors.tables) else known
        for article, errors, known in zip(trial.articles, trial.cells.errors, clean, strict=True)
    ]
    wrong_cells = _joined([pair[1] for pair in read]).take(trial.cells.places)
    return RuledTrial(right, wrong, right_cells, wrong_cells)


def document_of(article: Article) -> Document:
    """As rules read it: paragraphs that refer to the tables in their view."""
    tables = [replace(table, id=str(index)) for index, table in enumerate(article.tables)]
    paragraphs = [
        Paragraph(text, tuple(map(str, views)))
        for text, views in zip(article.texts, article.views, strict=True)
    ]
    return Document(article.name, paragraphs, tables)


def ruled(article: Article, *, cells_too: bool = True) -> tuple[Ruled, Ruled]:
    """What rules say of its texts' numerals, and of its tables' numbers."""
    findings = recompute(ReadDocument(document_of(article))).findings
    texts: dict[tuple[int, int], int] = {}
    cells: dict[tuple[int, int, int, int], int] = {}
    for text, tokens in enumerate(article.tokens):
        for token in tokens:
            if token.is_numeral:
                texts[text, token.start] = len(texts)
    for table, numbers in enumerate(article.numbers if cells_too else ()):
        for number in numbers:
            cells[table, number.row, number.column, number.start] = len(cells)
    found = [Ruled(np.zeros(size), np.zeros(size)) for size in (len(texts), len(cells))]

    def put(where: Where, precision: float, *, pointed: bool) -> None:
        if where.paragraph is not None:
            which, at = 0, texts.get((where.paragraph, where.start))
        elif where.table is not None and where.row is not None and where.column is not None:
            place = (where.table, where.row, where.column, where.start)
            which, at = 1, cells.get(place)
        else:
            return  # of a caption or of notes, in which there are no errors
        if at is not None:
            of = found[which].pointed if pointed else found[which].involved
            of[at] = max(of[at], precision)

    for finding in findings:
        put(finding.where, _precision(finding), pointed=True)
        for where in finding.involved:
            if where != finding.where:
                put(where, _precision(finding), pointed=False)
    return found[0], found[1]


def _precision(finding: Finding) -> float:
    return RULES[finding.code].precision


def _joined(parts: list[Ruled]) -> Ruled:
    none = np.zeros(0)
    return Ruled(
        np.concatenate([none, *(part.pointed for part in parts)]),
        np.concatenate([none, *(part.involved for part in parts)]),
    )


def by_model(model: NumeralLM, scores: Sequence[Score], trial: Trial) -> list[Scores]:
    """What several statistics of one model say, over one reading of the texts.

    A model that reads from the left knows no more of an error than of the text before it and of
    the few tokens after it, so all errors of a text are scored over its reading as it is.
    """
    columns = named_columns(trial.dataset, trial.split, model.config.sight)
    in_view = None if columns is None else columns.take(trial.chosen)
    readings = read_texts(model, trial.texts, in_view)
    return score_in_place(scores, readings, trial.numerals, trial.rows)


def score_in_place(
    scores: Sequence[Score],
    readings: Iterable[TextReading],
    numerals: list[str],
    errors: dict[str, Injected],
) -> list[Scores]:
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
        result.append(Scores(right, dict(zip(kinds, wrong, strict=True))))
    return result


def _refuse_other_numerals(read: list[str], cut: list[str]) -> None:
    """A run must read what the errors were made of: what the dataset was cut into."""
    for one, other in zip_longest(read, cut, fillvalue="none"):
        if one != other:
            raise NumerateError(
                f"numerals of a text: got {one} by reading it, {other} by cutting it into tokens; "
                "expected the same, also of two runs that are compared"
            )


# Together


@dataclass(frozen=True, slots=True)
class Witnesses:
    """What all kinds of evidence say of a trial; None: there is no such model."""

    rules: RuledTrial
    detector: Judgement | None
    plausibility: Scores | None  # by the language model: share of right numerals as odd

    def features(self, kind: str | None) -> np.ndarray:
        """Of the errors of a kind; None: of right numerals: [E, FEATURES]."""
        ruled = self.rules.right if kind is None else self.rules.wrong[kind]
        detected = odd = None
        if self.detector is not None:
            texts = self.detector.texts
            detected = texts.right if kind is None else texts.wrong[kind]
        if self.plausibility is not None:
            odd = self.plausibility.right if kind is None else self.plausibility.wrong[kind]
        return _features(ruled, detected, odd)

    def cell_features(self, *, wrong: bool) -> np.ndarray:
        detected = None
        if self.detector is not None and self.detector.cells is not None:
            cells = self.detector.cells
            detected = cells.wrong[TABLE_CELL] if wrong else cells.right
        return _features(
            self.rules.wrong_cells if wrong else self.rules.right_cells, detected, None
        )


def _features(ruled: Ruled, detected: np.ndarray | None, odd: np.ndarray | None) -> np.ndarray:
    found = np.full((len(ruled.pointed), 4), np.nan)
    found[:, 0] = np.where(ruled.pointed > 0, ruled.pointed, np.nan)
    found[:, 1] = np.where((ruled.involved > 0) & (ruled.pointed == 0), ruled.involved, np.nan)
    if detected is not None:
        found[:, 2] = detected
    if odd is not None:
        found[:, 3] = odd
    return found


def together(witnesses: Witnesses, trial: Trial, joining: Joining) -> Judgement:
    """The probability that `check` would give."""

    def joined(features: np.ndarray) -> np.ndarray:
        return np.array([probability(_as_features(row), joining) for row in features.tolist()])

    wrong = {name: joined(witnesses.features(name)) for name in trial.rows}
    cells = Scores(
        joined(witnesses.cell_features(wrong=False)),
        {TABLE_CELL: joined(witnesses.cell_features(wrong=True))},
    )
    return Judgement(Scores(joined(witnesses.features(None)), wrong), cells)


def _as_features(row: list[float]) -> Features:
    return Features(*(None if value != value else value for value in row))


def joining_of(witnesses: Witnesses, trial: Trial) -> Joining:
    """Fitted to a trial on the dev split: right numerals, and errors of all trained kinds, which
    count as many as they would be among them."""
    if witnesses.detector is None and witnesses.plausibility is None:
        return UNFITTED
    right = witnesses.features(None)
    wrong = np.concatenate(
        [witnesses.features(name) for name in trial.rows if name not in HELD_OUT]
    )
    vectors = [_as_features(row).vector() for row in np.concatenate([right, wrong]).tolist()]
    is_wrong = np.arange(len(vectors)) >= len(right)
    weight = ERROR_RATE / (1 - ERROR_RATE) * len(right) / max(len(wrong), 1)
    weights = np.where(is_wrong, weight, 1.0)
    return fit_joining(np.array(vectors), is_wrong, weights)


# How good


@dataclass(frozen=True, slots=True)
class Measured:
    """A figure and its 95 % interval by documents."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Quality:
    """How well errors of one kind are told from right numerals."""

    count: int
    auc: Measured  # against the very numerals that the errors replace
    recall: Measured  # at a threshold that 1 % of all right numerals exceed


def area_under_roc(
    right: np.ndarray,
    wrong: np.ndarray,
    right_weights: np.ndarray | None = None,
    wrong_weights: np.ndarray | None = None,
) -> float:
    """P(wrong > right) + ½ P(wrong = right), over all pairs (Mann and Whitney, 1947)."""
    weigh_right = np.ones(len(right)) if right_weights is None else right_weights
    weigh_wrong = np.ones(len(wrong)) if wrong_weights is None else wrong_weights
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    upto = np.concatenate([[0.0], np.cumsum(weigh_right[order])])
    below = upto[np.searchsorted(ordered, wrong, side="left")]
    through = upto[np.searchsorted(ordered, wrong, side="right")]
    pairs = upto[-1] * weigh_wrong.sum()
    return float(((below + through) / 2 * weigh_wrong).sum() / pairs) if pairs else float("nan")


def threshold_of(right: np.ndarray, alarms: float = FALSE_ALARMS) -> float:
    """What at most so large a share of right numerals exceeds."""
    return float(np.quantile(right, 1 - alarms, method="higher"))


def quality(
    right: np.ndarray,
    wrong: np.ndarray,
    places: np.ndarray,
    documents: np.ndarray,
    samples: int = 300,
) -> Quality:
    """`right` [N] of all numerals, `wrong` [E] of errors in the place of `places` [E] of them."""
    owners = documents[places]
    found = (wrong > threshold_of(right)).astype(np.float64)
    recall = bootstrap_mean(found, owners, bounds=(0.0, 1.0))
    instead = right[places]
    auc = bootstrap_figure(
        lambda weights: area_under_roc(instead, wrong, weights, weights), owners, samples=samples
    )
    return Quality(
        len(places),
        Measured(auc.estimate, auc.low, auc.high),
        Measured(recall.estimate, recall.low, recall.high),
    )


def precision_of_first(
    right: np.ndarray,
    wrong: Sequence[np.ndarray],
    documents: np.ndarray,
    owners: Sequence[np.ndarray],
    *,
    rate: float = ERROR_RATE,
    first: int = FIRST,
    samples: int = DRAWS,
    seed: int = 1,
) -> Measured:
    """Among the first findings, were so many numerals wrong: all kinds of error alike.

    The right numerals are those of the split, the wrong ones are drawn from all errors, as many as
    there would be; ties are worth what a random order would give. The interval is over documents.
    """
    generator = np.random.default_rng(seed)
    count = int(documents.max()) + 1

    def once(weights: np.ndarray | None) -> float:
        chosen = right if weights is None else np.repeat(right, weights[documents])
        errors = round(rate / (1 - rate) * len(chosen))
        kinds = generator.multinomial(errors, np.full(len(wrong), 1 / len(wrong)))
        drawn = []
        for some, owner, size in zip(wrong, owners, kinds, strict=True):
            odds = None if weights is None else weights[owner] / max(weights[owner].sum(), 1)
            if len(some) and (odds is None or odds.any()):
                drawn.append(generator.choice(some, size, p=odds))
        return _precision_at(chosen, np.concatenate([np.zeros(0), *drawn]), first)

    value = float(np.mean([once(None) for _ in range(samples)]))
    by_documents = [
        once(np.bincount(generator.integers(count, size=count), minlength=count))
        for _ in range(samples)
    ]
    low, high = np.quantile(by_documents, [0.025, 0.975])
    return Measured(value, float(low), float(high))


def _precision_at(right: np.ndarray, wrong: np.ndarray, first: int) -> float:
    """The share of wrong ones among the first, in expectation over the order of equal ones."""
    total = len(right) + len(wrong)
    first = min(first, total)
    if not first:
        return float("nan")
    everything = np.concatenate([right, wrong])
    least = np.partition(everything, total - first)[total - first]
    surely_wrong, surely_right = (wrong > least).sum(), (right > least).sum()
    equal_wrong, equal_right = (wrong == least).sum(), (right == least).sum()
    left = first - surely_wrong - surely_right
    return float((surely_wrong + left * equal_wrong / (equal_wrong + equal_right)) / first)


@dataclass(frozen=True, slots=True)
class BenchmarkResult:
    split: str
    seed: int
    paragraphs: int
    numerals: int
    cells: int
    judges: dict[str, dict[str, Quality]]  # by who judges, and by kind of error
    first: dict[str, Measured]  # precision among the first findings, by who judges
    joining: dict[str, float]

    def record(self) -> dict[str, Any]:
        return asdict(self)


def run_benchmark(
    dataset: Dataset,
    *,
    models: Sequence[NumeralLM] = (),
    detectors: Sequence[Detector] = (),
    softmax: NumeralLM | None = None,
    split: str = "test",
    seed: int = 1,
    limit: int | None = None,
    joining_limit: int | None = None,
) -> BenchmarkResult:
    """Everybody on a split; `softmax` is a plain softmax's, for its surprisal.

    `limit` takes so many paragraphs only, always the same. All kinds of evidence are joined by
    what was fitted on the dev split, on `joining_limit` paragraphs of it.
    """
    trial = Trial(dataset, split, seed=seed, limit=limit)
    heard = _Heard(trial, models, detectors)
    judged = {RULES_ALONE: heard.rules.judgement(), **heard.judged}
    joining = UNFITTED
    if models or detectors:
        dev = trial
        if split != "dev" or joining_limit != limit:
            dev = Trial(dataset, "dev", seed=seed + 1, limit=joining_limit)
        fitted_on = heard if dev is trial else _Heard(dev, models, detectors)
        joining = joining_of(fitted_on.witnesses, dev)
        judged[TOGETHER] = together(heard.witnesses, trial, joining)
    if models:
        distance = Distance(models[0].reference.median)
        wrong = {name: distance(injected.numerals) for name, injected in trial.rows.items()}
        judged["distance from the median"] = Judgement(Scores(distance(trial.numerals), wrong))
    if softmax is not None:
        (scores,) = by_model(softmax, [by_surprisal(softmax)], trial)
        judged[f"surprisal of {softmax.name}"] = Judgement(scores)
    return BenchmarkResult(
        split,
        seed,
        len(trial.chosen),
        len(trial.numerals),
        len(trial.cell_documents),
        {name: _qualities(one, trial) for name, one in judged.items()},
        {name: _first(one, trial) for name, one in judged.items()},
        joining.record(),
    )


class _Heard:
    """Everybody's say on a trial, each by itself."""

    def __init__(
        self, trial: Trial, models: Sequence[NumeralLM], detectors: Sequence[Detector]
    ) -> None:
        self.rules = by_rules(trial)
        self.judged: dict[str, Judgement] = {}
        surest: Judgement | None = None
        oddest: Scores | None = None
        for detector in detectors:
            found = by_detector(detector, trial)
            self.judged[_named(DETECTOR_ALONE, detector.name, len(detectors))] = found
            surest = found if surest is None else _most(surest, found)
        for model in models:
            ways = (model.checker.strangeness, at_first_sight(model))
            strange, sight = by_model(model, ways, trial)
            name = _named(LIKELIHOOD, str(model.name), len(models))
            self.judged[name] = Judgement(strange)
            self.judged[f"{name} at first sight"] = Judgement(sight)
            plausibility = _each(model.checker.calibration.plausibility, strange)
            oddest = plausibility if oddest is None else _paired(np.minimum, oddest, plausibility)
        self.witnesses = Witnesses(self.rules, surest, oddest)


def _named(kind: str, name: str, count: int) -> str:
    return kind if count == 1 else f"{kind} {name}"


def _each(function: Callable[[np.ndarray], np.ndarray], scores: Scores) -> Scores:
    wrong = {name: function(values) for name, values in scores.wrong.items()}
    return Scores(function(scores.right), wrong)


def _paired(
    function: Callable[[np.ndarray, np.ndarray], np.ndarray], one: Scores, other: Scores
) -> Scores:
    wrong = {name: function(values, other.wrong[name]) for name, values in one.wrong.items()}
    return Scores(function(one.right, other.right), wrong)


def _most(one: Judgement, other: Judgement) -> Judgement:
    """The surest of two detectors, as `check` takes it."""
    cells = one.cells or other.cells
    if one.cells is not None and other.cells is not None:
        cells = _paired(np.maximum, one.cells, other.cells)
    return Judgement(_paired(np.maximum, one.texts, other.texts), cells)


def _qualities(judgement: Judgement, trial: Trial) -> dict[str, Quality]:
    texts = judgement.texts
    found = {
        name: quality(texts.right, texts.wrong[name], injected.places, trial.documents)
        for name, injected in trial.rows.items()
        if len(injected)
    }
    cells = judgement.cells
    if cells is not None and len(trial.cells):
        wrong = cells.wrong[TABLE_CELL]
        found[TABLE_CELL] = quality(cells.right, wrong, trial.cells.places, trial.cell_documents)
    return found


def _first(judgement: Judgement, trial: Trial) -> Measured:
    names = [name for name, injected in trial.rows.items() if len(injected)]
    texts = judgement.texts
    wrong = [texts.wrong[name] for name in names]
    owners = [trial.documents[trial.rows[name].places] for name in names]
    return precision_of_first(texts.right, wrong, trial.documents, owners)
