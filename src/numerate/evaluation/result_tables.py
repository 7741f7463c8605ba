"""The paper's tables from evaluations."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from numerate.evaluation.bootstrap import PairedResult
from numerate.evaluation.central_intervals import CALIBRATED, OWN
from numerate.evaluation.evaluate import Evaluation, oracles, strict
from numerate.evaluation.figures import CLASSES, Figures
from numerate.perplexity import IMPROBABLE
from numerate.tables import (
    HIGH,
    LOW,
    ResultTable,
    best_cells,
    csv_text,
    format_figure,
    resting_on,
)

_NUMBER_LINE = ("rmse", "mae", "mdae", "mape", "mdape")
_GOALS = {"accuracy": HIGH, "order_accuracy": HIGH, "coverage_50": 0.5, "coverage_90": 0.9}
_KINDS = {OWN: "", CALIBRATED: ", calibrated"}  # of central intervals
_CENTRAL = {
    "coverage_50": "in 50 %",
    "coverage_90": "in 90 %",
    "median_width_50": "median\nwidth, 50 %",
    "median_width_90": "median\nwidth, 90 %",
    "mean_width_50": "mean\nwidth, 50 %",
    "mean_width_90": "mean\nwidth, 90 %",
}
_NO_GOAL = math.nan  # PP flatters small vocabularies: the best of it means nothing
_PARTS = {  # beyond the paper: the title, and the figures with their columns
    "beyond": (
        "Beyond the paper: accuracy of the numeral and of its order of magnitude, error of the "
        "logarithm, CRPS",
        {
            "accuracy": "exact",
            "order_accuracy": "magnitude",
            "log10_error": "log10 error",
            "crps": "CRPS",
        },
    ),
    "selected": (
        "With numbers that suit the error: the median of the distribution, for MAPE its median "
        "with weights 1/number",
        {"mae": "MAE", "mdae": "MdAE", "mape": "MAPE %", "mdape": "MdAPE %"},
    ),
}
_HEAVY_TAILS = (
    "Intervals resample documents. Where a few huge errors make a mean (RMSE, MAE, MAPE, CRPS), "
    "they contain the truth less often than they say: docs/results.md has how often."
)
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


def result_tables(evaluations: list[Evaluation]) -> list[ResultTable]:
    known = [
        part for part in _PARTS if any(part in evaluation.figures for evaluation in evaluations)
    ]
    tables = [
        _perplexity_table(evaluations),
        _number_line_table(evaluations),
        *(_part_table(evaluations, part) for part in known),
    ]
    if any("central" in evaluation.figures for evaluation in evaluations):
        tables.append(_central_table(evaluations))
    return resting_on(tables, evaluations[0].split, evaluations[0].limit)


def _labels(evaluations: list[Evaluation]) -> list[str]:
    """The models' names, with the run's folder where several have one name."""
    names = [evaluation.name for evaluation in evaluations]
    return [
        name if names.count(name) == 1 else f"{name} ({evaluation.folder.name})"
        for name, evaluation in zip(names, evaluations, strict=True)
    ]


def _perplexity_table(evaluations: list[Evaluation]) -> ResultTable:
    columns = ["model"]
    columns += [f"{name}\n{kind}" for name in CLASSES for kind in ("PP", "APP")]
    with_oracle = any(evaluation.oracle for evaluation in evaluations)
    if with_oracle:
        columns.append("above\noracle")
    goals = [_NO_GOAL, LOW] * len(CLASSES) + [LOW] * with_oracle
    rows, figures = [], []
    for label, evaluation in zip(_labels(evaluations), evaluations, strict=True):
        row = [label]
        for name in CLASSES:
            row += [_cell(evaluation, ("perplexity", name, kind)) for kind in ("pp", "app")]
        if with_oracle:
            oracle = evaluation.best_possible
            row.append(f"{oracle['nats_above']['numerals']:.3f}" if oracle else "")
        rows.append(row)
        found = evaluation.figures["perplexity"]
        figures.append([found[name][kind] for name in CLASSES for kind in ("pp", "app")])
        if with_oracle:
            figures[-1].append(oracle["nats_above"]["numerals"] if oracle else math.nan)
    for label, oracle in oracles(evaluations):
        cells = [format_figure(oracle["perplexity"][name]) for name in CLASSES for _ in range(2)]
        rows.append([label, *cells, "0"])
    title = "Perplexity and adjusted perplexity"
    if with_oracle:
        title += "; nats per numeral above the oracle"
    best = best_cells(rows, figures, goals)
    return ResultTable(title, columns, rows, tuple(_improbable(evaluations)), best)


def _improbable(evaluations: list[Evaluation]) -> Iterator[str]:
    """A sentence for every model whose perplexity is that of a few numerals."""
    for label, evaluation in zip(_labels(evaluations), evaluations, strict=True):
        without = evaluation.figures["perplexity"].get("without_improbable")
        if without is None:
            continue
        yield (
            f"{label}: {without['count']:,} of {evaluation.counts['numerals']:,} numerals, of a "
            f"probability below {IMPROBABLE:g} each, make its perplexity; without them it is "
            f"{format_figure(without['numerals'])} on numerals, {format_figure(without['all'])} "
            "on all."
        )


def _number_line_table(evaluations: list[Evaluation]) -> ResultTable:
    columns = ["model", "RMSE", "MAE", "MdAE", "MAPE %", "MdAPE %"]
    rows = [
        [name, *(format_figure(errors[key]) for key in _NUMBER_LINE)]
        for name, errors in evaluations[0].baselines.items()
    ]
    rows += [
        [label, *(_cell(evaluation, ("number_line", key)) for key in _NUMBER_LINE)]
        for label, evaluation in zip(_labels(evaluations), evaluations, strict=True)
    ]
    zeros = int(evaluations[0].figures["number_line"]["zeros"])
    title = "On the number line; mean and median are constants from the training numbers"
    if zeros:
        title += f"; percentage errors skip {zeros:,} true zeros"
    notes = (_HEAVY_TAILS,) if any(evaluation.intervals for evaluation in evaluations) else ()
    found = [*evaluations[0].baselines.values()]
    found += [evaluation.figures["number_line"] for evaluation in evaluations]
    figures = [[errors[key] for key in _NUMBER_LINE] for errors in found]
    best = best_cells(rows, figures, [LOW] * len(_NUMBER_LINE))
    return ResultTable(title, columns, rows, notes, best)


def _part_table(evaluations: list[Evaluation], part: str) -> ResultTable:
    title, columns = _PARTS[part]
    rows = [
        [label, *(_cell(evaluation, (part, key)) for key in columns)]
        for label, evaluation in zip(_labels(evaluations), evaluations, strict=True)
        if part in evaluation.figures
    ]
    figures = [
        [evaluation.figures[part][key] for key in columns]
        for evaluation in evaluations
        if part in evaluation.figures
    ]
    best = best_cells(rows, figures, [_GOALS.get(key, LOW) for key in columns])
    return ResultTable(title, ["model", *columns.values()], rows, best=best)


def _central_table(evaluations: list[Evaluation]) -> ResultTable:
    """Own intervals and calibrated ones side by side."""
    rows, figures = [], []
    for label, evaluation in zip(_labels(evaluations), evaluations, strict=True):
        for kind, found in evaluation.figures.get("central", {}).items():
            cells = [_cell(evaluation, ("central", kind, key)) for key in _CENTRAL]
            rows.append([label + _KINDS[kind], *cells])
            figures.append([found[key] for key in _CENTRAL])
    title = (
        "Central intervals: how often they contain the truth, and how wide they are; the model's "
        "own, and those calibrated on the dev split"
    )
    best = best_cells(rows, figures, [_GOALS.get(key, _NO_GOAL) for key in _CENTRAL])
    return ResultTable(title, ["model", *_CENTRAL.values()], rows, best=best)


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

    both = " against ".join(_labels([first, second]))
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
        ),
        ResultTable(
            f"{both}: first minus second, over numerals",
            ["figure", *columns],
            errors,
            (_HEAVY_TAILS,),
        ),
    ]
    return resting_on(tables, first.split, first.limit)


def _compared(result: PairedResult, digits: str) -> list[str]:
    """Difference, interval and p; a dash for what is not known, as in the other tables."""
    difference, low, high = (
        "–" if math.isnan(value) else f"{value + 0.0:{digits}}"  # no -0
        for value in (result.difference, result.low, result.high)
    )
    return [difference, f"{low} to {high}", f"{result.p_value:.4f}", f"{result.p_holm:.4f}"]


def _cell(evaluation: Evaluation, path: tuple[str, ...]) -> str:
    figure: Any = evaluation.figures
    interval: Any = evaluation.intervals
    for name in path:
        figure, interval = figure[name], interval.get(name, {})
    text = format_figure(figure)
    if interval:
        text += f" [{format_figure(interval[0])}, {format_figure(interval[1])}]"
    return text


def as_csv(evaluations: list[Evaluation], compared: dict[str, PairedResult] | None = None) -> str:
    """One line per figure: model, figure, value and, where known, its interval."""
    rows: list[Sequence[object]] = [["run", "model", "figure", "value", "low", "high"]]
    for evaluation in evaluations:
        intervals = dict(_leaves(strict(evaluation.intervals)))
        known = {
            "baselines": evaluation.baselines,
            "oracle": evaluation.oracle or {},
            "oracle_with_tables": evaluation.oracle_with_tables or {},
        }
        for name, value in _leaves(strict(evaluation.figures | known)):
            low, high = intervals.get(name, ("", ""))
            rows.append([evaluation.folder, evaluation.name, name, value, low, high])
    for name, result in strict({k: asdict(v) for k, v in (compared or {}).items()}).items():
        both = [evaluations[0].folder, "against " + str(evaluations[1].folder)]
        figure = f"comparison.{name}"
        rows.append([*both, figure, result["difference"], result["low"], result["high"]])
        kinds = ("p_value", "p_holm")
        rows += [[*both, f"{figure}.{kind}", result[kind], "", ""] for kind in kinds]
    return csv_text(rows).rstrip("\n")


def _leaves(figures: Figures, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def as_json(evaluations: list[Evaluation], compared: dict[str, PairedResult] | None) -> str:
    record: dict[str, Any] = {
        "runs": {str(evaluation.folder): evaluation.record() for evaluation in evaluations}
    }
    if compared is not None:
        record["comparison"] = strict({name: asdict(result) for name, result in compared.items()})
    return json.dumps(record, indent=2, ensure_ascii=False)
