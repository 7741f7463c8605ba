"""Tables of text, for the terminal, a paper or a page: no figures of their own, no torch."""

import math
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

FORMATS = ("table", "markdown", "latex", "csv", "json")


@dataclass(frozen=True, slots=True)
class ResultTable:
    title: str
    columns: list[str]  # a line break where a narrow screen may have one
    rows: list[list[str]]  # the first cell of each is the model


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
