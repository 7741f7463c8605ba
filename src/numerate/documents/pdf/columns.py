"""Columns of a page of a PDF: where white space separates them, and what is read when."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from numerate.documents.pdf.lines import Line, Words, lines_of
from numerate.documents.pdf.page import Flags, Ints, Rules

_TALL = 24  # half lines: white space that is as tall separates columns
_LOW = 5  # half lines: so does this, where others of the document do
_NARROWEST = 11  # em of a column of running text
_STEPS = 6  # of an em across, in which white space is looked for
_WIDE = 2 * _STEPS  # such a gap ends a line

_Gap = tuple[int, int, int, int]  # left, right, top and bottom on the grid


@dataclass(frozen=True, slots=True)
class Gutter:
    """White space between two columns of text."""

    left: float
    right: float
    top: float
    bottom: float


def columns_in_order(words: Words, gutters: Sequence[Gutter]) -> list[list[Line]]:
    """Each the lines of one, from the top down; what stands across columns is one by itself."""
    found = []
    for part in _in_order(np.arange(len(words)), words, gutters):
        lines = lines_of(words[part])
        left = float(np.percentile([line.left for line in lines], 5))
        right = float(np.percentile([line.right for line in lines], 95))
        for line in lines:
            line.column = (left, right)
        found.append(lines)
    return found


def _in_order(which: Ints, words: Words, gutters: Sequence[Gutter]) -> Iterator[Ints]:
    """Where a gutter goes all the way down, the left side comes first; where it does not, what
    stands above it, beside it and below it are read in turn."""
    if not len(which):
        return
    middle = (words.top[which] + words.bottom[which]) / 2
    centre = (words.left[which] + words.right[which]) / 2
    top, bottom = middle.min(), middle.max()
    here = [
        gutter
        for gutter in gutters
        if gutter.top < bottom
        and gutter.bottom > top
        and (centre < gutter.left).any()
        and (centre > gutter.right).any()
    ]
    if not here:
        yield which
        return
    tallest = max(here, key=lambda one: min(one.bottom, bottom) - max(one.top, top))
    above, below = middle < tallest.top, middle > tallest.bottom
    beside = ~above & ~below
    left = beside & (centre < (tallest.left + tallest.right) / 2)
    rest = [gutter for gutter in gutters if gutter is not tallest]
    for part in (above, left, beside & ~left, below):
        # Where it separates nothing, it is done with.
        yield from _in_order(which[part], words, rest if part.all() or part is left else gutters)


def find_gutters(words: Words, across: Rules, known: Sequence[Gutter] = ()) -> list[Gutter]:
    """Tall white space with running text on both sides of it; or lower, where it is `known` from
    other pages."""
    if len(words) < 10:
        return []
    em = float(np.median(np.repeat(words.size, words.last - words.first)))
    right, bottom = float(words.right.max()), float(words.bottom.max())
    dx, dy = max(em / _STEPS, right / 3000), max(em / 2, bottom / 3000)
    filled = _filled(words, across, dx, dy)
    least = int(_NARROWEST * em / dx)
    gaps, tables = list[_Gap](), list[_Gap]()
    scaled = across.start / dx, across.end / dx, across.at / dy
    for gap in _tall_gaps(filled, least_width=4, least_height=_LOW):
        if _beside_table(filled, Rules(*scaled), gap, least=least):
            gaps.append(gap)
            continue
        text, cells = _parted(filled, gap, least=least)
        gaps += [part for part in text if _between_text(filled, part, least=least)]
        tables += cells
    tall = [gap for gap in gaps if gap[3] - gap[2] >= _TALL]
    centres = [(one.left + one.right) / 2 / dx for one in known]
    centres += [(left + right) / 2 for left, right, _, _ in tall]
    low = [
        gap
        for gap in gaps
        if not any(_overlap(gap, other) for other in tall)
        and any(gap[0] <= centre <= gap[1] for centre in centres)
    ]
    found, barred = (
        [Gutter(a * dx, b * dx, c * dy, d * dy) for a, b, c, d in some]
        for some in ([*tall, *low], tables)
    )
    return _joined(found, barred, words, em)


def _joined(
    gutters: Sequence[Gutter], tables: Sequence[Gutter], words: Words, em: float
) -> list[Gutter]:
    """Each as far as it goes, if lines that are too long for their column do not count."""
    found: list[Gutter] = []
    for gutter in sorted(gutters, key=lambda one: one.top - one.bottom):
        if not any(_is_part(gutter, other) for other in found):
            found.append(_lengthened(gutter, tables, words, em))
    return found


def _is_part(gutter: Gutter, other: Gutter) -> bool:
    beside = gutter.left < other.right and other.left < gutter.right
    return beside and gutter.top > other.top - 1 and gutter.bottom < other.bottom + 1


def _lengthened(gutter: Gutter, tables: Sequence[Gutter], words: Words, em: float) -> Gutter:
    """Line by line, while what reaches into it ends there, or the other column begins beside it."""
    near = 0.2 * em
    inside = (words.right > gutter.left + near) & (words.left < gutter.right - near)
    too_long = (words.left < gutter.left) & (words.right < gutter.right + near)
    begins = words.base[np.abs(words.left - gutter.right) < 2 * near]
    crossing = words.base[inside & ~too_long]
    barred = [base for base in crossing if not (np.abs(begins - base) < 0.6 * em).any()]
    for one in tables:
        if one.left < gutter.right and gutter.left < one.right:
            barred += words.base[(words.base > one.top) & (words.base < one.bottom)].tolist()
    across = np.array(barred)
    ends = []
    for edge, way in ((gutter.top, -1), (gutter.bottom, 1)):
        beyond = np.sort(way * (words.base - edge))
        beyond = beyond[beyond > -0.5 * em]
        blocked = np.min(way * (across - edge), where=way * (across - edge) > 0, initial=np.inf)
        reach = 0.0
        for distance in beyond[beyond < blocked - 0.5 * em].tolist():
            if distance > reach + 2.2 * em:
                break
            reach = max(reach, distance)
        ends.append(edge + way * (reach + (0.8 if way < 0 else 0.3) * em * (reach > 0)))
    return Gutter(gutter.left, gutter.right, ends[0], ends[1])


def _overlap(gap: _Gap, other: _Gap) -> bool:
    return gap[0] < other[1] and other[0] < gap[1] and gap[2] < other[3] and other[2] < gap[3]


def _filled(words: Words, across: Rules, dx: float, dy: float) -> Flags:
    """Where something stands, on a grid."""
    width, height = int(words.right.max() / dx) + 2, int(words.bottom.max() / dy) + 2
    filled = np.zeros((height, width), dtype=bool)
    x0, x1 = (words.left / dx).astype(int), (words.right / dx).astype(int)
    y0, y1 = (words.top / dy).astype(int).clip(0), (words.bottom / dy).astype(int)
    for a, b, c, d in zip(x0.tolist(), x1.tolist(), y0.tolist(), y1.tolist(), strict=True):
        filled[c : d + 1, a : b + 1] = True
    for start, end, at in zip(across.start, across.end, across.at, strict=True):
        if 0 <= at / dy < height:
            filled[int(at / dy), max(int(start / dx), 0) : max(int(end / dx), 0) + 1] = True
    return filled


def _tall_gaps(filled: Flags, least_width: int, least_height: int) -> list[_Gap]:
    """Left, right, top and bottom of white space that has text on both sides all the way."""
    has_left = np.maximum.accumulate(filled, axis=1)
    has_right = np.maximum.accumulate(filled[:, ::-1], axis=1)[:, ::-1]
    empty = ~filled
    wide = empty.copy()
    for shift in range(1, least_width):
        wide[:, :-shift] &= empty[:, shift:]
        wide[:, -shift:] = False
    found: list[_Gap] = []
    taken = np.zeros_like(filled)
    columns = []
    for x in np.flatnonzero(wide.any(axis=0)).tolist():
        edges = np.flatnonzero(np.diff(np.concatenate([[0], wide[:, x].view(np.int8), [0]])))
        columns += [(end - start, x, start, end) for start, end in edges.reshape(-1, 2).tolist()]
    for tall, x, start, end in sorted(columns, reverse=True):
        if tall < least_height:
            break
        if taken[start:end, x].any():
            continue
        free: Flags = np.asarray(empty[start:end].all(axis=0))
        a = b = x
        while a > 0 and free[a - 1]:
            a -= 1
        while b + 1 < filled.shape[1] and free[b + 1]:
            b += 1
        taken[start:end, max(a - 1, 0) : b + 2] = True
        left, right = has_left[start:end, a], has_right[start:end, b]
        both = np.flatnonzero(left & right)
        if len(both) >= least_height:
            either: Flags = np.logical_or(left, right)
            first, last = _grown(either, int(both[0]), int(both[-1]))
            found.append((a, b + 1, start + first, start + last + 1))
    return found


def _grown(has_text: Flags, first: int, last: int) -> tuple[int, int]:
    """To the ends of text that stands on one side only, without a gap of more than a line."""
    while first > 0 and has_text[max(first - 3, 0) : first].any():
        first -= 1
    while last + 1 < len(has_text) and has_text[last + 1 : last + 4].any():
        last += 1
    return first, last


def _between_text(filled: Flags, gap: _Gap, *, least: int) -> bool:
    """Whether most of what is beside it are lines of running text, and not cells of a table."""
    beside = [lengths[lengths > 0] for lengths in _lengths(filled, gap, least)]
    return all(len(some) and float(np.median(some)) >= least for some in beside)


def _beside_table(filled: Flags, across: Rules, gap: _Gap, *, least: int) -> bool:
    """Whether there is a ruled table as wide as a column beside it, and text or another one on its
    other side: the rules of one table would go across."""
    left, right, top, bottom = gap
    near = (across.at > top - _LOW) & (across.at < bottom + _LOW)
    if (near & (across.start < left) & (across.end > right)).any():
        return False
    near &= across.end - across.start > least
    ruled = [int((near & side).sum()) > 1 for side in (across.end <= right, across.start >= left)]
    beside = [lengths[lengths > 0] for lengths in _lengths(filled, gap, least)]
    text = [len(some) > 0 and float(np.median(some)) >= least for some in beside]
    return any(ruled) and all(one or other for one, other in zip(ruled, text, strict=True))


def _lengths(filled: Flags, gap: _Gap, least: int) -> list[Ints]:
    """How far text goes on beside it in each row, to the left and to the right, until there is a
    wide gap; 0 where there is none."""
    left, right, top, bottom = gap
    found = []
    for part in (filled[top:bottom, :left][:, ::-1], filled[top:bottom, right:]):
        if part.shape[1] < max(least, _WIDE):
            found.append(np.zeros(len(part), dtype=np.int64))
            continue
        first = np.argmax(part, axis=1)
        windows = np.lib.stride_tricks.sliding_window_view(~part, _WIDE, axis=1).all(axis=2)
        windows &= np.arange(windows.shape[1]) > first[:, None]
        ends = np.where(windows.any(axis=1), windows.argmax(axis=1), part.shape[1])
        found.append(np.where(part.any(axis=1), ends - first, 0))
    return found


def _parted(filled: Flags, gap: _Gap, *, least: int) -> tuple[list[_Gap], list[_Gap]]:
    """Where text is beside it, and where cells stand on both sides: white space of a table may lie
    above or below that of columns."""
    left, right, top, bottom = gap
    one, two = _lengths(filled, gap, least)
    both = (one > 0) & (two > 0)
    cells = both & (one < least) & (two < least)
    window = np.ones(min(17, bottom - top), dtype=np.int64)
    votes = np.convolve(cells.astype(np.int64) - (both & ~cells), window, mode="same")
    found: tuple[list[_Gap], list[_Gap]] = ([], [])
    is_table = votes > len(window) // 3
    borders = [0, *(np.flatnonzero(np.diff(is_table)) + 1).tolist(), bottom - top]
    for start, end in pairwise(borders):
        if end - start >= _LOW:
            found[int(is_table[start])].append((left, right, top + start, top + end))
    return found
