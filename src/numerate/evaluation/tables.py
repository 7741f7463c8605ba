"""The paper's tables from evaluations, for the terminal, a paper, a spreadsheet or a program."""

import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from numerate.evaluation.bootstrap import PairedResult
from numerate.evaluation.evaluate import CLASSES, Evaluation, Figures, strict

FORMATS = ("table", "markdown", "latex", "csv", "json")
_NUMBER_LINE = ("rmse", "mae", "mdae", "mape", "mdape")
_BEYOND = {
    "accuracy": "exact",
    "order_accuracy": "magnitude",
    "log10_error": "log10 error",
    "crps": "CRPS",
    "coverage_50": "in 50 %",
    "coverage_90": "in 90 %",
}


@dataclass(frozen=True, slots=True)
class ResultTable:
    title: str
    columns: list[str]  # a line break where a narrow screen may have one
    rows: list[list[str]]  # the first cell of each is the model


def result_tables(evaluations: list[Evaluation]) -> list[ResultTable]:
    tables = [_perplexity_table(evaluations), _number_line_table(evaluations)]
    if any("beyond" in evaluation.figures for evaluation in evaluations):
        tables.append(_beyond_table(evaluations))
    return tables


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
    rows = []
    for label, evaluation in zip(_labels(evaluations), evaluations, strict=True):
        row = [label]
        for name in CLASSES:
            row += [_cell(evaluation, ("perplexity", name, kind)) for kind in ("pp", "app")]
        if with_oracle:
            oracle = evaluation.oracle
            row.append(f"{oracle['nats_above']['numerals']:.3f}" if oracle else "")
        rows.append(row)
    oracle = evaluations[0].oracle
    if oracle is not None:
        cells = [format_figure(oracle["perplexity"][name]) for name in CLASSES for _ in range(2)]
        rows.append(["oracle", *cells, "0"])
    title = "Perplexity and adjusted perplexity"
    if with_oracle:
        title += "; nats per numeral above the oracle"
    return ResultTable(title, columns, rows)


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
    return ResultTable(title, columns, rows)


def _beyond_table(evaluations: list[Evaluation]) -> ResultTable:
    rows = [
        [label, *(_cell(evaluation, ("beyond", key)) for key in _BEYOND)]
        for label, evaluation in zip(_labels(evaluations), evaluations, strict=True)
    ]
    title = (
        "Beyond the paper: accuracy of the numeral and of its order of magnitude, error of the "
        "logarithm, CRPS, and how often the truth lies in the central intervals"
    )
    return ResultTable(title, ["model", *_BEYOND.values()], rows)


def comparison_table(
    first: Evaluation, second: Evaluation, results: dict[str, PairedResult]
) -> ResultTable:
    rows = [
        [
            name,
            f"{result.difference:+.4f}",
            f"{result.low:+.4f} to {result.high:+.4f}",
            f"{result.p_value:.4f}",
        ]
        for name, result in results.items()
    ]
    title = f"{' against '.join(_labels([first, second]))}: nats per token in favour of the first"
    return ResultTable(title, ["tokens", "difference", "interval", "p"], rows)


def _cell(evaluation: Evaluation, path: tuple[str, ...]) -> str:
    figure: Any = evaluation.figures
    interval: Any = evaluation.intervals
    for name in path:
        figure, interval = figure[name], interval.get(name, {})
    text = format_figure(figure)
    if interval:
        text += f" [{format_figure(interval[0])}, {format_figure(interval[1])}]"
    return text


def format_figure(value: float) -> str:
    """Four digits, or as many as a whole number has; powers of ten beyond a million."""
    if math.isnan(value):
        return "–"
    if math.isinf(value) or abs(value) >= 1e7:
        return f"{value:.2e}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:#.4g}".rstrip(".")


def print_tables(tables: list[ResultTable]) -> None:
    console = Console(markup=False)  # an interval may read [inf, inf]
    for table in tables:
        _print(console, table)


def _print(console: Console, table: ResultTable) -> None:
    view = Table(title=table.title, title_justify="left")
    for index, column in enumerate(table.columns):
        view.add_column(column, justify="right" if index else "left", no_wrap=index == 0)
    for row in table.rows:
        view.add_row(*row)
    console.print(view)


def as_markdown(tables: list[ResultTable]) -> str:
    blocks = []
    for table in tables:
        columns = [column.replace("\n", " ") for column in table.columns]
        lines = [f"**{table.title}**", "", "| " + " | ".join(columns) + " |"]
        lines.append("|" + "---|" + "---:|" * (len(table.columns) - 1))
        lines += ["| " + " | ".join(row) + " |" for row in table.rows]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def as_latex(tables: list[ResultTable]) -> str:
    blocks = []
    for table in tables:
        body = [" & ".join(map(_escape, row)) + r" \\" for row in table.rows]
        lines = [
            r"\begin{table}",
            r"\begin{tabular}{l" + "r" * (len(table.columns) - 1) + "}",
            r"\toprule",
            " & ".join(map(_escape, table.columns)) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{_escape(table.title)}}}",
            r"\end{table}",
        ]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _escape(text: str) -> str:
    text = text.replace("\n", " ")
    for character in "%&_#":
        text = text.replace(character, "\\" + character)
    return text.replace("–", "--")


def as_csv(evaluations: list[Evaluation], compared: dict[str, PairedResult] | None = None) -> str:
    """One line per figure: model, figure, value and, where known, its interval."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["run", "model", "figure", "value", "low", "high"])
    for evaluation in evaluations:
        intervals = dict(_leaves(strict(evaluation.intervals)))
        known = {"baselines": evaluation.baselines, "oracle": evaluation.oracle or {}}
        for name, value in _leaves(strict(evaluation.figures | known)):
            low, high = intervals.get(name, ("", ""))
            writer.writerow([evaluation.folder, evaluation.name, name, value, low, high])
    for name, result in strict({k: asdict(v) for k, v in (compared or {}).items()}).items():
        both = [evaluations[0].folder, "against " + str(evaluations[1].folder)]
        figure = f"comparison.{name}"
        writer.writerow([*both, figure, result["difference"], result["low"], result["high"]])
        writer.writerow([*both, f"{figure}.p_value", result["p_value"], "", ""])
    return stream.getvalue().rstrip("\n")


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
