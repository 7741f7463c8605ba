"""The cells of a table of a PDF, told by rules and by white space."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from numerate.documents.pdf_lines import Line, Words, lines_of, make_line
from numerate.documents.pdf_page import Ints, Rules
from numerate.documents.pdf_rules import Frame

_SPACE = 0.45  # em between words of one cell
_LOOSE = 1.06  # times the distance of lines in a cell: that of lines in two
NUMBER = re.compile(r"\s*[<>≤≥=−-]?\s*[0-9.]")


@dataclass(slots=True, eq=False)
class Block:
    """Lines of one cell."""

    first: int  # column
    last: int
    lines: list[Line]
    number: int = 0  # of its first line among those of the table
    rows: int = 1

    @property
    def top(self) -> float:
        return self.lines[0].top

    @property
    def bottom(self) -> float:
        return self.lines[-1].bottom


@dataclass(slots=True, eq=False)
class CellGrid:
    """Cells by rows, each with the columns and rows that it spans."""

    edges: list[float]  # of columns
    rows: list[list[Block]] = field(default_factory=list)
    header: int = 0  # rows at the top that a rule or bold type sets apart

    @property
    def columns(self) -> int:
        return len(self.edges) - 1


def grid_of(words: Words, frame: Frame | None, before: CellGrid | None = None) -> CellGrid | None:
    """None where no columns can be told; of a table that goes on from `before`, they are known."""
    lines = lines_of(words)
    if len(lines) < 2:
        return None
    edges = _columns(lines, words, frame)
    if before is not None and len(edges) <= len(before.edges) and _fits(words, before.edges):
        edges = before.edges
    if len(edges) < 3:
        return None
    space = _space(lines)
    pieces = [
        piece for number, line in enumerate(lines) for piece in _pieces(line, number, edges, space)
    ]
    bands = _bands(frame, lines, pieces)
    if frame is None or bands is None:
        grid = _spaced(pieces, edges)
    else:
        grid = _ruled(pieces, edges, bands, frame.across)
    grid.rows = [row for row in grid.rows if row]
    grid.header = _header(grid, frame)
    _fold_header(grid)
    _widen_headings(grid)
    return grid


def _fits(words: Words, edges: Sequence[float]) -> bool:
    left, right = float(words.left.min()), float(words.right.max())
    return abs(left - edges[0]) < 12 and abs(right - edges[-1]) < 40


# Columns


def _columns(lines: Sequence[Line], words: Words, frame: Frame | None) -> list[float]:
    """Edges of columns, from that of the first to that of the last."""
    left, right = float(words.left.min()), float(words.right.max())
    if frame is not None and len(frame.down):
        tall = _upright(frame.down, frame.bottom - frame.top)
        inner = [x for x in tall if left < x < right]
        if inner:
            return [min(left, *tall) - 1, *inner, max(right, *tall) + 1]
    space = _space(lines)
    runs = [(line, _word_runs(line, space)) for line in lines]
    width = right - left
    header = max(_header_rule(frame, lines), _bold_at_top(lines))
    # Lines of a single run are labels, of which long ones say nothing, or titles of parts.
    kept = [
        (line, some)
        for line, some in runs
        if len(some) > 1 or (some[0][0] < left + line.size and some[0][1] < left + 0.4 * width)
    ]
    votes = [(line, some) for line, some in kept if line.base > header]
    if sum(len(some) > 1 for _, some in votes) < 2:
        votes = kept
    if not any(len(some) > 1 for _, some in votes):
        return []
    step = max(min(line.size for line in lines) / 8, width / 4000)
    size = int(width / step) + 2
    by_runs = _covered([run for _, some in votes for run in some], left, step, size)
    by_words, by_all = (
        _covered([box for line in some for box in _boxes(line)], left, step, size)
        for some in ([line for line, _ in votes], lines)
    )
    low = (by_words <= len(votes) // 10) & (by_runs <= max(len(votes) // 10, len(votes) // 3))
    borders = np.flatnonzero(np.diff(np.concatenate([[0], low.view(np.int8), [0]])))
    gaps = []
    for start, end in borders.reshape(-1, 2).tolist():
        if start > 0 and end < size - 1 and (end - start) * step > 0.25 * lines[0].size:
            # Headings may be wider than what stands below them.
            best = np.flatnonzero(by_all[start:end] == by_all[start:end].min())
            gaps.append(left + (start + float(np.median(best))) * step)
    return _merged([left - 1, *gaps, right + 1], [some for _, some in votes])


def _boxes(line: Line) -> list[tuple[float, float]]:
    return list(zip(line.words.left.tolist(), line.words.right.tolist(), strict=True))


def _covered(stretches: Sequence[tuple[float, float]], left: float, step: float, size: int) -> Ints:
    """How many stretches there are above each step from the left."""
    count = np.zeros(size + 1, dtype=np.int64)
    for start, end in stretches:
        count[int((start - left) / step)] += 1
        count[min(int((end - left) / step) + 1, size)] -= 1
    return np.cumsum(count)[:size]


def _space(lines: Sequence[Line]) -> float:
    """What is between words of one cell at most, in em: most gaps in a line are no wider."""
    gaps = [
        (line.words.left[1:] - line.words.right[:-1]) / line.size
        for line in lines
        if len(line.words) > 1
    ]
    some = np.concatenate(gaps) if gaps else np.empty(0)
    some = some[some > 0.12]
    return float(np.clip(1.5 * np.percentile(some, 10), 0.33, 0.6)) if len(some) else _SPACE


def _merged(edges: list[float], votes: Sequence[Sequence[tuple[float, float]]]) -> list[float]:
    """A heading may stand beside the numbers below it: columns of which no line has both, and one
    has nothing but lines at the top, are one."""
    index = 1
    while index < len(edges) - 1:
        left, middle, right = edges[index - 1 : index + 2]
        one = [
            n for n, some in enumerate(votes) if any(left < (a + b) / 2 < middle for a, b in some)
        ]
        two = [
            n for n, some in enumerate(votes) if any(middle < (a + b) / 2 < right for a, b in some)
        ]
        few = min(one, two, key=len)
        many = two if few is one else one
        if few and many and not set(one) & set(two) and max(few) < min(many) and max(few) < 3:
            del edges[index]
        else:
            index += 1
    return edges


def _upright(down: Rules, height: float) -> list[float]:
    """Where upright rules are that go down at least half of the table."""
    order = np.argsort(down.at)
    found: list[tuple[float, float]] = []
    for index in order.tolist():
        at, length = float(down.at[index]), float(down.end[index] - down.start[index])
        if found and at - found[-1][0] < 3:
            found[-1] = (found[-1][0], found[-1][1] + length)
        else:
            found.append((at, length))
    return [at for at, length in found if length >= 0.4 * height]


def _word_runs(line: Line, space: float) -> list[tuple[float, float]]:
    """Words with no more than spaces between them."""
    runs: list[list[float]] = []
    for left, right in zip(line.words.left.tolist(), line.words.right.tolist(), strict=True):
        if runs and left - runs[-1][1] <= space * line.size:
            runs[-1][1] = max(runs[-1][1], right)
        else:
            runs.append([left, right])
    return [(start, end) for start, end in runs]


def _pieces(line: Line, number: int, edges: Sequence[float], space: float) -> list[Block]:
    """What of a line stands in which columns; what crosses a border without a gap spans them."""
    words = line.words
    centre = (words.left + words.right) / 2
    column = np.searchsorted(edges, centre).clip(1, len(edges) - 1) - 1
    first = np.searchsorted(edges, words.left + 1).clip(1, len(edges) - 1) - 1
    last = np.searchsorted(edges, words.right - 1).clip(1, len(edges) - 1) - 1
    cuts = [0]
    gaps = words.left[1:] - words.right[:-1]
    for index, gap in enumerate(gaps.tolist(), 1):
        if column[index] == column[index - 1]:
            continue
        is_number = NUMBER.match(words.text(index)) and len(cuts) > 1
        if gap > space * line.size or (is_number and first[index] == column[index]):
            cuts.append(index)
    cuts.append(len(words))
    found = []
    for start, end in pairwise(cuts):
        part = slice(start, end)
        block = Block(int(first[part].min()), int(last[part].max()), [], number)
        block.lines = [make_line(words[np.arange(start, end)])]
        found.append(block)
    return found


# Rows


def _bands(
    frame: Frame | None, lines: Sequence[Line], pieces: Sequence[Block]
) -> list[float] | None:
    """Edges of rows, where rules separate them all."""
    if frame is None:
        return None
    kept = [frame.top]
    for y in [*np.unique(np.round(frame.across.at)).tolist(), frame.bottom]:
        if y - kept[-1] > 3:
            kept.append(y)
    if len(kept) < 3:
        return None
    kept[0], kept[-1] = min(kept[0], lines[0].top - 1), max(kept[-1], lines[-1].bottom + 1)
    rows = np.searchsorted(kept, [lines[number].base for number in _lines_with_numbers(pieces)])
    if len(rows) != len(set(rows.tolist())):
        return None
    return kept if len(frame.down) or len(rows) > 1 else None


def _lines_with_numbers(pieces: Sequence[Block]) -> list[int]:
    """Those that are rows by themselves, with a label and numbers."""
    labelled = {piece.number for piece in pieces if piece.first == 0}
    numbers = {p.number for p in pieces if p.first > 0 and NUMBER.match(p.lines[0].text)}
    return sorted(labelled & numbers)


def _ruled(
    pieces: Sequence[Block], edges: list[float], bands: Sequence[float], across: Rules
) -> CellGrid:
    """Rows between rules; a cell without a rule below it goes on in the next row."""
    home: dict[tuple[int, int], Block] = {}
    grid = CellGrid(edges, [[] for _ in range(len(bands) - 1)])
    for piece in pieces:
        line = piece.lines[0]
        row = int(np.searchsorted(bands, (line.top + line.bottom) / 2).clip(1, len(bands) - 1)) - 1
        while row > 0 and not _is_closed(across, bands[row], edges, piece):
            row -= 1
        key = (row, piece.first)
        if key in home:
            home[key].lines += piece.lines
            home[key].last = max(home[key].last, piece.last)
            continue
        end = row + 1
        while end < len(bands) - 1 and not _is_closed(across, bands[end], edges, piece):
            end += 1
        piece.rows = end - row
        home[key] = piece
        grid.rows[row].append(piece)
    for row_of in grid.rows:
        row_of.sort(key=lambda block: block.first)
    return grid


def _is_closed(across: Rules, y: float, edges: Sequence[float], piece: Block) -> bool:
    middle = (edges[piece.first] + edges[piece.last + 1]) / 2
    near = np.abs(across.at - y) < 3
    return bool((near & (across.start < middle) & (across.end > middle)).any())


def _spaced(pieces: Sequence[Block], edges: list[float]) -> CellGrid:
    """Rows by white space: lines of one cell stand nearer to each other than cells do."""
    blocks = _blocks(pieces, len(edges) - 1)
    grid = CellGrid(edges)
    for group in _groups(blocks):
        grid.rows += _rows(group)
    _join_continued(grid)
    return grid


def _blocks(pieces: Sequence[Block], columns: int) -> list[Block]:
    """Lines of one cell put together."""
    reach = _reach_of_cells(pieces, columns)
    found: list[Block] = []
    for piece in sorted(pieces, key=lambda one: (one.lines[0].base, one.lines[0].left)):
        line = piece.lines[0]
        above = [
            block
            for block in found[-60:]
            if block.first <= piece.last
            and piece.first <= block.last
            and line.base - block.lines[-1].base <= max(reach, 0.5 * line.size)
        ]
        if above and above[-1].lines[-1].is_bold == line.is_bold:
            home = above[-1]
            home.lines.append(line)
            home.first, home.last = min(home.first, piece.first), max(home.last, piece.last)
        else:
            found.append(piece)
    return sorted(found, key=lambda block: (block.top, block.first))


def _reach_of_cells(pieces: Sequence[Block], columns: int) -> float:
    """How far apart two lines of one cell may be; 0 where every line is a row of its own.

    Lines below each other that have a label and fill most columns with numbers are two rows. The
    nearest lines of all are of one cell, unless these rows are as near.
    """
    by_line: dict[int, dict[int, Line]] = {}
    for piece in pieces:
        for column in range(piece.first, piece.last + 1):
            by_line.setdefault(piece.number, {})[column] = piece.lines[0]
    of_rows, of_any = [], []
    above: dict[int, tuple[float, bool]] = {}
    for _, cells in sorted(by_line.items()):
        numbers = sum(NUMBER.match(line.text) is not None for line in cells.values())
        is_row = 0 in cells and numbers > 0 and len(cells) > 0.6 * columns
        for column, line in cells.items():
            if column in above:
                last, was_row = above[column]
                if line.base - last > 0.9 * line.size:
                    of_any.append(line.base - last)
                    of_rows += [line.base - last] * (is_row and was_row)
            above[column] = (line.base, is_row)
    if not of_any or max(of_any) <= _LOOSE * min(of_any):
        return 0.0
    reach = _LOOSE * min(of_any)
    return reach if reach < min(of_rows, default=np.inf) else 0.0


def _groups(blocks: Sequence[Block]) -> list[list[Block]]:
    """Blocks that stand beside each other, directly or through others."""
    groups: list[list[Block]] = []
    reach = -np.inf
    for block in blocks:
        if groups and block.top < reach - 0.3 * block.lines[0].size:
            groups[-1].append(block)
            reach = max(reach, block.bottom)
        else:
            groups.append([block])
            reach = block.bottom
    return groups


def _rows(group: Sequence[Block]) -> list[list[Block]]:
    """Of blocks side by side; where a column has several, these are the rows, and others span."""
    by_column: dict[int, list[Block]] = {}
    for block in group:
        by_column.setdefault(block.first, []).append(block)
    anchor = max(by_column.values(), key=len)
    if len(anchor) == 1:
        return [sorted(group, key=lambda block: block.first)]
    rows: list[list[Block]] = [[] for _ in anchor]
    for some in by_column.values():
        for block in some:
            over = [min(block.bottom, a.bottom) - max(block.top, a.top) for a in anchor]
            touched = [
                index for index, shared in enumerate(over) if shared > 0.3 * block.lines[0].size
            ]
            first = touched[0] if touched else int(np.argmax(over))
            block.rows = len(touched) if len(touched) > 1 else 1
            rows[first].append(block)
    for row in rows:
        row.sort(key=lambda block: block.first)
    return rows


def _join_continued(grid: CellGrid) -> None:
    """What white space did not tell: a label or a cell may go on in the line below it."""
    rows: list[list[Block]] = []
    for row in filter(None, grid.rows):
        above = rows[-1] if rows else []
        pairs = [(next((b for b in above if _overlap(b, one)), None), one) for one in row]
        near = above and min(one.top for one in row) - max(b.bottom for b in above) < _SPACE * (
            row[0].lines[0].size
        )
        if near and any(before is not None and _goes_on(before, one) for before, one in pairs):
            for before, one in pairs:
                if before is None:
                    above.append(one)
                else:
                    before.lines += one.lines
            above.sort(key=lambda block: block.first)
            continue
        rows.append(row)
    grid.rows = rows


def _overlap(one: Block, other: Block) -> bool:
    return one.first <= other.last and other.first <= one.last


def _goes_on(above: Block, below: Block) -> bool:
    """Whether a cell ends in the line below it: brackets say so, and words in lower case."""
    before = " ".join(line.text for line in above.lines).rstrip()
    after = below.lines[0].text.lstrip()
    if below.first == 0:
        return after[:1].islower() and after[1:2] not in (".", ")", "")
    open_ones = sum(before.count(sign) for sign in "([") - sum(before.count(s) for s in ")]")
    return open_ones > 0 or before.endswith(("–", "±", "/", " to")) or after.startswith("to ")


# Header


def _header_rule(frame: Frame | None, lines: Sequence[Line]) -> float:
    """Where the header ends, if a rule goes all the way below it."""
    if frame is None or len(frame.across) < 2:
        return -np.inf
    full = frame.across.end - frame.across.start > 0.85 * (frame.right - frame.left)
    for y in sorted(frame.across.at[full].tolist()):
        above = sum(1 for line in lines if line.base < y)
        if above and y > lines[0].base:
            return float(y) if above < len(lines) and above <= 12 else -np.inf
    return -np.inf


def _bold_at_top(lines: Sequence[Line]) -> float:
    """Where lines end that are bold, if those below them are not."""
    bold = [line.is_bold for line in lines]
    count = bold.index(False) if False in bold else 0
    return lines[count - 1].base if 0 < count < len(lines) - 1 else -np.inf


def _header(grid: CellGrid, frame: Frame | None) -> int:
    """How many rows at the top are above the first rule that goes all the way, or bold."""
    lines = [line for row in grid.rows for block in row for line in block.lines]
    lines.sort(key=lambda line: line.base)
    end = _header_rule(frame, lines)
    above = [max(block.lines[-1].base for block in row) < end for row in grid.rows]
    count = above.index(False) if False in above else 0
    bold = [
        all(line.is_bold for block in row for line in block.lines)
        and not (number and len(row) == 1 < len(grid.rows[number - 1]))  # the title of a part
        for number, row in enumerate(grid.rows)
    ]
    bolds = bold.index(False) if False in bold else 0
    if frame is not None and len(frame.down) and bolds:
        return bolds
    while 0 < count < len(grid.rows) - 1 and _goes_on_below(grid, count, frame):
        count += 1
    return max(count, bolds) if count < len(grid.rows) else bolds


def _goes_on_below(grid: CellGrid, count: int, frame: Frame | None) -> bool:
    """Whether headings span others in the next row, which has a rule of its own below it."""
    filled = sum(1 for block in grid.rows[count - 1] if block.first)
    row, after = grid.rows[count], grid.rows[count + 1]
    if frame is None or filled >= sum(1 for block in row if block.first):
        return False
    bottom, top = max(b.bottom for b in row), min(b.top for b in after)
    return bool(((frame.across.at > bottom - 3) & (frame.across.at < top + 3)).any())


def _fold_header(grid: CellGrid) -> None:
    """The heading of the labels may stand between the rows of others: it is of the row below."""
    row = 0
    while row < grid.header - 1:
        here, below = grid.rows[row : row + 2]
        if len(here) == 1 and here[0].last == 0 and all(block.first > 0 for block in below):
            below.insert(0, here[0])
            del grid.rows[row]
            grid.header -= 1
        else:
            row += 1


def _widen_headings(grid: CellGrid) -> None:
    """A heading of several columns may stand above some of them only: it has those that are empty
    beside it and filled in the row below, to its right where headings begin with their columns,
    else the nearest."""
    for above, below in pairwise(grid.rows[: grid.header]):
        filled = {column for b in below for column in range(b.first, b.last + 1)}
        taken = {column for b in above for column in range(b.first, b.last + 1)}
        taken |= {column for b in above if b.rows > 1 for column in range(b.first, b.last + 1)}
        spanning = [block for block in above if block.first > 0 and block.rows == 1]
        starts = {block.first: block.lines[0].left for block in below}
        flush = all(
            abs(starts.get(block.first, np.inf) - block.lines[0].left) < 0.5 * block.lines[0].size
            for block in spanning
        )
        for column in range(1, grid.columns):
            if column in taken or column not in filled or not spanning:
                continue
            middle = next(b for b in below if b.first <= column <= b.last).lines[0]
            before = [block for block in spanning if block.last == column - 1]
            after = [block for block in spanning if block.first > column]
            near = [*before, *([] if flush else after[:1])]
            if not near:
                continue
            best = min(near, key=lambda block: _between(block.lines[0], middle))
            if best in before:
                best.last = column
            elif all(other not in taken for other in range(column, best.first)):
                best.first = column
            taken.add(column)


def _between(one: Line, other: Line) -> float:
    return abs(one.left + one.right - other.left - other.right) / 2
