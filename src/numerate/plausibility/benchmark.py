"""How good is checking? Known errors put into held-out text, and who finds them.

An error is scored in the context of its numeral, whose other numerals stay right: exactly what a
reader of the text meets who comes to a single wrong number. Each detector gives every numeral a
score; what is right and what is wrong are told apart by it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any, Protocol

import numpy as np

from numerate.backbones.tables_in_view import named_columns
from numerate.corpus.dataset import Dataset, some_paragraphs
from numerate.detector.slips import KINDS, corrupt
from numerate.errors import DatasetError, NumerateError
from numerate.model.numeral_lm import NumeralLM, TextReading
from numerate.plausibility.assess import first_sight, log_probs_of
from numerate.plausibility.grid import Written
from numerate.plausibility.passages import read_texts

FALSE_ALARMS = 0.01

Errors = dict[str, tuple[np.ndarray, list[str]]]
"""Of each kind: which numerals have such an error, and what is written there instead."""


class Detector(Protocol):
    """Scores numerals in the contexts of a reading, as `Strangeness` does; larger is odder."""

    def __call__(self, reading: TextReading, rows: np.ndarray, numerals: list[str]) -> np.ndarray:
        """`numerals` [E] written where the numerals `rows` [E] of the reading stand."""
        ...


class AtFirstSight:
    """Surprisal less ln 10 for each significant digit: without slips, and what follows."""

    def __init__(self, model: NumeralLM) -> None:
        self._model = model

    def __call__(self, reading: TextReading, rows: np.ndarray, numerals: list[str]) -> np.ndarray:
        return first_sight(numerals, log_probs_of(self._model, reading, rows, numerals))


class BySurprisal:
    """What a plain language model gives: minus the log-probability of the token."""

    def __init__(self, model: NumeralLM) -> None:
        self._model = model

    def __call__(self, reading: TextReading, rows: np.ndarray, numerals: list[str]) -> np.ndarray:
        log_probs = log_probs_of(self._model, reading, rows, numerals)
        surprisal: np.ndarray = -log_probs - reading.gates[rows]
        return surprisal


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
class Scores:
    """What a detector says; larger is odder."""

    right: np.ndarray  # [N] of all numerals as they are
    wrong: dict[str, np.ndarray]  # of each kind of error, where it can be made


@dataclass(frozen=True, slots=True)
class Quality:
    """How well errors of one kind are told from right numerals."""

    count: int
    auc: float  # against the very numerals that the errors replace
    recall: float  # at a threshold that 1 % of all right numerals exceed


def area_under_roc(right: np.ndarray, wrong: np.ndarray) -> float:
    """P(wrong > right) + ½ P(wrong = right), over all pairs (Mann and Whitney, 1947)."""
    ordered = np.sort(right)
    below = np.searchsorted(ordered, wrong, side="left")
    through = np.searchsorted(ordered, wrong, side="right")
    return float((below + through).sum() / (2 * len(right) * len(wrong)))


def qualities(scores: Scores, errors: Errors) -> dict[str, Quality]:
    threshold = np.quantile(scores.right, 1 - FALSE_ALARMS, method="higher")
    return {
        kind: Quality(
            count=len(places),
            auc=area_under_roc(scores.right[places], scores.wrong[kind]),
            recall=float((scores.wrong[kind] > threshold).mean()),
        )
        for kind, (places, _) in errors.items()
        if len(places)
    }


def make_errors(numerals: list[str], documents: np.ndarray, seed: int) -> Errors:
    return {kind: corrupt(numerals, documents, kind, seed) for kind in KINDS}


def detect(
    detector: Detector, readings: Iterable[TextReading], numerals: list[str], errors: Errors
) -> Scores:
    """Score every numeral as it is, and every error, reading by reading; none is kept."""
    return detect_each([detector], readings, numerals, errors)[0]


def detect_each(
    detectors: Sequence[Detector],
    readings: Iterable[TextReading],
    numerals: list[str],
    errors: Errors,
) -> list[Scores]:
    """What each of several detectors says, over one reading of the texts."""
    kinds = list(errors)
    places = np.concatenate([np.arange(len(numerals)), *(errors[kind][0] for kind in kinds)])
    texts = numerals + [text for kind in kinds for text in errors[kind][1]]
    order = np.argsort(places, kind="stable")
    scores = np.empty((len(detectors), len(places)))
    first = 0  # numeral of a reading, among all
    for reading in readings:
        end = first + len(reading.positions)
        _refuse_other_numerals([token.text for token in reading.numerals], numerals[first:end])
        chosen = order[slice(*np.searchsorted(places, [first, end], sorter=order))]
        if len(chosen):
            rows, written = places[chosen] - first, [texts[i] for i in chosen]
            scores[:, chosen] = [detector(reading, rows, written) for detector in detectors]
        first = end
    _refuse_other_numerals([], numerals[first:])
    cuts = np.cumsum([len(numerals), *(len(errors[kind][0]) for kind in kinds)])
    found = []
    for row in scores:
        right, *wrong, _ = np.split(row, cuts)
        found.append(Scores(right, dict(zip(kinds, wrong, strict=True))))
    return found


def _refuse_other_numerals(read: list[str], cut: list[str]) -> None:
    """A run must read what the errors were made of: what it, or the one compared, cut before."""
    for one, other in zip_longest(read, cut, fillvalue="none"):
        if one != other:
            raise NumerateError(
                f"numerals of a text: got {one} by reading it, {other} by cutting it into tokens; "
                "expected the same, also of two runs that are compared"
            )


@dataclass(frozen=True, slots=True)
class BenchmarkResult:
    split: str
    seed: int
    numerals: int
    flagged: float  # share of right numerals above the threshold that the dev split gave
    detectors: dict[str, dict[str, Quality]]

    def record(self) -> dict[str, Any]:
        return asdict(self)


def run_benchmark(
    model: NumeralLM,
    dataset: Dataset,
    *,
    softmax: NumeralLM | None = None,
    split: str = "test",
    seed: int = 1,
    alarms: float = FALSE_ALARMS,
    limit: int | None = None,
) -> BenchmarkResult:
    """A model and the baselines on a split; `softmax` is a plain softmax's, for its surprisal.

    `limit` takes so many paragraphs only, always the same.
    """
    columns = dataset.split(split).read(["text", "document"])
    chosen = some_paragraphs(len(columns), limit)
    columns = columns.take(chosen)
    texts = columns["text"].to_pylist()
    written = [[t.text for t in model.tokens(text) if t.is_numeral] for text in texts]
    numerals = [numeral for some in written for numeral in some]
    if not numerals:
        raise DatasetError(f"{dataset.folder}: no numeral in these {len(texts)} paragraphs")
    ids = np.unique(np.array(columns["document"].to_pylist(), dtype=object), return_inverse=True)[1]
    documents = np.repeat(ids, [len(some) for some in written])
    errors = make_errors(numerals, documents, seed)

    def readings(of: NumeralLM) -> Iterable[TextReading]:
        in_view = named_columns(dataset, split, of.config.sight)
        return read_texts(of, texts, None if in_view is None else in_view.take(chosen))

    ways = model.checker.strangeness, AtFirstSight(model)
    found, sight = detect_each(ways, readings(model), numerals, errors)
    detectors = {
        model.name: qualities(found, errors),
        f"{model.name} at first sight": qualities(sight, errors),
    }
    distance = Distance(model.reference.median)
    distances = {kind: distance(wrong) for kind, (_, wrong) in errors.items()}
    far = Scores(distance(numerals), distances)
    detectors["distance from the median"] = qualities(far, errors)
    if softmax is not None:
        surprisals = detect(BySurprisal(softmax), readings(softmax), numerals, errors)
        detectors[f"surprisal of {softmax.name}"] = qualities(surprisals, errors)
    flagged = model.checker.calibration.plausibility(found.right) <= alarms
    return BenchmarkResult(split, seed, len(numerals), float(flagged.mean()), detectors)
