"""Arrays of a split to figures and their intervals: the paper's tables, and what goes beyond."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from numerate.lm.backbones.contract import Targets
from numerate.lm.evaluate.bootstrap import Interval, bootstrap_mean, bootstrap_median
from numerate.lm.evaluate.central_intervals import Ends
from numerate.lm.evaluate.number_line import (
    absolute_errors,
    absolute_log10_errors,
    right_orders_of_magnitude,
)
from numerate.lm.evaluate.observed import FigurePath, Observed, by_document
from numerate.lm.evaluate.score import Predictions
from numerate.lm.perplexity import perplexity

CLASSES = ("words", "numerals", "all")

Figures = dict[str, Any]  # nested: table → figure, or table → class → figure
_RATE = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Measured:
    """A figure of the table `path[0]`: a function of a mean over tokens or numerals, or a median.

    A value that is not finite is an error of the model's, and is refused, never skipped.
    """

    path: FigurePath
    values: np.ndarray  # [n]
    documents: np.ndarray  # [n]
    function: Callable[[float], float] = float
    bounds: tuple[float, float] = (0.0, math.inf)  # of the mean
    is_median: bool = False

    def interval(self, confidence: float, samples: int) -> Interval:
        observed = (self.values, self.documents)
        if self.is_median:
            return bootstrap_median(*observed, confidence=confidence, samples=samples)
        mean = bootstrap_mean(*observed, confidence=confidence, samples=samples, bounds=self.bounds)
        return mean.mapped(self.function)

    def observed(self) -> Observed:
        """What is kept of it, for intervals that also count seeds."""
        about = {"function": self.function, "bounds": self.bounds, "is_median": self.is_median}
        return by_document(self.values, self.documents, **about)


def token_classes(targets: Targets) -> dict[str, np.ndarray]:
    numeral = targets.is_numeral
    return dict(zip(CLASSES, (~numeral, numeral, np.ones_like(numeral)), strict=True))


def figures_and_intervals(
    measured: list[Measured], confidence: float | None
) -> tuple[Figures, Figures]:
    """Every figure and, with `confidence`, its interval."""
    figures: Figures = {}
    intervals: Figures = {}
    for one in measured:
        interval = one.interval(confidence or 0.95, samples=1000 if confidence is not None else 1)
        put(figures, one.path, interval.estimate)
        if confidence is not None:
            put(intervals, one.path, [interval.low, interval.high])
    return figures, intervals


def put(figures: Figures, path: FigurePath, value: object) -> None:
    *parents, last = path
    for parent in parents:
        figures = figures.setdefault(parent, {})
    figures[last] = value


def perplexities(
    log_probs: np.ndarray, adjusted: np.ndarray, targets: Targets, documents: np.ndarray
) -> Iterator[Measured]:
    for name, members in token_classes(targets).items():
        for kind, values in (("pp", log_probs), ("app", adjusted)):
            path = ("perplexity", name, kind)
            yield Measured(path, -values[members], documents[members], perplexity)


def number_line(
    truth: np.ndarray, predictions: Predictions, documents: np.ndarray, everything: bool
) -> Iterator[Measured]:
    """Of the best candidate, as in the paper; with `everything`, also of numbers that suit errors.

    What is likeliest need not be near: errors are least at the median, percentage errors at a
    median of their own.
    """

    every = np.ones(len(truth), dtype=bool)
    nonzero = truth != 0  # a true zero has no percentage error
    logarithms = nonzero & (predictions.values != 0)

    def mean(
        table: str, name: str, values: np.ndarray, among: np.ndarray = every, **choices: Any
    ) -> Measured:
        return Measured((table, name), values[among], documents[among], **choices)

    def median(table: str, name: str, values: np.ndarray, among: np.ndarray = every) -> Measured:
        return mean(table, name, values, among, is_median=True)

    error, percentage = absolute_errors(truth, predictions.values)
    yield mean("number_line", "rmse", error**2, function=math.sqrt)
    yield mean("number_line", "mae", error)
    yield median("number_line", "mdae", error)
    yield mean("number_line", "mape", percentage, nonzero)
    yield median("number_line", "mdape", percentage, nonzero)
    if not everything:
        return
    yield mean("beyond", "accuracy", predictions.exact.astype(float), bounds=_RATE)
    orders = right_orders_of_magnitude(truth, predictions.values)
    yield mean("beyond", "order_accuracy", orders, bounds=_RATE)
    log_errors = absolute_log10_errors(truth, predictions.values)
    yield mean("beyond", "log10_error", log_errors, logarithms)
    yield mean("beyond", "crps", predictions.crps)
    error, percentage = absolute_errors(truth, predictions.medians)
    _, by_percentage = absolute_errors(truth, predictions.percentage_medians)
    yield mean("selected", "mae", error)
    yield median("selected", "mdae", error)
    yield mean("selected", "mape", by_percentage, nonzero)
    yield median("selected", "mdape", percentage, nonzero)


def central_intervals(truth: np.ndarray, ends: Ends, documents: np.ndarray) -> Iterator[Measured]:
    """How often intervals of each kind and level contain the truth, and how wide they are."""
    for kind, by_level in ends.items():
        for level, (low, high) in ((level, both.T) for level, both in by_level.items()):
            covered, share = (low <= truth) & (truth <= high), f"{100 * level:.0f}"
            path = ("central", kind)
            yield Measured(
                (*path, f"coverage_{share}"), covered.astype(float), documents, bounds=_RATE
            )
            yield Measured((*path, f"median_width_{share}"), high - low, documents, is_median=True)
            yield Measured((*path, f"mean_width_{share}"), high - low, documents)


def by_numeral(
    truth: np.ndarray, predictions: Predictions, everything: bool
) -> dict[str, dict[str, np.ndarray]]:
    """Of each numeral what the figures on the number line are a mean or a median of."""
    error, percentage = absolute_errors(truth, predictions.values)
    means, medians = {"mae": error, "mape": percentage}, {"mdae": error, "mdape": percentage}
    if everything:
        error, percentage = absolute_errors(truth, predictions.medians)
        _, by_percentage = absolute_errors(truth, predictions.percentage_medians)
        means |= {"accuracy": predictions.exact.astype(float), "crps": predictions.crps}
        means |= {"selected_mae": error, "selected_mape": by_percentage}
        medians |= {"selected_mdae": error, "selected_mdape": percentage}
    return {"mean": means, "median": medians}
