"""Where two numbers stand, seen from one of them: a byte for each thing that can be said of it."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numerate.detector.known import KnownTable, KnownText

NEAR = ((-4, -24), (-16, -96), (6, 36))
"""How the words of headers around a numeral count: the nearer, the more. Before it or after it, at
which distance a word counts 1/e, and how far they are looked for."""
SCALE = 50  # a byte of 50 is 1
NEIGHBOURS = (-1, 1, -2, 2)  # numerals whose cells say where the next one is from
SIDES = ("right of", "left of", "below", "above", "after", "before")
LOCATION = (
    *("own", "before", "after", "near before", "near after", "next before", "next after"),
    *(f"{of} words {near}" for near in ("just before", "before", "after")
      for of in ("row", "column", "caption")),
    *(f"{same} of the cell of {by:+}" for by in NEIGHBOURS for same in ("cell", "row", "column")),
    *(f"{side} that of {by:+}" for by in NEIGHBOURS for side in SIDES),
    *("written elsewhere", "in a header"),
    *("same sign before", "same sign after", "other sign before", "other sign after"),
    *("its row", "its column", "its cell", "near in its row", "near in its column"),
)  # fmt: skip
AT = {name: index for index, name in enumerate(LOCATION)}


def cell_locations(
    a: np.ndarray,
    b: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    cell_rows: np.ndarray,
    cell_columns: np.ndarray,
) -> np.ndarray:
    """Of numbers `b` [K] of a table, seen from numbers `a` [K] of it: uint8 [K, LOCATION]."""
    found = np.zeros((len(a), len(LOCATION)), dtype=np.uint8)
    across, down = np.abs(cell_columns[a] - cell_columns[b]), np.abs(cell_rows[a] - cell_rows[b])
    same_row, same_column = rows[a] == rows[b], columns[a] == columns[b]
    found[:, AT["its row"]] = SCALE * same_row
    found[:, AT["its column"]] = SCALE * same_column
    found[:, AT["its cell"]] = SCALE * ((across == 0) & (down == 0))
    found[:, AT["in a header"]] = SCALE * (cell_rows[b] < 0)
    found[:, AT["near in its row"]] = SCALE * same_row / np.maximum(across, 1)
    found[:, AT["near in its column"]] = SCALE * same_column / np.maximum(down, 1)
    return found


def text_locations(
    text: "KnownText", tables: "list[KnownTable]", seen: list[np.ndarray], rows: np.ndarray
) -> np.ndarray:
    """Where the numbers in view stand, and the text's own, at each place: uint8 [P, M + P, …]."""
    count, size = len(rows), sum(map(len, seen))
    found = np.zeros((count, size + count, len(LOCATION)), dtype=np.uint8)
    apart = np.arange(count) - np.arange(count)[:, None]  # [P, P] negative: before
    own = found[:, size:]
    near = SCALE / np.maximum(np.abs(apart), 1)
    own[:, :, AT["own"]] = SCALE
    own[:, :, AT["before"]] = SCALE * (apart < 0)
    own[:, :, AT["after"]] = SCALE * (apart > 0)
    own[:, :, AT["near before"]] = near * (apart < 0)
    own[:, :, AT["near after"]] = near * (apart > 0)
    own[:, :, AT["next before"]] = SCALE * (apart == -1)
    own[:, :, AT["next after"]] = SCALE * (apart == 1)
    first = 0
    for table, overlaps, numbers in zip(tables, text.overlaps, seen, strict=True):
        part = found[:, first : first + len(numbers)]
        first += len(numbers)
        if not len(numbers):
            continue
        begin = AT["row words just before"]
        bags = (table.rows, table.columns, np.zeros_like(table.rows))
        for near_at in range(len(NEAR)):
            for of, bag in enumerate(bags):
                part[:, :, begin + len(bags) * near_at + of] = overlaps[:, bag, near_at]
        part[:, :, AT["in a header"]] = SCALE * (table.cell_rows < 0)
        begin = AT["same sign before"]
        for of in (0, 1):
            here, there = text.signs[:, of][:, None], table.signs[:, of]
            part[:, :, begin + of] = SCALE * ((here == there) & (there > 0))
            part[:, :, begin + 2 + of] = SCALE * (here != there)
        same = rows[:, None] == numbers  # [P, C]
        if not same.any():
            continue
        elsewhere = same.sum(0) - same > 0
        part[:, :, AT["written elsewhere"]] = SCALE * elsewhere
        groups = table.cells, table.rows, table.columns
        shared = [_in_group(same, group) for group in groups]  # each [P, C]
        begin = AT["cell of the cell of -1"]
        for which, by in enumerate(NEIGHBOURS):
            for of, hits in enumerate(shared):
                part[:, :, begin + len(groups) * which + of] = SCALE * _shifted(hits, by)
        begin = AT["right of that of -1"]
        for of, number in enumerate(table.sides.T):  # to the left of it stands that of −1
            hits = same[:, number] & (number >= 0)
            for which, by in enumerate(NEIGHBOURS):
                part[:, :, begin + len(SIDES) * which + of] = SCALE * _shifted(hits, by)
    return found


def _in_group(same: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Whether a number shares its group [C] with one that a place's numeral is: bool [P, C]."""
    hits = np.zeros((len(same), int(group.max()) + 1), dtype=np.bool_)
    place, number = np.nonzero(same)
    hits[place, group[number]] = True
    shared: np.ndarray = hits[:, group]
    return shared


def _shifted(hits: np.ndarray, by: int) -> np.ndarray:
    """What is true of the numeral so many further on, at each place; none there: false."""
    found = np.zeros_like(hits)
    if by > 0:
        found[:-by] = hits[by:]
    else:
        found[-by:] = hits[:by]
    return found
