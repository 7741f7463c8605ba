"""How far off, and where? Errors of the best candidate by the size of the true number."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from numerate.lm.evaluate.number_line import number_line_errors, right_orders_of_magnitude
from numerate.lm.evaluate.score import rank_tables
from numerate.lm.inspect.exhibit import Cell, Exhibit, NothingToShowError, Table
from numerate.lm.inspect.inspected_run import Run
from numerate.lm.model.candidates import candidate_numerals
from numerate.reports.look import INK, legend_above, line_styles, look, new_figure
from numerate.reports.tables import ResultTable, format_figure

LEAST = 10  # numbers of one order of magnitude; fewer are joined with their neighbours
BASELINE = "constant median"


def errors_by_magnitude(runs: Sequence[Run]) -> Exhibit:
    """Median percentage error, and share of the right order of magnitude, by order of magnitude.

    Of the dev split. Zero has no order of magnitude and no percentage error: it is left out of
    the figure, and a row of its own in the table says how often zero was predicted.
    """
    shared = runs[0].shared
    dev, ranked = shared.dev, shared.ranked
    rows_of_truth = dev.rows[ranked]  # [R]
    truth = dev.table.values[rows_of_truth]
    if not (truth > 0).any():
        raise NothingToShowError("errors by magnitude: no number but zero in the dev split")
    bins = _magnitudes(truth)
    train = shared.corpora["train"]
    numbers = train.table.values[train.rows]
    guesses = {BASELINE: np.full(len(truth), float(np.median(numbers)))}
    candidates = candidate_numerals(train).to(dev.table.device)
    for run in runs:
        guesses[run.label] = rank_tables(
            run.tables(candidates, ranked),
            dev.table,
            rows_of_truth,
            candidates,
            shared.oov[1],
            open_vocabulary=run.model.open_vocabulary,
        ).values
    rows: list[tuple[Cell, ...]] = []
    for label, guess in guesses.items():
        for name, members in bins.items():
            errors = number_line_errors(truth[members], guess[members])
            right = right_orders_of_magnitude(truth[members], guess[members]).mean()
            row = (label, name, int(members.sum()), errors["mdae"], errors["mdape"], 100 * right)
            rows.append(row)
    table = Table(("run", "numbers", "count", "mdae", "mdape", "right_magnitude"), rows)
    return Exhibit(
        "errors-by-magnitude",
        "Errors by magnitude",
        "Top: median absolute percentage error of the best candidate, by the order of magnitude "
        "of the true number; bottom: how often its order of magnitude is right. Of "
        f"{shared.ranked_extent}; orders with fewer than {LEAST} numbers are joined with "
        "their neighbour. The constant is the median of the training numbers.",
        _draw(runs, table),
        table,
        (_shown(guesses, bins, table),),
    )


def _magnitudes(truth: np.ndarray) -> dict[str, np.ndarray]:
    """Names of ranges → which numbers lie there [N]; ranges are whole orders of magnitude."""
    positive = truth > 0
    order = np.full(len(truth), np.iinfo(np.int64).min)
    order[positive] = np.floor(np.log10(truth[positive]) + 1e-12)
    found: dict[str, np.ndarray] = {}
    if (~positive).any():
        found["0"] = ~positive
    orders = np.unique(order[positive]).tolist()
    lows, highs = [orders[0]], []
    for current in orders:
        if (positive & (order >= lows[-1]) & (order <= current)).sum() >= LEAST:
            highs.append(current)
            lows.append(current + 1)
    if not highs:
        highs = [orders[-1]]
    highs[-1] = orders[-1]
    for low, high in zip(lows, highs, strict=False):
        members = positive & (order >= low) & (order <= high)
        found[f"{_power(low)} to {_power(high + 1)}"] = members
    return found


def _power(order: int) -> str:
    return f"{10.0**order:,.0f}" if 0 <= order < 10 else f"{10.0**order:g}"


def _shown(
    guesses: dict[str, np.ndarray], bins: dict[str, np.ndarray], table: Table
) -> ResultTable:
    """Runs below each other, ranges side by side."""
    cells = {(row[0], row[1]): row for row in table.rows}
    rows = []
    for label in guesses:
        figures = [float(cells[label, name][5 if name == "0" else 4]) for name in bins]
        rows.append([label, *map(format_figure, figures)])
    title = "Median absolute percentage error by the size of the true number (and how many)"
    if "0" in bins:
        title += "; of zeros, how many per cent were right"
    columns = [f"{name} ({members.sum():,})" for name, members in bins.items()]
    return ResultTable(title, ["run", *columns], rows)


def _draw(runs: Sequence[Run], table: Table) -> Figure:
    names = [str(name) for name in dict.fromkeys(table.column("numbers")) if name != "0"]
    with look():
        figure = new_figure(3.4)
        top, bottom = figure.subplots(2, 1, sharex=True)
        styles = [
            {"color": INK, "linestyle": ":", "linewidth": 0.9},
            *line_styles([run.model.head.style for run in runs]),
        ]
        for label, style in zip([BASELINE, *(run.label for run in runs)], styles, strict=True):
            cells = {row[1]: row for row in table.rows if row[0] == label}
            for axes, index in ((top, 4), (bottom, 5)):
                heights = [float(cells[name][index]) for name in names]
                axes.plot(
                    range(len(names)), heights, marker="o", markersize=2, label=label, **style
                )
        top.set_yscale("symlog", linthresh=1, linscale=0.4)
        highest = max(float(row[4]) for row in table.rows if row[1] != "0")
        top.set_ylim(0, 3 * max(highest, 100.0))
        top.set_ylabel("median error\n(% of the number)")
        bottom.set(
            ylabel="right order of\nmagnitude (%)",
            xlabel="true number",
            ylim=(-4, 104),  # marks at the ends are whole
        )
        bottom.set_xticks(range(len(names)), [_range(name) for name in names])
        handles, labels = top.get_legend_handles_labels()
        legend_above(figure, handles, labels)
    return figure


def _range(name: str) -> str:
    """`0.01 to 0.1` as two powers of ten, one below the other: ranges differ in width."""
    ends = [float(end.replace(",", "")) for end in name.split(" to ")]
    low, high = (f"$10^{{{round(np.log10(end))}}}$" for end in ends)
    return f"{low}\nto {high}"
