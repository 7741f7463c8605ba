"""Tables of LaTeX: rows of cells between rules, and what is their header."""

import re
from dataclasses import dataclass, field

from numerate.documents.document import Table
from numerate.documents.flow import PlacedFlow
from numerate.documents.header_rows import header_rows
from numerate.documents.latex.quantities import NumberOptions, as_number
from numerate.documents.placed_table import (
    NOTHING,
    PlacedCell,
    PlacedSource,
    placed_grid,
)
from numerate.documents.placed_text import PlacedText

FIRST_ARGUMENTS = {  # of environments, before what says how columns are set
    "tabular": "o", "tabular*": "mo", "tabularx": "mo", "tabulary": "mo", "longtable": "o",
    "longtable*": "o", "supertabular": "o", "xltabular": "mo", "ltablex": "mo", "tblr": "o",
    "longtblr": "o", "talltblr": "o", "NiceTabular": "o", "NiceTabular*": "mo", "tabu": "",
    "longtabu": "", "mpxtabular": "o", "xtabular": "o", "deluxetable": "", "deluxetable*": "",
}  # fmt: skip
LONG = {"longtable", "longtable*", "xltabular", "longtblr", "talltblr", "longtabu"}
MOST_HEADER = 4  # rows above a rule that are taken for one

_NUMERIC = re.compile(r"[<>≤≥~∼]?\s*[+−±-]?\s*[0-9.,]*[0-9]")
_NOTE = re.compile(r"(?:notes?|sources?|abbreviations?)\b|[*†‡^]", re.IGNORECASE)
_COLUMN = re.compile(
    r"\s*(?:([>@<!])\s*(\{)|\*\s*\{\s*([0-9]+)\s*\}\s*(\{)|([A-Za-z])\s*(\[[^\]]*\])?|.)", re.DOTALL
)
MOST_COLUMNS = 1000


def columns_of(specification: str) -> list[str]:
    """Of each column its letter, and for `S` its options."""
    found: list[str] = []
    _add_columns(specification, found, 0)
    return found


def _add_columns(text: str, found: list[str], depth: int) -> None:
    at = 0
    while at < len(text) and len(found) < MOST_COLUMNS:
        match = _COLUMN.match(text, at)
        if match is None:
            return
        at = match.end()
        if match[2]:
            at = _after_group(text, at)
        elif match[4]:
            end = _after_group(text, at)
            for _ in range(min(int(match[3]), MOST_COLUMNS - len(found)) if depth < 3 else 0):
                _add_columns(text[at : end - 1], found, depth + 1)
            at = end
        elif match[5]:
            found.append(match[5] + (match[6] or ""))
            while text[at : at + 1] == "{":  # a width
                at = _after_group(text, at + 1)


def _after_group(text: str, at: int) -> int:
    depth = 1
    while at < len(text) and depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return at


@dataclass(slots=True)
class TexTable:
    """Cells as they come, row by row."""

    start: int  # in the source
    columns: list[str]
    options: NumberOptions
    around: PlacedFlow  # the text that it stands in
    end: int = 0
    rows: list[list[PlacedCell]] = field(default_factory=list)
    rules: list[int] = field(default_factory=list)  # rows above each
    head: list[list[PlacedCell]] | None = None  # where it is told by a command
    foot: list[list[PlacedCell]] = field(default_factory=list)
    caption: PlacedText = NOTHING
    nested: int = 0
    braces: int = 0  # that are open in the cell
    _row: list[PlacedCell] = field(default_factory=list)
    _spans: tuple[int, int] = (1, 1)
    _is_text: bool | None = None  # whether the cell begins with a brace

    def begins(self, *, in_braces: bool) -> None:
        """The first token of a cell that is not white space."""
        if self._is_text is None:
            self._is_text = in_braces

    def spans(self, columns: int = 1, rows: int = 1) -> None:
        self._spans = max(columns, self._spans[0]), rows if rows != 1 else self._spans[1]

    def cell(self, content: PlacedText) -> None:
        """What stands in it."""
        column = sum(cell.columns for cell in self._row)
        kind = self.columns[column] if column < len(self.columns) else ""
        if kind.startswith("S") and not self._is_text and _NUMERIC.match(content.text):
            content = as_number(content, self.options.told(kind))
        self._row.append(PlacedCell(content, *self._spans))
        self._spans, self._is_text = (1, 1), None

    def row_end(self) -> None:
        """Rows without cells are no rows: what stood there was a rule or a caption."""
        if len(self._row) > 1 or any(cell.content.text for cell in self._row):
            self.rows.append(self._row)
        self._row = []

    def rule(self) -> None:
        self.rules.append(len(self.rows))

    def part_end(self, command: str) -> None:
        """\\endhead and its like."""
        done, self.rows, self.rules = self.rows, [], []
        if command == "endfirsthead" or (command == "endhead" and self.head is None):
            self.head = done
        elif command in ("endfoot", "endlastfoot"):
            self.foot = done if done else self.foot

    def finish(self, id: str, label: str, notes: PlacedText, told: PlacedText) -> Table:
        _settle_spans(self.head or [])
        _settle_spans(self.rows)
        below = self._notes_below() + [row[0].content for row in self.foot if len(row) == 1]
        notes = PlacedText.joined([*below, notes], " ")
        caption = PlacedText.joined([told, self.caption], " ")
        height = 0 if self.head is not None else self._height()
        header = self.head if self.head is not None else self.rows[:height]
        body = self.rows if self.head is not None else self.rows[height:]
        grid, cells = placed_grid(header, body)
        source = PlacedSource((self.start, max(self.end, self.start + 1)), cells)
        if not header and (height := header_rows(grid.body)):
            grid, cells = placed_grid(body[:height], body[height:])
            source.cells = cells
        source.caption, source.notes = caption.places, notes.places
        return Table(
            id, label, caption.text, *grid, nested=self.nested, notes=notes.text, source=source
        )

    def _height(self) -> int:
        """Rows above the first rule that has some above and below it; and one more between rules
        that has no number."""
        inner = sorted({rule for rule in self.rules if 0 < rule < len(self.rows)})
        if not inner or inner[0] > MOST_HEADER:
            return 0
        height = inner[0]
        if len(inner) > 1 and inner[1] == height + 1 and len(self.rows[height]) > 1:
            words = " ".join(cell.content.text for cell in self.rows[height])
            height += not any(map(str.isdigit, words))
        return height

    def _notes_below(self) -> list[PlacedText]:
        """Rows at the bottom that are one text over all columns, under the last rule."""
        width = max((sum(cell.columns for cell in row) for row in self.rows), default=0)
        last_rule = self.rules[-1] if self.rules else len(self.rows)
        found: list[PlacedText] = []
        while len(self.rows) > 1 and width > 1:
            row = self.rows[-1]
            filled = [cell for cell in row if cell.content.text]
            if len(filled) != 1 or filled[0].columns < width:
                break
            if len(self.rows) <= last_rule and not _NOTE.match(filled[0].content.text):
                break
            found.insert(0, filled[0].content)
            self.rows.pop()
        return found


def _settle_spans(rows: list[list[PlacedCell]]) -> None:
    """Below a cell that spans rows, LaTeX has empty ones, which are no cells of their own."""
    starts: list[dict[int, int]] = []  # of each row: which cell begins in a column
    for row in rows:
        column, begins = 0, {}
        for index, cell in enumerate(row):
            begins[column] = index
            column += cell.columns
        starts.append(begins)
    gone: set[tuple[int, int]] = set()
    for number, row in enumerate(rows):
        for column, index in starts[number].items():
            cell = row[index]
            if cell.rows in (0, 1):
                continue
            step = 1 if cell.rows > 0 else -1
            reached = number
            while 0 <= reached + step < len(rows) and abs(reached - number) < abs(cell.rows) - 1:
                other = starts[reached + step].get(column)
                below = rows[reached + step][other] if other is not None else None
                if below is None or below.content.text or below.columns != cell.columns:
                    break
                reached += step
            top, height = min(number, reached), abs(reached - number) + 1
            row[index] = cell._replace(rows=1)
            rows[top][starts[top][column]] = cell._replace(rows=height)
            gone |= {(covered, starts[covered][column]) for covered in range(top + 1, top + height)}
    for number, row in enumerate(rows):
        row[:] = [cell for index, cell in enumerate(row) if (number, index) not in gone]
