"""What is known of a numeral without looking at words: its neighbours, and what can be computed."""

import numpy as np

from numerate.detector.known import KnownTable
from numerate.detector.locations import SIDES
from numerate.detector.relations import NumeralColumns

AROUND = (-1, 1, -2, 2, -3, 3, -4, 4)  # numerals that a numeral is compared with one by one
WINDOWS = (2, 6)  # numerals on either side with which it may be computed
OPERATIONS = ("percentage", "difference", "sum", "ratio", "complement", "part", "whole", "term")
OF_NEIGHBOUR = 4  # figures
TEXT_FIGURES = len(AROUND) * OF_NEIGHBOUR + len(WINDOWS) * len(OPERATIONS) + 2 + 4 + 4
CELL_FIGURES = len(SIDES) * OF_NEIGHBOUR + 8 + 4 + 4
DERIVED = 4
FAR = 3.0  # decades beyond which distance does not count


def _against(numerals: NumeralColumns, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Of numerals [N] and others, −1 where there is none [N, S]: figures [N, S · OF_NEIGHBOUR]."""
    there = others >= 0
    logs, precisions = numerals.logs, numerals.precisions
    apart = np.clip(logs[rows][:, None] - logs[others], -FAR, FAR) / FAR
    figures = np.stack(
        [there, apart, np.abs(apart), precisions[rows][:, None] == precisions[others]], axis=2
    )
    flat: np.ndarray = (figures * there[:, :, None]).reshape(
        len(rows), others.shape[1] * OF_NEIGHBOUR
    )
    return flat


def text_figures(
    numerals: NumeralColumns,
    rows: np.ndarray,
    size: int,
    standing: np.ndarray,
    derived: list[np.ndarray],
) -> np.ndarray:
    """What is known of each numeral of a text without looking at words: [P, TEXT_FIGURES]."""
    count = len(rows)
    at = np.arange(count)
    padded = np.append(rows, -1)
    places = at[:, None] + np.array(AROUND)
    others = padded[np.where((places >= 0) & (places < count), places, count)]
    values, precisions = numerals.values[rows], numerals.precisions[rows]
    arithmetic = [_arithmetic(values, precisions, window) for window in WINDOWS]
    here = np.bincount(rows, minlength=standing.shape[1])[rows]
    counted = np.stack(
        [
            np.minimum(standing[0][rows], 5) / 5,
            np.minimum(standing[1][rows] - here, 5) / 5,
            np.minimum(here - 1, 5) / 5,
            np.full(count, np.log1p(size) / 7),
        ],
        axis=1,
    )
    return np.concatenate(
        [
            _against(numerals, rows, others),
            *(found for found, _ in arithmetic),
            arithmetic[0][1],
            counted,
            _is_derived(values, precisions, derived),
        ],
        axis=1,
    )


def _arithmetic(
    values: np.ndarray, precisions: np.ndarray, window: int
) -> tuple[np.ndarray, np.ndarray]:
    """Which of the `OPERATIONS` hold of each numeral with two others near it: [P, OPERATIONS];
    and how far it is from being a percentage, or the part of one, in decades: [P, 2]."""
    count = len(values)
    offsets = np.array([by for by in range(-window, window + 1) if by])
    places = np.arange(count)[:, None] + offsets
    inside = (places >= 0) & (places < count)
    places = np.where(inside, places, 0)
    near = np.where(inside, values[places], np.nan) if count else np.zeros((0, len(offsets)))
    decimals = precisions[places] if count else np.zeros((0, len(offsets)), dtype=np.int64)
    half = 0.5 * 10.0 ** -decimals.astype(np.float64)  # of others [P, S]
    own_half = (0.5 * 10.0 ** -precisions.astype(np.float64))[:, None, None]
    x, y = near[:, :, None], near[:, None, :]
    own = values[:, None, None]
    different = ~np.eye(len(offsets), dtype=np.bool_)

    def holds(result: np.ndarray, stated: np.ndarray, within: np.ndarray) -> np.ndarray:
        close = np.abs(result - stated) <= within * (1 + 1e-6) + 1e-9
        found: np.ndarray = (close & different).any((1, 2))
        return found

    with np.errstate(all="ignore"):
        percentage, part = 100 * x / y, 100 * own / y
        found = [
            holds(percentage, own, own_half),
            holds(np.abs(x - y), own, own_half),
            holds(x + y, own, own_half),
            holds(x / y, own, own_half),
            (np.abs(100 - near - values[:, None]) <= 1e-9).any(1),
            holds(part, x, half[:, :, None]),
            holds(100 * y / own, x, half[:, :, None]),
            holds(own + y, x, half[:, :, None]),
        ]
        misses = []
        for result, stated in ((percentage, own), (part, x)):
            miss = np.abs(np.log10(result / stated))
            miss = np.where(different & np.isfinite(miss), miss, 1.0)
            misses.append(np.minimum(miss.min((1, 2), initial=1.0), 1.0))
    return np.stack(found, axis=1), np.stack(misses, axis=1)


def derived_from(numerals: NumeralColumns, table: KnownTable, rows: np.ndarray) -> np.ndarray:
    """What follows from a table: of each kind, values and their kinds: [2, R].

    Percentages of a column's number, differences and sums along rows and columns, ratios along
    rows.
    """
    values = numerals.values[rows]
    found = []
    with np.errstate(all="ignore"):
        headed = table.headers >= 0
        found.append((0, 100 * values[headed] / values[table.headers[headed]]))
        a, b = table.pairs
        chosen = (a < b) & (table.ranks[a] == table.ranks[b])
        a, b = a[chosen], b[chosen]
        found.append((1, np.abs(values[a] - values[b])))
        found.append((2, values[a] + values[b]))
        found.append((3, 100 * values[a] / values[b]))
        found.append((3, 100 * values[b] / values[a]))
    kinds = np.concatenate([np.full(len(some), kind) for kind, some in found])
    return np.stack([np.nan_to_num(np.concatenate([some for _, some in found]), posinf=0), kinds])


def _is_derived(
    values: np.ndarray, precisions: np.ndarray, derived: list[np.ndarray]
) -> np.ndarray:
    """Which numerals follow from a table in view, by kind: bool [P, DERIVED]."""
    found = np.zeros((len(values), DERIVED), dtype=np.bool_)
    half = 0.5 * 10.0 ** -precisions.astype(np.float64) * (1 + 1e-6)
    for results, kinds in derived:
        for kind in range(DERIVED):
            ordered = np.sort(results[kinds == kind])
            low = np.searchsorted(ordered, values - half - 1e-9)
            high = np.searchsorted(ordered, values + half + 1e-9, side="right")
            found[:, kind] |= high > low
    return found


def cell_figures(
    numerals: NumeralColumns, table: KnownTable, rows: np.ndarray, standing: np.ndarray
) -> np.ndarray:
    """What is known of each number of a table without looking at words: [C, CELL_FIGURES]."""
    count = len(rows)
    if not count:
        return np.zeros((0, CELL_FIGURES))
    values, logs, precisions = numerals.values[rows], numerals.logs[rows], numerals.precisions[rows]
    padded = np.append(rows, -1)
    parts = [_against(numerals, rows, padded[table.sides])]
    half = 0.5 * 10.0 ** -precisions.astype(np.float64) * (1 + 1e-6) + 1e-9
    headers = table.headers
    totals = np.where(headers >= 0, values[headers], np.nan)
    with np.errstate(all="ignore"):
        for side in (4, 5):  # the numbers beside it in its cell
            sibling = table.sides[:, side]
            there = sibling >= 0
            other = np.where(there, values[sibling], np.nan)
            as_share, as_part = 100 * other / totals, 100 * values / totals
            parts.append(np.abs(as_share - values)[:, None] <= half[:, None])
            parts.append(np.abs(as_part - other)[:, None] <= half[sibling][:, None])
            for miss in (np.log10(as_share / values), np.log10(as_part / other)):
                miss = np.abs(np.where(np.isfinite(miss), miss, 1.0))
                parts.append(np.minimum(miss, 1.0)[:, None])
    for group in (table.rows, table.columns):
        key = group * (int(table.ranks.max()) + 1) + table.ranks
        _, inverse, sizes = np.unique(key, return_inverse=True, return_counts=True)
        members = sizes[inverse]
        mean = np.bincount(inverse, logs)[inverse] / members
        away = np.clip(np.abs(logs - mean), 0, FAR) / FAR
        _, like, alike = np.unique(
            key * 64 + np.minimum(precisions, 63), return_inverse=True, return_counts=True
        )
        parts += [away[:, None], (alike[like] / members)[:, None]]
    parts.append(np.minimum(standing[1][rows], 5)[:, None] / 5)
    parts.append(np.minimum(standing[0][rows] - 1, 5)[:, None] / 5)
    parts.append(_is_total(values, half, table)[:, None])
    parts.append((table.cell_rows < 0)[:, None])
    return np.concatenate(parts, axis=1)


def _is_total(values: np.ndarray, half: np.ndarray, table: KnownTable) -> np.ndarray:
    """Whether a number is the sum of the others of its row or column, of the same rank."""
    found = np.zeros(len(values), dtype=np.bool_)
    in_body = table.cell_rows >= 0
    for group in (table.rows, table.columns):
        key = np.where(in_body, group * (int(table.ranks.max()) + 1) + table.ranks, 0)
        _, inverse = np.unique(key, return_inverse=True)
        sums = np.bincount(inverse, values * in_body)[inverse]
        sizes = np.bincount(inverse, in_body)[inverse]
        found |= in_body & (sizes > 2) & (np.abs(sums - 2 * values) <= half * sizes)
    return found
