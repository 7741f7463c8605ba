"""How a figure of a model is shown in a table: with its spread and interval, in bold or not."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from numerate.lm.evaluate.evaluate import Evaluation
from numerate.lm.evaluate.observed import FigurePath, goal_of
from numerate.lm.evaluate.seeds import SeedEvaluation
from numerate.places import as_named
from numerate.reports.tables import BOLD, ResultTable, best_cells, format_figure

RESAMPLED = "Intervals resample documents"
HEAVY_TAILS = (
    "Where a few huge errors make a mean (RMSE, MAE, MAPE, CRPS), they contain the truth less "
    "often than they say."
)
COVERAGE = {"coverage_50": "in 50 %", "coverage_90": "in 90 %"}


def labelled(evaluations: Sequence[Evaluation]) -> list[str]:
    """The models' names, with the end of the run's path where several have one name."""
    names = [evaluation.name for evaluation in evaluations]
    places = [as_named(evaluation.folder.as_posix()) for evaluation in evaluations]
    both = list(zip(names, places, strict=True))
    labels = []
    for name, place in both:
        others = {elsewhere for other, elsewhere in both if other == name} - {place}
        labels.append(name if names.count(name) == 1 else f"{name} ({_ending(place, others)})")
    return labels


def _ending(place: str, others: set[str]) -> str:
    """As many of its last parts as tell it from the others: seeds have folders of one last name."""
    parts = place.split("/")
    for count in range(1, len(parts)):
        ending = "/".join(parts[-count:])
        if not any(f"/{other}".endswith(f"/{ending}") for other in others):
            return ending
    return place


def figure_at(figures: Any, path: FigurePath) -> float:
    """nan where a model has none."""
    for name in path:
        figures = figures.get(name, {})
    return math.nan if figures == {} else float(figures)


def cell(evaluation: Evaluation, path: FigurePath) -> str:
    """`2.5`, `2.5 ±0.1` of several seeds, `2.5 ±0.1 [2.0, 3.0]` with an interval."""
    text = format_figure(figure_at(evaluation.figures, path)) + spread_at(evaluation, path)
    if interval := interval_at(evaluation, path):
        text += f" [{format_figure(interval[0])}, {format_figure(interval[1])}]"
    return text


def interval_at(evaluation: Evaluation, path: FigurePath) -> list[float]:
    """Its ends; none where there is no interval."""
    found: Any = evaluation.intervals
    for name in path:
        found = found.get(name, {})
    return list(found)


def spread_at(evaluation: Evaluation, path: FigurePath, form: str | None = None) -> str:
    """Two digits of it, which is more than three seeds know."""
    spread: Any = evaluation.spread if isinstance(evaluation, SeedEvaluation) else {}
    for name in path:
        spread = spread.get(name, {})
    if spread == {}:
        return ""
    return " ±" + (form.format(spread) if form else format_figure(spread, digits=2))


def best_of(
    shown: Sequence[tuple[Evaluation, Sequence[FigurePath]]],
    rows: list[list[str]],
    figures: list[list[float]],
) -> frozenset[tuple[int, int]]:
    """The best of each column; of models of several seeds, also all that tests do not tell from it.

    `figures` are of the first rows, the last of which show these of evaluations. One model has no
    best by itself, nor one among its own rows where tests do not tell them apart.
    """
    if not all(isinstance(evaluation, SeedEvaluation) for evaluation, _ in shown):
        return best_cells(rows, figures, [goal_of(path) for path in shown[0][1]])
    before = len(figures) - len(shown)
    best = frozenset(
        (row, column)
        for row, (evaluation, paths) in enumerate(shown, before)
        for column, path in enumerate(paths, 1)
        if isinstance(evaluation, SeedEvaluation) and evaluation.is_among_best(path)
    )
    if len({id(evaluation) for evaluation, _ in shown}) > 1:
        return best
    rows_of = Counter(column for _, column in best)
    return frozenset(cell for cell in best if rows_of[cell[1]] < len(shown))


def bold_notes(table: ResultTable, compared: Sequence[Evaluation] = ()) -> Iterator[str]:
    """What bold means, where something is: the best figure, or all that tests do not tell from it.

    Tests are of models of several seeds that are `compared`.
    """
    if not table.best:
        return
    of_seeds = [one for one in compared if isinstance(one, SeedEvaluation)]
    if len(of_seeds) > 1 and len(of_seeds) == len(compared):
        counted = "documents and seeds" if most_seeds(compared) > 1 else "documents"
        yield (
            f"{BOLD} the best of the models, and all that cannot be told from it (multiple "
            f"comparisons with the best that count {counted}, p > {1 - of_seeds[0].level:.2g}, "
            "over the rows of a column in Holm's steps)."
        )
    else:
        covers = any(name in table.columns for name in COVERAGE.values())
        coverage = "; of coverage, the nearest to what is said" if covers else ""
        yield f"{BOLD} the best of each column{coverage}."


def most_seeds(evaluations: Sequence[Evaluation]) -> int:
    return max(one.seeds if isinstance(one, SeedEvaluation) else 1 for one in evaluations)
