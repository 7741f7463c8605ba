"""A predicted distribution as a figure: one line per number of decimals."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from numerate.plausibility.distribution import NumeralDistribution

LEVEL = 0.9  # of the interval that is shaded
SHOWN = 0.98  # of the probability lies within the figure
LEAST = 0.01  # of the highest point: numbers of decimals that do not reach it are left out
WIDE = 50  # times the lower end, from which on the line is logarithmic
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe and Ito


def draw_distribution(distribution: "NumeralDistribution") -> "Figure":
    from matplotlib.figure import Figure

    curve = distribution.curve()
    low, high = distribution.interval(SHOWN)
    inside = (low <= curve.values) & (curve.values <= high)
    highest = curve.probabilities[inside].max(initial=0.0)
    figure = Figure(figsize=(6.4, 3.0), layout="constrained")
    axes = figure.subplots()
    axes.axvspan(*distribution.interval(LEVEL), color="#7f7f7f", alpha=0.15, linewidth=0)
    axes.axvline(distribution.median(), color="#7f7f7f", linewidth=1, linestyle="--")
    for decimals in np.unique(curve.decimals):
        chosen = inside & (curve.decimals == decimals)
        if not (curve.probabilities[chosen] > LEAST * highest).any():
            continue
        colour = COLOURS[decimals % len(COLOURS)]
        label = "1 decimal" if decimals == 1 else f"{decimals or 'no'} decimals"
        values, probabilities = curve.values[chosen], curve.probabilities[chosen]
        axes.plot(values, probabilities, "-", color=colour, linewidth=1, label=label)
        axes.plot(values, probabilities, ".", color=colour, markersize=3)
    if low > 0 and high > WIDE * low:
        axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set(xlabel=f"number (dashed: median, grey: {LEVEL:.0%} interval)", ylabel="probability")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return figure
