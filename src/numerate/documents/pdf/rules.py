"""Rules of a page of a PDF that tables are drawn with: put together, and grouped to tables."""

from dataclasses import dataclass

import numpy as np

from numerate.documents.pdf.lines import Words
from numerate.documents.pdf.page import Flags, Floats, Ints, Rules

_NEAR = 2.5  # points
_MAX_RULES = 1_500  # of a page; more are a drawing


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Rules that belong together, and where they reach."""

    left: float
    right: float
    top: float
    bottom: float
    across: Rules
    down: Rules


def joined(rules: Rules) -> Rules:
    """Those that lie end to end as one; cells have each their own."""
    order = np.lexsort((rules.start, np.round(rules.at / _NEAR)))
    found: list[list[float]] = []
    for start, end, at in zip(*(part[order] for part in _parts(rules)), strict=True):
        last = found[-1] if found else None
        if last and abs(at - last[2]) <= _NEAR and last[0] - _NEAR <= start <= last[1] + _NEAR:
            last[1] = max(last[1], float(end))
        else:
            found.append([float(start), float(end), float(at)])
    starts, ends, ats = np.array(found, dtype=np.float64).reshape(-1, 3).T
    return Rules(starts, ends, ats)


def _parts(rules: Rules) -> tuple[Floats, Floats, Floats]:
    return rules.start, rules.end, rules.at


def picked(rules: Rules, which: Ints | Flags) -> Rules:
    return Rules(*(part[which] for part in _parts(rules)))


def without_underlines(across: Rules, words: Words) -> Rules:
    """Lines of text that are underlined are links, not tables."""
    keep = np.ones(len(across), dtype=bool)
    for index in range(min(len(across), _MAX_RULES)):
        start, end, at = across.start[index], across.end[index], across.at[index]
        below = (at - words.base) / words.size
        on = (below > 0) & (below < 0.28) & (words.left < end) & (words.right > start)
        if on.any():
            keep[index] = (start < words.left[on].min() - 1.5) | (end > words.right[on].max() + 1.5)
    return picked(across, keep)


def frames(across: Rules, down: Rules, left: float, right: float) -> list[Frame]:
    """Tables drawn with rules, between two edges of a column, from the top down.

    Rules that cross each other are of one grid; rules of equal reach one below the other may be
    those of one table without upright rules, which is for the text between them to say.
    """
    inside = (across.end > left - _NEAR) & (across.start < right + _NEAR)
    inside &= (across.end - across.start) <= (right - left) + 30
    across = picked(across, inside)
    down = picked(down, (down.at > left - 10) & (down.at < right + 10))
    if not len(across) or len(across) + len(down) > _MAX_RULES:
        return []
    order = np.argsort(across.at, kind="stable")
    across = picked(across, order)
    groups: list[list[int]] = []
    for index in range(len(across)):
        for group in groups:
            if any(_of_one_table(across, down, other, index) for other in group[-12:]):
                group.append(index)
                break
        else:
            groups.append([index])
    found = []
    for group in groups:
        lines = picked(across, np.array(group))
        top, bottom = float(lines.at.min()), float(lines.at.max())
        start, end = float(lines.start.min()), float(lines.end.max())
        beside = (down.at >= start - _NEAR) & (down.at <= end + _NEAR)
        beside &= (down.end > top - _NEAR) & (down.start < bottom + _NEAR)
        found.append(Frame(start, end, top, bottom, lines, picked(down, beside)))
    return found


def _of_one_table(across: Rules, down: Rules, above: int, below: int) -> bool:
    start, end = across.start[[above, below]], across.end[[above, below]]
    reach = min(end) - max(start)
    same = abs(start[0] - start[1]) < 4 and abs(end[0] - end[1]) < 4
    top, bottom = across.at[above], across.at[below]
    linked = (down.start <= top + _NEAR) & (down.end >= bottom - _NEAR)
    linked &= (down.at >= max(start) - _NEAR) & (down.at <= min(end) + _NEAR)
    if linked.any() or (same and bottom - top < 10):
        return True
    for at in (top, bottom):  # of a grid, which has its own uprights
        near = (down.start < at + _NEAR) & (down.end > at - _NEAR)
        if (near & (down.at > min(start) - _NEAR) & (down.at < max(end) + _NEAR)).sum() > 2:
            return False
    # Under a spanning heading there are rules that reach less far.
    within = reach >= min(end - start) - 4 and bottom - top < 60
    return bool(same or within)
