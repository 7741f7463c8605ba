"""`numerate fill`: what a model expects in the empty cells of a table."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path

from rich.table import Table as Shown

from numerate.documents.document import Table
from numerate.documents.reader import decode_text
from numerate.documents.table_file import read_tables
from numerate.errors import NumerateError, SourceError, check_choice, one_line, printable
from numerate.lm.data.table_rows import RowLine, row_lines, without_row
from numerate.lm.model.gap import GAP
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.source import ModelSource
from numerate.reports.notices import plain_console, say
from numerate.reports.tables import csv_text
from numerate.storage import exists, write
from numerate.storage.regular_files import read_named
from numerate.text.columns import sees_tables
from numerate.text.table_numbers import CellTexts

LEVEL = 0.9
UNNAMED = "Value: "  # a cell without a header, in a row without any other
MISSING = frozenset({"", "na", "n/a", "nan", "-", "–", "—", "−", ".", "?", "…", "..."})
"""What stands where a number is not known; in small letters."""


@dataclass(frozen=True, slots=True)
class FilledCell:
    row: int  # of the body, from 1
    column: int
    label: str  # of its row
    header: str  # of its column
    likeliest: str  # numeral, and
    probability: float  # of it, given that a number stands there
    median: float
    low: float  # of the interval of 90 %, calibrated where the model is
    high: float

    @property
    def text(self) -> str:
        """What is written into the cell."""
        interval = f"{LEVEL:.0%}: {self.low:.6g} to {self.high:.6g}"
        return f"{self.likeliest} (median {self.median:.6g}, {interval})"


@dataclass(frozen=True, slots=True)
class Question:
    """What stands in this column of a row, with the rest of the table in sight?"""

    line: RowLine
    column: int
    rest: Table  # without the row
    about: str = ""  # a text to be read first

    @property
    def text(self) -> str:
        before = f"{self.about} {self.line.before(self.column)}".lstrip()
        return GAP.sub(" ", before) or UNNAMED


def fill(model: NumeralLM, table: Table, text: str = "") -> list[FilledCell]:
    """What a model expects in every empty cell of a column, or row, of numbers.

    Each is asked for after the other cells of its row, and after a `text` about the table, with
    the other rows in sight of a model that sees any; `--keep rows` prepares data to learn it from.

    Examples:
        >>> import numerate
        >>> from numerate.documents.document import Table
        >>> from numerate.lm.model.filling import fill
        >>> table = Table("", "", "", [["", "Baseline", "Follow-up"]], [["Heart rate", "71", ""]])
        >>> [cell] = fill(numerate.load("demo/runs/combination"), table)
        >>> cell.low < cell.median < cell.high
        True
    """
    asked, about = empty_cells(model, table), " ".join(text.split())
    rests = {line.row: without_row(table, line.row) for line, _ in asked}
    questions = [Question(line, column, rests[line.row], about) for line, column in asked]
    return list(answers(model, questions))


def answers(model: NumeralLM, questions: Iterable[Question]) -> Iterator[FilledCell]:
    seeing = sees_tables(model.config.sight)
    for question in questions:
        expected = model.predict(question.text, [question.rest] if seeing else [])
        numeral, probability = expected.top(1)[0]
        yield FilledCell(
            question.line.row + 1,
            question.column + 1,
            question.line.label,
            question.line.headers[question.column],
            numeral,
            probability,
            expected.median(),
            *expected.interval(LEVEL, calibrated=expected.is_calibrated()),
        )


def empty_cells(model: NumeralLM, table: Table) -> list[tuple[RowLine, int]]:
    """Those where a number is missing: most others of their column, or row, have one. A row that
    has nothing but its first cell is a heading."""
    cells = CellTexts(model.reference.reading)
    lines = list(row_lines(table, model.reference.reading))

    def of_numbers(texts: Sequence[str]) -> bool:
        known = [text for text in texts if text.lower() not in MISSING]
        return 2 * sum(bool(cells.numbers(text)) for text in known) > len(known)

    width = max((len(line.texts) for line in lines), default=0)
    numeric = [of_numbers([line.texts[column] for line in lines]) for column in range(width)]
    return [
        (line, column)
        for line in lines
        for column in range(1, len(table.body[line.row]))
        if line.texts[column].lower() in MISSING
        and (line.row, column) not in table.repeated
        and (numeric[column] or of_numbers(line.texts[1:]))
    ]


def fill_table(
    source: ModelSource, path: Path, text: Path | None, *, force: bool, format: str
) -> None:
    """Fill the table of a file and write it beside the file."""
    check_choice("format", format, ("table", "csv", "json"))
    tables = read_tables(path)
    if len(tables) != 1:
        raise NumerateError(f"{path}: got {len(tables)} tables, expected one")
    out = path.with_suffix(".filled.csv")
    if exists(out) and not force:
        raise NumerateError(f"{out}: exists; --force replaces it")
    about = "" if text is None else _read(text)
    model = source.load()
    if not empty_cells(model, tables[0]):
        raise NumerateError(f"{path}: no empty cell in a column or row of numbers")
    if not sees_tables(model.config.sight):
        say(f"{model.name} sees no tables: each cell is filled from its own row")
    found = fill(model, tables[0], about)
    write(out, _csv(tables[0], found).encode())
    if format == "json":
        print(json.dumps([asdict(cell) for cell in found], ensure_ascii=False))
    elif format == "csv":
        names = [field.name for field in fields(FilledCell)]
        print(csv_text([names, *map(astuple, found)]), end="")
    else:
        _show(found, out)


def _read(path: Path) -> str:
    try:
        return decode_text(read_named(path), str(path))
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {one_line(error)}") from None


def _csv(table: Table, found: Sequence[FilledCell]) -> str:
    body = [list(cells) for cells in table.body]
    for cell in found:
        body[cell.row - 1][cell.column - 1] = cell.text
    return csv_text([*table.header, *body])


def _show(found: Sequence[FilledCell], out: Path) -> None:
    shown = Shown("row", "column", "likeliest", "probability", "median", f"{LEVEL:.0%} interval")
    for column in shown.columns[2:]:
        column.justify = "right"
    for cell in found:
        shown.add_row(
            cell.label,
            cell.header,
            cell.likeliest,
            f"{cell.probability:.3f}",
            f"{cell.median:.6g}",
            f"{cell.low:.6g} to {cell.high:.6g}",
        )
    console = plain_console(highlight=False)
    console.print(shown)
    console.print(f"{printable(out)}: {len(found):,} cells filled", soft_wrap=True)
