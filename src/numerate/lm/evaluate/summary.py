"""What the tables say, in two sentences made from their figures."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from numerate.errors import listed
from numerate.lm.evaluate.evaluate import Evaluation, oracles
from numerate.lm.evaluate.figure_cells import figure_at, interval_at
from numerate.lm.evaluate.observed import FigurePath
from numerate.reports.tables import format_figure


class _Standing(NamedTuple):
    """A model's figure with the ends of its interval, nan where it has none."""

    figure: float
    name: str
    low: float
    high: float

    @property
    def shown(self) -> str:
        return f"{self.name} ({format_figure(self.figure)})"


def summary(evaluations: list[Evaluation]) -> str:
    """Of runs on the same data: who predicts numerals best, and who comes nearest to numbers."""
    return " ".join([*_on_perplexity(evaluations), *_on_the_number_line(evaluations)])


def _on_perplexity(evaluations: list[Evaluation]) -> Iterator[str]:
    ranked = _ranked(evaluations, ("perplexity", "numerals", "app"))
    if not ranked:
        return
    best, *rest = ranked
    text = f"On numerals, {best.name} has the lowest adjusted perplexity, "
    text += format_figure(best.figure)
    near = [other.shown for other in rest if other.low <= best.high]
    if near:
        text += f", with overlapping intervals for {listed(near)}"
    elif rest:
        text += f", before {rest[0].shown}"
    closed = _closed(evaluations)
    if best.name not in closed and closed:
        first = next(one for one in ranked if one.name in closed)
        times = f"{first.figure / best.figure:.1f} times as high"
        text += f"; of those that know only a list of numerals, the best is {first.shown}, {times}"
    for label, oracle in oracles(evaluations):
        text += f"; the {label} has {format_figure(oracle['perplexity']['numerals'])}"
    yield text + "."


def _on_the_number_line(evaluations: list[Evaluation]) -> Iterator[str]:
    ranked = _ranked(evaluations, ("number_line", "mdape"))
    if not ranked:
        return
    best = ranked[0]
    constants = {name: errors["mdape"] for name, errors in evaluations[0].baselines.items()}
    constant = min(constants, key=constants.__getitem__)
    ours, theirs = (
        f"{format_figure(error)}\N{NO-BREAK SPACE}%" for error in (best.figure, constants[constant])
    )
    answer = f"always answering the {constant} of the training numbers"
    if best.figure < constants[constant]:
        yield (
            f"On the number line, {best.name} comes nearest, with a median percentage error of "
            f"{ours}; {answer} has one of {theirs}."
        )
    else:
        yield (
            f"On the number line, {answer} has a median percentage error of {theirs}, and no model "
            f"a lower one: the nearest, {best.name}, has {ours}."
        )


def _ranked(evaluations: list[Evaluation], path: FigurePath) -> list[_Standing]:
    """Return those that have the figure, lowest first."""
    found = []
    for evaluation in evaluations:
        figure = figure_at(evaluation.figures, path)
        if not math.isnan(figure):
            low, high = interval_at(evaluation, path) or (math.nan, math.nan)
            found.append(_Standing(figure, evaluation.name, low, high))
    return sorted(found)


def _closed(evaluations: list[Evaluation]) -> set[str]:
    """Models that are charged for unknown numerals."""
    by_model = {found.name: found.figures["perplexity"]["numerals"] for found in evaluations}
    return {name for name, figures in by_model.items() if figures["app"] > figures["pp"]}
