"""Which cells does the model look at? The numbers that would be copied, drawn in their table."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from textwrap import shorten, wrap
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from numerate.documents.document import Table as DocumentTable
from numerate.lm.heads.copy import CopyHead, is_copy
from numerate.lm.inspect.contexts import Context, dev_contexts
from numerate.lm.inspect.exhibit import Cell, Exhibit, NothingToShowError, Table
from numerate.lm.inspect.inspected_run import Run
from numerate.lm.inspect.traced import STANDINGS, in_text
from numerate.reports.look import COLOURS, INK, drawn, look, new_figure, wrapped
from numerate.reports.tables import ResultTable
from numerate.text.columns import EarlierParagraph, sees_tables
from numerate.text.seen_numbers import merged

LEAST_NUMBERS = 6  # of a table that is picked: in a smaller one there is little to choose
RANKS = (0.0, 0.5, 0.9)  # of the numerals that are picked, the most surely copied first
ROWS, COLUMNS = 8, 4  # of a table that are drawn, its headers apart
SOURCES = 5  # that are told in words
TOLD = 0.01  # probabilities from here on are written into their cells
_HEADER_ROWS = 3  # that are drawn, the last ones
_LETTERS = 74  # that a line of the figure has room for
_ROW_HEADER = 18  # of them, where other columns need the rest
_LINE, _GAP = 0.11, 0.06  # inches
_DARKEST = 0.75


@dataclass(frozen=True, slots=True)
class _Looked:
    """What the copy head sees in one place: P numbers, those of the shown table by cell."""

    table: DocumentTable
    cells: dict[tuple[int, int], float]  # row and column → probability
    true_cells: set[tuple[int, int]]
    in_other_tables: float
    in_texts: float

    @property
    def in_table(self) -> float:
        return sum(self.cells.values())


def picked_places(run: Run) -> list[int]:
    """Three numerals of the dev split that stand in a table in view, as far as there are.

    Of all such, the one that is copied from there with the highest probability, the median, and
    one that nine tenths are above, or who comes next: a table with few numbers is no test, and
    one table is drawn once.
    """
    if not sees_tables(run.model.config.sight) or not run.heads_of(CopyHead):
        raise NothingToShowError(f"attention over a table: {run.label} sees none")
    traced = run.traced
    (possible,) = np.nonzero(traced.standing == STANDINGS.index("in a table"))
    order = possible[np.argsort(-traced.from_tables[possible], kind="stable")].tolist()
    found: dict[int, int] = {}  # by table
    for rank in RANKS:
        for place in order[int(rank * len(order)) :]:
            table = _standing_in(run, place)
            if table is not None and table not in found:
                found[table] = place
                break
    if not found:
        raise NothingToShowError(
            f"attention over a table: no numeral of {run.shared.extent} stands in a table of "
            f"{LEAST_NUMBERS} numbers or more"
        )
    return list(found.values())


def attention_over_table(run: Run, place: int, *, name: str | None = None) -> Exhibit:
    """The table that a numeral of the dev split stands in, its cells shaded as they are attended.

    The probabilities are those of the copy head before the numeral is seen.
    """
    (context,) = dev_contexts(run.shared.dataset, run.shared.dev, [place])
    looked = _look(run, place)
    cut = _cut(looked)
    label = looked.table.label or "a table"
    about = shorten(looked.table.caption, 120, placeholder=" …")
    weights = run.model.mixture_weights(run.at(place))[0]
    members = run.model.head.members_by_name().values()
    is_copying = [isinstance(member, CopyHead) for member in members]
    right = sum(looked.cells.get(cell, 0.0) for cell in looked.true_cells)
    rows: list[tuple[Cell, ...]] = [
        (
            row,
            column,
            *_named(looked.table, row, column),
            probability,
            int((row, column) in looked.true_cells),
        )
        for (row, column), probability in sorted(looked.cells.items())
    ]
    caption = (
        f"Where copy looks after “{context.ending(90)}”, before {context.truth} is seen: {label}"
        f"{f' ({about})' if about else ''}, each cell shaded by the probability that its number is "
        f"copied, written there from {_per_cent(TOLD)} on; cells that give {context.truth} have a "
        f"frame, and {_per_cent(right)} together. The table has {_per_cent(looked.in_table)}, "
        f"other tables {_per_cent(looked.in_other_tables)}, the text before "
        f"{_per_cent(looked.in_texts)}. In the combination, copy has a weight of "
        f"{_per_cent(weights[is_copying].sum())}."
    )
    if cut.left_out:
        caption += f" Not drawn: {cut.left_out}."
    with torch.no_grad():
        sources = merged(run.model.head.sources(run.at(place)))[:SOURCES]
    told = ResultTable(
        f"The likeliest sources after “{context.ending(60)}”, where {context.truth} stands, under "
        f"{run.label}",
        ["source", "numeral", "probability"],
        [
            [source.wording, source.numeral, f"{100 * source.probability:.1f} %"]
            for source in sources
        ],
    )
    columns = ("row", "column", "row header", "column header", "text", "probability", "is_true")
    return Exhibit(
        name or f"table-attention-{run.slug}",
        f"Attention over {label} under {run.label}: “{context.ending(40)} …”",
        caption,
        _draw(looked, cut, context),
        Table(columns, rows),
        (told,),
    )


def _per_cent(probability: float) -> str:
    return f"{100 * probability:.0f} %"


def _standing_in(run: Run, place: int) -> int | None:
    """The table of enough numbers in view that a numeral stands in, letter for letter."""
    sight = run.traced.sight
    text = sight.place_texts[sight.numeral_places[place]]
    numbers = np.arange(sight.offsets[text], sight.offsets[text] + sight.numbers_in_tables[text])
    there = numbers[sight.rows[numbers] == sight.own.rows[place]]
    for table in np.unique(sight.number_tables[there]).tolist():
        of_table = sight.number_tables[numbers] == table
        body = sight.columns.cell_rows[sight.entries[numbers[of_table]]] >= 0
        assert sight.columns.sources is not None
        if body.sum() >= LEAST_NUMBERS and sight.columns.sources[table] >= 0:
            return int(table)
    return None


def _look(run: Run, place: int) -> _Looked:
    sight = run.traced.sight
    (head,) = run.heads_of(CopyHead).values()
    with torch.no_grad():
        probabilities = head.copies(run.at(place)).probabilities.cpu().numpy()  # [P]
    text = sight.place_texts[sight.numeral_places[place]]
    numbers = sight.offsets[text] + np.arange(len(probabilities))
    keys = torch.from_numpy(sight.table.keys)
    same, _ = is_copy(keys[sight.rows[numbers]], keys[sight.own.rows[place]])
    chosen = _standing_in(run, place)
    tables = sight.columns.tables
    if chosen is None or tables is None or isinstance(table := tables[chosen], EarlierParagraph):
        raise NothingToShowError(
            f"attention over a table: numeral {place} of the dev split stands in none of "
            f"{LEAST_NUMBERS} numbers or more"
        )
    cells: dict[tuple[int, int], float] = {}
    true_cells = set()
    here = np.flatnonzero(sight.number_tables[numbers] == chosen)
    entries = sight.entries[numbers[here]]
    places = zip(
        sight.columns.cell_rows[entries].tolist(),
        sight.columns.cell_columns[entries].tolist(),
        strict=True,
    )
    for cell, number in zip(places, here.tolist(), strict=True):
        cells[cell] = cells.get(cell, 0.0) + float(probabilities[number])
        if same[number]:
            true_cells.add(cell)
    is_text = in_text(sight, numbers)
    elsewhere = ~is_text & (sight.number_tables[numbers] != chosen)
    return _Looked(
        table,
        cells,
        true_cells,
        float(probabilities[elsewhere].sum()),
        float(probabilities[is_text].sum()),
    )


@dataclass(frozen=True, slots=True)
class _Cut:
    """What of a table is drawn, in its order; None: something is left out there."""

    rows: list[int | None]  # of the body
    columns: list[int | None]  # without the first
    left_out: str


def _cut(looked: _Looked) -> _Cut:
    """The rows and columns that matter most: those of the truth, the attended, their neighbours."""
    body = looked.table.body
    width = max(map(len, [*looked.table.header, *body]))
    of_rows, of_columns = np.zeros(len(body)), np.zeros(width)
    for (row, column), probability in looked.cells.items():
        of_columns[column] += probability
        if row >= 0:
            of_rows[row] += probability
    filled = [row for row, cells in enumerate(body) if any(cells)]
    rows = _most(of_rows, {row for row, _ in looked.true_cells}, filled, ROWS)
    after_first = range(1, width)
    columns = _most(of_columns, {column for _, column in looked.true_cells}, after_first, COLUMNS)
    left = {
        "row": len(filled) - ROWS,
        "column": len(after_first) - COLUMNS,
    }
    named = (f"{count} {name}{'s' * (count > 1)}" for name, count in left.items() if count > 0)
    return _Cut(rows, columns, " and ".join(named))


def _most(
    mass: np.ndarray, true: Collection[int], among: Sequence[int], most: int
) -> list[int | None]:
    """At most so many places: first by the truth, then by mass, then by nearness to the truth."""

    def order(index: int) -> tuple[bool, float, int]:
        place = among[index]
        near = min((abs(place - other) for other in true), default=0)
        told = float(mass[place]) if mass[place] >= TOLD else 0.0
        return place not in true, -told, near

    chosen = sorted(sorted(range(len(among)), key=order)[:most])
    found: list[int | None] = []
    for index, before in zip(chosen, [-1, *chosen], strict=False):
        found += [among[index]] if index == before + 1 else [None, among[index]]
    return found if not chosen or chosen[-1] == len(among) - 1 else [*found, None]


def _named(table: DocumentTable, row: int, column: int) -> tuple[str, str, str]:
    """Headers and text of a cell; one of the header has neither."""
    if row < 0:
        return "", "", table.header[row][column]
    cell = table.cell(row, column)
    return cell.row_header, ", ".join(cell.column_header), cell.text


@dataclass(frozen=True, slots=True)
class _DrawnCell:
    lines: list[str]
    probability: float
    is_true: bool

    @property
    def height(self) -> int:
        """Lines of text."""
        return len(self.lines) + (self.probability >= TOLD)


def _draw(looked: _Looked, cut: _Cut, context: Context) -> Figure:
    table = looked.table
    header = table.header[-_HEADER_ROWS:]
    columns: list[int | None] = [0, *cut.columns]
    rows = [*range(-len(header), 0), *cut.rows]

    def text(row: int | None, column: int | None) -> str:
        if row is None:
            return "⋮" if column == 0 else ""
        if column is None:
            return "…"
        cells = table.header[row] if row < 0 else table.body[row]
        return cells[column] if column < len(cells) else ""

    widths = _widths([[text(row, column) for row in rows] for column in columns])
    grid = [
        [
            _DrawnCell(
                _lines(
                    text(row, column), width, 2 if column and row is not None and row >= 0 else 3
                ),
                0.0 if row is None or column is None else looked.cells.get((row, column), 0.0),
                (row, column) in looked.true_cells,
            )
            for column, width in zip(columns, widths, strict=True)
        ]
        for row in rows
    ]
    heights = [max(cell.height for cell in cells) * _LINE + _GAP for cells in grid]
    title = wrapped(_sentence(context), 3.1)
    with look():
        figure = new_figure(sum(heights) + 0.13 * (title.count("\n") + 1) + 0.15)
        axes = figure.subplots()
        axes.set_title(title, x=0.0, ha="left")
        axes.set(xlim=(0, _LETTERS), ylim=(sum(heights), 0.0))
        axes.axis("off")
        tops = np.cumsum([0.0, *heights])
        lefts = np.cumsum([0, *widths])
        for cells, top, height in zip(grid, tops, heights, strict=False):
            for index, (cell, left) in enumerate(zip(cells, lefts, strict=False)):
                box = (left, top, widths[index], height)
                _draw_cell(axes, cell, box, is_header=index == 0)
        for line, under in ((0.3, 0.0), (0.8, tops[len(header)]), (0.3, tops[-1])):
            axes.plot([0, lefts[-1]], [under, under], color=INK, linewidth=line, clip_on=False)
    return figure


def _draw_cell(
    axes: Axes, cell: _DrawnCell, box: tuple[float, float, float, float], *, is_header: bool
) -> None:
    left, top, width, height = box
    shade = _DARKEST * np.sqrt(min(cell.probability, 1.0))  # small ones are seen too
    axes.add_patch(
        Rectangle((left, top), width, height, facecolor=COLOURS["green"], alpha=shade, linewidth=0)
    )
    if cell.is_true:
        inset = 0.012
        axes.add_patch(
            Rectangle(
                (left + 10 * inset, top + inset),
                width - 20 * inset,
                height - 2 * inset,
                fill=False,
                edgecolor=INK,
                linewidth=1.1,
                zorder=3,
            )
        )
    at = left + (0.4 if is_header else width / 2)
    place: dict[str, Any] = {"ha": "left" if is_header else "center", "va": "center"}
    y = top + height / 2 - cell.height * _LINE / 2 + _LINE / 2
    for line in cell.lines:
        axes.text(at, y, drawn(line), fontsize=5.5, **place)
        y += _LINE
    if cell.probability >= TOLD:
        axes.text(at, y, _per_cent(cell.probability), fontsize=5, fontstyle="italic", **place)


def _widths(columns: list[list[str]]) -> list[int]:
    """Letters of each column, together at most as many as there is room for.

    Of the rest that the row's header leaves, narrow columns have all they need, others equal parts;
    what they leave is the header's again.
    """
    needed = [max(4, 2 + max(map(len, texts))) for texts in columns]
    widths = [min(needed[0], _ROW_HEADER), *needed[1:]]
    left = _LETTERS - widths[0]
    for done, index in enumerate(sorted(range(1, len(columns)), key=needed.__getitem__), 1):
        widths[index] = min(needed[index], left // (len(columns) - done))
        left -= widths[index]
    widths[0] += min(left, needed[0] - widths[0])
    return widths


def _lines(text: str, width: int, most: int) -> list[str]:
    """At most so many lines, in which a letter is left free on either side."""
    lines = wrap(text, max(3, width - 1)) or [""]
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], lines[most - 1][: max(1, width - 2)] + "…"]


def _sentence(context: Context) -> str:
    """Around the numeral, which stands in brackets."""
    space = " " if context.after[:1].isspace() else ""
    after = shorten(context.after, 40, placeholder=" …")
    return f"{context.ending(90)} [{context.truth}]{space}{after}"
