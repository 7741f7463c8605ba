"""Tables of text, for the terminal, a paper or a page: no figures of their own, no torch."""

import math
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

FORMATS = ("table", "markdown", "latex", "csv", "json")
NAME_WIDTH = 13  # of names that never fold: those of our own models are no longer


@dataclass(frozen=True, slots=True)
class ResultTable:
    title: str
    columns: list[str]  # a line break where a narrow screen may have one
    rows: list[list[str]]  # the first cell of each is the model
    notes: tuple[str, ...] = ()  # sentences under it: what a reader of the figures has to know


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
    """On a narrow screen names fold and intervals wrap, but no figure loses a digit."""
    view = Table(title=table.title, title_justify="left")
    for index, column in enumerate(table.columns):
        if index:
            words = [word for row in table.rows for word in row[index].split()]
            widest = max(map(len, [*words, *column.split()]))
            view.add_column(column, justify="right", min_width=widest)
        else:
            widest = max(len(row[0]) for row in table.rows) if table.rows else 0
            view.add_column(column, overflow="fold", min_width=min(widest, NAME_WIDTH))
    for row in table.rows:
        view.add_row(*row)
    console.print(view, crop=False)
    for note in table.notes:
        console.print(note, highlight=False)


def as_markdown(tables: list[ResultTable]) -> str:
    blocks = []
    for table in tables:
        columns = [column.replace("\n", " ") for column in table.columns]
        lines = [f"**{table.title}**", "", "| " + " | ".join(columns) + " |"]
        lines.append("|" + "---|" + "---:|" * (len(table.columns) - 1))
        lines += ["| " + " | ".join(row) + " |" for row in table.rows]
        lines += [line for note in table.notes for line in ("", note)]
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
            *(rf"\par\footnotesize {_escape(note)}" for note in table.notes),
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
