"""How did training go? The adjusted dev loss of every run after each epoch."""

from collections.abc import Sequence
from typing import Any

from matplotlib.ticker import MaxNLocator

from numerate.lm.inspect.exhibit import Exhibit, NothingToShowError, Table
from numerate.lm.inspect.inspected_run import Run
from numerate.reports.look import legend_above, line_styles, look, new_figure


def training_curves(runs: Sequence[Run]) -> Exhibit:
    """The dev loss after each epoch; a dot marks the epoch that was kept.

    Adjusted, since the loss that is trained counts all unknown tokens of a class as one: closed
    vocabularies would lie lower, and models over a pretrained one higher, whatever they learnt.
    """
    histories = [(run, run.history) for run in runs if run.history]
    if not histories:
        raise NothingToShowError("training curves: no run has completed an epoch")
    columns = list(histories[0][1][0])
    rows: list[list[Any]] = [
        [
            run.label,
            *(record.get(name, "") for name in columns),
            run.adjusted(record["dev_loss"]),
        ]
        for run, history in histories
        for record in history
    ]
    with look():
        figure = new_figure(2.4)
        axes = figure.subplots()
        styles = line_styles([run.model.head.style for run, _ in histories])
        for (run, history), style in zip(histories, styles, strict=True):
            epochs = [record["epoch"] for record in history]
            losses = [run.adjusted(record["dev_loss"]) for record in history]
            axes.plot(epochs, losses, label=run.label, **style)
            best = losses.index(min(losses))
            axes.plot(epochs[best], losses[best], "o", color=style["color"], markersize=3)
        axes.set(xlabel="epoch", ylabel="adjusted dev loss\n(nats per token)")
        axes.set_xlim(0, 1.03 * max(len(history) for _, history in histories))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        legend_above(figure, *axes.get_legend_handles_labels())
    return Exhibit(
        "training-curves",
        "Training curves",
        "Dev loss after each epoch; a dot marks the epoch that was kept. The loss is adjusted as "
        "perplexity is, by the logarithm of the number of unknown types for each unknown token, so "
        "that closed and open vocabularies can be compared.",
        figure,
        Table(["run", *columns, "adjusted_dev_loss"], rows),
    )
