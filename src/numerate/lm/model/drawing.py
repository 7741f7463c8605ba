"""A predicted distribution as a figure: one line per number of decimals."""

from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter

from numerate.lm.model.numeral_distribution import SHOWN_LEVEL, NumeralDistribution
from numerate.reports.look import COLOURS, look, new_figure

SHOWN = 0.98  # of the probability lies within the figure
LEAST = 0.01  # of the highest point: numbers of decimals that do not reach it are left out
WIDE = 50  # times the lower end, from which on the line is logarithmic
_LINES = ("blue", "orange", "green", "pink", "amber", "sky")  # no decimals, 1, 2, …


def draw_distribution(distribution: NumeralDistribution, interval: tuple[float, float]) -> Figure:
    """With an interval of `SHOWN_LEVEL` behind it."""
    curve = distribution.curve()
    low, high = distribution.interval(SHOWN)
    inside = (low <= curve.values) & (curve.values <= high)
    highest = curve.probabilities[inside].max(initial=0.0)
    with look():
        figure = new_figure(2.4, 5.0)
        axes = figure.subplots()
        axes.axvspan(*interval, color=COLOURS["grey"], alpha=0.15, linewidth=0)
        axes.axvline(distribution.median(), color=COLOURS["grey"], linestyle="--")
        for decimals in sorted(set(curve.decimals.tolist())):
            chosen = inside & (curve.decimals == decimals)
            if not (curve.probabilities[chosen] > LEAST * highest).any():
                continue
            axes.plot(
                curve.values[chosen],
                curve.probabilities[chosen],
                ".-",
                color=COLOURS[_LINES[decimals % len(_LINES)]],
                markersize=2.5,
                linewidth=0.8,
                label="1 decimal" if decimals == 1 else f"{decimals or 'no'} decimals",
            )
        if low > 0 and high > WIDE * low:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(ScalarFormatter())
        axes.set_ylim(bottom=0)
        axes.set(
            xlabel=f"number (dashed: median; grey: {SHOWN_LEVEL:.0%} interval)",
            ylabel="probability",
        )
        axes.legend()
    return figure
