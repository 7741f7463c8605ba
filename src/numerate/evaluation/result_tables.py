"""The paper's tables from evaluations."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from numerate.evaluation.bootstrap import PairedResult
from numerate.evaluation.central_intervals import CALIBRATED, OWN
from numerate.evaluation.evaluate import ABOVE_ORACLE, Evaluation, oracles, strict
from numerate.evaluation.figures import CLASSES, Figures
from numerate.evaluation.observed import FigurePath, goal_of
from numerate.evaluation.seeds import SeedEvaluation
from numerate.perplexity import IMPROBABLE
from numerate.places import name_of
from numerate.tables import (
    ResultTable,
    best_cells,
    csv_text,
    format_figure,
    resting_on,
)

_NUMBER_LINE = ("rmse", "mae", "mdae", "mape", "mdape")
_KINDS = {OWN: "", CALIBRATED: ", calibrated"}  # of central intervals
_CENTRAL = {
    "coverage_50": "in 50 %",
    "coverage_90": "in 90 %",
    "median_width_50": "median\nwidth, 50 %",
    "median_width_90": "median\nwidth, 90 %",
    "mean_width_50": "mean\nwidth, 50 %",
    "mean_width_90": "mean\nwidth, 90 %",
}
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
_RESAMPLED = "Intervals resample documents"
_HEAVY_TAILS = (
    "Where a few huge errors make a mean (RMSE, MAE, MAPE, CRPS), they contain the truth less "
    "often than they say: docs/results.md has how often."
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


def result_tables(evaluations: Sequence[Evaluation]) -> list[ResultTable]:
    known = [
        part for part in _PARTS if any(part in evaluation.figures for evaluation in evaluations)
    ]
    tables = [_perplexity_table(evaluations)]
    if all("number_line" in evaluation.figures for evaluation in evaluations):
        tables.append(_number_line_table(evaluations))
    tables += [_part_table(evaluations, part) for part in known]
    if any("central" in evaluation.figures for evaluation in evaluations):
        tables.append(_central_table(evaluations))
    said = tuple(_seeds_notes(evaluations))
    tables = [replace(table, notes=(*table.notes, *said)) for table in tables]
    return resting_on(tables, evaluations[0].split, evaluations[0].limit)


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
        ("central", kind, "coverage_50"): "in 50 %",
        ("central", kind, "coverage_90"): "in 90 %",
    }
    columns = {
        path: name
        for path, name in columns.items()
        if any(path[0] in evaluation.figures for evaluation in evaluations)
    }
    rows, figures = [], []
    for label, evaluation in zip(_labels(evaluations), evaluations, strict=True):
        found = [_figure(evaluation.figures, path) for path in columns]
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
    (table,) = resting_on(
        [ResultTable(title, heads, rows, notes, best)], evaluations[0].split, evaluations[0].limit
    )
    return table


def _figure(figures: Any, path: FigurePath) -> float:
    """nan where a model has none."""
    for name in path:
        figures = figures.get(name, {})
    return math.nan if figures == {} else float(figures)


def _best(
    shown: Sequence[tuple[Evaluation, Sequence[FigurePath]]],
    rows: list[list[str]],
    figures: list[list[float]],
) -> frozenset[tuple[int, int]]:
    """The best of each column; of models of several seeds, also all that tests do not tell from it.

    `figures` are of the first rows, the last of which show these of evaluations.
    """
    if not all(isinstance(evaluation, SeedEvaluation) for evaluation, _ in shown):
        return best_cells(rows, figures, [goal_of(path) for path in shown[0][1]])
    before = len(figures) - len(shown)
    return frozenset(
        (row, column)
        for row, (evaluation, paths) in enumerate(shown, before)
        for column, path in enumerate(paths, 1)
        if isinstance(evaluation, SeedEvaluation) and evaluation.is_among_best(path)
    )


def _seeds_notes(evaluations: Sequence[Evaluation]) -> Iterator[str]:
    """What is shown of models of several seeds."""
    seeds = {one.name: one.seeds for one in evaluations if isinstance(one, SeedEvaluation)}
    if not seeds:
        return
    most = _most_seeds(evaluations)
    if most > 1:
        fewer = [f"{name} {count}" for name, count in seeds.items() if count < most]
        text = f"Mean ±standard deviation over {most} seeds"
        text += f" ({', '.join(fewer)})." if fewer else "."
        yield f"{text} Perplexities are those of mean nats, RMSE that of mean squares."
    level = next(one.level for one in evaluations if isinstance(one, SeedEvaluation))
    counted = "documents and seeds" if most > 1 else "documents"
    yield (
        "Bold: the best of the models, and all that cannot be told from it (multiple comparisons "
        f"with the best that count {counted}, p > {1 - level:.2g}, over the rows of a column in "
        "Holm's steps)."
    )


def _labels(evaluations: Sequence[Evaluation]) -> list[str]:
    """The models' names, with the run's folder where several have one name."""
    names = [evaluation.name for evaluation in evaluations]
    return [
        name if names.count(name) == 1 else f"{name} ({name_of(evaluation.folder)})"
        for name, evaluation in zip(names, evaluations, strict=True)
    ]


def _perplexity_table(evaluations: Sequence[Evaluation]) -> ResultTable:
    columns = ["model"]
    columns += [f"{name}\n{kind}" for name in CLASSES for kind in ("PP", "APP")]
    with_oracle = any(evaluation.oracle for evaluation in evaluations)
    if with_oracle:
        columns.append("above\noracle")
    paths: list[FigurePath] = [
        ("perplexity", name, kind) for name in CLASSES for kind in ("pp", "app")
    ]
    rows, figures = [], []
    for label, evaluation in zip(_labels(evaluations), evaluations, strict=True):
        row = [label, *(_cell(evaluation, path) for path in paths)]
        if with_oracle:
            oracle = evaluation.best_possible
            above = f"{oracle['nats_above']['numerals']:.3f}" if oracle else ""
            row.append(above + _spread(evaluation, ABOVE_ORACLE, "{:.3f}"))
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
    paths += [ABOVE_ORACLE] * with_oracle
    best = _best([(evaluation, paths) for evaluation in evaluations], rows, figures)
    return ResultTable(title, columns, rows, tuple(_improbable(evaluations)), best)


def _improbable(evaluations: Sequence[Evaluation]) -> Iterator[str]:
    """A sentence for every model whose perplexity is that of a few numerals."""
    for label, evaluation in zip(_labels(evaluations), evaluations, strict=True):
        without = evaluation.figures["perplexity"].get("without_improbable")
        if without is None:
            continue
        of_seeds = ""
        if isinstance(evaluation, SeedEvaluation) and evaluation.seeds > 1:
            of_seeds = f", mean of {without['seeds']} of {evaluation.seeds} seeds"
        count = f"{without['count']:,.0f} of {evaluation.counts['numerals']:,}"
        yield (
            f"{label}{of_seeds}: {count} numerals, of a probability below {IMPROBABLE:g} each, "
            "make its perplexity; without them it is "
            f"{format_figure(without['numerals'])} on numerals, {format_figure(without['all'])} "
            "on all."
        )


def _number_line_table(evaluations: Sequence[Evaluation]) -> ResultTable:
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
    notes = tuple(_interval_notes(evaluations))
    found = [*evaluations[0].baselines.values()]
    found += [evaluation.figures["number_line"] for evaluation in evaluations]
    figures = [[errors[key] for key in _NUMBER_LINE] for errors in found]
    paths = [("number_line", key) for key in _NUMBER_LINE]
    best = _best([(evaluation, paths) for evaluation in evaluations], rows, figures)
    return ResultTable(title, columns, rows, notes, best)


def _interval_notes(evaluations: Sequence[Evaluation]) -> Iterator[str]:
    """What intervals count, and how far they can be trusted."""
    if any(evaluation.intervals for evaluation in evaluations):
        seeds = " and count seeds" if _most_seeds(evaluations) > 1 else ""
        yield f"{_RESAMPLED}{seeds}. {_HEAVY_TAILS}"


def _most_seeds(evaluations: Sequence[Evaluation]) -> int:
    return max(one.seeds if isinstance(one, SeedEvaluation) else 1 for one in evaluations)


def _open_notes(shown: Sequence[tuple[Evaluation, Sequence[FigurePath]]]) -> Iterator[str]:
    """Said of a rate whose interval leaves everything open."""
    intervals = [_interval(evaluation, path) for evaluation, paths in shown for path in paths]
    if any(ends == [0.0, 1.0] for ends in intervals):
        yield (
            "An interval from 0 to 1 leaves everything open: the documents, or seeds, are too few."
        )


def _part_table(evaluations: Sequence[Evaluation], part: str) -> ResultTable:
    title, columns = _PARTS[part]
    paths: list[FigurePath] = [(part, key) for key in columns]
    known = [evaluation for evaluation in evaluations if part in evaluation.figures]
    rows = [
        [label, *(_cell(evaluation, path) for path in paths)]
        for label, evaluation in zip(_labels(evaluations), evaluations, strict=True)
        if part in evaluation.figures
    ]
    figures = [[evaluation.figures[part][key] for key in columns] for evaluation in known]
    shown = [(evaluation, paths) for evaluation in known]
    best = _best(shown, rows, figures)
    return ResultTable(title, ["model", *columns.values()], rows, tuple(_open_notes(shown)), best)


def _central_table(evaluations: Sequence[Evaluation]) -> ResultTable:
    """Own intervals and calibrated ones side by side."""
    rows, figures, shown = [], [], []
    for label, evaluation in zip(_labels(evaluations), evaluations, strict=True):
        for kind, found in evaluation.figures.get("central", {}).items():
            paths = [("central", kind, key) for key in _CENTRAL]
            rows.append([label + _KINDS[kind], *(_cell(evaluation, path) for path in paths)])
            figures.append([found[key] for key in _CENTRAL])
            shown.append((evaluation, paths))
    title = (
        "Central intervals: how often they contain the truth, and how wide they are; the model's "
        "own, and those calibrated on the dev split"
    )
    best = _best(shown, rows, figures)
    notes = (*_open_notes(shown), *_calibration_notes(evaluations))
    return ResultTable(title, ["model", *_CENTRAL.values()], rows, notes, best)


def _calibration_notes(evaluations: Sequence[Evaluation]) -> Iterator[str]:
    """Which models were calibrated on what."""
    found: dict[str, list[str]] = {}
    for label, evaluation in zip(_labels(evaluations), evaluations, strict=True):
        if evaluation.calibrated_on is not None:
            found.setdefault(evaluation.calibrated_on, []).append(label)
    for on, labels in found.items():
        yield f"{', '.join(labels)}: {on}."


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
        )
    ]
    if errors:  # none where perplexity alone was asked for
        tables.append(
            ResultTable(
                f"{both}: first minus second, over numerals",
                ["figure", *columns],
                errors,
                (f"{_RESAMPLED}. {_HEAVY_TAILS}",),
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


def _cell(evaluation: Evaluation, path: FigurePath) -> str:
    """`2.5`, `2.5 ±0.1` of several seeds, `2.5 ±0.1 [2.0, 3.0]` with an interval."""
    text = format_figure(_figure(evaluation.figures, path)) + _spread(evaluation, path)
    if interval := _interval(evaluation, path):
        text += f" [{format_figure(interval[0])}, {format_figure(interval[1])}]"
    return text


def _interval(evaluation: Evaluation, path: FigurePath) -> list[float]:
    """Its ends; none where there is no interval."""
    found: Any = evaluation.intervals
    for name in path:
        found = found.get(name, {})
    return list(found)


def _spread(evaluation: Evaluation, path: FigurePath, form: str | None = None) -> str:
    """Two digits of it, which is more than three seeds know."""
    spread: Any = evaluation.spread if isinstance(evaluation, SeedEvaluation) else {}
    for name in path:
        spread = spread.get(name, {})
    if spread == {}:
        return ""
    return " ±" + (form.format(spread) if form else format_figure(spread, digits=2))


def as_csv(
    evaluations: Sequence[Evaluation], compared: dict[str, PairedResult] | None = None
) -> str:
    """One line per figure: model, figure, value and, where known, its interval."""
    several = any(isinstance(evaluation, SeedEvaluation) for evaluation in evaluations)
    of_seeds = ["sd", "seeds", "p_holm", "among_best"] if several else []
    rows: list[Sequence[object]] = [["run", "model", "figure", "value", "low", "high", *of_seeds]]
    for evaluation in evaluations:
        intervals = dict(_leaves(strict(evaluation.intervals)))
        known = {
            "baselines": evaluation.baselines,
            "oracle": evaluation.oracle or {},
            "oracle_with_tables": evaluation.oracle_with_tables or {},
        }
        for name, value in _leaves(strict(evaluation.figures | known)):
            low, high = intervals.get(name, ("", ""))
            row = [evaluation.folder, evaluation.name, name, value, low, high]
            rows.append([*row, *_of_seeds(evaluation, name)])
    for name, result in strict({k: asdict(v) for k, v in (compared or {}).items()}).items():
        both = [evaluations[0].folder, "against " + str(evaluations[1].folder)]
        figure = f"comparison.{name}"
        rows.append([*both, figure, result["difference"], result["low"], result["high"]])
        kinds = ("p_value", "p_holm")
        rows += [[*both, f"{figure}.{kind}", result[kind], "", ""] for kind in kinds]
    return csv_text(rows).rstrip("\n")


def _of_seeds(evaluation: Evaluation, name: str) -> list[object]:
    """Spread, seeds, p against the best, and whether it is among the best."""
    if not isinstance(evaluation, SeedEvaluation):
        return []
    path = tuple(name.split("."))
    spread = dict(_leaves(strict(evaluation.spread))).get(name, "")
    against = evaluation.against_best.get(path)
    found = ("", "") if against is None else (against.p_holm, evaluation.is_among_best(path))
    return [spread, evaluation.seeds, *found]


def _leaves(figures: Figures, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def as_json(evaluations: Sequence[Evaluation], compared: dict[str, PairedResult] | None) -> str:
    record: dict[str, Any] = {
        "runs": {str(evaluation.folder): evaluation.record() for evaluation in evaluations}
    }
    if len(evaluations) > 1 and all(one.parameters for one in evaluations):
        record["cost"] = {
            str(one.folder): strict(
                {"parameters": one.parameters, "tokens_per_second": one.tokens_per_second}
            )
            for one in evaluations
        }
    if compared is not None:
        record["comparison"] = strict({name: asdict(result) for name, result in compared.items()})
    return json.dumps(record, indent=2, ensure_ascii=False)
