"""Tables of text, for the terminal, a paper, a page or a spreadsheet; no torch."""

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rich.console import Console
from rich.table import Table
from rich.text import Text

from numerate.errors import printable
from numerate.reports.notices import plain_console

FORMATS = ("table", "markdown", "latex", "csv", "json")
LOW, HIGH = -math.inf, math.inf  # goals of figures
BOLD = "Bold:"  # how a note on the best begins
NAME_WIDTH = 13  # of names that never fold: those of our own models are no longer

_NEEDED = "% needs \\usepackage{booktabs}\n"
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "–": "--",
        "±": r"$\pm$",
        "−": "$-$",
        "<": "$<$",
        ">": "$>$",
        "|": r"\textbar{}",
        "\n": " ",
        **{character: "\\" + character for character in "%&_#${}"},
    }
)
_SIGN = re.compile(r"(?<![^\s(\[<>=])-(?=\.?[0-9]|inf\b)")
"""A minus; in a word, a range or a power of ten it stands after something else."""
_INTERVAL = re.compile(r"([^ ]+)((?: ±[^ ]+)?(?: \[.+\])?)")
_FORMULA = re.compile(r"[=@＝＠＋－]|[+-](?![0-9.,]+(?:e[+-]?[0-9]+)?$)", re.IGNORECASE)
"""How a cell begins that a spreadsheet would compute; a number with a sign is none."""


@dataclass(frozen=True, slots=True)
class ResultTable:
    """Names of runs and files in it may be anyone's: no character of them acts, in no format."""

    title: str
    columns: list[str]  # a line break where a narrow screen may have one
    rows: list[list[str]]  # the first cell of each is the model
    notes: tuple[str, ...] = ()  # sentences under it: what a reader of the figures has to know
    best: frozenset[tuple[int, int]] = frozenset()  # row and column of the best of their column

    def __post_init__(self) -> None:
        columns = ["\n".join(map(printable, column.split("\n"))) for column in self.columns]
        object.__setattr__(self, "title", printable(self.title))
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "rows", [[printable(cell) for cell in row] for row in self.rows])
        object.__setattr__(self, "notes", tuple(map(printable, self.notes)))


def resting_on(tables: list[ResultTable], split: str, paragraphs: int | None) -> list[ResultTable]:
    """Say under each table that it rests on some paragraphs of a split; None: on all, no word."""
    if paragraphs is None:
        return tables
    some = "1 paragraph" if paragraphs == 1 else f"{paragraphs:,} paragraphs"
    note = f"Of {some} of the {split} split only (--limit), always the same."
    return [replace(table, notes=(*table.notes, note)) for table in tables]


def format_figure(value: float, digits: int = 4) -> str:
    """So many digits, or as many as a whole number has; powers of ten beyond a million."""
    if math.isnan(value):
        return "–"
    if math.isinf(value) or abs(value) >= 1e7:
        return f"{value:.2e}"
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:#.{digits}g}".rstrip(".")


def best_cells(
    rows: list[list[str]], figures: list[list[float]], goals: list[float]
) -> frozenset[tuple[int, int]]:
    """Cells with the best figure of their column, as far as it is written; none if all have it.

    `figures` are of the first rows; what comes after them does not compete. A figure is the better
    the nearer it is to the goal of its column; where that is nan there is no best.
    """
    best: set[tuple[int, int]] = set()
    for column, goal in enumerate(goals, 1):
        distances = [_distance(line[column - 1], goal) for line in figures]
        known = [distance for distance in distances if not math.isnan(distance)]
        if len(known) > 1:
            shown = [figure_and_interval(row[column])[0] for row in rows[: len(figures)]]
            winner = shown[distances.index(min(known))]
            equal = {(row, column) for row, figure in enumerate(shown) if figure == winner}
            best |= equal if len(equal) < len(known) else set()
    return frozenset(best)


def _distance(figure: float, goal: float) -> float:
    if math.isinf(goal):
        return figure if goal == LOW else -figure
    return abs(figure - goal)


def print_tables(tables: list[ResultTable]) -> None:
    console = plain_console()
    for table in tables:
        _print(console, table if console.is_terminal else _starred(table))


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
    for index, row in enumerate(table.rows):
        view.add_row(*(_bold(table, index, column, cell) for column, cell in enumerate(row)))
    console.print(view, crop=False)
    for note in table.notes:
        console.print(note, highlight=False)


def _starred(table: ResultTable) -> ResultTable:
    """For a pipe or a file, which have no bold type: the best have a star instead."""
    rows = list(_rows(table, str, lambda figure: f"{figure}*"))
    notes = tuple(re.sub(f"^{BOLD}", "*:", note) for note in table.notes)
    return replace(table, rows=rows, notes=notes, best=frozenset())


def _bold(table: ResultTable, row: int, column: int, cell: str) -> Text:
    figure, rest = figure_and_interval(cell)
    return Text.assemble((figure, "bold" if (row, column) in table.best else ""), rest)


def figure_and_interval(cell: str) -> tuple[str, str]:
    """`2.5 [2.0, 3.0]` → `2.5`, ` [2.0, 3.0]`; a spread, ` ±0.1`, is of the second part."""
    found = _INTERVAL.fullmatch(cell)
    return (found[1], found[2]) if found else (cell, "")


def _rows(
    table: ResultTable, written: Callable[[str], str], marked: Callable[[str], str]
) -> Iterator[list[str]]:
    """The cells in another language, the best of each column marked in it."""
    for index, row in enumerate(table.rows):
        cells = []
        for column, cell in enumerate(row):
            figure, interval = map(written, figure_and_interval(cell))
            cells.append((marked(figure) if (index, column) in table.best else figure) + interval)
        yield cells


def as_markdown(tables: list[ResultTable]) -> str:
    blocks = []
    for table in tables:
        columns = [column.replace("\n", " ") for column in table.columns]
        lines = [f"**{table.title}**", "", _markdown_row(map(_markdown_cell, columns))]
        lines.append("|" + "---|" + "---:|" * (len(table.columns) - 1))
        lines += map(_markdown_row, _rows(table, _markdown_cell, lambda text: f"**{text}**"))
        lines += [line for note in table.notes for line in ("", note)]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _markdown_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _markdown_cell(text: str) -> str:
    return text.replace("|", "\\|")


def as_latex(tables: list[ResultTable]) -> str:
    """Notes are small in a group of their own: the caption after them keeps its size."""
    blocks = []
    for table in tables:
        rows = _rows(table, _escape, lambda text: rf"\textbf{{{text}}}")
        body = [" & ".join(row) + r" \\" for row in rows]
        lines = [
            r"\begin{table}",
            r"\centering",
            r"\begin{tabular}{l" + "r" * (len(table.columns) - 1) + "}",
            r"\toprule",
            " & ".join(map(_escape, table.columns)) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\par{{\footnotesize {_escape(note)}\par}}" for note in table.notes),
            rf"\caption{{{_escape(table.title)}}}",
            r"\end{table}",
        ]
        blocks.append("\n".join(lines))
    return _NEEDED + "\n\n".join(blocks)


def _escape(text: str) -> str:
    return _SIGN.sub("−", text).translate(_LATEX)


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Numbers as they are, and text as text, also where it begins like a formula."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([_csv_cell(cell) for cell in row] for row in rows)
    return stream.getvalue()


def _csv_cell(cell: object) -> object:
    if cell is None or isinstance(cell, (int, float)):
        return cell
    text = printable(cell)
    return "'" + text if _FORMULA.match(text.lstrip()) else text
