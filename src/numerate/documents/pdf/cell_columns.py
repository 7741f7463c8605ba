"""Columns of a table of a PDF: between upright rules, or between stretches of white space."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from numerate.documents.pdf.cell_headings import bold_at_top, header_rule
from numerate.documents.pdf.cells import NUMBER, Block
from numerate.documents.pdf.lines import Line, Words, make_line
from numerate.documents.pdf.page import Ints, Rules
from numerate.documents.pdf.rules import Frame

_SPACE = 0.45  # em between words of one cell, where nothing tells


def column_edges(lines: Sequence[Line], words: Words, frame: Frame | None) -> list[float]:
    """Edges of columns, from that of the first to that of the last."""
    left, right = float(words.left.min()), float(words.right.max())
    if frame is not None and len(frame.down):
        tall = _upright(frame.down, frame.bottom - frame.top)
        inner = [x for x in tall if left < x < right]
        if inner:
            return [min(left, *tall) - 1, *inner, max(right, *tall) + 1]
    space = space_in_cells(lines)
    runs = [(line, _word_runs(line, space)) for line in lines]
    width = right - left
    header = max(header_rule(frame, lines), bold_at_top(lines))
    # Lines of a single run are labels, of which long ones say nothing, or titles of parts.
    kept = [(line, some) for line, some in runs if len(some) > 1 or _is_cell(line, left, width)]
    votes = [(line, some) for line, some in kept if line.base > header]
    if sum(len(some) > 1 for _, some in votes) < 2:
        votes = kept
    if not any(len(some) > 1 for _, some in votes):
        return []
    step = max(min(line.size for line in lines) / 24, width / 4000)
    size = int(width / step) + 2
    by_runs = _covered([run for _, some in votes for run in some], left, step, size)
    by_words, by_all = (
        _covered([box for line in some for box in _boxes(line)], left, step, size)
        for some in ([line for line, _ in votes], lines)
    )
    few = len(votes) // 10
    is_told = bool(words.apart.any())  # by spaces that are drawn, or are not
    low = (by_words <= few) & (by_runs <= (few if is_told else max(few, len(votes) // 3)))
    borders = np.flatnonzero(np.diff(np.concatenate([[0], low.view(np.int8), [0]])))
    gaps = []
    least = (0.1 if is_told else 0.25) * lines[0].size
    for start, end in borders.reshape(-1, 2).tolist():
        if start > 0 and end < size - 1 and (end - start) * step > least:
            # Headings may be wider than what stands below them.
            best = np.flatnonzero(by_all[start:end] == by_all[start:end].min())
            gaps.append(left + (start + float(np.median(best))) * step)
    return _merged([left - 1, *gaps, right + 1], [some for _, some in votes])


def _is_cell(line: Line, left: float, width: float) -> bool:
    """A short label, or a number that scripts have moved out of the line of its row."""
    if line.left < left + line.size:
        return line.right < left + 0.4 * width
    return line.right - line.left < 0.2 * width and NUMBER.match(line.text) is not None


def _boxes(line: Line) -> list[tuple[float, float]]:
    return list(zip(line.words.left.tolist(), line.words.right.tolist(), strict=True))


def _covered(stretches: Sequence[tuple[float, float]], left: float, step: float, size: int) -> Ints:
    """How many stretches there are above each step from the left."""
    count = np.zeros(size + 1, dtype=np.int64)
    for start, end in stretches:
        count[int((start - left) / step)] += 1
        count[min(int((end - left) / step) + 1, size)] -= 1
    return np.cumsum(count)[:size]


def space_in_cells(lines: Sequence[Line]) -> float:
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
    words = line.words
    for left, right, apart in zip(
        words.left.tolist(), words.right.tolist(), words.apart.tolist(), strict=True
    ):
        if runs and not apart and left - runs[-1][1] <= space * line.size:
            runs[-1][1] = max(runs[-1][1], right)
        else:
            runs.append([left, right])
    return [(start, end) for start, end in runs]


def cut_at_columns(line: Line, number: int, edges: Sequence[float], space: float) -> list[Block]:
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
        if (
            gap > space * line.size
            or words.apart[index]
            or (is_number and first[index] == column[index])
        ):
            cuts.append(index)
    cuts.append(len(words))
    found = []
    for start, end in pairwise(cuts):
        part = slice(start, end)
        block = Block(int(first[part].min()), int(last[part].max()), [], number)
        block.lines = [make_line(words[np.arange(start, end)])]
        found.append(block)
    return found
