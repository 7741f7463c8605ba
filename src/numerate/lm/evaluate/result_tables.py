"""The paper's tables, and those beyond it, from evaluations."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from numerate.lm.evaluate.central_intervals import CALIBRATED, OWN
from numerate.lm.evaluate.evaluate import Evaluation, oracles
from numerate.lm.evaluate.figure_cells import (
    COVERAGE,
    HEAVY_TAILS,
    RESAMPLED,
    best_of,
    bold_notes,
    cell,
    interval_at,
    labelled,
    most_seeds,
    spread_at,
)
from numerate.lm.evaluate.figures import CLASSES
from numerate.lm.evaluate.observed import FigurePath
from numerate.lm.evaluate.seeds import SeedEvaluation
from numerate.lm.perplexity import IMPROBABLE
from numerate.reports.tables import ResultTable, format_figure, resting_on

_NUMBER_LINE = ("rmse", "mae", "mdae", "mape", "mdape")
_KINDS = {OWN: "", CALIBRATED: ", calibrated"}  # of central intervals
_CENTRAL = {
    **COVERAGE,
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
        "With numbers that suit the error (selected): the median of the distribution, for MAPE "
        "its median with weights 1/number",
        {"mae": "MAE", "mdae": "MdAE", "mape": "MAPE %", "mdape": "MdAPE %"},
    ),
}


def result_tables(evaluations: Sequence[Evaluation]) -> list[ResultTable]:
    known = [
        part for part in _PARTS if any(part in evaluation.figures for evaluation in evaluations)
    ]
    tables = [_perplexity_table(evaluations)]
    if any("number_line" in evaluation.figures for evaluation in evaluations):
        tables.append(_number_line_table(evaluations))
    tables += [_part_table(evaluations, part) for part in known]
    if any("central" in evaluation.figures for evaluation in evaluations):
        tables.append(_central_table(evaluations))
    return resting_on(tables, evaluations[0].split, evaluations[0].limit)


def _noted(
    table: ResultTable, evaluations: Sequence[Evaluation], of_means: str = ""
) -> ResultTable:
    """With what is said of the seeds and of the best of its models."""
    said = (*_seeds_notes(evaluations, of_means), *bold_notes(table, evaluations))
    return replace(table, notes=(*table.notes, *said))


def _seeds_notes(evaluations: Sequence[Evaluation], of_means: str) -> Iterator[str]:
    """What is shown of models of several seeds; `of_means` says what else than a mean."""
    most = most_seeds(evaluations)
    if most > 1:
        seeds = {one.name: one.seeds for one in evaluations if isinstance(one, SeedEvaluation)}
        fewer = [f"{name} {count}" for name, count in seeds.items() if count < most]
        text = f"Mean ±standard deviation over {most} seeds"
        text += f" ({', '.join(fewer)})." if fewer else "."
        yield f"{text} {of_means}".rstrip()


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
    for label, evaluation in zip(labelled(evaluations), evaluations, strict=True):
        row = [label, *(cell(evaluation, path) for path in paths)]
        if with_oracle:
            oracle = evaluation.best_possible
            above = f"{oracle['nats_above']['numerals']:.3f}" if oracle else ""
            row.append(above + spread_at(evaluation, evaluation.above_oracle, "{:.3f}"))
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
    shown = [
        (evaluation, paths + [evaluation.above_oracle] * with_oracle) for evaluation in evaluations
    ]
    best, notes = best_of(shown, rows, figures), [*_improbable(evaluations)]
    if with_oracle and len({evaluation.above_oracle for evaluation in evaluations}) > 1:
        best = frozenset(cell for cell in best if cell[1] <= len(paths))
        notes.append(
            "Each model is held against the oracle that sees as much as it does: there is no best."
        )
    table = ResultTable(title, columns, rows, tuple(notes), best)
    return _noted(table, evaluations, "Perplexities are those of mean nats.")


def _improbable(evaluations: Sequence[Evaluation]) -> Iterator[str]:
    """A sentence for every model whose perplexity is that of a few numerals."""
    for label, evaluation in zip(labelled(evaluations), evaluations, strict=True):
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
    known = [evaluation for evaluation in evaluations if "number_line" in evaluation.figures]
    rows = [
        [name, *(format_figure(errors[key]) for key in _NUMBER_LINE)]
        for name, errors in known[0].baselines.items()
    ]
    rows += [
        [label, *(cell(evaluation, ("number_line", key)) for key in _NUMBER_LINE)]
        for label, evaluation in zip(labelled(evaluations), evaluations, strict=True)
        if "number_line" in evaluation.figures
    ]
    zeros = int(known[0].figures["number_line"]["zeros"])
    title = "On the number line; mean and median are constants from the training numbers"
    if zeros:
        title += f"; percentage errors skip {zeros:,} true zeros"
    notes = tuple(_interval_notes(known))
    found = [*known[0].baselines.values()]
    found += [evaluation.figures["number_line"] for evaluation in known]
    figures = [[errors[key] for key in _NUMBER_LINE] for errors in found]
    paths = [("number_line", key) for key in _NUMBER_LINE]
    best = best_of([(evaluation, paths) for evaluation in known], rows, figures)
    table = ResultTable(title, columns, rows, notes, best)
    return _noted(table, known, "RMSE is that of mean squares.")


def _interval_notes(evaluations: Sequence[Evaluation]) -> Iterator[str]:
    """What intervals count, and how far they can be trusted."""
    if any(evaluation.intervals for evaluation in evaluations):
        seeds = " and count seeds" if most_seeds(evaluations) > 1 else ""
        yield f"{RESAMPLED}{seeds}. {HEAVY_TAILS}"


def _open_notes(shown: Sequence[tuple[Evaluation, Sequence[FigurePath]]]) -> Iterator[str]:
    """Said of a rate whose interval leaves everything open."""
    intervals = [interval_at(evaluation, path) for evaluation, paths in shown for path in paths]
    if any(ends == [0.0, 1.0] for ends in intervals):
        yield (
            "An interval from 0 to 1 leaves everything open: the documents, or seeds, are too few."
        )


def _part_table(evaluations: Sequence[Evaluation], part: str) -> ResultTable:
    title, columns = _PARTS[part]
    paths: list[FigurePath] = [(part, key) for key in columns]
    known = [evaluation for evaluation in evaluations if part in evaluation.figures]
    rows = [
        [label, *(cell(evaluation, path) for path in paths)]
        for label, evaluation in zip(labelled(evaluations), evaluations, strict=True)
        if part in evaluation.figures
    ]
    figures = [[evaluation.figures[part][key] for key in columns] for evaluation in known]
    shown = [(evaluation, paths) for evaluation in known]
    best = best_of(shown, rows, figures)
    notes = tuple(_open_notes(shown))
    return _noted(ResultTable(title, ["model", *columns.values()], rows, notes, best), known)


def _central_table(evaluations: Sequence[Evaluation]) -> ResultTable:
    """Own intervals and calibrated ones side by side."""
    rows, figures, shown = [], [], []
    for label, evaluation in zip(labelled(evaluations), evaluations, strict=True):
        for kind, found in evaluation.figures.get("central", {}).items():
            paths = [("central", kind, key) for key in _CENTRAL]
            rows.append([label + _KINDS[kind], *(cell(evaluation, path) for path in paths)])
            figures.append([found[key] for key in _CENTRAL])
            shown.append((evaluation, paths))
    title = (
        "Central intervals: how often they contain the truth, and how wide they are; the "
        "model's own"
    )
    known = [evaluation for evaluation in evaluations if "central" in evaluation.figures]
    if any(CALIBRATED in evaluation.figures["central"] for evaluation in known):
        title += ", and those calibrated on the dev split"
    best = best_of(shown, rows, figures)
    notes = (*_open_notes(shown), *_calibration_notes(evaluations))
    return _noted(ResultTable(title, ["model", *_CENTRAL.values()], rows, notes, best), known)


def _calibration_notes(evaluations: Sequence[Evaluation]) -> Iterator[str]:
    """Which models were calibrated on what."""
    found: dict[str, list[str]] = {}
    for label, evaluation in zip(labelled(evaluations), evaluations, strict=True):
        if evaluation.calibrated_on is not None:
            found.setdefault(evaluation.calibrated_on, []).append(label)
    for on, labels in found.items():
        yield f"{', '.join(labels)}: {on}."
