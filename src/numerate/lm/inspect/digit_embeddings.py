"""Is 3 like 2 and 4? Cosine similarities of digit embeddings, at the input and at the output."""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from numerate.lm.data.numeral_table import SYMBOLS
from numerate.lm.heads.base import DigitTable
from numerate.lm.inspect.exhibit import Exhibit, Table
from numerate.lm.inspect.inspected_run import Run
from numerate.lm.inspect.similarity import cosine_similarities, draw_similarities
from numerate.reports.look import drawn, look, new_figure


class _Similarities(NamedTuple):
    symbols: tuple[str, ...]
    matrix: np.ndarray  # [symbols, symbols]


def digit_similarities(run: Run) -> Exhibit:
    """All tables of digit embeddings that a model has: 0–9, the point, and end or start.

    Every model reads digits at its input, a pretrained one as tokens. `+rnn` models also compose
    output embeddings from digits; the digit RNN has one table for the digit before and one for
    the digit to come.
    """
    matrices = {
        title: _Similarities(
            table.symbols, cosine_similarities(table.weight.double().cpu().numpy())
        )
        for title, table in _digit_tables(run).items()
    }
    rows = [
        (title, a, b, float(matrix[i, j]))
        for title, (symbols, matrix) in matrices.items()
        for i, a in enumerate(symbols)
        for j, b in enumerate(symbols)
    ]
    lm = run.model.backbone.title
    return Exhibit(
        f"digit-similarities-{run.slug}",
        f"Digit embeddings of {run.label}",
        f"Cosine similarities of the digit embeddings of {run.label}: "
        + "; ".join(matrices)
        + ". Each table has the ten digits, the point, and the end, which as an input to what "
        "writes digits means the start."
        + (f" {lm} has tokens for digits and point alone." if lm else ""),
        _draw(matrices),
        Table(("table", "symbol", "other", "cosine"), rows),
    )


def _digit_tables(run: Run) -> dict[str, DigitTable]:
    """By title; the twelfth symbol means the start or the end."""
    return {
        title: DigitTable(table.symbols, table.weight.detach())
        for title, table in run.digit_tables().items()
    }


def _draw(matrices: dict[str, _Similarities]) -> Figure:
    images = []
    with look():
        columns = {1: 1, 2: 2, 3: 3, 4: 2}[len(matrices)]
        rows = -(-len(matrices) // columns)
        figure = new_figure(0.55 + rows * {1: 2.15, 2: 1.8, 3: 1.3}[columns])
        grid = figure.subplots(rows, columns, squeeze=False)
        for axes, (title, (names, matrix)) in zip(grid.flat, matrices.items(), strict=True):
            images.append(draw_similarities(axes, matrix))
            axes.set_title(drawn(title).replace(" (", "\n("))
            axes.set_yticks(range(len(names)), names)
            axes.set_xticks(range(len(names)), names)
            if len(names) > len(SYMBOLS):
                axes.get_xticklabels()[-1].set_rotation(90)
            axes.tick_params(labelsize=5, length=0, pad=1.5)
        bar = figure.colorbar(images[0], ax=grid, location="bottom", shrink=0.6, aspect=30)
        bar.set_label("cosine similarity")
        bar.outline.set_visible(False)
    return figure
