"""Where do the Gaussians lie? The components on the number line, and their weights in a context."""

import numpy as np
import torch
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.ticker import SymmetricalLogLocator

from numerate.lm.heads.mixture import MixtureHead
from numerate.lm.inspect.contexts import Context
from numerate.lm.inspect.exhibit import Cell, Exhibit, NothingToShowError, Table
from numerate.lm.inspect.inspected_run import Run
from numerate.lm.train.run import training_numerals
from numerate.reports.look import COLOURS, INK, look, new_figure
from numerate.reports.tables import ResultTable, format_figure

BINS = 60
HEAVIEST = 10  # components named in the table of a context


def gaussian_components(run: Run) -> Exhibit:
    """The training numbers, and below them each component of each granularity: mean ± sd.

    A granularity is the number of components that were fitted together; coarse ones cover the
    whole range, fine ones single numbers that are frequent.
    """
    head = _mixture(run)
    values, counts = training_numerals(run.shared.corpora["train"]).numbers()
    means, sds, sizes = (
        tensor.cpu().numpy() for tensor in (head.means, head.sds, head.granularity)
    )
    threshold = _threshold(values, counts)
    rows: list[tuple[Cell, ...]] = [
        (int(size), float(mean), float(sd))
        for size, mean, sd in zip(sizes, means, sds, strict=True)
    ]
    with look():
        figure = new_figure(3.0)
        top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(1, 1.7))
        edges = _edges(values, threshold)
        shares, _ = np.histogram(values, edges, weights=counts / counts.sum())
        top.stairs(100 * shares, edges, fill=True, color=COLOURS["grey"], alpha=0.7)
        top.set_ylabel("training\nnumbers (%)")
        levels = np.unique(sizes)
        for level, (size, colour) in enumerate(zip(levels, _shades(len(levels)), strict=True)):
            members = sizes == size
            bottom.hlines(
                np.full(members.sum(), level),
                (means - sds)[members],
                (means + sds)[members],
                color=colour,
                linewidth=2.2,
                alpha=0.45,
            )
            bottom.plot(
                means[members],
                np.full(members.sum(), level),
                "|",
                color=colour,
                markersize=5.5,
                markeredgewidth=0.7,
            )
        bottom.set_yticks(range(len(levels)), [str(size) for size in levels])
        bottom.set_ylim(len(levels) - 0.5, -0.5)
        bottom.set_ylabel("components\nfitted together")
        _number_axis(bottom, threshold, values)
        bottom.set_xlabel("number")
    return Exhibit(
        f"gaussian-components-{run.slug}",
        f"Gaussian components of {run.label}",
        "Top: the training numbers, per cent in each of the bars, which are of equal width on "
        f"this axis: linear up to {threshold:g}, logarithmic beyond. Bottom: the components, "
        "mean (stroke) ± standard deviation (band), by how many were fitted together.",
        figure,
        Table(("granularity", "mean", "sd"), rows),
    )


def component_weights(run: Run, context: Context, *, name: str | None = None) -> Exhibit:
    """The weight of every component in one context, and of every granularity."""
    head = _mixture(run)
    with torch.no_grad():
        weights = head.log_weights(context.place(run).hidden)[0].exp().cpu().numpy()
    means, sds, sizes = (
        tensor.cpu().numpy() for tensor in (head.means, head.sds, head.granularity)
    )
    values, counts = training_numerals(run.shared.corpora["train"]).numbers()
    threshold = _threshold(values, counts)
    order = np.argsort(-weights, kind="stable")
    rows: list[tuple[Cell, ...]] = [
        (int(sizes[k]), float(means[k]), float(sds[k]), float(weights[k])) for k in order
    ]
    heaviest = ResultTable(
        f"The {HEAVIEST} components of {run.label} of most weight after “{context.ending(60)}”",
        ["granularity", "mean", "sd", "weight"],
        [
            [
                str(sizes[k]),
                format_figure(means[k]),
                format_figure(sds[k]),
                f"{100 * weights[k]:.2f} %",
            ]
            for k in order[:HEAVIEST]
        ],
    )
    with look():
        figure = new_figure(2.6)
        top, bottom = figure.subplots(2, 1, height_ratios=(1.6, 1))
        levels = np.unique(sizes)
        shades = _shades(len(levels))
        for size, colour in zip(levels, shades, strict=True):
            members = sizes == size
            top.vlines(means[members], 0, 100 * weights[members], color=colour, linewidth=1.2)
            top.plot(means[members], 100 * weights[members], "o", color=colour, markersize=1.8)
        if context.truth is not None:
            top.axvline(float(context.truth), color=INK, linewidth=0.8, linestyle=":")
            top.annotate(
                f"truth {context.truth}",
                (float(context.truth), 1.0),
                fontsize=6,
                xycoords=("data", "axes fraction"),
                xytext=(2, 0),
                textcoords="offset points",
                va="bottom",
            )
        top.set_ylim(bottom=0)
        top.set(ylabel="weight (%)", xlabel="mean of the component")
        _number_axis(top, threshold, values)
        totals = [100 * weights[sizes == size].sum() for size in levels]
        bottom.bar(range(len(levels)), totals, 0.7, color=shades)
        bottom.set_xticks(range(len(levels)), [str(size) for size in levels])
        bottom.set(ylabel="weight (%)", xlabel="components fitted together (granularity)")
        bottom.grid(axis="x", visible=False)
    caption = (
        f"Weights of the components of {run.label} after “{context.ending(90)}”: each at its "
        "mean, and summed by granularity; colours as in the lower panel."
    )
    return Exhibit(
        name or f"component-weights-{run.slug}",
        f"Mixture weights of {run.label}: “{context.ending(40)} …”",
        caption,
        figure,
        Table(("granularity", "mean", "sd", "weight"), rows),
        (heaviest,),
    )


def _mixture(run: Run) -> MixtureHead:
    for head in run.heads_of(MixtureHead).values():
        return head
    raise NothingToShowError(f"Gaussian components: {run.label} has none")


def _threshold(values: np.ndarray, counts: np.ndarray) -> float:
    """Up to where the axis is linear: the power of ten below all but the smallest 5 %."""
    positive = values > 0
    if not positive.any():
        return 1.0
    reached = np.cumsum(counts[positive]) / counts[positive].sum()
    low = values[positive][np.searchsorted(reached, 0.05)]
    return float(np.clip(10.0 ** np.floor(np.log10(low)), 1e-3, 1e3))


def _edges(values: np.ndarray, threshold: float) -> np.ndarray:
    """Borders of bins that are equally wide on the symmetric logarithmic axis."""

    def place(x: float) -> float:
        return x / threshold if x <= threshold else 1 + float(np.log10(x / threshold))

    places = np.linspace(0, place(max(float(values.max()), threshold)), BINS + 1)
    edges = np.where(places <= 1, places * threshold, threshold * 10.0 ** (places - 1))
    edges[-1] = max(edges[-1], values.max())  # which rounding may have put outside
    return edges


def _number_axis(axes: Axes, threshold: float, values: np.ndarray) -> None:
    axes.set_xscale("symlog", linthresh=threshold, linscale=1.0)
    top = max(float(values.max()), threshold)
    axes.set_xlim(-threshold, 2 * top)
    locator = SymmetricalLogLocator(base=10, linthresh=threshold)
    locator.set_params(numticks=7)
    axes.xaxis.set_major_locator(locator)


def _shades(count: int) -> list[tuple[float, ...]]:
    """From blue to green, evenly in lightness; without the ends, which vanish on a page."""
    return [tuple(colormaps["viridis"](x)) for x in np.linspace(0.3, 0.85, count)]
