"""Tables of a page of a PDF: which lines of a column are of one, with its caption and its notes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from numerate.documents.pdf.cells import NUMBER, CellGrid
from numerate.documents.pdf.grid import are_rows_of, grid_of, words_in
from numerate.documents.pdf.lines import Line
from numerate.documents.pdf.page import Rules
from numerate.documents.pdf.rules import Frame, frames, picked

CAPTION = re.compile(
    r"\s*(?:(?:Supplementary|Supplemental|Extended Data|Appendix)\s+)?"
    r"(?:Table|TABLE|Tab\.)\s*(?:[A-Z]{0,2}[0-9]+(?:\.[0-9]+)?[A-Za-z]?|[IVX]{1,5})\b"
)
FIGURE = re.compile(
    r"\s*(?:Supplementary\s+)?(?:Fig(?:ure|\.)|FIG(?:URE|\.)|Scheme|Box)\s*[A-Z]?[0-9]+"
)
_LABEL = re.compile(r"\(?(?:[0-9]{1,3}|[a-z]|[ivx]+)[.)]?|\[[0-9]+\]|[•◦▪‣–—*·o-]")
_SAYS = re.compile(r"[\s(]*(?:continued|cont\.?|[.:|—–-]|[A-Z(]|$)")
_CELL_GAP = 0.15  # em at least, between two cells that no space is drawn between
_MOST_CAPTION = 10  # lines
_MOST_NOTES = 12
_BETWEEN_ROWS, _BELOW_CAPTION = 3.2, 5.0  # em at most


@dataclass(slots=True, eq=False)
class FoundTable:
    """A table on a page; without a `grid`, where columns could not be told, there are its lines."""

    lines: list[Line]
    grid: CellGrid | None
    caption: list[Line]
    notes: list[Line] = field(default_factory=list)
    page: int = 0
    last_page: int = 0


class _Stretch(NamedTuple):
    first: int
    last: int  # inclusive
    frame: Frame | None
    goes_on: bool = False  # with the last rows of the table of the page before


def tables_among(
    lines: Sequence[Line],
    across: Rules,
    down: Rules,
    body: float,
    before: CellGrid | None,
) -> list[Line | FoundTable]:
    """Lines of a column, those of tables put together; `body` is the size of running text, `before`
    the last table of the page before, which may go on."""
    if not lines:
        return []
    tabular = [_is_tabular(line) for line in lines]
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    stretches = _framed(lines, frames(across, down, left, right), tabular)
    stretches = _with_unframed(lines, stretches, tabular, before)
    found: list[Line | FoundTable] = []
    done = 0
    for number, stretch in enumerate(stretches):
        until = stretches[number + 1].first if number + 1 < len(stretches) else len(lines)
        table, start, end = _table(lines, stretch, done, until, body, before)
        if table is None:
            continue
        found += [*lines[done:start], table]
        done = end
    return [*found, *lines[done:]]


def _is_tabular(line: Line) -> bool:
    """Whether a line has gaps that are wider than spaces, or that no spaces are drawn in, but for
    that after a label."""
    gaps = line.words.left[1:] - line.words.right[:-1]
    if not len(gaps):
        return False
    apart = line.words.apart  # its first word always is, where spaces are drawn
    if (apart[1:] & (gaps > _CELL_GAP * line.size)).sum() > 1:
        return True
    usual = float(np.median(gaps))
    left, right = line.column
    is_full = line.left < left + 2.5 * line.size and line.right > right - 1.5
    if is_full and gaps.max() < 1.3 * gaps.min():
        return False  # stretched to the width of the column
    wide = (gaps > 0.9 * line.size) | ((gaps > 0.6 * line.size) & (gaps > 2 * usual))
    if apart.any():
        wide &= apart[1:] | (gaps > 2 * line.size)
    if wide.sum() == 1 and wide[0] and _LABEL.fullmatch(line.words.text(0)):
        return False
    return bool(wide.any())


def _is_prose(line: Line) -> bool:
    width = line.column[1] - line.column[0]
    return len(line.words) >= 6 and line.right - line.left > 0.7 * width and not _is_tabular(line)


def _framed(
    lines: Sequence[Line], found: Sequence[Frame], tabular: Sequence[bool]
) -> list[_Stretch]:
    stretches: list[_Stretch] = []
    for frame in (part for one in found for part in _cut_at_text(one, lines)):
        inside = _inside(frame, lines)
        if not inside:
            continue
        first, last = inside[0], inside[-1]
        share = sum(tabular[first : last + 1]) / (last + 1 - first)
        if (_is_grid(frame) or share > 0.3) and not any(
            first <= other.last and other.first <= last for other in stretches
        ):
            stretches.append(_Stretch(first, last, frame))
    stretches.sort(key=lambda one: one.first)
    grown = [_grown(lines, stretch, tabular) for stretch in stretches]
    for number in range(len(grown) - 1):  # none reaches into the next
        last = min(grown[number].last, grown[number + 1].first - 1)
        grown[number] = grown[number]._replace(last=last)
    return grown


def _is_grid(frame: Frame) -> bool:
    return len(np.unique(np.round(frame.down.at))) > 2


def _is_closed(frame: Frame) -> bool:
    """Whether rules go all the way around it, or above it, below its header and below it."""
    full = frame.across.end - frame.across.start > 0.85 * (frame.right - frame.left)
    return _is_grid(frame) or len(np.unique(np.round(frame.across.at[full] / 3))) > 2


def _inside(frame: Frame, lines: Sequence[Line]) -> list[int]:
    return [
        index
        for index, line in enumerate(lines)
        if frame.top - 2 < (line.top + line.bottom) / 2 < frame.bottom + 2
        and line.left < frame.right + 2
        and line.right > frame.left - 2
    ]


def _cut_at_text(frame: Frame, lines: Sequence[Line]) -> list[Frame]:
    """Cut rules of equal reach where running text or a caption is between: they are of several
    tables, or of none."""
    heights = np.unique(frame.across.at)
    parts: list[list[float]] = [[float(heights[0])]]
    for above, below in pairwise(heights.tolist()):
        between = [at for at, line in enumerate(lines) if above < line.base < below]
        prose = sum(_is_prose(lines[at]) for at in between)
        is_ended = any(
            begins_caption(lines[at], None if at == between[0] else lines[at - 1])
            or (at > 1 and _is_title(lines[at], lines[at - 1], lines[at - 2]))
            for at in between
        )
        if is_ended or (not _is_grid(frame) and prose > 1 and prose > len(between) / 4):
            parts.append([])
        parts[-1].append(below)
    if len(parts) == 1:
        return [frame]
    found = []
    for part in parts:
        across = picked(frame.across, np.isin(frame.across.at, part))
        reaches = (frame.down.end > part[0]) & (frame.down.start < part[-1])
        down = picked(frame.down, reaches)
        found.append(replace(frame, top=part[0], bottom=part[-1], across=across, down=down))
    return found


def _with_unframed(
    lines: Sequence[Line],
    framed: Sequence[_Stretch],
    tabular: Sequence[bool],
    before: CellGrid | None,
) -> list[_Stretch]:
    taken = {index for one in framed for index in range(one.first, one.last + 1)}
    found = list(framed)
    index = 0
    while index < len(lines):
        if index in taken or not tabular[index]:
            index += 1
            continue
        stretch = _grown(lines, _Stretch(index, index, None), tabular)
        last = min([stretch.last, *(one - 1 for one in taken if one > index)])
        goes_on = index == 0 and before is not None and are_rows_of(before, lines[: last + 1])
        named = index > 0 and begins_caption(lines[index - 1], None)
        if goes_on or sum(tabular[index : last + 1]) >= (2 if named else 3):
            found.append(_Stretch(index, last, None, goes_on))
        index = last + 1
    return sorted(found, key=lambda one: one.first)


def _grown(lines: Sequence[Line], stretch: _Stretch, tabular: Sequence[bool]) -> _Stretch:
    """Downwards while lines are like those of tables; a grid ends where its rules do."""
    if stretch.frame is not None and _is_closed(stretch.frame):
        return stretch
    last = stretch.last
    while last + 1 < len(lines):
        ahead = [index for index in range(last + 1, min(last + 4, len(lines))) if tabular[index]]
        if not ahead:
            break
        between = lines[last + 1 : ahead[0] + 1]
        if any(_is_prose(line) or CAPTION.match(line.text) for line in between):
            break
        if last > stretch.first and _is_title(between[0], lines[last], lines[last - 1]):
            break
        if _far(lines[last], between[0]) or any(map(_far, between, between[1:])):
            break
        last = ahead[0]
    # The last row may end with a label of several lines.
    while last + 1 < len(lines) and _ends_label(lines, last):
        last += 1
    return stretch._replace(last=last)


def _is_title(line: Line, row: Line, above: Line) -> bool:
    """Whether a line is the heading of what comes after a table, and not that of some rows: it is
    further from the last row than that is from the one above it."""
    if _is_tabular(line) or not line.is_bold or row.is_bold:
        return False
    distance = line.base - row.base
    return distance > max(1.25 * (row.base - above.base), 1.6 * line.size)


def _far(above: Line, below: Line, most: float = _BETWEEN_ROWS) -> bool:
    return below.base - above.base > most * max(above.size, below.size)


def _ends_label(lines: Sequence[Line], last: int) -> bool:
    above, below = lines[last], lines[last + 1]
    begins = below.text.lstrip()[:1]
    return _is_part_of_row(below, above) or (
        (begins.islower() or begins == "(") and _is_short(below) and _is_next_to(below, above)
    )


def _is_part_of_row(line: Line, row: Line) -> bool:
    """Whether a line is of a cell that has more lines than others of its row, and not the first."""
    is_inside = line.left > line.column[0] + 2 * line.size
    return is_inside and _is_tabular(row) and _is_short(line) and _is_next_to(line, row)


def _is_short(line: Line) -> bool:
    return line.right - line.left < 0.4 * (line.column[1] - line.column[0])


def _is_next_to(line: Line, other: Line) -> bool:
    near = abs(line.base - other.base) < 1.3 * other.size
    return near and abs(line.size - other.size) < 0.3


def _table(
    lines: Sequence[Line],
    stretch: _Stretch,
    done: int,
    until: int,
    body: float,
    before: CellGrid | None,
) -> tuple[FoundTable | None, int, int]:
    """A table with what belongs to it, and which lines it takes; none if it is no table."""
    first, last, frame, goes_on = stretch
    above = _caption_above(lines, first, done, frame)
    below = None if above is not None else _caption_below(lines, last, until)
    if below is not None and below < len(lines) and until <= below + 2:
        below = None  # it is that of the next
    first = _top(lines, first, done, above, body)
    last = max(first, last)
    inside = lines[first : last + 1]
    has_caption = above is not None or below is not None
    grid = grid_of(words_in(inside), frame, None if has_caption or first else before)
    if not has_caption and not goes_on and not _is_regular(grid, frame):
        return None, first, last
    start, end = first, last + 1
    caption: list[Line] = []
    if above is not None:
        caption, start = list(lines[above[0] : above[1]]), above[0]
    elif below is not None:
        caption, end = list(lines[last + 1 : below]), below
    notes = _notes(lines, end, until, body, inside)
    table = FoundTable(list(inside), grid, caption, notes, inside[0].page)
    return table, start, end + len(notes)


def _top(
    lines: Sequence[Line], first: int, done: int, caption: tuple[int, int] | None, body: float
) -> int:
    """The first line below the caption; without one, lines above a rule may be its header."""
    if caption is not None:
        return caption[1]
    while first > done:
        above, line = lines[first - 1], lines[first]
        alike = abs(above.size - line.size) < 0.2 and (above.is_bold or above.size < body - 0.4)
        belongs = _is_tabular(above) or _is_part_of_row(above, line)
        if not (belongs or (alike and not _is_prose(above))) or _far(above, line):
            break
        first -= 1
    return first


def _is_regular(grid: CellGrid | None, frame: Frame | None) -> bool:
    """Whether cells stand in rows and columns as those of a table do, if nothing names it one."""
    if grid is None or len(grid.rows) < 2:
        return False
    if frame is not None:
        return True
    filled = sum(len(row) for row in grid.rows) / (grid.columns * len(grid.rows))
    cells = [block.lines[0].text for row in grid.rows for block in row if block.first]
    numbers = sum(NUMBER.match(text) is not None for text in cells)
    return len(grid.rows) >= 3 and filled > 0.7 and numbers > 0.4 * len(cells)


def begins_caption(line: Line, above: Line | None) -> bool:
    """Whether a line is the first of a table's caption, and no sentence goes on with its name."""
    named = CAPTION.match(line.text)
    if not named or not _SAYS.match(line.text[named.end() :]):
        return False
    if above is None or line.is_bold != above.is_bold or abs(line.size - above.size) > 0.4:
        return True
    return line.base - above.base > 1.45 * line.size or line.column != above.column


def _caption_above(
    lines: Sequence[Line], first: int, done: int, frame: Frame | None
) -> tuple[int, int] | None:
    """From which line to which it stands; what follows it is of the table."""
    for index in range(min(first, len(lines) - 1), max(first - _MOST_CAPTION, done) - 1, -1):
        if index < first and _far(lines[index], lines[index + 1], _BELOW_CAPTION):
            return None
        if begins_caption(lines[index], lines[index - 1] if index else None):
            return index, _caption_end(lines, index, first, frame)
    return None


def _caption_end(lines: Sequence[Line], index: int, first: int, frame: Frame | None) -> int:
    """Lines of a caption stand together, and no rule is between them."""
    end = index + 1
    while end < max(first, index + 1):
        above, line = lines[end - 1], lines[end]
        near = line.base - above.base < 1.5 * line.size and abs(line.size - above.size) < 0.4
        ruled = frame is not None and bool(
            ((frame.across.at > above.base) & (frame.across.at < line.base)).any()
        )
        alike = near and line.is_bold == above.is_bold
        told = _is_prose(line) and not _far(above, line, _BELOW_CAPTION)  # below the title
        if ruled or not (alike or told) or _is_tabular(line):
            break
        end += 1
    return end


def _caption_below(lines: Sequence[Line], last: int, until: int) -> int | None:
    """Until which line it stands."""
    index = last + 1
    if index >= until or not begins_caption(lines[index], lines[last]):
        return None
    end = index + 1
    while end < until and lines[end].base - lines[end - 1].base < 1.4 * lines[end].size:
        end += 1
    return end


def _notes(
    lines: Sequence[Line], start: int, until: int, body: float, inside: Sequence[Line]
) -> list[Line]:
    """Below it, in type that is smaller than that of running text."""
    found: list[Line] = []
    for line in lines[start : min(until, start + _MOST_NOTES)]:
        last = found[-1] if found else inside[-1]
        if line.size > body - 0.4 or line.base - last.base > 2.6 * line.size:
            break
        if CAPTION.match(line.text) or FIGURE.match(line.text) or line.column != last.column:
            break
        found.append(line)
    return found
