"""A predicted distribution as a figure: one line per number of decimals."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from numerate.plausibility.distribution import NumeralDistribution

LEVEL = 0.9
WIDE = 100  # a range so many times its lower end is drawn on a logarithmic line


def draw_distribution(distribution: "NumeralDistribution") -> "Figure":
    from matplotlib.figure import Figure

    curve = distribution.curve()
    low, high = distribution.interval(LEVEL)
    figure = Figure(figsize=(6.4, 3.2), layout="constrained")
    axes = figure.subplots()
    axes.axvspan(low, high, color="#0072b2", alpha=0.12, label=f"{LEVEL:.0%} interval")
    axes.axvline(distribution.median(), color="#0072b2", linewidth=1, label="median")
    for decimals in np.unique(curve.decimals):
        chosen = curve.decimals == decimals
        label = f"{decimals} decimals" if decimals != 1 else "1 decimal"
        axes.plot(
            curve.values[chosen], curve.probabilities[chosen], ".-", linewidth=0.8, label=label
        )
    edges = distribution.quantile(0.001), distribution.quantile(0.999)
    axes.set_xlim(edges)
    axes.set(xlabel="number", ylabel="probability")
    axes.legend(frameon=False)
    return figure
