"""Where do numbers come from? Sources of the numerals by kind, and where they could be from."""

from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from numerate.lm.inspect.exhibit import Cell, Exhibit, NothingToShowError, Table
from numerate.lm.inspect.inspected_run import Run
from numerate.lm.inspect.traced import SOURCES, STANDINGS, Traced
from numerate.reports.look import COLOURS, legend_above, look, new_figure
from numerate.reports.tables import ResultTable
from numerate.text.operations import OPERATIONS

Kinds = dict[str, dict[str, np.ndarray]]
"""Numerals [N] of each kind, under what tells the kinds apart."""

_SIZES = (0.0, 1.0, 10.0, 100.0, 1000.0, np.inf)
_BY_STANDING = "by where they stand"
_DRAWN = {  # in one colour
    "table": ("green", 1.0),
    "table, rounded": ("green", 0.55),
    "earlier text": ("sky", 1.0),
    "computed": ("amber", 1.0),
    "others": ("grey", 0.45),
}


def number_sources(run: Run) -> Exhibit:
    """The share of each source among the dev numerals, by three kinds of numerals.

    Beside it, what is in view of the model whatever it makes of it: how much of what could be
    copied is.
    """
    if not run.model.head.uses_sight:
        raise NothingToShowError(f"where numbers come from: {run.label} sees no numbers")
    traced = run.traced
    kinds = _kinds(traced)
    standing = np.eye(len(STANDINGS))[traced.standing]  # [N, STANDINGS]
    rows: list[tuple[Cell, ...]] = [
        (
            told_by,
            name,
            int(members.sum()),
            *_means(traced.shares, members),
            *_means(standing, members),
        )
        for told_by, named in kinds.items()
        for name, members in named.items()
    ]
    columns = ("kinds", "kind", "numerals", *SOURCES, *STANDINGS)
    own = run.sight is not None and bool(run.sight.numbers_in_tables.any())
    view = "the tables in view and the text before each" if own else "the text before each"
    return Exhibit(
        f"number-sources-{run.slug}",
        f"Sources of the numerals under {run.label}",
        f"Numerals of {run.shared.extent} by where they come from, in per cent. Thick bars: as "
        "the model has it, by the probability that each member wrote the numeral, given the "
        "numeral, and within copy and compute by the ways they came to it. Thin bars: what the "
        f"data says, the first that is true of a numeral, of {view}: it stands there letter for "
        "letter, rounded to fewer decimals, earlier in the text, follows from numbers there by an "
        "operation, or none of these. At the bottom, the model's sources of those that could be "
        "copied, and of the others.",
        _draw(kinds, traced.shares, standing),
        Table(columns, rows),
        (
            _shown(
                f"Sources of the dev numerals under {run.label}, in per cent of each kind: "
                "p(source | numeral)",
                kinds, traced.shares, SOURCES, all_kinds=True,
            ),
            _shown(
                f"Where the dev numerals stand, in view of {run.label}, in per cent of each kind",
                kinds, standing, STANDINGS, all_kinds=False,
            ),
        ),
    )  # fmt: skip


def _kinds(traced: Traced) -> Kinds:
    """Those that there are."""
    table, rows = traced.sight.table, traced.sight.own.rows
    values, decimals = table.values[rows], table.precisions[rows] > 0
    per_cent = traced.is_percentage
    written = {
        "all": np.ones(len(rows), dtype=np.bool_),
        "percentages": per_cent,
        "other whole numbers": ~per_cent & ~decimals,
        "other decimals": ~per_cent & decimals,
    }
    sizes = {_size(low, high): (values >= low) & (values < high) for low, high in pairwise(_SIZES)}
    standing = {name: traced.standing == index for index, name in enumerate(STANDINGS)}
    kinds = {"by how they are written": written, "by size": sizes, _BY_STANDING: standing}
    return {
        told_by: {name: members for name, members in named.items() if members.any()}
        for told_by, named in kinds.items()
    }


def _size(low: float, high: float) -> str:
    if not low:
        return f"below {high:g}"
    return f"{low:,.0f} and more" if np.isinf(high) else f"{low:,.0f} to {high:,.0f}"


def _means(shares: np.ndarray, members: np.ndarray) -> list[float]:
    means: list[float] = (100 * shares[members].mean(0)).tolist()
    return means


def _shown(
    title: str, kinds: Kinds, shares: np.ndarray, names: tuple[str, ...], *, all_kinds: bool
) -> ResultTable:
    rows = [
        [name, f"{members.sum():,}", *(f"{share:.1f}" for share in _means(shares, members))]
        for told_by, named in kinds.items()
        for name, members in named.items()
        if all_kinds or told_by != _BY_STANDING
    ]
    return ResultTable(title, ["numerals", "count", *names], rows)


def _drawn_together(shares: np.ndarray) -> np.ndarray:
    """Operations in one colour: [N, SOURCES] → [N, 5]."""
    first, last = 3, 3 + len(OPERATIONS)
    computed = shares[:, first:last].sum(1, keepdims=True)
    return np.concatenate([shares[:, :first], computed, shares[:, last:]], axis=1)


def _draw(kinds: Kinds, shares: np.ndarray, standing: np.ndarray) -> Figure:
    together = _drawn_together(shares)
    sizes = [len(named) for named in kinds.values()]
    with look():
        figure = new_figure(1.1 + 0.17 * sum(sizes))
        panels = figure.subplots(len(kinds), 1, sharex=True, squeeze=False, height_ratios=sizes)
        for axes, (told_by, named) in zip(panels[:, 0], kinds.items(), strict=True):
            axes.set_title(f"numerals {told_by}", loc="center")
            axes.set_yticks(range(len(named)), list(named))
            axes.set_ylim(len(named) - 0.45, -0.55)
            axes.tick_params(axis="y", length=0)
            axes.grid(axis="y", visible=False)
            for row, members in enumerate(named.values()):
                if told_by == _BY_STANDING:
                    bars = [(together, 0.0, 0.7)]
                else:
                    bars = [(together, -0.12, 0.5), (standing, 0.28, 0.2)]
                for what, shift, height in bars:
                    means = _means(what, members)
                    lefts = np.cumsum([0.0, *means[:-1]])
                    for mean, left, style in zip(means, lefts, _DRAWN.values(), strict=True):
                        colour = COLOURS[style[0]]
                        axes.barh(
                            row + shift, mean, height, left, color=colour, alpha=style[1], lw=0
                        )
        panels[-1, 0].set(xlim=(0, 100), xlabel="share of the numerals (%)")
        handles = [Patch(color=COLOURS[name], alpha=alpha, lw=0) for name, alpha in _DRAWN.values()]
        legend_above(figure, handles, list(_DRAWN))
    return figure
