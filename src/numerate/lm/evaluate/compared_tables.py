"""Models against each other: all of them with what they cost, and two in pairs."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from numerate.lm.evaluate.bootstrap import PairedResult
from numerate.lm.evaluate.central_intervals import CALIBRATED, OWN
from numerate.lm.evaluate.evaluate import Evaluation
from numerate.lm.evaluate.figure_cells import (
    COVERAGE,
    HEAVY_TAILS,
    RESAMPLED,
    bold_notes,
    figure_at,
    labelled,
)
from numerate.lm.evaluate.figures import CLASSES
from numerate.lm.evaluate.observed import FigurePath, goal_of
from numerate.reports.tables import ResultTable, best_cells, format_figure, resting_on

_COMPARED = {
    "mae": "MAE",
    "mdae": "MdAE",
    "mape": "MAPE %",
    "mdape": "MdAPE %",
    "selected_mae": "MAE, selected",
    "selected_mdae": "MdAE, selected",
    "selected_mape": "MAPE %, selected",
    "selected_mdape": "MdAPE %, selected",
    "accuracy": "exact",
    "crps": "CRPS",
}
_P_AND_INTERVAL = (
    "p is of models that change places in documents, the interval of documents drawn anew: near "
    "the edge they may disagree."
)


def models_table(evaluations: Sequence[Evaluation]) -> ResultTable:
    """All models in one table, with what they cost."""
    central = next(
        (found for one in evaluations if (found := one.figures.get("central"))), dict[str, Any]()
    )
    kind = CALIBRATED if CALIBRATED in central else OWN
    columns: dict[FigurePath, str] = {
        ("perplexity", "words", "app"): "words\nAPP",
        ("perplexity", "numerals", "app"): "numerals\nAPP",
        ("beyond", "crps"): "CRPS",
        **{("central", kind, key): name for key, name in COVERAGE.items()},
    }
    columns = {
        path: name
        for path, name in columns.items()
        if any(path[0] in evaluation.figures for evaluation in evaluations)
    }
    rows, figures = [], []
    for label, evaluation in zip(labelled(evaluations), evaluations, strict=True):
        found = [figure_at(evaluation.figures, path) for path in columns]
        cells = [format_figure(one) for one in found]
        speed = format_figure(evaluation.tokens_per_second, digits=3)
        rows.append([label, f"{evaluation.parameters:,}", *cells, speed])
        figures.append([math.nan, *found, math.nan])
    title = "All models: parameters, adjusted perplexity, tokens read and scored a second"
    if central:
        covered = "" if kind == OWN else "calibrated "
        title += f"; CRPS, and how often {covered}intervals contain the truth"
    notes: tuple[str, ...] = ()
    if any(math.isnan(one.tokens_per_second) for one in evaluations):
        notes = ("No speed is known of what was read before and cached.",)
    goals = [math.nan, *map(goal_of, columns), math.nan]
    best = best_cells(rows, figures, goals)
    heads = ["model", "parameters", *columns.values(), "tokens/s"]
    table = ResultTable(title, heads, rows, notes, best)
    table = replace(table, notes=(*notes, *bold_notes(table)))
    (table,) = resting_on([table], evaluations[0].split, evaluations[0].limit)
    return table


def comparison_tables(
    first: Evaluation, second: Evaluation, results: dict[str, PairedResult]
) -> list[ResultTable]:
    """Perplexities, then errors on the number line: what the first has more than the second."""

    def rows(names: dict[str, str], digits: str) -> list[list[str]]:
        return [
            [label, *_compared(results[name], digits)]
            for name, label in names.items()
            if name in results
        ]

    both = " against ".join(labelled([first, second]))
    columns = ["difference", "interval", "p", "p, Holm"]
    nats = rows({name: name for name in CLASSES}, "+.4f")
    errors = rows(_COMPARED, "+,.4g")
    corrected = (
        f"p, Holm: corrected for the {len(results)} figures of this comparison. Intervals are of "
        "one figure each, not corrected."
    )
    tables = [
        ResultTable(
            f"{both}: nats per token in favour of the first",
            ["tokens", *columns],
            nats,
            (corrected,),
        )
    ]
    if errors:  # none where perplexity alone was asked for
        tables.append(
            ResultTable(
                f"{both}: first minus second, over numerals",
                ["figure", *columns],
                errors,
                (f"{RESAMPLED}. {HEAVY_TAILS}", _P_AND_INTERVAL),
            )
        )
    return resting_on(tables, first.split, first.limit)


def _compared(result: PairedResult, digits: str) -> list[str]:
    """Difference, interval and p; a dash for what is not known, as in the other tables."""
    difference, low, high = (
        "–" if math.isnan(value) else f"{value + 0.0:{digits}}"  # no -0
        for value in (result.difference, result.low, result.high)
    )
    return [difference, f"{low} to {high}", f"{result.p_value:.4f}", f"{result.p_holm:.4f}"]
