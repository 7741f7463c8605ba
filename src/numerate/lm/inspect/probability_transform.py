"""Do the numbers fall where the model says? The probability integral transform.

For a head with a distribution on the number line, a numeral of precision r is the interval v ± ε,
and given r the transform is F(v − ε) + V · [F(v + ε) − F(v − ε)], V uniform: randomised, since
numerals are discrete. If the truth comes from the model, it is exactly uniform.
"""

from collections.abc import Sequence

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.number_line_head import NumberLineHead
from numerate.lm.inspect.exhibit import Cell, Exhibit, NothingToShowError, Table
from numerate.lm.inspect.inspected_run import Run
from numerate.reports.look import COLOURS, INK, look, new_figure, wrapped
from numerate.reports.tables import ResultTable

BINS = 20
BLOCK = 2048  # numerals at a time


def calibration(runs: Sequence[Run], *, seed: int = 1) -> Exhibit:
    """Histograms of the randomised transform on the dev split, one per head on the number line.

    As a member of a combination a head answers only for its part: each numeral weighs as
    much as the probability that this head wrote it, given the numeral.
    """
    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for run in runs:
        dev = run.shared.dev
        heads = run.heads_of(NumberLineHead)  # type: ignore[type-abstract]
        for label, head in heads.items():
            transformed = randomised_transform(
                head, run.dev_states, dev.table, dev.rows, np.random.default_rng(seed)
            )
            found[label] = (transformed, _responsibility(run, head))
    if not found:
        raise NothingToShowError("calibration: no run with a distribution on the number line (mog)")
    rows: list[tuple[Cell, ...]] = []
    summary = []
    heights, counts = {}, {}
    for label, (transformed, weights) in found.items():
        shares, edges = np.histogram(transformed, BINS, (0.0, 1.0), weights=weights)
        heights[label] = shares = shares / weights.sum()
        counts[label] = f"{weights.sum():,.0f}"
        rows += [
            (label, float(low), float(high), float(share))
            for low, high, share in zip(edges, edges[1:], shares, strict=False)
        ]
        inside = [
            float(weights[np.abs(transformed - 0.5) <= level / 2].sum() / weights.sum())
            for level in (0.5, 0.9)
        ]
        cells = [counts[label], *(f"{100 * share:.1f} %" for share in inside)]
        summary.append([label, *cells, f"{_distance(transformed, weights):.3f}"])
    return Exhibit(
        "calibration",
        "Calibration on the number line",
        "Randomised probability integral transform of the numerals of "
        f"{runs[0].shared.extent}, given their precision, in {BINS} bins: the share of numerals in "
        "each, against the line of a calibrated model. A hump in the middle means predictions too "
        "wide, a sag too narrow.",
        _draw(heights, counts),
        Table(("head", "from", "to", "share"), rows),
        (
            ResultTable(
                "Numerals in the central intervals of the prediction, and the largest distance "
                "of the transform's distribution from uniform",
                ["head", "numerals", "in 50 %", "in 90 %", "distance"],
                summary,
            ),
        ),
    )


def randomised_transform(
    head: NumberLineHead,
    hidden: Tensor,
    table: NumeralTable,
    rows: np.ndarray,
    generator: np.random.Generator,
) -> np.ndarray:
    """Of each numeral in its own state: [N, D], rows of the table [N] → [N] in [0, 1]."""
    values, half_widths = table.intervals()
    result = np.empty(len(rows))
    share = generator.random(len(rows))
    with torch.no_grad():
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            chosen = torch.from_numpy(rows[part]).to(values.device)
            centre, epsilon = values[chosen], half_widths[chosen]  # [n]
            law = head.law(hidden[part])
            total = law.above(-epsilon) if head.truncate else torch.ones_like(epsilon)
            over = (law.above(centre + epsilon) / total).cpu().numpy()
            within = (law.log_mass(centre, epsilon).exp() / total).cpu().numpy()
            result[part] = 1 - (over + (1 - share[part]) * within)
    return np.clip(result, 0.0, 1.0)


def _responsibility(run: Run, head: NumberLineHead) -> np.ndarray:
    """The probability that this head wrote each dev numeral, given the numeral: [N]."""
    dev = run.shared.dev
    if head is run.model.head:
        return np.ones(len(dev.rows))
    member = list(run.model.head.members_by_name().values()).index(head)
    found = []
    with torch.no_grad():
        for start in range(0, len(dev.rows), BLOCK):
            context = run.reading.context[start : start + BLOCK]
            numerals = dev.table.batch(dev.rows[start : start + BLOCK])
            weights = run.model.head.mixture_weights(context)[:, member].double().log()
            own = weights + head.log_prob(context, numerals)
            found.append(own.double().cpu().numpy())
    shares: np.ndarray = np.exp(np.concatenate(found) - run.dev_log_probs())
    return shares


def _distance(transformed: np.ndarray, weights: np.ndarray) -> float:
    """sup |F(u) − u|: that of Kolmogorov and Smirnov, weighted."""
    order = np.argsort(transformed)
    reached = np.cumsum(weights[order]) / weights.sum()
    before = np.concatenate([[0.0], reached[:-1]])
    points = transformed[order]
    return float(max(np.abs(reached - points).max(), np.abs(before - points).max()))


def _draw(heights: dict[str, np.ndarray], counts: dict[str, str]) -> Figure:
    with look():
        columns = min(2, len(heights))
        rows = -(-len(heights) // columns)
        figure = new_figure(0.3 + 1.6 * rows)
        panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
        edges = np.linspace(0, 1, BINS + 1)
        for axes, (label, shares) in zip(panels.flat, heights.items(), strict=False):
            axes.stairs(100 * shares, edges, fill=True, color=COLOURS["orange"], alpha=0.75)
            axes.axhline(100 / BINS, color=INK, linewidth=0.8)
            axes.set(title=wrapped(label, 2.9 / columns), xlim=(0, 1))
            place = {"xycoords": "axes fraction", "ha": "right", "va": "top", "fontsize": 6}
            axes.annotate(f"{counts[label]} numerals", (1.0, 1.0), **place)
        for axes in panels.flat[len(heights) :]:
            axes.set_visible(False)
        for axes in panels.flat[max(0, len(heights) - columns) : len(heights)]:
            axes.set_xlabel("PIT of the true numeral")
            axes.tick_params(labelbottom=True)
        for axes in panels[:, 0]:
            axes.set_ylabel("numerals (%)")
        highest = max(float(shares.max()) for shares in heights.values())
        panels[0, 0].set_ylim(0, 118 * highest)  # with room for how many there are
    return figure
