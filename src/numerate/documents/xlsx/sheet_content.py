"""Tables and sentences of a sheet: what stands in it, cut where rows or columns are empty.

An empty row or column may also stand within a table, to make it easier to read. What follows is a
table of its own if it begins with headings, or, beside another, with names for its rows.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from numerate.documents.cell_grid import MAX_AREA, MAX_SPAN, Grid
from numerate.documents.document import Paragraph, Table
from numerate.documents.header_rows import is_heading, with_header
from numerate.documents.pipe_tables import label_and_caption
from numerate.documents.xlsx.sheet import SheetCells
from numerate.errors import DocumentError

MAX_DEPTH = 20  # cuts within cuts
MAX_TITLES, MAX_NOTES = 2, 5  # rows above and below a table that belong to it
TITLE = 100  # characters; what is longer, or ends like a sentence, is a note

_Place = tuple[int, int]  # row and column, from 1


@dataclass(slots=True)
class Sheet:
    """What is shown in it. A cell that is hidden may still show its text where it is merged."""

    name: str
    cells: dict[_Place, str] = field(default_factory=dict)  # that are not empty
    merged: list[tuple[_Place, _Place]] = field(default_factory=list)  # first and last of each
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    repeated: set[_Place] = field(default_factory=set)  # that stand in another that spans them
    room: int = MAX_AREA  # cells that its tables may still have, empty ones among them

    def is_hidden(self, place: _Place) -> bool:
        return place[0] in self.hidden_rows or place[1] in self.hidden_columns


class _Part(NamedTuple):
    """Rows of cells that are not empty, by column."""

    rows: dict[int, dict[int, str]]

    @property
    def columns(self) -> list[int]:
        return sorted({column for row in self.rows.values() for column in row})

    @property
    def reach(self) -> range:
        """From its first to its last column."""
        columns = self.columns
        return range(columns[0], columns[-1] + 1)


def sheet_content(sheet: Sheet, where: str) -> tuple[list[Paragraph], list[Table]]:
    """Sentences and tables. The ids of tables are for who puts those of all sheets together."""
    _fill_merged(sheet)
    rows: dict[int, dict[int, str]] = {}
    for (row, column), text in sorted(sheet.cells.items()):
        rows.setdefault(row, {})[column] = text
    parts = list(_cut(_Part(rows), sheet)) if rows else []
    content = [one for part in parts for one in _content(part, sheet, where)]
    tables = [one for one in content if isinstance(one, Table)]
    for number, table in enumerate(tables, 1):
        if not table.label:
            table.label = sheet.name if len(tables) == 1 else f"{sheet.name} {number}"
    return [one for one in content if isinstance(one, Paragraph)], tables


def _fill_merged(sheet: Sheet) -> None:
    filled = 0
    for (top, left), (bottom, right) in sheet.merged:
        text = sheet.cells.get((top, left))
        height, width = bottom - top + 1, right - left + 1
        filled += height * width
        if not text or height > MAX_SPAN or width > MAX_SPAN or filled > MAX_AREA:
            continue
        places = [
            (row, column)
            for row in range(top, bottom + 1)
            for column in range(left, right + 1)
            if not sheet.is_hidden((row, column))
        ]
        sheet.cells.update(dict.fromkeys(places, text))
        sheet.repeated.update(places[1:])
    sheet.cells = {place: one for place, one in sheet.cells.items() if not sheet.is_hidden(place)}


def _cut(part: _Part, sheet: Sheet, depth: int = 0) -> Iterator[_Part]:
    for cut in (_by_rows, _by_columns):
        pieces = list(cut(part, sheet))
        if len(pieces) > 1 and depth < MAX_DEPTH:
            for piece in pieces:
                yield from _cut(piece, sheet, depth + 1)
            return
    yield part


def _by_rows(part: _Part, sheet: Sheet) -> Iterator[_Part]:
    bands = [_Part({row: part.rows[row] for row in some}) for some in _bands(part, sheet)]
    group: dict[int, dict[int, str]] = {}
    reach = range(0)  # of the group
    has_table = False
    for index, band in enumerate(bands):
        following = bands[index + 1] if index + 1 < len(bands) else None
        is_title = _is_title(band, sheet.repeated) and (
            following is not None and _begins_table(following, sheet.repeated)
        )
        own = band.reach
        fits = reach.start <= own.start and own.stop <= reach.stop
        begins = is_title or _begins_table(band, sheet.repeated) or not fits
        if group and begins and has_table:
            yield _Part(group)
            group, has_table = {}, False
        reach = range(min(reach.start, own.start), max(reach.stop, own.stop)) if group else own
        group.update(band.rows)
        has_table = has_table or not _is_text(band, sheet.repeated)
    yield _Part(group)


def _bands(part: _Part, sheet: Sheet) -> Iterator[list[int]]:
    """Rows that follow each other, with sentences apart from what is no text, and from a caption
    on what is another table's."""
    for run in _runs(part.rows, sheet.hidden_rows):
        band: list[int] = []
        ends = False
        for row in run:
            if band and _goes_on(part, band[-1], row, sheet.repeated):
                band.append(row)
                continue
            text = _text(part, row)
            is_lone = _said(row, part.rows[row], sheet.repeated) < 2
            is_sentence = is_lone and not _is_short(text)
            begins = is_sentence or (is_lone and bool(label_and_caption(text)[0]))
            if band and (begins or ends):
                yield band
                band = []
            band.append(row)
            ends = is_sentence
        yield band


def _by_columns(part: _Part, sheet: Sheet) -> Iterator[_Part]:
    texts: dict[int, list[str]] = {}  # by column
    for cells in part.rows.values():
        for column, text in cells.items():
            texts.setdefault(column, []).append(text)
    groups: list[dict[int, dict[int, str]]] = []
    group_of: dict[int, dict[int, dict[int, str]]] = {}  # by column
    for some in _runs(texts, sheet.hidden_columns):
        if not groups or (len(some) > 1 and _are_names(texts[some[0]])):
            groups.append({})
        group_of.update(dict.fromkeys(some, groups[-1]))
    for row, cells in part.rows.items():
        for column, text in cells.items():
            group_of[column].setdefault(row, {})[column] = text
    yield from map(_Part, groups)


def _runs(numbers: Iterable[int], hidden: set[int]) -> Iterator[list[int]]:
    """Numbers that follow each other."""
    ordered = sorted(numbers)
    run = ordered[:1]
    for before, number in pairwise(ordered):
        if not _follows(before, number, hidden):
            yield run
            run = []
        run.append(number)
    if run:
        yield run


def _follows(before: int, number: int, hidden: set[int]) -> bool:
    """Whether nothing but what is hidden stands between them."""
    return all(between in hidden for between in range(before + 1, number))


def _said(row: int, cells: dict[int, str], repeated: set[_Place]) -> int:
    """How many cells say something of their own."""
    return sum((row, column) not in repeated for column in cells)


def _goes_on(part: _Part, above: int, row: int, repeated: set[_Place]) -> bool:
    """Whether a row only says what the one above says, in cells that span both."""
    return not _said(row, part.rows[row], repeated) and part.rows[row] == part.rows[above]


def _is_text(part: _Part, repeated: set[_Place]) -> bool:
    """Whether nothing stands beside anything, and it is no list of numbers."""
    return all(
        _said(row, cells, repeated) < 2 and any(map(str.isalpha, next(iter(cells.values()))))
        for row, cells in part.rows.items()
    )


def _is_title(part: _Part, repeated: set[_Place]) -> bool:
    return _is_text(part, repeated) and all(
        _is_short(text) for cells in part.rows.values() for text in cells.values()
    )


def _is_short(text: str) -> bool:
    return bool(label_and_caption(text)[0]) or (
        len(text) <= TITLE and not text.endswith((".", ";"))
    )


def _begins_table(part: _Part, repeated: set[_Place]) -> bool:
    """Whether the first row with several cells is one of headings."""
    columns = part.columns
    for row, cells in part.rows.items():
        if _said(row, cells, repeated) > 1:
            return is_heading([cells.get(column, "") for column in columns]) and len(part.rows) > 1
    return False


def _are_names(texts: list[str]) -> bool:
    """Whether a column says what the rows are about, below its heading."""
    beginnings = [next(filter(str.isalnum, text), "") for text in texts[1:]]
    return 2 * sum(map(str.isalpha, beginnings)) > len(beginnings)


def _content(part: _Part, sheet: Sheet, where: str) -> Iterator[Paragraph | Table]:
    """A table with its caption and its notes, and sentences above and below them."""
    numbers = list(part.rows)
    going_on = {
        row for above, row in pairwise(numbers) if _goes_on(part, above, row, sheet.repeated)
    }
    once = [row for row in numbers if row not in going_on]
    if _is_text(part, sheet.repeated):
        yield from _paragraphs(part, once, sheet)
        return
    wide = [row for row in numbers if _said(row, part.rows[row], sheet.repeated) > 1]
    first, last = numbers.index(wide[0]) if wide else 0, numbers.index(wide[-1]) + 1 if wide else 1
    left = part.columns[0]
    above = [index for index in range(first) if left not in part.rows[numbers[index]]]
    first = min([first, *above])  # a heading over some columns, perhaps with names of groups below
    while last < len(numbers) and not _is_note(numbers, last, part, sheet):
        last += 1
    before = [row for row in once if row < numbers[first]]
    after = [row for row in once if row > numbers[last - 1]]
    title = len(before)
    while title and len(before) - title < MAX_TITLES and _is_short(_text(part, before[title - 1])):
        title -= 1
    yield from _paragraphs(part, before[:title], sheet)
    table = _table(part, numbers[first:last], sheet, where)
    table.label, table.caption = label_and_caption(_joined(part, before[title:]))
    table.notes = _joined(part, after[:MAX_NOTES])
    yield table
    yield from _paragraphs(part, after[MAX_NOTES:], sheet)


def _paragraphs(part: _Part, numbers: list[int], sheet: Sheet) -> Iterator[Paragraph]:
    for row in numbers:
        place = SheetCells(sheet.name, [row], sorted(part.rows[row]), 0)
        yield Paragraph(_text(part, row), cell=place.name(0, 0))


def _joined(part: _Part, numbers: list[int]) -> str:
    return " ".join(_text(part, row) for row in numbers)


def _text(part: _Part, row: int) -> str:
    return " ".join(dict.fromkeys(part.rows[row].values()))


def _table(part: _Part, numbers: list[int], sheet: Sheet, where: str) -> Table:
    """Of some rows."""
    columns = sorted({column for row in numbers for column in part.rows[row]})
    sheet.room -= len(columns) * len(numbers)
    if sheet.room < 0:
        reason = f"too large: expected at most {MAX_AREA:,} cells in all tables"
        raise DocumentError(f"{where}: {sheet.name}", reason)
    grid = [[part.rows[row].get(column, "") for column in columns] for row in numbers]
    repeated = frozenset(
        (index, place)
        for index, row in enumerate(numbers)
        for place, column in enumerate(columns)
        if (row, column) in sheet.repeated
    )
    told = with_header(Grid([], grid, repeated))
    return Table(
        "", "", "", *told, sheet=SheetCells(sheet.name, numbers, columns, len(told.header))
    )


def _is_note(numbers: list[int], index: int, part: _Part, sheet: Sheet) -> bool:
    """Whether a row of one cell below the others is about them, and not one of them."""
    is_apart = not _follows(numbers[index - 1], numbers[index], sheet.hidden_rows)
    return is_apart or not _is_short(_text(part, numbers[index]))
