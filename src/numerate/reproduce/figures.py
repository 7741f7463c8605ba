"""Figures of a reproduction, each as PNG, as SVG, and as CSV of the data behind it."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerate.atomic import write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK = "#24292f"  # of all text and lines; the report replaces it by the colour of its page
STYLES: dict[str, tuple[str, str]] = {  # colours: Okabe and Ito; dashes: digits at the input
    "softmax": ("#7f7f7f", "-"),
    "softmax+rnn": ("#7f7f7f", "--"),
    "h-softmax": ("#0072b2", "-"),
    "h-softmax+rnn": ("#0072b2", "--"),
    "d-rnn": ("#009e73", "-"),
    "mog": ("#d55e00", "-"),
    "combination": ("#cc79a7", "-"),
}
_LOOK: Any = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.2,
    "grid.linewidth": 0.5,
    "svg.hashsalt": "numerate",  # the same figure gives the same bytes
    **dict.fromkeys(
        ["text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"], INK
    ),
    "grid.color": INK,
}

Histories = dict[str, list[dict[str, Any]]]


def training_curves(histories: Histories) -> "Figure":
    """The dev loss of every model after each epoch; a dot marks the epoch that was kept."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    with rc_context(_LOOK):
        figure = Figure(figsize=(5.0, 3.2), layout="constrained")
        axes = figure.subplots()
        for model, history in histories.items():
            epochs = [record["epoch"] for record in history]
            losses = [record["dev_loss"] for record in history]
            colour, dash = STYLES[model]
            axes.plot(epochs, losses, dash, color=colour, linewidth=1.3, label=model)
            best = losses.index(min(losses))
            axes.plot(epochs[best], losses[best], "o", color=colour, markersize=3.5)
        axes.set(xlabel="epoch", ylabel="dev loss (nats per token)")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.legend(frameon=False)
    return figure


def save_figure(figure: "Figure", folder: Path, name: str, table: str) -> str:
    """Write the three files; returns the SVG."""
    from matplotlib import rc_context

    folder.mkdir(exist_ok=True)
    images = {}
    with rc_context(_LOOK):
        for format, about in (("png", {"Software": None}), ("svg", {"Date": None})):
            stream = io.BytesIO()
            figure.savefig(
                stream, format=format, dpi=200, transparent=format == "svg", metadata=about
            )
            images[format] = stream.getvalue()
            write_file(folder / f"{name}.{format}", images[format])
    write_file(folder / f"{name}.csv", table.encode())
    return images["svg"].decode()


def history_csv(histories: Histories) -> str:
    stream = io.StringIO()
    columns: Sequence[str] = list(next(iter(histories.values()))[0])
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["model", *columns])
    for model, history in histories.items():
        writer.writerows([model, *(record[name] for name in columns)] for record in history)
    return stream.getvalue()
